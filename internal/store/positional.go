package store

import "strconv"

// Positional is how an adapter reads a statement of the body: every @name
// outside quotes is replaced by mark and a number, one number a name ("?1",
// "$1"), and the names are told in the order of their numbers. Drivers bind by
// position faster than by name, and not all of them know names.
func Positional(text string, mark byte) (positional string, names []string) {
	out := make([]byte, 0, len(text))
	at := map[string]int{}
	for i := 0; i < len(text); {
		switch ch := text[i]; ch {
		case '\'', '"':
			end := i + 1
			for end < len(text) && text[end] != ch {
				end++
			}
			end = min(end+1, len(text))
			out, i = append(out, text[i:end]...), end
		case '@':
			end := i + 1
			for end < len(text) && isName(text[end]) {
				end++
			}
			name := text[i+1 : end]
			if at[name] == 0 {
				names = append(names, name)
				at[name] = len(names)
			}
			out, i = strconv.AppendInt(append(out, mark), int64(at[name]), 10), end
		default:
			out, i = append(out, ch), i+1
		}
	}
	return string(out), names
}

func isName(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

package postgres

import (
	"fmt"
	"strconv"
	"sync"

	"liminal/internal/store"
)

// statement is a text of the body with @names replaced by positions.
type statement struct {
	text  string
	names []string
}

// statements are the texts a database has been asked, by text. The body has
// some two hundred; those with lists of ids are one more for each length.
type statements struct{ seen sync.Map }

// bind returns the text and the values in its order. An empty @user is NULL,
// which nothing equals: the system and a stranger have no id.
func (all *statements) bind(text string, args store.Args) (string, []any, error) {
	known, ok := all.seen.Load(text)
	if !ok {
		known, _ = all.seen.LoadOrStore(text, positions(text))
	}
	s := known.(statement)
	values := make([]any, len(s.names))
	for i, name := range s.names {
		v, ok := args[name]
		if !ok {
			return "", nil, fmt.Errorf("the statement's parameter @%s is not given", name)
		}
		if name == "user" && v == "" {
			v = nil
		}
		values[i] = v
	}
	return s.text, values, nil
}

// positions replaces every @name outside quotes by $N, one number a name.
func positions(text string) statement {
	out := make([]byte, 0, len(text))
	var names []string
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
			out, i = strconv.AppendInt(append(out, '$'), int64(at[name]), 10), end
		default:
			out, i = append(out, ch), i+1
		}
	}
	return statement{string(out), names}
}

func isName(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

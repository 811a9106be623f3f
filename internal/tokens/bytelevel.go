package tokens

import "strings"

// byteLevel cuts into words of GPT-2 and writes each byte as a letter.
func (s splitterSpec) byteLevel() splitter {
	letters := byteLetters()
	prefix := s.PrefixSpace == nil || *s.PrefixSpace
	cut := func(text string) []string { return []string{text} }
	if s.UseRegex == nil || *s.UseRegex {
		cut = gpt2.words
	}
	return each(func(text string) []string {
		if prefix && !strings.HasPrefix(text, " ") {
			text = " " + text
		}
		words := cut(text)
		for i, w := range words {
			words[i] = letters.write(w)
		}
		return words
	})
}

// alphabet is a printable letter for each byte.
type alphabet [256]string

func byteLetters() *alphabet {
	a := &alphabet{}
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if r >= '!' && r <= '~' || r >= '¡' && r <= '¬' || r >= '®' && r <= 'ÿ' {
			a[b] = string(r)
			continue
		}
		a[b] = string(next)
		next++
	}
	return a
}

func (a *alphabet) write(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString(a[s[i]])
	}
	return b.String()
}

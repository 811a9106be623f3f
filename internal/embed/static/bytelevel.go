package static

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// gpt is the words of GPT-2, but for the white space between them.
var gpt = regexp.MustCompile(`^(?:'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\v\x{85}\p{Z}\p{L}\p{N}]+)`)

// byteLevel cuts into words of GPT-2 and writes each byte as a letter.
func (s splitterSpec) byteLevel() splitter {
	letters := byteLetters()
	prefix := s.PrefixSpace == nil || *s.PrefixSpace
	cut := func(text string) []string { return []string{text} }
	if s.UseRegex == nil || *s.UseRegex {
		cut = gptWords
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

// gptWords cuts a text into words that begin with their space, and into the
// white space that is left over: of a run of it the last stays with the word
// that follows, if it is a space.
func gptWords(text string) []string {
	var out []string
	for text != "" {
		n := len(gpt.FindString(text))
		if n == 0 {
			n = blanks(text)
		}
		if n == 0 { // what neither of them knows
			_, n = utf8.DecodeRuneInString(text)
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// blanks is the length of the white space a text begins with, without its last
// character where a word follows and it is not all of it.
func blanks(text string) int {
	rest := strings.TrimLeftFunc(text, unicode.IsSpace)
	n := len(text) - len(rest)
	_, last := utf8.DecodeLastRuneInString(text[:n])
	if rest != "" && n > last {
		return n - last
	}
	return n
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

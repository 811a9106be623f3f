package safety

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// plain is a text as rules read it: without signs that nobody sees, without
// accents, in the letters it looks like; and where each of its bytes was.
type plain struct {
	text string
	at   []int // byte of the original, one for each byte of text and one for its end; nil: the same
}

// original is the byte of the original text that byte i came from.
func (p plain) original(i int) int {
	if p.at == nil {
		return i
	}
	return p.at[i]
}

// plainly reads a text. ASCII is as it is, but for control characters.
func plainly(s string) plain {
	if plainASCII(s) {
		return plain{text: s}
	}
	var b strings.Builder
	b.Grow(len(s))
	at := make([]int, 0, len(s)+1)
	for i, r := range s {
		for _, letter := range letters(r) {
			n := b.Len()
			b.WriteRune(letter)
			for range b.Len() - n {
				at = append(at, i)
			}
		}
	}
	return plain{text: b.String(), at: append(at, len(s))}
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || control(rune(s[i])) {
			return false
		}
	}
	return true
}

// control: a screen shows nothing of it, and it is no space either.
func control(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' }

// letters are what a sign is read as; none for one that is not seen.
func letters(r rune) []rune {
	switch {
	case unseen(r):
		return nil
	case r < utf8.RuneSelf:
		return []rune{r}
	}
	var out []rune
	for _, d := range norm.NFKD.String(string(r)) {
		if unicode.Is(unicode.Mn, d) || unicode.Is(unicode.Me, d) {
			continue
		}
		if like, ok := lookalikes[d]; ok {
			d = like
		}
		out = append(out, d)
	}
	return out
}

func unseen(r rune) bool {
	return control(r) || r == 0x2800 || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// lookalikes are letters of other scripts that are read as Latin ones, and
// dashes.
var lookalikes = map[rune]rune{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', 'м': 'm', 'о': 'o', 'р': 'p',
	'ѕ': 's', 'т': 't', 'у': 'y', 'х': 'x', 'А': 'A', 'В': 'B', 'С': 'C', 'Е': 'E', 'Н': 'H', 'І': 'I', 'Ј': 'J', 'К': 'K', 'М': 'M',
	'О': 'O', 'Р': 'P', 'Ѕ': 'S', 'Т': 'T', 'У': 'Y', 'Х': 'X', 'α': 'a', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'υ': 'u',
	'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Ζ': 'Z', 'Η': 'H', 'Ι': 'I', 'Κ': 'K', 'Μ': 'M', 'Ν': 'N', 'Ο': 'O', 'Ρ': 'P', 'Τ': 'T', 'Υ': 'Y',
	'η': 'n', 'τ': 't', 'ո': 'n', 'ս': 'u', 'օ': 'o', 'հ': 'h', 'ց': 'g', 'ᴀ': 'a', 'ʙ': 'b', 'ᴄ': 'c', 'ᴅ': 'd', 'ᴇ': 'e', 'ꜰ': 'f', 'ɢ': 'g',
	'ʜ': 'h', 'ɪ': 'i', 'ᴊ': 'j', 'ᴋ': 'k', 'ʟ': 'l', 'ᴍ': 'm', 'ɴ': 'n', 'ᴏ': 'o', 'ᴘ': 'p', 'ʀ': 'r', 'ꜱ': 's', 'ʂ': 's', 'ᴛ': 't', 'ᴜ': 'u',
	'ᴠ': 'v', 'ᴡ': 'w', 'ʏ': 'y', 'ᴢ': 'z',
	'Χ': 'X', 'ı': 'i', 'ɡ': 'g', 'ɑ': 'a', '‐': '-', '‑': '-', '‒': '-', '–': '-', '—': '-', '−': '-',
}

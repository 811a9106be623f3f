package speech

import (
	"strings"
	"unicode/utf8"
)

// Pieces cuts a text into pieces that Speak takes: at ends of paragraphs and
// sentences where there are some, else between words. Nothing but white space
// around the cuts is lost.
func Pieces(text string) []string {
	var pieces []string
	for text = strings.TrimSpace(text); len(text) > MaxText; {
		at := cut(text[:MaxText])
		pieces = append(pieces, strings.TrimSpace(text[:at]))
		text = strings.TrimSpace(text[at:])
	}
	if text != "" {
		pieces = append(pieces, text)
	}
	return pieces
}

// cut is where the beginning of a longer text is best cut, in bytes.
func cut(head string) int {
	for _, end := range []string{"\n\n", ". ", "! ", "? ", "\n", " "} {
		if at := strings.LastIndex(head, end); at > len(head)/4 {
			return at + len(end)
		}
	}
	at := len(head)
	for at > 0 && !utf8.ValidString(head[:at]) && at > len(head)-utf8.UTFMax {
		at--
	}
	return at
}

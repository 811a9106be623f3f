package eval

import (
	"fmt"
	"strings"
	"unicode"
)

// letters is a text without all that is not a letter or digit, folded, and
// where each byte of it stands in the text.
type letters struct {
	text string
	at   []int
}

func newLetters(text string) letters {
	var b strings.Builder
	var at []int
	for i, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		n := b.Len()
		b.WriteRune(unicode.ToLower(r))
		for range b.Len() - n {
			at = append(at, i)
		}
	}
	return letters{b.String(), at}
}

// locate finds where a passage stands in a text: text[start:end]. It must
// stand there once.
func (l letters) locate(passage string) (start, end int, err error) {
	want := newLetters(passage).text
	if want == "" {
		return 0, 0, fmt.Errorf("the passage %q has no letters", passage)
	}
	if n := strings.Count(l.text, want); n != 1 {
		return 0, 0, fmt.Errorf("the passage %q stands in the document %d times, not once", passage, n)
	}
	first := strings.Index(l.text, want)
	return l.at[first], l.at[first+len(want)-1] + 1, nil
}

package tokens

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is found in a text before any other cutting.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	Single     bool   `json:"single_word"`
	Left       bool   `json:"lstrip"`
	Right      bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// added finds added tokens, the longest first.
type added struct {
	starting map[byte][]addedToken
}

// newAdded takes those of the tokens that are looked for in the normalized
// text, or those in the text as it is.
func newAdded(list []addedToken, normalized bool, normalize normalizer) *added {
	a := &added{starting: map[byte][]addedToken{}}
	for _, t := range list {
		if t.Normalized != normalized {
			continue
		}
		if normalize != nil {
			t.Content = normalize(t.Content)
		}
		if t.Content != "" {
			a.starting[t.Content[0]] = append(a.starting[t.Content[0]], t)
		}
	}
	for _, of := range a.starting {
		slices.SortStableFunc(of, func(x, y addedToken) int { return len(y.Content) - len(x.Content) })
	}
	return a
}

// stretch is a piece of a text: an added token, or text with id -1.
type stretch struct {
	text string
	id   int
}

// cut cuts a text at its added tokens, special ones only when they are looked
// for.
func (a *added) cut(text string, special bool) []stretch {
	if len(a.starting) == 0 && text != "" {
		return []stretch{{text, -1}}
	}
	var out []stretch
	from := 0
	for at := 0; at < len(text); {
		t, ok := a.here(text, at, special)
		if !ok {
			at++
			continue
		}
		start, end := at, at+len(t.Content)
		if t.Left {
			start = len(strings.TrimRightFunc(text[from:start], unicode.IsSpace)) + from
		}
		if t.Right {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if start > from {
			out = append(out, stretch{text[from:start], -1})
		}
		out = append(out, stretch{"", t.ID})
		from, at = end, end
	}
	if from < len(text) {
		out = append(out, stretch{text[from:], -1})
	}
	return out
}

// here is the longest added token that stands at a place of the text.
func (a *added) here(text string, at int, special bool) (addedToken, bool) {
	for _, t := range a.starting[text[at]] {
		if (special || !t.Special) && strings.HasPrefix(text[at:], t.Content) && (!t.Single || alone(text, at, at+len(t.Content))) {
			return t, true
		}
	}
	return addedToken{}, false
}

// alone reports whether no letter or digit touches text[start:end].
func alone(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return (start == 0 || !wordly(before)) && (end == len(text) || !wordly(after))
}

// wordly is what regular expressions call \w.
func wordly(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Pc, r) ||
		unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Other_Alphabetic, r) || r == '\u200c' || r == '\u200d'
}

package chat

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"liminal/internal/identity"
	"liminal/internal/words"
)

// MessageSearch finds what was said.
type MessageSearch interface {
	// SearchMessages lists the viewer's own messages that are shown and have
	// words beginning with each of the terms, newest first; a term of a single
	// letter or digit must be a whole word. Terms come from
	// Terms; without any nothing is found.
	SearchMessages(ctx context.Context, v identity.Viewer, terms []string, cursor string, limit int) ([]FoundMessage, string, error)
}

// FoundMessage is a message a search found, and what its conversation is called.
type FoundMessage struct {
	Message
	Title string // of its conversation
}

const (
	maxTerms   = 16 // of one search
	maxTerm    = 64 // characters of one of them
	maxExcerpt = 90 // characters on either side of the first word that was found
)

// Terms are the different words of what somebody searches for, in the form that
// words are compared in; the first 16 of them.
func Terms(text string) []string {
	var terms []string
	for w := range strings.FieldsFuncSeq(text, noWord) {
		w = words.Plain(w)
		if runes := []rune(w); len(runes) > maxTerm {
			w = string(runes[:maxTerm])
		}
		if w != "" && !slices.Contains(terms, w) {
			terms = append(terms, w)
		}
		if len(terms) == maxTerms {
			break
		}
	}
	return terms
}

func noWord(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) }

// Piece is a part of an excerpt. Hit says that it is a word that was searched
// for.
type Piece struct {
	Text string `json:"text"`
	Hit  bool   `json:"hit"`
}

// Excerpt is what a message says around the first of its words that begin with
// one of the terms, on one line; its beginning when there is none.
func Excerpt(content string, terms []string) []Piece {
	begins := func(word string) bool {
		return slices.ContainsFunc(terms, func(term string) bool {
			return word == term || len(term) > 1 && strings.HasPrefix(word, term)
		})
	}
	var hits [][2]int
	first := -1
	for at := 0; at < len(content); {
		r, size := utf8.DecodeRuneInString(content[at:])
		if noWord(r) {
			at += size
			continue
		}
		end := at + size
		for end < len(content) {
			r, size := utf8.DecodeRuneInString(content[end:])
			if noWord(r) {
				break
			}
			end += size
		}
		if begins(words.Plain(content[at:end])) {
			hits = append(hits, [2]int{at, end})
			if first < 0 {
				first = at
			}
		}
		if at = end; first >= 0 && at > first+8*maxExcerpt {
			break // beyond the excerpt
		}
	}
	return pieces(content, max(first, 0), hits)
}

// pieces cuts the excerpt around a place of content out of it.
func pieces(content string, around int, hits [][2]int) []Piece {
	from, to := around, around
	for range maxExcerpt {
		_, size := utf8.DecodeLastRuneInString(content[:from])
		from -= size
	}
	for range 2 * maxExcerpt {
		_, size := utf8.DecodeRuneInString(content[to:])
		to += size
	}
	var out []Piece
	add := func(text string, hit bool) {
		if text = line(text); text != "" {
			out = append(out, Piece{text, hit})
		}
	}
	at := from
	for _, h := range hits {
		if h[0] < at || h[1] > to {
			continue
		}
		add(content[at:h[0]], false)
		add(content[h[0]:h[1]], true)
		at = h[1]
	}
	add(content[at:to], false)
	if from > 0 {
		out = append([]Piece{{Text: "…"}}, out...)
	}
	if to < len(content) {
		out = append(out, Piece{Text: "…"})
	}
	return out
}

// line is a text with each run of spaces and line breaks as one space.
func line(text string) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		if unicode.IsSpace(r) {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		b.WriteRune(r)
	}
	return b.String()
}

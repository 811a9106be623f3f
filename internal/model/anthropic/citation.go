package anthropic

import (
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"liminal/internal/model"
)

// citation is a place of a document as a place of the text it was taken from.
// One that cannot be found word for word is none: a quote that is not there
// must never be shown.
func (a *answer) citation(c sdk.CitationsDeltaCitationUnion) (model.Event, bool) {
	if c.Type != "char_location" || c.DocumentIndex < 0 || c.DocumentIndex >= int64(len(a.documents)) {
		return model.Event{}, false
	}
	p := a.documents[c.DocumentIndex]
	if p.Source == nil {
		return model.Event{}, false
	}
	from, to := between(p.Text, int(c.StartCharIndex), int(c.EndCharIndex))
	if c.CitedText != "" && p.Text[from:to] != c.CitedText {
		// Counted otherwise than we count: the words themselves decide.
		from = strings.Index(p.Text, c.CitedText)
		to = from + len(c.CitedText)
	}
	if from < 0 {
		return model.Event{}, false
	}
	from, to = trimmed(p.Text, from, to)
	if from == to {
		return model.Event{}, false
	}
	return p.Cite(from, to), true
}

// between are the byte offsets of characters start up to end of a text, which
// the API counts from 0 in code points.
func between(text string, start, end int) (from, to int) {
	from, to = len(text), len(text)
	n := 0
	for at := range text {
		if n == start {
			from = at
		}
		if n == end {
			to = at
			break
		}
		n++
	}
	return min(from, to), to
}

// trimmed leaves out the space around what is cited: the API cites sentences
// with the space behind them.
func trimmed(text string, from, to int) (int, int) {
	part := text[from:to]
	from += len(part) - len(strings.TrimLeft(part, " \t\r\n"))
	part = strings.TrimSpace(part)
	return from, from + len(part)
}

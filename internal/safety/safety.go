// Package safety looks at what people ask and what models answer (SAFE-01).
//
// What a person writes is judged so that the router knows and an operator can
// find abuse; it is never refused here. What a model answers is filtered
// before anybody sees it: secrets are taken out, and an answer of a few
// narrow kinds is held back whole. Rules are the default, and are data; a
// model may look as well. A Screen does this for an answer that comes in
// pieces, without showing the beginning of what it will not show (SAFE-09).
//
// It may import fault, redact and model.
package safety

import (
	"cmp"
	"context"
	"slices"
)

// Risk is how much a text is to be worried about (SAFE-02).
type Risk string

// The risks, from the least.
const (
	Low  Risk = "low"
	Med  Risk = "med"
	High Risk = "high"
)

var ranks = map[Risk]int{Low: 0, Med: 1, High: 2}

// Above reports whether a risk is more than another.
func (r Risk) Above(other Risk) bool { return ranks[r] > ranks[other] }

// Direction is whose words a text is.
type Direction string

// The directions.
const (
	Input  Direction = "input"  // a person's
	Output Direction = "output" // a model's
)

// Action is what becomes of a finding.
type Action string

// The actions. On input all of them mean Note.
const (
	Note   Action = "note"   // it is written down, and that is all
	Redact Action = "redact" // the span is replaced
	Block  Action = "block"  // the answer is replaced, as a whole
)

// Finding is a span that a rule is about.
type Finding struct {
	Rule       string // its id
	Start, End int    // bytes of the text
	Action     Action
	Reason     string // what it is, in a few words: "private key"
}

// Verdict is what is thought of a text. Findings are in the order of where
// they begin and do not overlap.
type Verdict struct {
	Risk     Risk
	Policy   string // the rules, or the model, that were asked
	Findings []Finding
}

// Rules names the rules that found something, each once.
func (v Verdict) Rules() []string {
	var out []string
	for _, f := range v.Findings {
		if !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	return out
}

// Classifier judges texts. It keeps no text and is safe for concurrent use.
// An error means that nobody knows; the caller goes on.
type Classifier interface {
	Classify(ctx context.Context, text string, d Direction) (Verdict, error)
}

// Ending says what follows a text.
type Ending string

// The endings.
const (
	More  Ending = "more"  // there is more to come
	Whole Ending = "whole" // nothing: it is complete
	Torn  Ending = "torn"  // nothing: it broke off, maybe in the middle of something
)

// Holder is a Classifier that can judge an answer while it comes.
type Holder interface {
	Classifier
	// Hold says how much of the beginning of text can be judged for good:
	// whatever could follow, no finding begins before that byte and ends behind
	// it.
	Hold(text string, e Ending) int
	// Settle judges a part of an answer that Hold has let go, and what stood
	// before it. Findings are in text.
	Settle(ctx context.Context, before, text string) (Verdict, error)
}

// orderly sorts findings and joins those that overlap; the stricter action
// names the whole.
func orderly(found []Finding) []Finding {
	slices.SortFunc(found, func(a, b Finding) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	out := found[:0]
	for _, f := range found {
		last := len(out) - 1
		if last < 0 || f.Start >= out[last].End {
			out = append(out, f)
			continue
		}
		end := max(out[last].End, f.End)
		if f.Action == Block && out[last].Action != Block {
			f.Start, out[last] = out[last].Start, f
			out[last].Start = f.Start
		}
		out[last].End = end
	}
	return out
}

// within moves findings from a text to the part of it that begins at a byte.
func within(found []Finding, from int) []Finding {
	out := found[:0]
	for _, f := range found {
		if f.End > from {
			f.Start, f.End = max(f.Start-from, 0), f.End-from
			out = append(out, f)
		}
	}
	return out
}

// worse is the greater of two risks.
func worse(a, b Risk) Risk {
	if ranks[b] > ranks[a] {
		return b
	}
	return a
}

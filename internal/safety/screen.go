package safety

import (
	"context"
)

const (
	// behind is how much of what was settled a verdict looks back at, in bytes.
	behind = 2 * maxWithin
	// maxHeld is how much may be held back: an answer in which nothing can be
	// settled for so long is none that should be shown.
	maxHeld = 32 << 10
)

// Part is a piece of an answer that is settled.
type Part struct {
	Text    string   // what was said; empty when it was removed
	Raw     int      // bytes of the answer it stands for
	Removed *Finding // why it is not to be shown; nil: it is
}

// Screen judges one answer while it comes (SAFE-09): what it gives back is
// final. It is not safe for concurrent use.
type Screen struct {
	judge   Holder
	before  string // settled, the end of it
	held    string
	policy  string
	enough  int // bytes that are held before it is worth looking again
	blocked bool
}

// NewScreen returns a screen for one answer.
func NewScreen(judge Holder) *Screen { return &Screen{judge: judge} }

// Feed takes in the next piece and gives what is settled by now.
func (s *Screen) Feed(ctx context.Context, piece string) []Part {
	if s.blocked {
		return nil
	}
	s.held += piece
	if len(s.held) > maxHeld {
		s.blocked = true
		return []Part{{Raw: len(s.held), Removed: &Finding{Rule: "held", Action: Block, Reason: "text that cannot be judged"}}}
	}
	if len(s.held) < s.enough {
		return nil
	}
	parts := s.settle(ctx, s.judge.Hold(s.held, More))
	s.enough = len(s.held) + len(s.held)/16
	return parts
}

// Close gives the rest of an answer that is over. Of one that broke off, what
// might have become a finding is lost.
func (s *Screen) Close(ctx context.Context, e Ending) []Part {
	if s.blocked {
		return nil
	}
	parts := s.settle(ctx, s.judge.Hold(s.held, e))
	s.held = ""
	return parts
}

// Blocked reports whether the answer is to be replaced as a whole.
func (s *Screen) Blocked() bool { return s.blocked }

// Policy names what was followed when something was settled last.
func (s *Screen) Policy() string { return s.policy }

// settle judges the first n bytes of what is held.
func (s *Screen) settle(ctx context.Context, n int) (parts []Part) {
	if n <= 0 {
		return nil
	}
	text := s.held[:n]
	v, err := s.judge.Settle(ctx, s.before, text)
	if err != nil {
		v = Verdict{}
	}
	s.policy = v.Policy
	at := 0
	for _, f := range v.Findings {
		if f.Action == Note {
			continue
		}
		if f.Start > at {
			parts = append(parts, Part{Text: text[at:f.Start], Raw: f.Start - at})
		}
		parts = append(parts, Part{Raw: f.End - f.Start, Removed: &f})
		if at = f.End; f.Action == Block {
			s.blocked = true
			return parts
		}
	}
	if at < n {
		parts = append(parts, Part{Text: text[at:], Raw: n - at})
	}
	s.before, s.held = tail(s.before+text), s.held[n:]
	return parts
}

// tail is the end of what was settled.
func tail(text string) string {
	if len(text) <= behind {
		return text
	}
	return text[boundary(text, len(text)-behind):]
}

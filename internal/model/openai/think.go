package openai

import "strings"

// thinking takes a <think>…</think> at the head of a text out of it: models
// that reason write one, and not every server has been told to do this
// itself. It is for one answer.
type thinking struct {
	state thinkState
	held  string
}

type thinkState int

const (
	mayThink thinkState = iota // nothing but space was said so far
	thinks
	hasThought // the space behind the thoughts is still to be dropped
	speaks
)

const (
	thinkOpens  = "<think>"
	thinkCloses = "</think>"
)

// add gives what of a piece, and of what was held back, is text and thought.
func (t *thinking) add(piece string) (text, thought string) {
	t.held += piece
	if t.state == mayThink {
		head := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case strings.HasPrefix(head, thinkOpens):
			t.state, t.held = thinks, strings.TrimLeft(head[len(thinkOpens):], "\n")
		case !strings.HasPrefix(thinkOpens, head):
			t.state = speaks
		default:
			return "", ""
		}
	}
	if t.state == thinks {
		if before, behind, ok := strings.Cut(t.held, thinkCloses); ok {
			t.state, t.held, thought = hasThought, behind, before
		} else {
			keep := begun(t.held, thinkCloses)
			thought, t.held = t.held[:len(t.held)-keep], t.held[len(t.held)-keep:]
			return "", thought
		}
	}
	if t.state == hasThought {
		if t.held = strings.TrimLeft(t.held, " \t\r\n"); t.held == "" {
			return "", thought
		}
		t.state = speaks
	}
	text, t.held = t.held, ""
	return text, thought
}

// end gives what is still held back.
func (t *thinking) end() (text, thought string) {
	held := t.held
	t.held = ""
	if t.state == thinks {
		return "", held
	}
	return held, ""
}

// begun is how many bytes at the end of s may be the beginning of word.
func begun(s, word string) int {
	for n := min(len(s), len(word)-1); n > 0; n-- {
		if strings.HasSuffix(s, word[:n]) {
			return n
		}
	}
	return 0
}

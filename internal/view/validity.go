package view

import (
	"bytes"
	"errors"
	"fmt"
)

// mostBreaks is how many breakpoints of the prompt cache a request may have.
const mostBreaks = 4

// Allowed says what an edited request may differ in from the one that came.
type Allowed struct {
	// Results are the tool_use ids whose results may say another thing.
	Results map[string]bool
	// Born are those among them that may stand in the open round as well: the model has
	// never seen them otherwise.
	Born map[string]bool
	// Quoted is how many texts may be added at the end of a message of the user.
	Quoted map[int]int
	// Stripped tells that thinking before the open turn is left out.
	Stripped bool
	// Dropped tells that the backend is asked to leave out bound thinking.
	Dropped bool
}

// Valid checks that an edited request is one that a backend accepts, and differs from
// the one that came in nothing but what is allowed (the invariants I1 to I10 of
// the study, proxy.md 1.3).
func Valid(was, is *Body, a Allowed) error {
	switch {
	case len(was.Messages) != len(is.Messages):
		return fmt.Errorf("%d messages became %d", len(was.Messages), len(is.Messages))
	case !was.same(was.System, is, is.System), !was.same(was.Tools, is, is.Tools): // I5, I8
		return errors.New("the system prompt or the tools are changed")
	case was.Messages[0].Role != "user": // I1
		return errors.New("the first message is not the user's")
	}
	if err := rest(was, is, a); err != nil {
		return err
	}
	closed, turn, changed, breaks, kept := was.Closed(), was.turn(), false, bytes.Count(was.Raw, []byte(`"cache_control"`)), false
	for i := range was.Messages {
		one, err := message(was, is, i, a, i < closed, i < turn)
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		changed = changed || one.changed
		if kept && one.stripped { // I4: what stays is the end of it
			return fmt.Errorf("message %d: thinking is left out behind thinking that stays", i)
		}
		kept = kept || one.thinks
	}
	if n := bytes.Count(is.Raw, []byte(`"cache_control"`)); n > max(breaks, mostBreaks) { // I8
		return fmt.Errorf("%d breakpoints, where %d were", n, breaks)
	}
	if changed && was.Thinks && kept && !a.Stripped && !a.Dropped { // I5
		return errors.New("thinking stays that may be bound to what is changed, and nobody is asked to leave it out")
	}
	return paired(is) // I2
}

// rest checks what is no message: it stays, but for what asks to drop bound thinking.
func rest(was, is *Body, a Allowed) error {
	if was.Model != is.Model || len(was.names) != len(is.names) {
		return errors.New("other members than there were")
	}
	for i, name := range was.names {
		if is.names[i] != name || !was.same(was.others[i], is, is.others[i]) { // I6, I10
			return fmt.Errorf("%s is changed", name)
		}
	}
	before, after := was.Of(was.Thinking), is.Of(is.Thinking)
	if bytes.Equal(before, after) {
		return nil
	}
	if !a.Dropped || !was.Thinks || is.bound != "drop_block" || len(before) == 0 || !bytes.HasPrefix(after, before[:len(before)-1]) {
		return errors.New("how it thinks is changed")
	}
	return nil
}

// compared is what became of a message.
type compared struct {
	changed, stripped, thinks bool
}

// message checks one.
func message(was, is *Body, i int, a Allowed, closed, past bool) (c compared, err error) {
	m, n := &was.Messages[i], &is.Messages[i]
	if m.Role != n.Role {
		return c, errors.New("its role is changed")
	}
	if was.same(m.Span, is, n.Span) {
		c.thinks = n.has("thinking") || n.has("redacted_thinking")
		return c, nil
	}
	at, parts := 0, m.Parts
	if a.Quoted[i] > 0 && m.Role == "user" && m.Text && !n.Text && len(n.Parts) > 0 && string(is.Of(n.Parts[0].Span)) == asPart(was.Of(m.Content)) {
		at, parts = 1, nil // the same text, in a list
	}
	for _, p := range parts {
		thought := p.Type == "thinking" || p.Type == "redacted_thinking"
		if at < len(n.Parts) && was.same(p.Span, is, n.Parts[at].Span) {
			c.thinks = c.thinks || thought
			at++
			continue
		}
		if thought && a.Stripped && past {
			c.stripped = true
			continue
		}
		if at >= len(n.Parts) {
			return c, errors.New("a part is gone")
		}
		q := n.Parts[at]
		at++
		if p.Type != "tool_result" || q.Type != p.Type || q.ID != p.ID || q.Failed != p.Failed || !was.same(p.Control, is, q.Control) {
			return c, errors.New("something other than a result is changed")
		}
		head, tail := was.Raw[p.From:p.Content.From], was.Raw[p.Content.To:p.To]
		switch {
		case q.Content.Empty() || !bytes.Equal(head, is.Raw[q.From:q.Content.From]) || !bytes.Equal(tail, is.Raw[q.Content.To:q.To]):
			return c, errors.New("more of a result is changed than what it says")
		case !a.Results[p.ID]:
			return c, fmt.Errorf("the result of %s is changed, and was not to be", p.ID)
		case !closed && !a.Born[p.ID]: // I3
			return c, fmt.Errorf("the result of %s is changed in the round that is open", p.ID)
		}
		c.changed = c.changed || !a.Born[p.ID]
	}
	if m.Role == "user" && len(n.Parts)-at == a.Quoted[i] {
		for at < len(n.Parts) && n.Parts[at].Type == "text" {
			at++
		}
	}
	switch {
	case at != len(n.Parts):
		return c, errors.New("a part is added")
	case len(n.Parts) == 0, m.Role == "assistant" && !said(n) && said(m): // I1
		return c, errors.New("nothing but thinking is left")
	}
	return c, nil
}

// said reports whether a message has more than thinking.
func said(m *Message) bool {
	for _, p := range m.Parts {
		if p.Type != "thinking" && p.Type != "redacted_thinking" {
			return true
		}
	}
	return false
}

// paired checks that each call of a tool has its result in the message behind it, and
// each result its call before it.
func paired(b *Body) error {
	open := map[string]bool{}
	for i := 0; i < len(b.Messages); i++ {
		m := &b.Messages[i]
		if m.Role == "system" {
			continue
		}
		for _, p := range m.Parts {
			if p.Type == "tool_result" {
				if m.Role != "user" || !open[p.ID] {
					return fmt.Errorf("message %d: the result of %q answers no call before it", i, p.ID)
				}
				delete(open, p.ID)
			}
		}
		next := i + 1
		for next < len(b.Messages) && b.Messages[next].Role == "system" {
			next++
		}
		if len(open) > 0 && !(m.Role == "user" && next < len(b.Messages) && b.Messages[next].Role == "user") {
			return fmt.Errorf("message %d: %d calls have no result", i, len(open))
		}
		for _, p := range m.Parts {
			if p.Type == "tool_use" {
				open[p.ID] = true
			}
		}
	}
	return nil
}

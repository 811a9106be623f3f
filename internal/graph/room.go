package graph

import "encoding/json"

// The bounds of what one run may hold: the values of all its threads, calls and
// maps together. Growth is added up as it happens, and what was let go is only
// looked for when the sum has come to maxSum; so a sum costs no more than what
// was written since the last one, however the run goes on. A run that holds
// more than maxHeld then is over.
const (
	maxHeld = 32 << 20 // bytes, about as they lie in memory
	maxSum  = 2 * maxHeld
)

// grow counts values that are about to be held, and says whether there is room.
func (r *Run) grow(bytes int) bool {
	r.made += bytes
	r.state.Held += bytes
	return r.fits()
}

// fits says whether the run holds no more than it may.
func (r *Run) fits() bool {
	if r.state.Held <= maxSum {
		return true
	}
	held := r.count() + r.made
	r.state.Held = held
	if held > maxHeld {
		r.state.Held = maxSum + 1 // stays so: the node, or the run, fails
		return false
	}
	return true
}

// roomy ends a run that holds too much, between two nodes: what the one before
// has made is held by now, or let go.
func (r *Run) roomy() bool {
	r.made = 0
	if r.fits() {
		return true
	}
	id := r.root().Node
	if len(r.ready) > 0 {
		if t := r.thread(r.ready[0]); t != nil {
			id = t.Node
		}
	}
	r.end(failuref(CodeLimit, noRoom+", and was at node %q: it keeps too much of what its nodes give", id).at(id))
	return false
}

const noRoom = "the run holds more than 32 MiB of values, which is the limit"

// count adds up everything a run holds.
func (r *Run) count() int {
	s := &r.state
	sum := bytesOf(s.Input) + bytesOf(s.Conversation) + bytesOf(s.User)
	for _, t := range s.Threads {
		sum += t.bytes()
	}
	return sum
}

func (t *thread) bytes() int {
	sum := bytesOf(t.Vars) + bytesOf(t.Item) + bytesOf(t.Citations) + t.Result.bytes()
	if t.Text != nil {
		sum += len(*t.Text)
	}
	for _, s := range t.Slots {
		sum += bytesOf(s.Inputs) + bytesOf(s.Resume) + bytesOf(s.State) + bytesOf(s.Output)
	}
	if g := t.Group; g != nil {
		sum += bytesOf(g.Items)
		for _, c := range g.Joined {
			if c != nil {
				sum += bytesOf(c.Vars) + bytesOf(c.Citations) + c.Result.bytes()
			}
		}
	}
	if a := t.Agent; a != nil {
		sum += bytesOf(a.Inputs) + bytesOf(a.Transcript) + len(a.Text)
		if a.Said != nil || a.Grounds != nil {
			sum += bytesOf(a.Said) + bytesOf(a.Grounds)
		}
	}
	return sum
}

func (e *endResult) bytes() int {
	if e == nil {
		return 0
	}
	sum := bytesOf(e.Citations) + bytesOf(e.Data)
	if e.Response != nil {
		sum += len(*e.Response)
	}
	return sum
}

// bytesOf is about what a value takes. A sum is the same in any order.
//
//workflowcheck:ignore
func bytesOf(v any) int {
	switch x := v.(type) {
	case string:
		return 16 + len(x)
	case map[string]any:
		sum := 320 // Go makes room for eight members
		for key, e := range x {
			sum += 48 + len(key) + bytesOf(e)
		}
		return sum
	case []any:
		sum := 48
		for _, e := range x {
			sum += 16 + bytesOf(e)
		}
		return sum
	}
	return 8
}

// atLeast is how long a value is as JSON, at least; it stops once that is more
// than most. What it says does not depend on the order.
//
//workflowcheck:ignore
func atLeast(v any, most int) int {
	sum := 1
	switch x := v.(type) {
	case string:
		return len(x) + 2
	case json.Number:
		return len(x)
	case map[string]any:
		for key, e := range x {
			if sum += len(key) + 4 + atLeast(e, most-sum); sum > most {
				return most + 1
			}
		}
	case []any:
		for _, e := range x {
			if sum += 1 + atLeast(e, most-sum); sum > most {
				return most + 1
			}
		}
	}
	return sum
}

// boundedText is a value as text, if that is not too long. Texts are as they are.
func boundedText(v any) (string, *Failure) {
	if _, isText := v.(string); !isText && atLeast(v, maxText) > maxText {
		return "", failuref(CodeLimit, "a list or object is too large to be told as text: it would have more than %d bytes", maxText)
	}
	return rendered(v), nil
}

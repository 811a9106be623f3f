package api

import (
	"context"
	"encoding/json"
	"time"

	"liminal/internal/identity"
	"liminal/internal/redact"
	"liminal/internal/run"
)

// lookLimit is how long a page waits for a run to say where it stands. A run
// answers in milliseconds; one that was long asleep is replayed first, and one
// whose workers are away does not answer at all.
const lookLimit = 2 * time.Second

// Live is where a run stands that has begun and is not over, as it says itself
// (GRAPH-26). Its trace is the run's.
type Live struct {
	Known  bool      `json:"known" doc:"false: the run did not answer in time, and its way so far is not to be had now"`
	Awaits []Awaited `json:"awaits" doc:"what is outstanding"`
}

// Awaited is something a run has begun and waits for.
type Awaited struct {
	Node    string     `json:"node"`
	Kind    string     `json:"kind" enum:"call,ask,wait,spawn" doc:"a tool, a person, the time before the next attempt, or another workflow"`
	Attempt int        `json:"attempt,omitempty"`
	Since   *time.Time `json:"since,omitempty"`
	Says    string     `json:"says,omitempty" doc:"the question, or what the node is described as"`
}

// live asks a run that has begun and is not over where it stands, and gives r
// the trace it has so far and the pins, which a turn's row has later: what is
// shown of them, and to whom, is settled as if they had been stored. It is nil
// for other runs, and nothing in it fails: a run that cannot be asked is shown
// as its row has it.
func (s *server) live(ctx context.Context, r *run.Run) *Live {
	if r.Status != run.Running && r.Status != run.Waiting {
		return nil
	}
	out := &Live{Awaits: []Awaited{}}
	look, done := context.WithTimeout(ctx, lookLimit)
	defer done()
	raw, err := s.Engine.State(look, reader(viewerOf(ctx), *r), r.ID)
	var state struct {
		Pins    []run.Pin
		Trace   []json.RawMessage
		Calls   []json.RawMessage
		Pending []Awaited
	}
	if err == nil {
		err = json.Unmarshal(raw, &state)
	}
	var trace []byte
	if err == nil {
		trace, err = json.Marshal(map[string]any{"steps": orList(state.Trace), "calls": orList(state.Calls)})
	}
	if err != nil {
		s.Logger.DebugContext(ctx, "a run does not say where it stands", "run", r.ID, "error", err)
		return out
	}
	if r.Trace = trace; len(r.Pins) == 0 {
		r.Pins = state.Pins
	}
	out.Known, out.Awaits = true, orList(state.Pending)
	return out
}

// shown is what is told of where a run stands: what it says to its own person,
// and to others where it stands alone (ISO-01).
func (l *Live) shown(own, redacted bool) *Live {
	if l == nil {
		return nil
	}
	for i := range l.Awaits {
		switch a := &l.Awaits[i]; {
		case !own:
			a.Says = ""
		case redacted:
			a.Says = redact.Text(a.Says)
		}
	}
	return l
}

// reader is who reads what belongs to a run that v may look at: of other
// people's an administrator's reader is the system.
func reader(v identity.Viewer, r run.Run) identity.Viewer {
	if r.UserID != v.UserID && v.IsAdmin() {
		return identity.System()
	}
	return v
}

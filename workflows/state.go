package workflows

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"liminal/activities"
	"liminal/internal/graph"
	"liminal/internal/run"
)

// State is where a run stands, for who looks while it runs (GRAPH-26).
type State struct {
	Pins    []run.Pin        `json:"pins,omitempty"`
	Nodes   []string         `json:"nodes"`   // those at work or waiting
	Vars    []string         `json:"vars"`    // names that are set
	Pending []PendingEffect  `json:"pending"` // what is outstanding
	Paused  bool             `json:"paused"`  // only a person can move it
	Trace   []graph.Step     `json:"trace"`
	Calls   []run.TraceCall  `json:"calls,omitempty"` // what was given and gave so far
	Usage   activities.Tally `json:"tally"`           // without its records
	Error   string           `json:"error,omitempty"`
}

// PendingEffect is an effect that has not come back.
type PendingEffect struct {
	ID      string     `json:"id"`
	Node    string     `json:"node"`
	Kind    graph.Kind `json:"kind"`
	Attempt int        `json:"attempt,omitempty"`
	Since   time.Time  `json:"since,omitzero"` // it was begun, or put to a person
	Says    string     `json:"says,omitempty"` // the description, or the question
}

func (d *drive) state() State {
	s := State{Nodes: []string{}, Vars: []string{}, Pending: []PendingEffect{}, Paused: !d.paused.IsZero()}
	if d.broken != nil {
		s.Error = d.broken.Error()
	}
	if d.run == nil {
		return s
	}
	s.Pins, s.Trace = d.opened.Pins, d.run.Trace()
	s.Vars, s.Calls = d.vars(), shownCalls(d.tally.Calls())
	s.Usage = activities.Tally{Usage: d.tally.Usage, Model: d.tally.Model, Spoke: d.tally.Spoke}
	for _, e := range d.run.Pending() {
		p := PendingEffect{ID: e.ID, Node: e.Node, Kind: e.Kind, Attempt: e.Attempt, Since: d.outstanding(e, s.Trace), Says: e.Description}
		if e.Ask != nil {
			p.Says = e.Ask.Message
		}
		s.Pending = append(s.Pending, p)
		if !slices.Contains(s.Nodes, e.Node) {
			s.Nodes = append(s.Nodes, e.Node)
		}
	}
	return s
}

// maxShownCalls bounds what a run under way tells of its calls, in bytes: an
// answer to a query is one message, and the trace is in it too.
const maxShownCalls = 256 << 10

// shownCalls are calls of which the latest tell what they were given and gave.
func shownCalls(calls []run.TraceCall) []run.TraceCall {
	held := 0
	for i := range slices.Backward(calls) {
		if held += len(calls[i].Args) + len(calls[i].Result); held > maxShownCalls {
			calls[i].Args, calls[i].Result = nil, nil
		}
	}
	return calls
}

// outstanding is since when an effect is, by the clock on the wall, which the
// machine's stands behind (see now); the zero time where the trace is full.
func (d *drive) outstanding(e graph.Effect, trace []graph.Step) time.Time {
	if q := d.questions[d.interruptID(e)]; q != nil && !q.at.IsZero() {
		return q.at
	}
	for _, s := range slices.Backward(trace) {
		switch {
		case s.Effect == e.ID && s.Ended.IsZero():
			return s.Started.Add(d.away)
		case e.Kind == graph.KindWait && e.ID == s.Effect+"~"+strconv.Itoa(s.Attempt):
			return s.Ended.Add(d.away)
		}
	}
	return time.Time{}
}

// vars are the names of what the run has set. They are read from a snapshot:
// someone looks rarely, and the machine shows its inside nowhere else.
func (d *drive) vars() []string {
	var inside struct {
		Threads []struct {
			Vars map[string]json.RawMessage `json:"vars"`
		} `json:"threads"`
	}
	raw, err := d.run.Snapshot()
	if err != nil || json.Unmarshal(raw, &inside) != nil || len(inside.Threads) == 0 {
		return []string{}
	}
	return keys(inside.Threads[0].Vars)
}

package workflows

import (
	"encoding/json"
	"slices"

	"liminal/activities"
	"liminal/internal/graph"
)

// State is where a run stands, for who looks while it runs (GRAPH-26).
type State struct {
	Nodes   []string         `json:"nodes"`   // those at work or waiting
	Vars    []string         `json:"vars"`    // names that are set
	Pending []PendingEffect  `json:"pending"` // what is outstanding
	Paused  bool             `json:"paused"`  // only a person can move it
	Trace   []graph.Step     `json:"trace"`
	Usage   activities.Tally `json:"tally"` // without its records
	Error   string           `json:"error,omitempty"`
}

// PendingEffect is an effect that has not come back.
type PendingEffect struct {
	ID      string     `json:"id"`
	Node    string     `json:"node"`
	Kind    graph.Kind `json:"kind"`
	Attempt int        `json:"attempt,omitempty"`
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
	s.Trace = d.run.Trace()
	s.Vars = d.vars()
	s.Usage = activities.Tally{Usage: d.tally.Usage, Model: d.tally.Model, Spoke: d.tally.Spoke}
	for _, e := range d.run.Pending() {
		p := PendingEffect{ID: e.ID, Node: e.Node, Kind: e.Kind, Attempt: e.Attempt, Says: e.Description}
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

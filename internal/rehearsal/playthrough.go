package rehearsal

import (
	"context"
	"encoding/json"
	"slices"

	"liminal/artifacts"
	"liminal/internal/graph"
)

// maxEffects bounds a rehearsal; the machine's own bounds end nearly every run
// long before.
const maxEffects = 100_000

// Playthrough is what a rehearsal showed.
type Playthrough struct {
	Outcome     graph.Outcome `json:"outcome"`
	Path        []string      `json:"path"` // the nodes in the order they were executed
	Trace       []graph.Step  `json:"trace"`
	Divergences []Divergence  `json:"divergences"`
	Unused      []string      `json:"unused"` // recorded effects the rehearsal did not come to, sorted
}

// Divergence is a place where the rehearsal left what was recorded.
type Divergence struct {
	Effect  string `json:"effect"`
	Node    string `json:"node"`
	Message string `json:"message"`
}

// Play runs a workflow document on what a past run was given and got
// (GRAPH-30). Nothing happens outside: a tool is the output it gave then, or,
// where it gave none, the least its output schema allows, and that is reported
// as a divergence. Time is the recorded time. The same arguments give the same
// report. The error is graph.Faults when the document cannot run at all.
func Play(doc json.RawMessage, tools map[string]artifacts.Bound, limits graph.Limits, rec Record) (Playthrough, error) {
	g, err := graph.Parse(doc, artifacts.GraphTools(tools), limits)
	if err != nil {
		return Playthrough{}, err
	}
	p := &player{tape: newTape(&rec, 0), other: func(p *player, e graph.Effect) (Output, bool) { return stub(p, e, tools), true }}
	if err := p.play(context.Background(), g); err != nil {
		return Playthrough{}, err
	}
	return p.playthrough(), nil
}

// playthrough is what a player has seen, of one run.
func (p *player) playthrough() Playthrough {
	outcome, _ := p.run.Outcome()
	if p.ended != nil {
		outcome.Err, outcome.Cancelled, outcome.Suppressed = p.ended.Err, p.ended.Cancelled, p.ended.Suppressed
	}
	through := Playthrough{Outcome: outcome, Trace: p.run.Trace(), Divergences: p.divergences, Unused: []string{}}
	for _, step := range through.Trace {
		if step.Attempt <= 1 {
			through.Path = append(through.Path, step.Node)
		}
	}
	for _, id := range p.tape.effects {
		if p.used[id] == 0 {
			through.Unused = append(through.Unused, id)
		}
	}
	return through
}

// stub stands in for what was never recorded.
func stub(p *player, e graph.Effect, tools map[string]artifacts.Bound) Output {
	switch e.Kind {
	case graph.KindAsk:
		p.diverge(e, "a question was put that was not put then; it counts as not answered")
		return Output{Result: map[string]any{"expired": true}}
	case graph.KindSpawn:
		p.diverge(e, "the workflow %s was run, which was not run then", e.Spawn.Workflow)
		return Output{Result: map[string]any{"answer": ""}}
	default:
	}
	p.diverge(e, "the tool %s was called, which was not called here then", e.Call.Tool)
	result, _ := least(tools[e.Call.Tool].OutputSchema).(map[string]any)
	return Output{Result: result}
}

// sorted gives the effects that recorded something, in order.
func sorted(recorded map[string][]Output) []string {
	ids := make([]string, 0, len(recorded))
	for id, attempts := range recorded {
		if len(attempts) > 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// least is the smallest value a JSON Schema's plain words allow: required
// members only, the first of an enum, zero and nothing.
func least(schema json.RawMessage) any {
	var s struct {
		Type       any                        `json:"type"`
		Const      any                        `json:"const"`
		Enum       []any                      `json:"enum"`
		Minimum    float64                    `json:"minimum"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return map[string]any{}
	}
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch s.Type {
	case "string":
		return ""
	case "number", "integer":
		return s.Minimum
	case "boolean":
		return false
	case "array":
		return []any{}
	case "object":
		out := make(map[string]any, len(s.Required))
		for _, name := range s.Required {
			out[name] = least(s.Properties[name])
		}
		return out
	}
	return nil
}

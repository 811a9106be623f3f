package artifacts

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"liminal/internal/graph"
)

// maxEffects bounds a rehearsal; the machine's own bounds end nearly every run
// long before.
const maxEffects = 100_000

// Recorded is a run that happened, as far as a rehearsal needs it.
type Recorded struct {
	Input   graph.Input         `json:"input"`
	Outputs map[string][]Output `json:"outputs"` // by effect id; one for each attempt, in order
}

// Output is what came of one attempt of an effect: the result of a call, the
// answer to a question, or a failure.
type Output struct {
	Tool    string         `json:"tool,omitempty"` // of a call; lets a renamed node find its output
	Result  map[string]any `json:"result,omitempty"`
	Failure *graph.Failure `json:"failure,omitempty"`
	Took    time.Duration  `json:"took,omitempty"`
}

// Report is what a rehearsal showed.
type Report struct {
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

// Rehearse runs a workflow document on what a past run was given and got
// (GRAPH-30). Nothing happens outside: a tool is the output it gave then, or,
// where it gave none, the least its output schema allows, and that is reported
// as a divergence. Time is the recorded time. The same arguments give the same
// report. The error is graph.Faults when the document cannot run at all.
func Rehearse(doc json.RawMessage, tools map[string]Bound, limits graph.Limits, rec Recorded) (Report, error) {
	g, err := graph.Parse(doc, GraphTools(tools), limits)
	if err != nil {
		return Report{}, err
	}
	r := rehearsal{tools: tools, recorded: rec.Outputs, used: map[string]int{}, now: rec.Input.Now}
	run, queue := g.Start(rec.Input)
	for n := 0; len(queue) > 0; n++ {
		if n == maxEffects {
			return Report{}, fmt.Errorf("the rehearsal was stopped after %d effects", maxEffects)
		}
		effect := queue[0]
		queue = append(queue[1:], r.play(run, effect)...)
	}
	outcome, _ := run.Outcome()
	report := Report{Outcome: outcome, Trace: run.Trace(), Divergences: r.divergences, Unused: r.unused()}
	for _, step := range report.Trace {
		if step.Attempt <= 1 {
			report.Path = append(report.Path, step.Node)
		}
	}
	return report, nil
}

// rehearsal is one Rehearse under way.
type rehearsal struct {
	tools       map[string]Bound
	recorded    map[string][]Output
	used        map[string]int // attempts taken from each recorded effect
	now         time.Time
	divergences []Divergence
}

// play makes one effect happen as it is recorded.
func (r *rehearsal) play(run *graph.Run, e graph.Effect) []graph.Effect {
	if e.Kind == graph.KindWait {
		r.now = e.Wait.Until
		return run.Done(e.ID, nil, r.now)
	}
	out, ok := r.take(e)
	if !ok {
		out = r.stub(e)
	}
	r.now = r.now.Add(out.Took)
	if out.Failure != nil {
		return run.Fail(e.ID, *out.Failure, r.now)
	}
	return run.Done(e.ID, out.Result, r.now)
}

// take finds what was recorded for an effect: under its id, or, when a call
// has a new id, the first unused output of the same tool.
func (r *rehearsal) take(e graph.Effect) (Output, bool) {
	if out, ok := r.next(e.ID); ok && (out.Tool == "" || e.Call == nil || out.Tool == e.Call.Tool) {
		return out, true
	}
	if e.Call == nil {
		return Output{}, false
	}
	for _, id := range sorted(r.recorded) {
		if r.used[id] == 0 && r.recorded[id][0].Tool == e.Call.Tool {
			out, _ := r.next(id)
			r.diverge(e, "the output of %s recorded for %s was used", e.Call.Tool, id)
			return out, true
		}
	}
	return Output{}, false
}

// next takes the next attempt of a recorded effect; the last one repeats.
func (r *rehearsal) next(id string) (Output, bool) {
	attempts := r.recorded[id]
	if len(attempts) == 0 {
		return Output{}, false
	}
	i := min(r.used[id], len(attempts)-1)
	r.used[id]++
	return attempts[i], true
}

// stub stands in for what was never recorded.
func (r *rehearsal) stub(e graph.Effect) Output {
	switch e.Kind {
	case graph.KindAsk:
		r.diverge(e, "a question was put that was not put then; it counts as not answered")
		return Output{Result: map[string]any{"expired": true}}
	case graph.KindSpawn:
		r.diverge(e, "the workflow %s was run, which was not run then", e.Spawn.Workflow)
		return Output{Result: map[string]any{"answer": ""}}
	default:
	}
	r.diverge(e, "the tool %s was called, which was not called here then", e.Call.Tool)
	result, _ := least(r.tools[e.Call.Tool].OutputSchema).(map[string]any)
	return Output{Result: result}
}

func (r *rehearsal) diverge(e graph.Effect, format string, args ...any) {
	r.divergences = append(r.divergences, Divergence{Effect: e.ID, Node: e.Node, Message: fmt.Sprintf(format, args...)})
}

func (r *rehearsal) unused() []string {
	unused := []string{}
	for _, id := range sorted(r.recorded) {
		if r.used[id] == 0 {
			unused = append(unused, id)
		}
	}
	return unused
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

package rehearsal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// world makes up what tools and people say, with a luck of its own, and records
// it as the driver does: outputs in the order they come in.
type world struct {
	*rand.Rand
	specs   map[string]artifacts.Bound
	box     *tool.Box // the program's own tools that only arrange values
	fails   int       // in a hundred calls
	cancels int       // in a hundred outputs, the person cancels
	lost    int       // in a hundred outputs, the run is lost
	slow    bool
	fine    bool // no two things happen at once
}

type coming struct {
	effect graph.Effect
	asked  time.Time
	at     time.Time
}

// live runs a graph to its end and gives the record of it.
func (w *world) live(g *graph.Graph, input graph.Input) rehearsal.Record {
	rec := rehearsal.Record{Input: input, Outputs: map[string][]rehearsal.Output{}}
	r, effects := g.Start(input)
	now := input.Now
	var open []coming
	var end *graph.Failure
	for range 2000 {
		for _, e := range effects {
			open = append(open, coming{e, now, w.when(e, now)})
		}
		if _, over := r.Outcome(); over || len(open) == 0 {
			break
		}
		w.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		slices.SortStableFunc(open, func(a, b coming) int { return a.at.Compare(b.at) })
		one := open[0]
		open = open[1:]
		now = one.at
		if w.IntN(100) < w.lost {
			end = &graph.Failure{Code: "lost", Message: "the worker is gone"}
			break
		}
		if w.IntN(100) < w.cancels {
			effects = r.Cancel(now)
			continue
		}
		effects = w.happen(r, &rec, one, now)
	}
	outcome, _ := r.Outcome()
	rec.Steps = r.Trace()
	rec.Outcome = rehearsal.Ending{Response: outcome.Response, Err: outcome.Err, Cancelled: outcome.Cancelled, Suppressed: outcome.Suppressed}
	if end != nil {
		rec.Outcome.Err = end
	}
	return rec
}

func (w *world) when(e graph.Effect, now time.Time) time.Time {
	if e.Kind == graph.KindWait {
		return e.Wait.Until
	}
	most := 5
	if w.slow && w.IntN(20) == 0 {
		most = 60
	}
	took := time.Duration(w.IntN(most)) * 500 * time.Millisecond
	if w.fine {
		took += time.Duration(w.Int64N(int64(time.Second)))
	}
	return now.Add(took)
}

func (w *world) happen(r *graph.Run, rec *rehearsal.Record, c coming, now time.Time) []graph.Effect {
	e := c.effect
	if e.Kind == graph.KindWait {
		return r.Done(e.ID, nil, now)
	}
	out := w.output(e)
	out.Took = now.Sub(c.asked)
	rec.Outputs[e.ID] = append(rec.Outputs[e.ID], out)
	rec.Order = append(rec.Order, e.ID)
	if out.Failure != nil {
		return r.Fail(e.ID, *out.Failure, now)
	}
	return r.Done(e.ID, out.Result, now)
}

func (w *world) output(e graph.Effect) rehearsal.Output {
	switch e.Kind {
	case graph.KindAsk:
		return rehearsal.Output{Kind: rehearsal.OutputAsk, Result: w.answer(e.Ask)}
	case graph.KindSpawn:
		return rehearsal.Output{Kind: rehearsal.OutputSpawn, Tool: e.Spawn.Workflow, Result: object{"answer": w.word()}}
	default:
	}
	out := rehearsal.Output{Kind: rehearsal.OutputCall, Tool: e.Call.Tool}
	if w.IntN(100) < w.fails {
		out.Failure = &graph.Failure{Code: "server_error", Message: "down", Retryable: w.IntN(3) > 0}
		return out
	}
	if w.IntN(4) == 0 {
		cost := float64(w.IntN(100)) / 1e4
		out.Model, out.Usage = "some", &model.Usage{Input: 10, Output: 3, CostUSD: &cost}
	}
	if spec := w.specs[e.Call.Tool].Spec; spec.Plain && w.box.Has(spec.Name) {
		var err error
		if out.Result, err = w.box.Call(context.Background(), spec, &tool.Call{Viewer: ann, Inputs: e.Call.Inputs}); err != nil {
			out.Failure = &graph.Failure{Code: "server_error", Message: err.Error()}
		}
		return out
	}
	out.Result, _ = w.value(w.specs[e.Call.Tool].OutputSchema, 0).(object)
	if defaults, ok := e.Call.Inputs["defaults"].(object); ok {
		value := maps.Clone(defaults)
		var schema struct{ Properties map[string]json.RawMessage }
		raw, _ := json.Marshal(e.Call.Inputs["schema"])
		_ = json.Unmarshal(raw, &schema)
		for _, key := range slices.Sorted(maps.Keys(schema.Properties)) {
			value[key] = w.value(schema.Properties[key], 1)
		}
		out.Result = object{"value": value, "valid": true}
	}
	return out
}

func (w *world) answer(a *graph.Ask) object {
	switch n := w.IntN(10); {
	case n == 0:
		return object{"cancelled": true}
	case n == 1:
		return object{"expired": true}
	case len(a.Options) > 0:
		return object{"answer": a.Options[w.IntN(len(a.Options))].ID}
	}
	return object{"answer": w.word()}
}

func (w *world) word() string {
	words := []string{"high", "low", "clear", "several", "vague", "none", "qa_with_docs", "smalltalk", "code_edit", "summarize", "inquire", "x"}
	return words[w.IntN(len(words))]
}

// value is some value a JSON Schema allows, as far as this understands it.
func (w *world) value(schema json.RawMessage, depth int) any {
	var s struct {
		Type       any
		Const      any
		Enum       []any
		Properties map[string]json.RawMessage
		Required   []string
		Items      json.RawMessage
	}
	_ = json.Unmarshal(schema, &s)
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[w.IntN(len(s.Enum))]
	}
	kind, _ := s.Type.(string)
	if several, ok := s.Type.([]any); ok && len(several) > 0 {
		kind, _ = several[w.IntN(len(several))].(string)
	}
	switch kind {
	case "string":
		return w.word()
	case "number", "integer":
		return float64(w.IntN(4)) / 2
	case "boolean":
		return w.IntN(2) == 0
	case "null":
		return nil
	case "array":
		list := []any{}
		for range w.IntN(4) {
			if depth < 4 {
				list = append(list, w.value(s.Items, depth+1))
			}
		}
		return list
	}
	out := object{}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, key) || w.IntN(4) > 0 {
			out[key] = w.value(s.Properties[key], depth+1)
		}
	}
	return out
}

// shelfOfRuns is run.Recordings in memory.
type shelfOfRuns struct {
	mu   sync.Mutex
	runs []run.Recording
}

func (s *shelfOfRuns) Recordings(_ context.Context, _ identity.Viewer, f run.RecordingFilter) ([]run.Recording, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var heads []run.Recording
	for _, r := range s.runs {
		if f.GraphID != "" && r.Graph.ArtifactID != f.GraphID || f.PolicyID != "" && r.Policy.ArtifactID != f.PolicyID {
			continue
		}
		r.Body = nil
		heads = append(heads, r)
	}
	return heads, nil
}

func (s *shelfOfRuns) RecordingBodies(_ context.Context, _ identity.Viewer, ids ...string) (map[string][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bodies := map[string][]byte{}
	for _, r := range s.runs {
		if slices.Contains(ids, r.RunID) {
			bodies[r.RunID] = r.Body
		}
	}
	return bodies, nil
}

func (s *shelfOfRuns) Recording(context.Context, identity.Viewer, string) (run.Recording, error) {
	return run.Recording{}, nil
}

func (s *shelfOfRuns) ForgetRecordings(context.Context, identity.Viewer, time.Time) (int, error) {
	return 0, nil
}

// keep packs a record as the end of a run does.
func keep(t testing.TB, a artifacts.Artifact, n int, rec rehearsal.Record) run.Recording {
	t.Helper()
	body, err := rehearsal.Pack(rec)
	if err != nil {
		t.Fatal(err)
	}
	status := run.Done
	if rec.Outcome.Err != nil {
		status = run.Failed
	}
	return run.Recording{
		RunID: fmt.Sprintf("run-%05d", n), UserID: fmt.Sprintf("user-%d", n%7), Kind: run.KindChat,
		Graph: run.Pin{ArtifactID: a.ID, Name: a.Name, Version: a.Version}, Status: status, Branch: rehearsal.BranchOf(rec.Steps),
		At: noon.Add(-time.Duration(n) * time.Minute), Body: body,
	}
}

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// lived gives many recorded runs of a document.
func lived(t testing.TB, library *artifacts.Library, a artifacts.Artifact, n int, w world) []run.Recording {
	t.Helper()
	specs, err := library.ToolsOf(t.Context(), admin, a.Schema)
	if err != nil {
		t.Fatal(err)
	}
	limits := artifacts.Limits(identity.System(), artifacts.Artifact{}, specs)
	g, err := graph.Parse(a.Schema, artifacts.GraphTools(specs), limits)
	if err != nil {
		t.Fatal(err)
	}
	w.specs = specs
	own := titles{{ID: leaveID, Title: "Leave policy"}, {ID: travelID, Title: "Travel policy"}, {ID: bankID, Title: "BankNegara2024"}}
	if w.box, err = tool.NewBox(builtin.Tools(builtin.Parts{Titles: own, Sets: own}), tool.Options{}); err != nil {
		t.Fatal(err)
	}
	runs := make([]run.Recording, n)
	for i := range runs {
		runs[i] = keep(t, a, i, w.live(g, w.turn(i)))
	}
	return runs
}

// turn is an input that any of the graphs that ship can begin with.
func (w *world) turn(i int) graph.Input {
	input := object{
		"message": []string{"How long is the notice?", "Summarize @Leave policy", "hello", ""}[i%4], "tiptap_json": nil, "tagged_set_ids": []any{},
		"document_id": "d", "outcome": []any{"extracted", "unchanged", "foreign"}[i%3], "path": "files/a.txt", "name": "a.txt", "mime": "", "size": 3.0,
		"action": []any{nil, "summarize", "inquire", "compare", "audit"}[w.IntN(5)], "enable_web_search": w.IntN(2) == 0,
		"tagged_doc_ids":  []any{[]any{}, []any{leaveID}, []any{leaveID, travelID}}[w.IntN(3)],
		"conversation_id": "c", "task": "t",
	}
	return graph.Input{
		Input: input, Now: noon.Add(time.Duration(i) * time.Second),
		Conversation: object{"id": "c", "messages": []any{}}, User: object{"id": "u", "plan": "pro", "locale": "en"},
	}
}

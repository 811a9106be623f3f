package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"liminal/artifacts"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

const (
	rehearsedRuns   = 1000
	targetRehearsal = 2 // seconds, for as many runs
	rehearsalTries  = 3
)

// measureRehearsal drives a changed document over recorded runs of the graph
// that answers from documents, from compressed bodies to the report.
func (b *benchmark) measureRehearsal(ctx context.Context) error {
	library := b.house.platform.Library()
	a, err := library.Workflow(ctx, identity.System(), artifacts.DocumentsWorkflow)
	if err != nil {
		return err
	}
	kept, err := recordedRuns(a, rehearsedRuns)
	if err != nil {
		return err
	}
	doc, err := detoured(a.Schema)
	if err != nil {
		return err
	}
	best := time.Hour
	for range rehearsalTries {
		began := time.Now()
		report, err := rehearsal.Run(ctx, library, kept, rehearsal.Plan{Artifact: a, Doc: doc, Sample: rehearsedRuns})
		switch {
		case err != nil:
			return err
		case report.Sample.Taken != rehearsedRuns || report.Moved != rehearsedRuns || report.Unknown != 0:
			return fmt.Errorf("of %d runs %d were rehearsed, %d moved, %d unknown", rehearsedRuns, report.Sample.Taken, report.Moved, report.Unknown)
		}
		best = min(best, time.Since(began))
	}
	step, err := machineStep()
	if err != nil {
		return err
	}
	of := fmt.Sprintf("%d runs", rehearsedRuns)
	b.report.add(
		row(fmt.Sprintf("rehearsal of %d recorded runs", rehearsedRuns), best.Seconds(), "s", of).atMost(targetRehearsal),
		row("rehearsal of one run over one step of the machine", float64(best)/rehearsedRuns/float64(step), "×", of),
	)
	return nil
}

// detoured is a workflow that takes one more step at its start.
func detoured(doc json.RawMessage) (json.RawMessage, error) {
	var d map[string]any
	if err := json.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	nodes, _ := d["nodes"].([]any)
	d["nodes"] = append(nodes, map[string]any{
		"id": "bench_detour", "type": "set", "values": map[string]any{"detour": true}, "next": d["entrypoint"],
	})
	d["entrypoint"] = "bench_detour"
	return json.Marshal(d)
}

// machineStep is what one call costs in the machine alone.
func machineStep() (time.Duration, error) {
	g, err := graph.Parse([]byte(workflowDocuments()[fiveWorkflow]), graph.Tools{noopTool: {Name: noopTool, Idempotent: true}}, graph.ChatLimits())
	if err != nil {
		return 0, err
	}
	const runs, calls = 500, 5
	began := time.Now()
	for range runs {
		r, effects := g.Start(graph.Input{Now: began})
		for len(effects) > 0 {
			effects = r.Done(effects[0].ID, map[string]any{}, began)
		}
	}
	return time.Since(began) / (runs * calls), nil
}

// recordings are run.Recordings in memory.
type recordings struct {
	heads  []run.Recording
	bodies map[string][]byte
}

// recordedRuns are as many runs of the documents graph: a clear answer, a choice
// between documents, a question put more clearly, and small talk.
func recordedRuns(a artifacts.Artifact, n int) (*recordings, error) {
	text := newProse(3)
	r := &recordings{bodies: map[string][]byte{}}
	for i := range n {
		rec := recordedTurn(i, text)
		body, err := rehearsal.Pack(rec)
		if err != nil {
			return nil, err
		}
		runID := fmt.Sprintf("bench-%05d", i)
		r.bodies[runID] = body
		r.heads = append(r.heads, run.Recording{
			RunID: runID, UserID: fmt.Sprintf("person-%d", i%97), Kind: run.KindChat, Status: run.Done,
			Graph: run.Pin{ArtifactID: a.ID, Name: a.Name, Version: a.Version}, Branch: fmt.Sprintf("way-%d", i%4),
			At: time.Unix(int64(1_700_000_000+60*i), 0).UTC(),
		})
	}
	return r, nil
}

// recordedTurn is the i-th of them, with passages of a usual size.
func recordedTurn(i int, text *prose) rehearsal.Record {
	call := func(tool string, took time.Duration, result map[string]any) []rehearsal.Output {
		return []rehearsal.Output{{Tool: tool, Kind: rehearsal.OutputCall, Result: result, Took: took}}
	}
	found := func(clarity string) []rehearsal.Output {
		var passages []any
		for n := range 6 {
			passages = append(passages, map[string]any{"n": float64(n), "text": text.passage(chunkBytes), "score": 0.5})
		}
		return call("rag.search_v1", 80*time.Millisecond, map[string]any{
			"passages": passages, "confidence": "high", "clarity": clarity, "average_similarity": 0.8,
			"documents": []any{map[string]any{"id": "d1", "title": "One"}, map[string]any{"id": "d2", "title": "Two"}},
			"options":   []any{map[string]any{"id": "d1", "label": "One"}, map[string]any{"id": "d2", "label": "Two"}},
		})
	}
	asked := func(answer string) []rehearsal.Output {
		return []rehearsal.Output{{Kind: rehearsal.OutputAsk, Result: map[string]any{"answer": answer}, Took: time.Minute}}
	}
	intent := "qa_with_docs"
	outputs := map[string][]rehearsal.Output{
		"answer#1": call("rag.answer_with_context_v1", 2*time.Second, map[string]any{"answer": text.passage(chunkBytes), "citations": []any{}}),
	}
	switch i % 4 {
	case 0:
		outputs["search#1"] = found("clear")
	case 1:
		outputs["search#1"], outputs["choose#1"], outputs["search_chosen#1"] = found("several"), asked("d2"), found("clear")
	case 2:
		outputs["search#1"], outputs["clarify#1"], outputs["search_detail#1"] = found("vague"), asked("the notice period"), found("clear")
	default:
		intent = "smalltalk"
		outputs["chat#1"] = call("llm.generic_chat_v1", time.Second, map[string]any{"answer": text.sentence()})
	}
	outputs["understand#1"] = call("llm.intent_classifier_v1", 300*time.Millisecond, map[string]any{"intent": intent, "confidence": 0.9})
	return rehearsal.Record{
		Input:   graph.Input{Input: map[string]any{"message": text.sentence()}, Now: time.Unix(int64(1_700_000_000+60*i), 0).UTC()},
		Outputs: outputs,
	}
}

// Recordings implements run.Recordings.
func (r *recordings) Recordings(context.Context, identity.Viewer, run.RecordingFilter) ([]run.Recording, error) {
	return r.heads, nil
}

// RecordingBodies implements run.Recordings.
func (r *recordings) RecordingBodies(_ context.Context, _ identity.Viewer, ids ...string) (map[string][]byte, error) {
	bodies := make(map[string][]byte, len(ids))
	for _, id := range ids {
		bodies[id] = r.bodies[id]
	}
	return bodies, nil
}

// Recording implements run.Recordings.
func (r *recordings) Recording(context.Context, identity.Viewer, string) (run.Recording, error) {
	return run.Recording{}, errNotAsked
}

// ForgetRecordings implements run.Recordings.
func (r *recordings) ForgetRecordings(context.Context, identity.Viewer, time.Time) (int, error) {
	return 0, errNotAsked
}

var errNotAsked = errors.New("a rehearsal asks for heads and bodies only")

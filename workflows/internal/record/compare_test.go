package record

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"liminal/activities/activitiestest"
	"liminal/internal/id"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// A comparison waits for days between its answers and the choice: it must go on
// with whatever version of the program runs then. Its graph is the one that ships.
//
// Requirements: PLAT-02 (found by id and type), PLAT-08
func TestAComparisonOfAnAdapter(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "artifacts", "defaults", "workflow.chat", "adapter.compare.json"))
	if err != nil {
		t.Fatal(err)
	}
	compare, choose := tool.Spec{Runs: tool.Activity, Queue: tool.QueueModels, TimeoutMS: 60_000}, tool.Spec{Runs: tool.Activity, TimeoutMS: 60_000}
	w := activitiestest.New(oneModel).Tool("llm", model, echo)
	w.Tool("adapter.compare_v1", compare, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"message_id": id.Derive(c.RunID, c.Node), "model": "m", "usage": map[string]any{"output_tokens": 3.0}}, nil
	})
	w.Tool("adapter.choose_v1", choose, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"with": c.Inputs["which"] == "second"}, nil
	})
	w.Workflows["adapter.compare"] = string(doc)
	s := newStage(t, w)
	r, err := s.engine.RunWorkflow(t.Context(), activitiestest.Viewer, "adapter.compare", map[string]any{"adapter_id": id.Derive("adapter"), "message": "What is a lemma?"}, nil, "c1")
	if err != nil {
		t.Fatal(err)
	}
	s.launch(r)
	s.question(0)
	s.until(r.ID, run.Waiting)
	s.answer(0, run.Answer{Type: "action_choice", Value: "second"})
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	got := s.freeze("run_workflow_compare", r.WorkflowID, "")
	if s.steady(r.WorkflowID) && (got[scheduled] != 3 || got[updated] != 1 || w.Count("first") != 1 || w.Count("second") != 1 || w.Count("record") != 1) {
		t.Errorf("it has %v; want two answers, a choice and its record", got)
	}
}

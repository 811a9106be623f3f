package artifacts_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"liminal/internal/graph"
)

// paliadin is the graph of the pack, over tools of its names.
func paliadin(t *testing.T) *graph.Graph {
	t.Helper()
	doc, err := os.ReadFile("packs/matters/workflow.chat/paliadin.json")
	if err != nil {
		t.Fatal(err)
	}
	tools := graph.Tools{graph.StepTool: {Name: graph.StepTool, Idempotent: true}}
	specs, err := filepath.Glob("packs/matters/tool.spec/*.json")
	if err != nil || len(specs) == 0 {
		t.Fatalf("no tools: %v", err)
	}
	for _, name := range specs {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var spec struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(raw, &spec); err != nil {
			t.Fatal(err)
		}
		tools[spec.Name] = graph.Tool{Name: spec.Name, Idempotent: true}
	}
	g, err := graph.Parse(doc, tools, graph.ChatLimits())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// askPaliadin plays a turn whose model steps give what say gives of their number.
func askPaliadin(t *testing.T, say func(step int) map[string]any) (out graph.Outcome, steps int) {
	t.Helper()
	now := time.Date(2026, 5, 12, 9, 0, 0, 0, time.UTC)
	r, effects := paliadin(t).Start(graph.Input{Now: now, Input: map[string]any{"message": "m"}, User: map[string]any{
		"firm": "HLC", "name": "Keller", "office": "Berlin", "today": "2026-05-12", "language": "de", "locale": "de",
	}})
	for len(effects) > 0 {
		e := effects[0]
		effects = effects[1:]
		if e.Call == nil {
			t.Fatalf("the graph wants %+v", e)
		}
		given := map[string]any{"all": map[string]any{"total": 3.0}}
		if e.Call.Tool == graph.StepTool {
			if !e.Call.Final || e.Call.Inputs["ground"] == nil {
				t.Fatalf("the step is not streamed, or not held to results: %+v", e.Call)
			}
			steps++
			given = say(steps)
		}
		effects = append(effects, r.Done(e.ID, given, now)...)
	}
	out, ended := r.Outcome()
	if !ended || out.Err != nil {
		t.Fatalf("the turn ended %v: %v", ended, out.Err)
	}
	return out, steps
}

func stepOf(text string, calls []any, more map[string]any) map[string]any {
	out := map[string]any{"text": text, "content": []any{}, "tool_calls": []any{}, "stop": "end_turn", "calls": calls, "evidence": []any{}, "links": []any{}}
	for key, v := range more {
		out[key] = v
	}
	return out
}

// Requirements: GRND-39 (the closed set with a fallback)
func TestAnAnswerIsTaggedByWhatTheModelSaysElseByWhatItDid(t *testing.T) {
	t.Parallel()
	called := func(name string) []any { return []any{map[string]any{"name": name, "status": "ok"}} }
	for want, step := range map[string]map[string]any{
		"data":       stepOf("a", append(called("lookup_court"), called("search_my_deadlines")...), nil),
		"concept":    stepOf("a", called("lookup_glossary_term"), nil),
		"navigation": stepOf("a", []any{}, map[string]any{"links": []any{map[string]any{"kind": "nav", "action": "go"}}}),
		"meta":       stepOf("a", []any{}, nil),
		"other":      stepOf("a", []any{}, map[string]any{"stop": "max_tokens"}),
	} {
		for said, tag := range map[string]string{"": want, "concept": "concept", "gossip": want} {
			given := stepOf("a", nil, step)
			if said != "" {
				given["tag"] = said
			}
			out, _ := askPaliadin(t, func(int) map[string]any { return given })
			if out.Data["tag"] != tag || out.Response != "a" {
				t.Errorf("%s, the model says %q: the tag is %v, the answer %q", want, said, out.Data["tag"], out.Response)
			}
		}
	}
}

// Requirements: GRND-21 (five rounds; the sentence; tool_loop_cap)
func TestAModelThatOnlyCallsToolsIsStoppedAfterFiveRounds(t *testing.T) {
	t.Parallel()
	out, steps := askPaliadin(t, func(n int) map[string]any {
		return stepOf("", []any{}, map[string]any{"tool_calls": []any{map[string]any{"id": fmt.Sprint(n), "name": "whats_on_my_plate", "arguments": map[string]any{}}}})
	})
	if steps != 6 || out.Response != "Sorry, I got stuck — try rephrasing." || out.Data["error_code"] != "tool_loop_cap" {
		t.Errorf("%d steps, %q, %v", steps, out.Response, out.Data)
	}
}

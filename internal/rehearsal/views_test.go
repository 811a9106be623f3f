package rehearsal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/check"
	"liminal/internal/rehearsal"
	"liminal/internal/view"
)

// lineage is a recorded history: greps whose results nobody refers to, something that
// stays, and answers behind them.
func lineage(name string, greps, answers int) view.Recorded {
	r := view.Recorded{Lineage: name}
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	var total, before int64
	add := func(typ, role string, doc map[string]any) {
		raw, _ := json.Marshal(doc)
		b := view.Block{UUID: fmt.Sprintf("%s-%04x", name, len(r.Blocks)), Display: len(r.Blocks), Type: typ, Role: role, Tokens: int64(len(raw) / 4), Bytes: len(raw), At: at}
		b.Read(raw)
		if role == "assistant" {
			r.Requests = append(r.Requests, view.Sent{
				Blocks: len(r.Blocks), At: at.Add(time.Duration(len(r.Requests)) * time.Minute), Model: "m", Input: 3, Read: before, Write: total - before, Output: 10, Unit: 1e-6,
			})
			before = total
		}
		r.Blocks = append(r.Blocks, b)
		total += b.Tokens
	}
	ask := func(text string) { add("User", "user", map[string]any{"type": "text", "text": text}) }
	ask("go on" + strings.Repeat(" word", 8000))
	for i := range greps {
		id := fmt.Sprintf("toolu_%s_%d", name, i)
		add("ToolUse", "assistant", map[string]any{"type": "tool_use", "id": id, "name": "Grep", "input": map[string]any{"pattern": fmt.Sprint(i)}})
		add("ToolResult", "user", map[string]any{"type": "tool_result", "tool_use_id": id, "content": fmt.Sprint(i, strings.Repeat(" hit", 5000))})
	}
	for i := range answers {
		ask("on")
		add("Assistant", "assistant", map[string]any{"type": "text", "text": fmt.Sprint("well ", i)})
	}
	return r
}

func recorded(list ...view.Recorded) rehearsal.Lineages {
	return func(_ context.Context, _ string, most int) iter.Seq2[view.Recorded, error] {
		return func(yield func(view.Recorded, error) bool) {
			for _, r := range list[:min(most, len(list))] {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

func palacePolicy(doc string) artifacts.Artifact {
	return artifacts.Artifact{ID: "p", Type: artifacts.KindPalace, Name: "default", Version: 1, Schema: json.RawMessage(doc)}
}

// Requirements: CFG-07 (dry run), CFG-11
func TestAPolicyOfViewsIsRehearsedOverHistories(t *testing.T) {
	t.Parallel()
	long := lineage("a", 8, 30)
	long.Off, long.Told = 0.01, true
	run := func(before, after string, list ...view.Recorded) *rehearsal.Report {
		t.Helper()
		r, err := rehearsal.Run(t.Context(), nil, nil, rehearsal.Plan{Artifact: palacePolicy(before), Doc: json.RawMessage(after), Lineages: recorded(list...)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const shadow, live = `{"kind":"policy.palace"}`, `{"kind":"policy.palace","mode":"view"}`
	r := run(shadow, live, long, lineage("b", 1, 2))
	v := r.Views
	if r.Moved != 1 || v.Histories != 2 || v.Epochs != (rehearsal.Two{After: 1}) || v.Results.After < 6 || v.Cost.Before != v.Recorded || v.Cost.After >= v.Recorded || r.Verdict != rehearsal.Pass {
		t.Errorf("switching views on: %+v, %+v, %s %v", v, r.Sample, r.Verdict, r.Reasons)
	}
	if !v.Told || v.Low >= v.Cost.After || v.High <= v.Cost.After || v.AsView {
		t.Errorf("the cost lies between $%.4f and $%.4f (%v)", v.Low, v.High, v.Told)
	}
	if e := r.Examples["moved"]; len(e) != 1 || e[0].RunID != "a" || !strings.Contains(e[0].New[0], "results") || len(e[0].Old) != 0 {
		t.Errorf("the examples are %+v", e)
	}
	// In shadow nothing is changed, so both are played as if they did.
	r = run(shadow, `{"kind":"policy.palace","rules":[]}`, long)
	if r.Moved != 1 || !r.Views.AsView || r.Views.Epochs != (rehearsal.Two{Before: 1}) {
		t.Errorf("in shadow: %+v", r.Views)
	}
	if r = run(shadow, shadow); r.Verdict != rehearsal.Pass || len(r.Reasons) != 1 || !strings.Contains(r.Reasons[0], "No history") {
		t.Errorf("of nothing: %v", r.Reasons)
	}
}

// Requirements: CFG-11
func TestWhatIsNeededAgainAsksForASecondApprover(t *testing.T) {
	t.Parallel()
	missed := lineage("a", 8, 30)
	id := "toolu_again"
	for _, b := range []struct {
		typ, role string
		doc       map[string]any
	}{
		{"ToolUse", "assistant", map[string]any{"type": "tool_use", "id": id, "name": "Grep", "input": map[string]any{"pattern": "0"}}},
		{"ToolResult", "user", map[string]any{"type": "tool_result", "tool_use_id": id, "content": "0 hit"}},
	} {
		raw, _ := json.Marshal(b.doc)
		block := view.Block{UUID: id, Type: b.typ, Role: b.role, Tokens: 10, Bytes: len(raw)}
		block.Read(raw)
		missed.Blocks = append(missed.Blocks, block)
	}
	const shadow, live = `{"kind":"policy.palace"}`, `{"kind":"policy.palace","mode":"view"}`
	for _, c := range []struct {
		before, after string
		verdict       rehearsal.Verdict
	}{
		{shadow, live, rehearsal.Second},
		{live, `{"kind":"policy.palace","mode":"view","keep":{"turns":5}}`, rehearsal.Warn}, // it was so before
		{`{"kind":"policy.palace","rehearsal":{"block":[{"when":"regret.after > 0.01","say":"it is missed"}]}}`, live, rehearsal.Block},
		{shadow, `{"kind":"policy.palace","mode":"view","epoch":{"min_tokens":1000000},"rules":[]}`, rehearsal.Pass},
	} {
		r, err := rehearsal.Run(t.Context(), nil, nil, rehearsal.Plan{Artifact: palacePolicy(c.before), Doc: json.RawMessage(c.after), Lineages: recorded(missed)})
		if err != nil || r.Verdict != c.verdict {
			t.Errorf("%s to %s: %s %v, %v", c.before, c.after, r.Verdict, r.Reasons, err)
		}
	}
	_, err := rehearsal.Run(t.Context(), nil, nil, rehearsal.Plan{Artifact: palacePolicy(shadow), Doc: json.RawMessage(`{"kind":"policy.palace","mode":"x"}`), Lineages: recorded()})
	if _, ok := errors.AsType[check.Faults](err); !ok {
		t.Errorf("a policy that cannot be followed: %v", err)
	}
	if _, err = rehearsal.Run(t.Context(), nil, nil, rehearsal.Plan{Artifact: palacePolicy(shadow), Doc: json.RawMessage(shadow)}); err == nil {
		t.Error("without histories it was rehearsed")
	}
}

// A rehearsal on 100 histories of 100 requests is done within two seconds.
func BenchmarkViews100x100(b *testing.B) {
	var list []view.Recorded
	for i := range 100 {
		list = append(list, lineage(fmt.Sprint("l", i), 50, 50))
	}
	plan := rehearsal.Plan{Artifact: palacePolicy(`{"kind":"policy.palace"}`), Doc: json.RawMessage(`{"kind":"policy.palace","mode":"view"}`), Lineages: recorded(list...)}
	for b.Loop() {
		if r, err := rehearsal.Run(b.Context(), nil, nil, plan); err != nil || r.Views.Requests != 10_000 {
			b.Fatal(r, err)
		}
	}
}

package graph_test

import (
	"strings"
	"testing"
	"time"

	"liminal/internal/graph"
)

const twoSpeakers = `{"kind":"workflow.chat","entrypoint":"a","nodes":[
	{"id":"a","type":"tool_call","tool":"say","timeout_ms":20000,"next":"b"},
	{"id":"b","type":"tool_call","tool":"say","next":"c"},
	{"id":"c","type":"tool_call","tool":"look"}]}`

// Requirements: STREAM-09
func TestTheTimeAModelSpeaksIsNotTheRuns(t *testing.T) {
	t.Parallel()
	tools := graph.Tools{"say": {Name: "say", Idempotent: true, Speaks: true}, "look": {Name: "look", Idempotent: true}}
	limits := graph.ChatLimits()
	limits.Speech = 30 * time.Minute
	g, err := graph.Parse([]byte(twoSpeakers), tools, limits)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)
	r, effects := g.Start(graph.Input{Now: now})
	first := effects[0].Call
	if first.Timeout != 20*time.Second || first.Longest != 32*time.Minute {
		t.Fatalf("the first may be silent for %s and take %s", first.Timeout, first.Longest)
	}
	now = now.Add(25 * time.Minute)
	effects = r.Done(effects[0].ID, map[string]any{}, now)
	if len(effects) != 1 || effects[0].Call.Longest != 7*time.Minute || effects[0].Call.Timeout != 15*time.Second {
		t.Fatalf("after 25 minutes: %+v", effects)
	}
	if r.Spoken() != 25*time.Minute || r.Spent() != 0 {
		t.Errorf("%s spoken, %s spent", r.Spoken(), r.Spent())
	}
	now = now.Add(6 * time.Minute) // five of which are the last there are
	effects = r.Done(effects[0].ID, map[string]any{}, now)
	if len(effects) != 1 || effects[0].Call.Longest != 0 || r.Spoken() != 30*time.Minute || r.Spent() != time.Minute {
		t.Fatalf("%s spoken, %s spent: %+v", r.Spoken(), r.Spent(), effects)
	}
	raw, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if r, err = g.Restore(raw); err != nil || r.Spoken() != 30*time.Minute {
		t.Fatalf("restored: %v", err)
	}
	r.Fail(effects[0].ID, graph.Failure{Code: graph.CodeTimeout}, now.Add(time.Minute))
	if out, over := r.Outcome(); !over || out.Err == nil || !strings.Contains(out.Err.Message, "used up its 2m0s") {
		t.Errorf("without a bound: %+v", out)
	}
}

// Requirements: STREAM-09, PLAT-08
func TestARunOfBeforeHasItsOwnTimeOnly(t *testing.T) {
	t.Parallel()
	tools := graph.Tools{"say": {Name: "say", Idempotent: true, Speaks: true}, "look": {Name: "look", Idempotent: true}}
	g, err := graph.Parse([]byte(twoSpeakers), tools, graph.ChatLimits())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)
	r, effects := g.Start(graph.Input{Now: now})
	if c := effects[0].Call; c.Longest != 0 || c.Timeout != 20*time.Second {
		t.Errorf("%+v", c)
	}
	r.Done(effects[0].ID, map[string]any{}, now.Add(3*time.Minute))
	if out, over := r.Outcome(); !over || out.Err == nil {
		t.Errorf("%+v", out)
	}
}

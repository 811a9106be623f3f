package workflows_test

import (
	"encoding/json"
	"testing"

	"liminal/activities/activitiestest"
	"liminal/internal/fault"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// Requirements: OBS-09, STREAM-15
func TestARunWhosePersonHasSpentTheirBudgetEndsAtOnceAndSaysWhy(t *testing.T) {
	t.Parallel()
	spent := fault.New(fault.RateLimited, "Your budget of today is used up: 9 of 9 tokens.").With(map[string]any{"reason": fault.Budget})
	for name, spec := range map[string]tool.Spec{"inline": inline, "apart": models} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, activitiestest.New(oneNode).Tool("say", spec, failing(99, spent)))
			b.chat("hello")
			c := b.closed()
			var why struct{ Code, Reason, Message string }
			if err := json.Unmarshal(c.End.Error, &why); err != nil || c.End.Status != run.Failed {
				t.Fatalf("the turn ended %s with %s", c.End.Status, c.End.Error)
			}
			if why.Code != "rate_limited" || why.Reason != "budget" || why.Message != spent.Message {
				t.Errorf("it says %+v", why)
			}
			if e := b.world.Event(stream.Error); e["code"] != "rate_limited" || e["reason"] != "budget" {
				t.Errorf("the stream says %v", e)
			}
			if n := b.world.Count("answer"); n != 1 {
				t.Errorf("the tool was called %d times, want 1: waiting does not help", n)
			}
		})
	}
}

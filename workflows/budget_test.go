package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"liminal/activities/activitiestest"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/quota"
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

// passing hands the message on to a child.
var passing = strings.Replace(parent, `"topic":`, `"message":`, 1)

// What a child fails of is told as if its parent had failed of it.
//
// Requirements: OBS-09, API-17
func TestAChildsFailureKeepsItsReason(t *testing.T) {
	t.Parallel()
	for reason, code := range map[string]fault.Code{
		fault.Budget: fault.RateLimited, fault.NotConfigured: fault.Internal, fault.Upstream: fault.Internal,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			cause := fault.New(code, "This is why.").With(map[string]any{"reason": reason})
			w := activitiestest.New(passing).Tool("say", models, failing(99, cause))
			w.Workflows["child"] = oneNode
			b := setup(t, w)
			b.chat("hello")
			c := b.closed()
			var why struct{ Code, Reason, Message string }
			if err := json.Unmarshal(c.End.Error, &why); err != nil || why.Code != string(code) || why.Reason != reason || !strings.HasSuffix(why.Message, cause.Message) {
				t.Errorf("it says %s", c.End.Error)
			}
		})
	}
}

// usageEntries keeps entries as a quota.UsageStore does: one for each run, effect, attempt and model.
type usageEntries struct {
	mu   sync.Mutex
	kept map[string]int64
}

func (*usageEntries) Afford(context.Context, identity.Viewer) error { return nil }

func (p *usageEntries) AddUsage(_ context.Context, _ identity.Viewer, e quota.Entry) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := fmt.Sprint(e.RunID, e.Effect, e.Attempt, e.Model)
	if _, twice := p.kept[key]; !twice {
		p.kept[key] = e.Tokens()
	}
	return nil
}

// Requirements: OBS-09
func TestAChildThatIsRunAgainPaysAgain(t *testing.T) {
	t.Parallel()
	late := fault.New(fault.Internal, "The model did not answer in time.").With(map[string]any{"reason": graph.CodeTimeout})
	calls := 0
	w := activitiestest.New(strings.Replace(passing, `"workflow":"child"`, `"workflow":"child","max_retries":1`, 1)).
		Tool("say", models, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			c.Spent("m", model.Usage{Input: 10})
			if calls++; calls <= 1 {
				return nil, late
			}
			return map[string]any{"answer": "fine"}, nil
		})
	w.Workflows["child"] = strings.Replace(oneNode, `"tool":"say"`, `"tool":"say","max_retries":0`, 1)
	b := setup(t, w)
	p := &usageEntries{kept: map[string]int64{}}
	b.set.ModelBudget = p
	b.chat("hello")
	b.answered("child says fine")
	paid := int64(0)
	for _, n := range p.kept {
		paid += n
	}
	if calls != 2 || paid != 20 {
		t.Errorf("%d calls, %d tokens paid: %v", calls, paid, p.kept)
	}
}

// What an attempt used that failed is part of what its turn used, as it is of
// what its person did.
//
// Requirements: OBS-09
func TestATurnTellsWhatItsFailedAttemptsUsed(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]tool.Spec{"inline": inline, "apart": models} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			b := setup(t, activitiestest.New(oneNode).Tool("say", spec, func(_ context.Context, c *tool.Call) (map[string]any, error) {
				usd := 0.5
				c.Spent("m", model.Usage{Input: 10, Output: 2, CostUSD: &usd})
				if calls++; calls == 1 {
					return nil, fault.New(fault.RateLimited, "Wait.").With(map[string]any{"reason": fault.Upstream, "retry_after_ms": 1.0})
				}
				return map[string]any{"answer": "fine", "usage": map[string]any{"input_tokens": 10.0, "output_tokens": 2.0, "cost_usd": usd}}, nil
			}))
			b.set.ModelBudget = &usageEntries{kept: map[string]int64{}}
			b.chat("hello")
			b.answered("fine")
			m := b.closed().Message
			if usage, _ := json.Marshal(m.Meta["usage"]); m.TokensIn != 20 || m.TokensOut != 4 || !strings.Contains(string(usage), `"cost_usd":1`) {
				t.Errorf("it used %d and %d: %s", m.TokensIn, m.TokensOut, usage)
			}
		})
	}
}

package activities_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/quota"
	"liminal/internal/tool"
)

// modelBudget is a ModelBudget that remembers.
type modelBudget struct {
	empty error

	mu      sync.Mutex
	entries []string
}

func (p *modelBudget) Afford(context.Context, identity.Viewer) error { return p.empty }

func (p *modelBudget) AddUsage(ctx context.Context, _ identity.Viewer, e quota.Entry) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entries = append(p.entries, fmt.Sprintf("%s %d %s %d+%d %.2f", e.Effect, e.Attempt, e.Model, e.Input, e.Output, e.CostUSD))
	return ctx.Err()
}

// Requirements: OBS-09
func TestWhatModelCallsOfAStepUseIsWrittenDownOnceAnAttempt(t *testing.T) {
	t.Parallel()
	usd := 0.25
	broken := errors.New("it broke after it had spoken")
	for what, end := range map[string]error{"answered": nil, "failed": broken} {
		w := world(func(ctx context.Context, c *tool.Call) (map[string]any, error) {
			if err := c.Afford(ctx); err != nil {
				return nil, err
			}
			c.Spent("big", model.Usage{Input: 10, Output: 2, CacheRead: 5, CostUSD: &usd})
			c.Spent("big", model.Usage{Input: 1, Output: 1, CacheWrite: 3, CostUSD: &usd})
			c.Spent("small", model.Usage{Input: 7})
			c.Spent("none", model.Usage{})
			return map[string]any{}, end
		})
		p, set, in := &modelBudget{}, w.Set(), callOf(w)
		set.ModelBudget, in.Attempt = p, 2
		if _, err := set.Call(t.Context(), in); !errors.Is(err, end) {
			t.Errorf("%s: %v", what, err)
		}
		if want := []string{"a#1 2 big 19+3 0.50", "a#1 2 small 7+0 0.00"}; !slices.Equal(p.entries, want) {
			t.Errorf("%s: entered %q", what, p.entries)
		}
	}
}

// Requirements: OBS-09
func TestAStepThatIsStoppedHasUsedWhatItUsed(t *testing.T) {
	t.Parallel()
	w := world(nil)
	set, in := w.Set(), callOf(w)
	w.Funcs["t"] = func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		set.Stop(in.Run.RunID)
		<-ctx.Done()
		c.Spent("big", model.Usage{Input: 10, Output: 2})
		return map[string]any{"answer": "half"}, nil
	}
	p := &modelBudget{}
	set.ModelBudget = p
	r, err := set.Call(t.Context(), in)
	if err != nil || !r.Stopped || len(p.entries) != 1 {
		t.Errorf("stopped %v, %v: entered %q", r.Stopped, err, p.entries)
	}
}

// Requirements: OBS-09
func TestACallThatCannotBeAffordedIsNotMade(t *testing.T) {
	t.Parallel()
	asked := false
	w := world(func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		if err := c.Afford(ctx); err != nil {
			return nil, err
		}
		asked = true
		return map[string]any{}, nil
	})
	set, p := w.Set(), &modelBudget{empty: fault.New(fault.RateLimited, "Your budget is used up.").With(map[string]any{"reason": fault.Budget})}
	set.ModelBudget = p
	_, err := set.Call(t.Context(), callOf(w))
	if asked || fault.Reason(err) != fault.Budget || len(p.entries) != 0 {
		t.Errorf("asked %v, %v, entered %q", asked, err, p.entries)
	}
}

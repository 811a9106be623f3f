package activities

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/quota"
)

// Purse bounds and writes down what model calls use. *quota.Budgets is one.
type Purse interface {
	// Afford is RateLimited with the reason fault.Budget when the
	// person's budget is used up.
	Afford(ctx context.Context, v identity.Viewer) error
	// Enter writes an entry, once for its run, effect, attempt and model.
	Enter(ctx context.Context, v identity.Viewer, e quota.Entry) error
}

// till counts what the model calls of one attempt use.
type till struct {
	set *Set
	in  CallInput

	mu   sync.Mutex // a tool may ask several models at once
	used map[string]quota.Use
}

// afford is asked by a tool before each model call.
func (t *till) afford(ctx context.Context) error {
	if t.set.Purse == nil {
		return nil
	}
	return t.set.Purse.Afford(ctx, t.in.Run.Viewer)
}

// spent is told by a tool after each, however it ended.
func (t *till) spent(name string, u model.Usage) {
	if u.Tokens() == 0 && u.CostUSD == nil {
		return
	}
	one := quota.Use{Calls: 1, Input: int64(u.Input + u.CacheRead + u.CacheWrite), Output: int64(u.Output)}
	if u.CostUSD != nil {
		one.CostUSD = *u.CostUSD
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.used == nil {
		t.used = map[string]quota.Use{}
	}
	t.used[name] = t.used[name].Add(one)
}

// close writes down what was used, also by a call that failed or was stopped.
// Books that cannot be written cost the place a little and nobody their
// answer.
func (t *till) close(ctx context.Context) {
	if t.set.Purse == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(t.used)) {
		e := quota.Entry{
			RunID: t.in.Run.RunID, Effect: t.in.Effect, Attempt: max(1, t.in.Attempt),
			ConversationID: t.in.ConversationID, Model: name, Use: t.used[name],
		}
		if err := t.set.Purse.Enter(context.WithoutCancel(ctx), t.in.Run.Viewer, e); err != nil {
			t.set.logger().WarnContext(ctx, "what a model call used was not written down", "run", t.in.Run.RunID, "node", t.in.Node, "error", err)
		}
	}
}

// charged adds what an attempt used to its failure, for the tally of the run.
func (t *till) charged(err error) error {
	known, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	details, ok := known.Details.(map[string]any)
	if !ok && known.Details != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.used) == 0 {
		return err
	}
	var sum quota.Use
	for _, one := range t.used {
		sum = sum.Add(one)
	}
	usage := map[string]any{"input_tokens": sum.Input, "output_tokens": sum.Output}
	if sum.CostUSD > 0 {
		usage["cost_usd"] = sum.CostUSD
	}
	told := map[string]any{"usage": usage}
	maps.Copy(told, details)
	return known.With(told)
}

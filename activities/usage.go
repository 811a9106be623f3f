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

// ModelBudget bounds and writes down what model calls use. *quota.Budgets is one.
type ModelBudget interface {
	// Afford is RateLimited with the reason fault.Budget when the
	// person's budget is used up.
	Afford(ctx context.Context, v identity.Viewer) error
	// AddUsage writes an entry, once for its run, effect, attempt and model.
	AddUsage(ctx context.Context, v identity.Viewer, e quota.Entry) error
}

// usageMeter counts what the model calls of one attempt use.
type usageMeter struct {
	set *Set
	in  CallInput

	mu   sync.Mutex // a tool may ask several models at once
	used map[string]quota.Use
}

// afford is asked by a tool before each model call.
func (m *usageMeter) afford(ctx context.Context) error {
	if m.set.ModelBudget == nil {
		return nil
	}
	return m.set.ModelBudget.Afford(ctx, m.in.Run.Viewer)
}

// add is told by a tool after each, however it ended.
func (m *usageMeter) add(name string, u model.Usage) {
	if u.Tokens() == 0 && u.CostUSD == nil {
		return
	}
	one := quota.Use{Calls: 1, Input: int64(u.Input + u.CacheRead + u.CacheWrite), Output: int64(u.Output)}
	if u.CostUSD != nil {
		one.CostUSD = *u.CostUSD
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used == nil {
		m.used = map[string]quota.Use{}
	}
	m.used[name] = m.used[name].Add(one)
}

// record writes down what was used, also by a call that failed or was stopped.
// Where it cannot be written down, the usage is not charged to anybody and the
// answer is given all the same.
func (m *usageMeter) record(ctx context.Context) {
	if m.set.ModelBudget == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.used)) {
		e := quota.Entry{
			RunID: m.in.Run.RunID, Effect: m.in.Effect, Attempt: max(1, m.in.Attempt),
			ConversationID: m.in.ConversationID, Model: name, Use: m.used[name],
		}
		if err := m.set.ModelBudget.AddUsage(context.WithoutCancel(ctx), m.in.Run.Viewer, e); err != nil {
			m.set.logger().WarnContext(ctx, "what a model call used was not written down", "run", m.in.Run.RunID, "node", m.in.Node, "error", err)
		}
	}
}

// withUsage adds what an attempt used to its failure, for the tally of the run.
func (m *usageMeter) withUsage(err error) error {
	known, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	details, ok := known.Details.(map[string]any)
	if !ok && known.Details != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.used) == 0 {
		return err
	}
	var sum quota.Use
	for _, one := range m.used {
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

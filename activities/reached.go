package activities

import (
	"context"
	"sync"

	"liminal/internal/model"
	"liminal/internal/run"
)

// reached is how adapters reached the models a call asked. Where one is asked
// again, or another is, the last counts: it is what the answer was made with.
type reached struct {
	mu   sync.Mutex // a tool may ask several models at once
	last model.Applied
}

// watch has r hear how providers apply adapters.
func (r *reached) watch(ctx context.Context) context.Context {
	return model.WithApplied(ctx, func(a model.Applied) {
		r.mu.Lock()
		r.last = a
		r.mu.Unlock()
		model.TellApplied(ctx, a)
	})
}

// trace is what a trace says of it; nil: all reached their model as chosen.
func (r *reached) trace() *run.TraceAdapters {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.last.Approximate && len(r.last.Dropped) == 0 {
		return nil
	}
	out := &run.TraceAdapters{Approximate: r.last.Approximate}
	for _, d := range r.last.Dropped {
		out.Left = append(out.Left, run.LeftAdapter{ID: d.ID, Reason: d.Reason, Weight: d.Weight})
	}
	return out
}

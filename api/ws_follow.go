package api

import (
	"context"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// maxFollows is how many runs one socket follows at once.
const maxFollows = 32

func (k *socket) following(runID string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.follows[runID]
	return ok
}

func (k *socket) unfollow(runID string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if stop, ok := k.follows[runID]; ok {
		stop()
		delete(k.follows, runID)
	}
}

// followRun sends a run's events after seq. Following a run again starts anew.
func (k *socket) followRun(ctx context.Context, runID string, after int64) error {
	if !id.Valid(runID) {
		return fault.New(fault.Invalid, "Name the run_id to follow.")
	}
	r, err := k.Runs.Run(ctx, k.viewer, runID)
	if err != nil {
		return err
	}
	k.unfollow(r.ID)
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.follows) >= maxFollows {
		return fault.New(fault.Conflict, "busy: this socket follows %d runs already.", maxFollows)
	}
	ctx, stop := context.WithCancel(ctx)
	v := k.viewer
	k.follows[r.ID] = stop
	k.running.Go(func() { k.copy(ctx, stop, v, r, after) })
	return nil
}

func (k *socket) copy(ctx context.Context, stop context.CancelFunc, v identity.Viewer, r run.Run, after int64) {
	defer stop()
	defer k.Metrics.Follow("websocket")()
	for e, err := range k.tail.events(ctx, v, r, after) {
		if err != nil {
			k.complain(ctx, r.ID, err)
			break
		}
		if e.Kind.Ends() { // before the frame: who reads it may follow again at once
			k.forget(ctx, r.ID)
		}
		if !k.send(frameOf(e, r)) {
			break
		}
	}
	k.forget(ctx, r.ID)
}

// forget drops a follow that has ended; one that was replaced is cancelled,
// and its successor stays.
func (k *socket) forget(ctx context.Context, runID string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if ctx.Err() == nil {
		delete(k.follows, runID)
	}
}

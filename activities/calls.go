package activities

import (
	"context"
	"errors"
	"sync"
)

// errStopped is the cause of a call cancelled within the process.
var errStopped = errors.New("the person cancelled the run")

// calls are the tool calls under way in this process, by run.
type calls struct {
	mu    sync.Mutex
	last  int
	byRun map[string]map[int]context.CancelCauseFunc
}

// watch makes a call stoppable until release.
func (c *calls) watch(ctx context.Context, runID string) (stoppable context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byRun == nil {
		c.byRun = map[string]map[int]context.CancelCauseFunc{}
	}
	if c.byRun[runID] == nil {
		c.byRun[runID] = map[int]context.CancelCauseFunc{}
	}
	c.last++
	key := c.last
	c.byRun[runID][key] = cancel
	return ctx, func() {
		cancel(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.byRun[runID], key); len(c.byRun[runID]) == 0 {
			delete(c.byRun, runID)
		}
	}
}

func (c *calls) stop(runID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.byRun[runID] {
		cancel(errStopped)
	}
}

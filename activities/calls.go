package activities

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

// errStopped is the cause of a call cancelled within the process.
var errStopped = errors.New("the person cancelled the run")

// stopFor is how long a run that was stopped makes no further call here. By then
// its workflow has its cancel: it learns of a signal when its task ends, and a
// task of quick calls goes on for up to four seconds.
const stopFor = 5 * time.Second

// calls are the tool calls under way in this process, by run.
type calls struct {
	mu      sync.Mutex
	last    int
	byRun   map[string]map[int]context.CancelCauseFunc
	stopped map[string]time.Time // runs, and when they were stopped
}

// watch makes a call stoppable until release. That of a run which was stopped
// just now is stopped from the beginning: the stop may have come between two
// calls.
func (c *calls) watch(ctx context.Context, runID string) (stoppable context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.stopped[runID]; ok && time.Since(at) < stopFor {
		cancel(errStopped)
	}
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

// stop ends the calls of a run that a person cancelled, and those it begins in
// the next seconds.
func (c *calls) stop(runID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.stopped, func(_ string, at time.Time) bool { return time.Since(at) >= stopFor })
	if c.stopped == nil {
		c.stopped = map[string]time.Time{}
	}
	c.stopped[runID] = time.Now()
	c.cancel(runID)
}

// end ends what a run that is closed has left under way. The engine may have its
// last steps done once more, and they come to the same end.
func (c *calls) end(runID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel(runID)
}

func (c *calls) cancel(runID string) {
	for _, cancel := range c.byRun[runID] {
		cancel(errStopped)
	}
}

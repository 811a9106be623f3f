// Package poll calls a function every so often, beside everything else.
//
// It is for what a process keeps in memory and another process may have changed
// in the store they share. It may import nothing of this module.
package poll

import (
	"context"
	"sync"
	"time"
)

// Every calls do each time the interval has passed, one call after the other,
// until stop is called: that cancels a call under way, and waits for it; stopping
// twice is no error. A call that takes longer than the interval delays the next.
// do has the values of ctx and not its end, for ctx is often that of a start,
// which is over long before. every must be positive.
func Every(ctx context.Context, every time.Duration, do func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if ctx.Err() == nil { // both may have been true
				do(ctx)
			}
		}
	})
	return func() { cancel(); running.Wait() }
}

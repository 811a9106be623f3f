package redis

import (
	"context"
	"slices"
	"sync"
	"testing"
)

// Requirements: PLAT-07 (what a document asks for is bounded)
func TestACancelReachesTheOtherProcesses(t *testing.T) {
	t.Parallel()
	one, other := pair(t, Options{})
	ctx, end := context.WithCancel(t.Context())
	var (
		mu    sync.Mutex
		heard []string
		done  sync.WaitGroup
	)
	done.Go(func() {
		other.Stops().Listen(ctx, func(runID string) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, runID)
		})
	})
	said := func(runID string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.Contains(heard, runID)
		}
	}
	until(t, "another process listens", func() bool {
		if err := one.Stops().Announce(t.Context(), "first"); err != nil {
			t.Fatal(err)
		}
		return said("first")()
	})
	until(t, "it hears of the second run", func() bool { // a connection made anew meanwhile misses what is said
		if err := one.Stops().Announce(t.Context(), "second"); err != nil {
			t.Fatal(err)
		}
		return said("second")()
	})
	end()
	done.Wait() // a listener ends with its context
}

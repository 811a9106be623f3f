package storetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"liminal/internal/tool"
)

// OpenBreakers makes fresh breakers as two workers see them: the same ones, or
// two that share their state.
type OpenBreakers func(t testing.TB) (one, other tool.Breakers)

// Breakers proves tool.Breakers as far as no clock is needed.
func Breakers(t *testing.T, open OpenBreakers) {
	t.Run("failures anywhere trip the breaker everywhere", func(t *testing.T) {
		one, other := open(t)
		for i := range tool.BreakerTrips {
			entered(t, []tool.Breakers{one, other}[i%2], "t")(tool.Broken)
		}
		for _, b := range []tool.Breakers{one, other} {
			leave, rest, err := b.Enter(t.Context(), "t")
			need(t, err)
			if leave != nil || rest <= tool.CoolDown/2 || rest > tool.CoolDown {
				t.Errorf("a tripped breaker lets in %v, or rests for %v", leave != nil, rest)
			}
		}
		entered(t, other, "another")(tool.Healthy)
	})
	t.Run("what says nothing of the tool trips no breaker", func(t *testing.T) {
		one, other := open(t)
		for range 2 * tool.BreakerTrips {
			entered(t, one, "t")(tool.Unknown)
			entered(t, other, "t")(tool.Healthy)
		}
		entered(t, one, "t")(tool.Healthy)
	})
	t.Run("of failures at the same time none is lost", func(t *testing.T) {
		one, other := open(t)
		leaves := make([]func(tool.Verdict), tool.BreakerTrips)
		for i := range leaves {
			leaves[i] = entered(t, []tool.Breakers{one, other}[i%2], "t")
		}
		var all sync.WaitGroup
		for _, leave := range leaves {
			all.Go(func() { leave(tool.Broken) })
		}
		all.Wait()
		leave, _, err := one.Enter(t.Context(), "t")
		need(t, err)
		want(t, "lets in", leave != nil, false)
	})
}

func entered(t testing.TB, b tool.Breakers, name string) func(tool.Verdict) {
	t.Helper()
	leave, rest, err := b.Enter(t.Context(), name)
	need(t, err)
	if leave == nil {
		t.Fatalf("%s rests for %v", name, rest)
	}
	return leave
}

// OpenDecodes makes fresh places, each a person, as two workers see them.
type OpenDecodes func(t testing.TB, each int) (one, other tool.Decodes)

// Decodes proves tool.Decodes.
func Decodes(t *testing.T, open OpenDecodes) {
	t.Run("a person has so many answers under way and the rest wait", func(t *testing.T) {
		one, other := open(t, 2)
		var now, most atomic.Int64
		need(t, errors.Join(race(crowd, func(i int) error {
			leave, err := []tool.Decodes{one, other}[i%2].Enter(t.Context(), "ada")
			if err != nil {
				return err
			}
			n := now.Add(1)
			for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
				continue
			}
			now.Add(-1)
			leave()
			return nil
		})...))
		if most.Load() > 2 {
			t.Errorf("%d at once, want 2", most.Load())
		}
	})
	t.Run("who waits leaves with their context, and another person does not wait", func(t *testing.T) {
		one, other := open(t, 1)
		leave := got(one.Enter(t.Context(), "ada"))(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := other.Enter(ctx, "ada")
			ended <- err
		}()
		got(other.Enter(t.Context(), "grace"))(t)()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up got %v", err)
		}
		leave()
		leave()
		got(other.Enter(t.Context(), "ada"))(t)()
	})
}

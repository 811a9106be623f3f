package storetest

import (
	"sync/atomic"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/quota"
)

// Ledger proves quota.Ledger as far as no clock is needed.
func Ledger(t *testing.T, open func(t testing.TB) quota.Ledger) {
	t.Run("a bucket gives its burst and no more", func(t *testing.T) {
		l := open(t)
		var taken, refused atomic.Int64
		errs := race(writers, func(int) error {
			wait, err := l.Take(t.Context(), "chat:ada", 1.0/3600, 20)
			if wait > 0 {
				refused.Add(1)
			} else {
				taken.Add(1)
			}
			return err
		})
		want(t, "calls", winners(t, errs, fault.RateLimited), writers)
		want(t, "taken", taken.Load(), 20)
		want(t, "refused", refused.Load(), writers-20)
		want(t, "another key waits", got(l.Take(t.Context(), "chat:grace", 1, 1))(t), 0)
	})
	t.Run("places are taken and given back", func(t *testing.T) {
		l := open(t)
		releases := make(chan func(), writers)
		errs := race(writers, func(int) error {
			release, ok, err := l.Acquire(t.Context(), "sockets:ada", 2)
			if ok {
				releases <- release
			}
			return err
		})
		want(t, "calls", winners(t, errs, fault.Conflict), writers)
		want(t, "places", len(releases), 2)
		release := <-releases
		release()
		release()
		for _, expected := range []bool{true, false} {
			_, ok, err := l.Acquire(t.Context(), "sockets:ada", 2)
			need(t, err)
			want(t, "a place after one was given back", ok, expected)
		}
	})
}

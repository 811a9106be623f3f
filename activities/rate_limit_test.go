package activities

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// One person who is alone waits for nobody; beside another one, theirs is a
// bounded share, and the other one's few operations never wait.
func TestTheRateLimitOfOnePersonLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l rateLimit
		began := time.Now()
		for range 1000 {
			if err := l.wait(t.Context(), "many", costCall, engineRate()); err != nil {
				t.Fatal(err)
			}
		}
		if alone := time.Since(began); alone != 0 {
			t.Errorf("alone, a thousand calls waited %v", alone)
		}
		var done atomic.Int64
		go func() {
			for l.wait(t.Context(), "many", costRun, engineRate()) == nil {
				done.Add(1)
			}
		}()
		const turns = 60
		for range turns {
			before := time.Now()
			if err := l.wait(t.Context(), "few", costCall, engineRate()); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(before); waited > 0 {
				t.Errorf("one call a second waited %v", waited)
			}
			time.Sleep(time.Second)
		}
		rate := float64(done.Load()) * costRun / turns
		if limit := 1.1 * engineRate(); rate > limit || rate < limit/2 {
			t.Errorf("beside another, %v operations a second; want at most %v and not much less", rate, limit)
		}
	})
}

// Somebody who has been away for long does not hold anybody up.
func TestWhoIsGoneDoesNotSlowAnybody(t *testing.T) {
	t.Parallel()
	var l rateLimit
	now := time.Now()
	l.reserve("gone", costCall, engineRate(), now)
	now = now.Add(presence + time.Second)
	for range 1000 {
		if wait := l.reserve("many", costCall, engineRate(), now); wait > 0 {
			t.Fatalf("waits %v for somebody who has gone", wait)
		}
	}
}

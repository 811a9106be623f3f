package activities

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/identity"
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

// A turn whose calls all stay in this process uses nothing of the engine's, and
// its person is there all the same.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestWhoHasARunIsThereForTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Set{}
		child := RunInput{RunID: "many", Viewer: identity.Viewer{UserID: "many"}, Child: &ChildInput{EffectID: "a#1"}, Queued: true}
		begin := func() time.Duration {
			began := time.Now()
			if err := s.awaitSlot(t.Context(), child); err != nil {
				t.Fatal(err)
			}
			s.ReleaseSlot(child)
			return time.Since(began)
		}
		for range 50 {
			if waited := begin(); waited > 0 {
				t.Fatalf("alone, it waited %v", waited)
			}
		}
		turn := RunInput{RunID: "hello", Viewer: identity.Viewer{UserID: "few"}}
		if err := s.awaitSlot(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
		s.ReleaseSlot(turn)
		began := time.Now()
		for range 50 {
			begin()
		}
		if took := time.Since(began).Seconds(); took < 40*costRun/engineRate() {
			t.Errorf("fifty runs below another began within %.1f s beside somebody's turn", took)
		}
	})
}

// A call that is repeated was brought by a timer of the engine's, though it is
// made in this process: a thousand of them, a millisecond apart, had two thirds of
// the machine.
func TestARepeatedCallCountsForTheEngine(t *testing.T) {
	t.Parallel()
	for attempt, paced := range map[int]bool{1: false, 2: true} {
		synctest.Test(t, func(t *testing.T) {
			s := &Set{}
			s.engineLimit.note("few", time.Now())
			call := CallInput{Run: RunInput{RunID: "many", Viewer: identity.Viewer{UserID: "many"}}, Effect: "a#1", Attempt: attempt}
			began := time.Now()
			for range 100 {
				done, err := s.acquireInlineSlot(t.Context(), call)
				if err != nil {
					t.Fatal(err)
				}
				done()
				s.ReleaseSlot(call.Run)
			}
			if took := time.Since(began).Seconds(); paced != (took > 70*costCall/engineRate()) {
				t.Errorf("a hundred calls at attempt %d took %.1f s", attempt, took)
			}
		})
	}
}

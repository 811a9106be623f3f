package activities

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/identity"
)

func childOf(user, run, effect string) RunInput {
	return RunInput{RunID: run, Viewer: identity.Viewer{UserID: user}, Queued: true, Child: &ChildInput{EffectID: effect}}
}

// begun starts awaitSlot and reports whether it has come back once everything
// that can happen at once has happened.
func begun(t *testing.T, s *Set, in RunInput) func() bool {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.awaitSlot(t.Context(), in) }()
	return func() bool {
		synctest.Wait()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("awaitSlot: %v", err)
			}
			done <- err
			return true
		default:
			return false
		}
	}
}

// One person's runs compute a few at a time; another's never wait for them, and
// what waits goes on as soon as one of them only waits itself.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestRunsOfOnePersonTakeTurnsToCompute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Set{}
		slots := max(1, runtime.GOMAXPROCS(0)/2)
		for i := range slots {
			if !begun(t, s, childOf("many", "r", string(rune('a'+i))))() {
				t.Fatalf("run %d of %d slots waits", i, slots)
			}
		}
		third := begun(t, s, childOf("many", "r", "next"))
		if third() {
			t.Fatal("a run more than there are slots computes")
		}
		if !begun(t, s, childOf("few", "q", "a"))() {
			t.Error("another person's run waits for them")
		}
		if !begun(t, s, RunInput{RunID: "sys", Viewer: identity.System()})() {
			t.Error("the system's own run waits for them")
		}
		s.ReleaseSlot(childOf("many", "r", "a"))
		s.ReleaseSlot(childOf("many", "r", "a")) // saying it twice gives no second slot
		fourth := begun(t, s, childOf("many", "r", "last"))
		time.Sleep(time.Millisecond)
		if !third() || fourth() {
			t.Errorf("one slot is free: the next run began %v, the one after it %v", third(), fourth())
		}
		time.Sleep(slotLease + maxReleaseDelay + time.Second) // the lease, and the delay after it
		if !fourth() {
			t.Error("a slot whose worker says nothing any more is never given back")
		}
	})
}

// Requirements: PLAT-07 (what a document asks for is bounded)
func TestACancelledRunWaitsForNoTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Set{}
		for i := range max(1, runtime.GOMAXPROCS(0)/2) {
			begun(t, s, childOf("p", "other", string(rune('a'+i))))()
		}
		waiting := begun(t, s, childOf("p", "r", "a"))
		if waiting() {
			t.Fatal("it does not wait")
		}
		s.Stop("r")
		if !waiting() {
			t.Error("it waits although it was cancelled")
		}
	})
}

// Requirements: PLAT-07 (what a document asks for is bounded)
func TestAStopBetweenTwoCallsReachesTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c calls
		begins := func(runID string) error {
			ctx, release := c.watch(t.Context(), runID)
			defer release()
			return context.Cause(ctx)
		}
		c.stop("r")
		if err := begins("r"); !errors.Is(err, errStopped) {
			t.Errorf("the next call is not stopped: %v", err)
		}
		c.end("other") // it is closed, and its last steps may be done once more
		if err := begins("other"); err != nil {
			t.Errorf("another run's call is: %v", err)
		}
		time.Sleep(stopFor)
		if err := begins("r"); err != nil {
			t.Errorf("the run makes no calls for ever: %v", err)
		}
		if c.stop("other"); len(c.stopped) != 1 {
			t.Errorf("%d stops are remembered, want the last", len(c.stopped))
		}
	})
}

// Held by the race detector: in a process of its own, a run may end while the
// first of all slots is taken by another.
func TestARunMayEndWhileTheFirstSlotIsTaken(t *testing.T) {
	t.Parallel()
	s, ended := &Set{}, make(chan struct{})
	go func() {
		defer close(ended)
		s.ReleaseSlot(RunInput{RunID: "other"})
	}()
	if err := s.awaitSlot(t.Context(), childOf("many", "r", "a")); err != nil {
		t.Error(err)
	}
	<-ended
}

// Where the processors are others', or a database is slow, a place is held for
// long and nothing is computed: that is nobody's fault.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestWhoOnlyWaitsInAPlaceNeedsNoRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Set{}
		s.computeLimit.reserve("other", 0, computeRate(), time.Now())
		slow := RunInput{RunID: "slow", Viewer: identity.Viewer{UserID: "p"}, Queued: true}
		for range 3 {
			began := time.Now()
			if err := s.awaitSlot(t.Context(), slow); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(began); waited > 0 {
				t.Fatalf("it waited %v", waited)
			}
			time.Sleep(slotLease - time.Millisecond) // no time of a processor
			s.ReleaseSlot(slow)
			synctest.Wait()
		}
	})
}

// A chat turn has its person looking on: it waits for others of theirs, but not
// for long.
func TestATurnWaitsBrieflyForOthersOfItsPerson(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Set{}
		for i := range max(1, runtime.GOMAXPROCS(0)/2) {
			if leave, err := s.holdForTest(t.Context(), "p"); err != nil {
				t.Fatal(i, err)
			} else {
				defer leave()
			}
		}
		began := time.Now()
		if err := s.awaitSlot(t.Context(), RunInput{RunID: "turn", Viewer: identity.Viewer{UserID: "p"}}); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited != maxTurnWait {
			t.Errorf("it waited %v, want %v", waited, maxTurnWait)
		}
	})
}

// holdForTest takes a slot that no lease gives back.
func (s *Set) holdForTest(ctx context.Context, person string) (func(), error) {
	return s.computeSlots.byPerson().Enter(ctx, person)
}

package tool_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/tool"
)

// enter takes a place that must be free.
func enter(t *testing.T, s *tool.Shares, person string) (leave func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	leave, err := s.Enter(ctx, person)
	if err != nil {
		t.Fatalf("%s does not get in: %v", person, err)
	}
	return leave
}

// Requirements: RAG-19
func TestOnePersonsWorkLeavesPlacesForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := tool.NewShares(4, 2, 1)
		enter(t, s, "greedy")
		first := enter(t, s, "greedy")
		went := make(chan func(), 1)
		go func() {
			leave, err := s.Enter(t.Context(), "greedy")
			if err != nil {
				t.Error(err)
			}
			went <- leave
		}()
		synctest.Wait()
		var full *tool.FullError
		if _, err := s.Enter(t.Context(), "greedy"); !errors.As(err, &full) || full.After < time.Second {
			t.Errorf("a fourth of the same person: %v", err)
		}
		enter(t, s, "other")()
		first()
		(<-went)()
	})
}

func TestPlacesGoRoundByPerson(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := tool.NewShares(1, 1, 10)
		leave := enter(t, s, "holder")
		var came []string
		over := make(chan struct{})
		for _, person := range []string{"a", "a", "a", "b"} {
			go func() {
				mine, err := s.Enter(t.Context(), person)
				if err != nil {
					t.Error(err)
					return
				}
				came = append(came, person) // one place: one at a time
				mine()
				over <- struct{}{}
			}()
			synctest.Wait()
		}
		leave()
		for range 4 {
			<-over
		}
		if len(came) != 4 || came[1] != "b" {
			t.Errorf("they came as %v", came)
		}
	})
}

func TestWhoGivesUpWaitingLeavesTheLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := tool.NewShares(1, 1, 1)
		leave := enter(t, s, "a")
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := s.Enter(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("waiting ended with %v", err)
			}
			cancel()
		}
		leave()
		enter(t, s, "a")()
		enter(t, s, "b")()
	})
}

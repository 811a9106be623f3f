package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/run"
	"liminal/workflows"
)

// Whoever works on a run tells where it stands, and tells the same; while
// nobody does, who asks is kept no longer than they like.
//
// Requirements: GRAPH-26
func TestARunIsLookedIntoWhereverItIsWorkedOn(t *testing.T) {
	t.Parallel()
	s := emptyStage(t, activitiestest.New(asking).Tool("llm", model, echo), nil)
	never := s.world.Chat("never started", chat.TurnInput{})
	s.eventually("a run without a workflow not to be found", func() bool {
		_, err := s.look(never.RunID)
		return errors.Is(err, fault.NotFound)
	})
	first := s.hire(s.options(s.world.Set()))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	said := s.looked(r.ID)
	var at workflows.State
	if err := json.Unmarshal(said, &at); err != nil || !at.Paused || len(at.Pins) == 0 || len(at.Pending) != 1 || len(at.Trace) < 2 {
		t.Fatalf("it stands at %s (%v)", said, err)
	}
	if last := at.Trace[len(at.Trace)-1]; at.Pending[0].Kind != graph.KindAsk || at.Pending[0].Since.IsZero() || last.Node != at.Pending[0].Node || !last.Ended.IsZero() {
		t.Errorf("it waits for %+v, the last step being %+v", at.Pending[0], last)
	}

	first.Stop()
	began := time.Now()
	if _, err := s.look(r.ID); err == nil || errors.Is(err, fault.NotFound) {
		t.Errorf("with nobody at work it says %v", err)
	}
	if took := time.Since(began); took > promised(2*patient) {
		t.Errorf("who asks was kept for %s", took)
	}
	s.hire(s.options(s.world.Set()))
	if again := s.looked(r.ID); !bytes.Equal(again, said) {
		t.Errorf("another worker says %s, the first said %s", again, said)
	}
}

// looked is what a run says of itself as soon as somebody is there to say it.
func (s *stage) looked(runID string) (said json.RawMessage) {
	s.Helper()
	s.eventually("the run to be looked into", func() bool {
		var err error
		said, err = s.look(runID)
		return err == nil
	})
	return said
}

// patient is how long a page waits.
const patient = 2 * time.Second

func (s *stage) look(runID string) (json.RawMessage, error) {
	ctx, done := context.WithTimeout(s.Context(), patient)
	defer done()
	return s.engine.State(ctx, activitiestest.Viewer, runID)
}

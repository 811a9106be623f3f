package worker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// Requirements: CLUS-01 (periodic)
func TestAPersonsEventsAreReadByOneRunAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.o.Viewer = func(context.Context, string) (identity.Viewer, error) { return viewer, nil }
	at := time.Date(2026, 11, 27, 9, 30, 12, 0, time.UTC)
	first, err := b.engine.Learn(t.Context(), viewer, at)
	if err != nil || first.Kind != run.KindCluster || first.UserID != viewer.UserID || first.WorkflowID != "cluster:"+viewer.UserID+":2026-11-27T09:30:12" {
		t.Fatalf("the run is %+v, %v", first, err)
	}
	again, err := b.engine.Learn(t.Context(), viewer, at.Add(200*time.Millisecond))
	if err != nil || again.ID != first.ID {
		t.Errorf("within the second it is run %s (%v)", again.ID, err)
	}
	_, err = b.engine.Learn(t.Context(), viewer, at.Add(time.Minute))
	details, _ := fault.From(err).Details.(map[string]any)
	if !errors.Is(err, fault.Conflict) || details["run_id"] != first.ID {
		t.Errorf("while it is under way: %v %v", err, details)
	}
	if err := b.engine.LearnFor(t.Context(), viewer.UserID, at.Add(time.Minute)); err != nil {
		t.Errorf("the sweep fails for who is looked after already: %v", err)
	}
	if calls := b.calls(); !slices.Equal(calls, []string{"start " + first.WorkflowID}) {
		t.Errorf("Temporal was asked for %v", calls)
	}
	b.world.Runs[first.ID].Status = run.Done
	next, err := b.engine.Learn(t.Context(), viewer, at.Add(300*time.Millisecond))
	if err != nil || next.ID == first.ID || next.WorkflowID != first.WorkflowID+".300" {
		t.Errorf("when it has ended, within the second it is run %s (%v)", next.WorkflowID, err)
	}
	b.world.Runs[next.ID].Status = run.Done
	if later, err := b.engine.Learn(t.Context(), viewer, at.Add(time.Minute)); err != nil || later.ID == first.ID || later.ID == next.ID {
		t.Errorf("a minute later it is run %s (%v)", later.WorkflowID, err)
	}
}

func TestTheSituationsOfEverybodyAreFoundOnceADayByTheSystem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	at := time.Date(2026, 11, 27, 9, 30, 0, 0, time.UTC)
	first, err := b.engine.LearnGlobal(t.Context(), at)
	if err != nil || first.UserID != identity.SystemAccount || !strings.HasSuffix(first.WorkflowID, ":global:2026-11-27") {
		t.Fatalf("the run is %+v, %v", first, err)
	}
	if again, err := b.engine.LearnGlobal(t.Context(), at.Add(time.Hour)); err != nil || again.ID != first.ID {
		t.Errorf("later that day it is run %s (%v)", again.ID, err)
	}
}

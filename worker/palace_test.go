package worker

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/activities"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// Of a history one window is asked about at a time, and of another history another one
// meanwhile.
//
// Requirements: PAL-08 (by a model)
func TestAModelIsAskedAboutAHistoryByOneRunAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ask := func(lineage string, exchanges int) error {
		return b.engine.Classify(t.Context(), viewer, lineage, exchanges, "@near")
	}
	if err := errors.Join(ask("one", 1), ask("one", 1), ask("two", 1)); err != nil {
		t.Fatal(err)
	}
	if err := ask("one", 2); !errors.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "history one") {
		t.Errorf("while the first window is asked about: %v", err)
	}
	var rows []*run.Run
	for _, r := range b.world.Runs {
		if r.Kind == run.KindPalace {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(x, y *run.Run) int { return strings.Compare(x.WorkflowID, y.WorkflowID) })
	var in activities.PalaceInput
	if err := json.Unmarshal(rows[0].Input, &in); err != nil || len(rows) != 2 || rows[0].WorkflowID != "palace:classify:one" || rows[0].RequestID != "palace:classify:one:1" || in != (activities.PalaceInput{Does: activities.PalaceClassify, Lineage: "one", Model: "@near"}) {
		t.Errorf("%d runs, the first is %+v of %+v (%v)", len(rows), rows[0], in, err)
	}
	rows[0].Status = run.Done
	if err := errors.Join(ask("one", 1), ask("one", 2)); err != nil {
		t.Errorf("when it has ended: %v", err)
	}
	if calls := b.calls(); !slices.Equal(calls, []string{"start palace:classify:one", "start palace:classify:two", "start palace:classify:one"}) {
		t.Errorf("Temporal was asked for %v", calls)
	}
}

// The histories of a person that have ended are read by a run each, once a day; somebody
// who may not act any more is left alone.
func TestWhatHasEndedIsReadOnceADay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.o.Viewer = func(context.Context, string) (identity.Viewer, error) { return viewer, nil }
	at := time.Date(2026, 11, 28, 9, 30, 0, 0, time.UTC)
	notable := func(context.Context, identity.Viewer) (map[string]string, error) {
		return map[string]string{"one": "@near"}, nil
	}
	for _, later := range []time.Duration{0, time.Hour, 24 * time.Hour} { // the last one while the first is under way
		if err := b.engine.Consolidate(t.Context(), viewer.UserID, at.Add(later), notable); err != nil {
			t.Errorf("after %s: %v", later, err)
		}
	}
	if calls := b.calls(); !slices.Equal(calls, []string{"start palace:consolidate:one"}) {
		t.Errorf("Temporal was asked for %v", calls)
	}
	b.engine.o.Viewer = func(context.Context, string) (identity.Viewer, error) {
		return identity.Viewer{}, fault.New(fault.NotFound, "There is no such account.")
	}
	if err := b.engine.Consolidate(t.Context(), "nobody", at, notable); err != nil {
		t.Errorf("of nobody: %v", err)
	}
}

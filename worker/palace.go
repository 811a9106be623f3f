package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"liminal/activities"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// byHour is the time in the ids of runs that put blocks away.
const byHour = "2006-01-02T15"

// Retain starts the run that puts away what is past its time of what the capture proxy
// kept of a person's agents (PAL-22); the same hour again is the same run. Somebody who
// may not act any more is left alone.
func (e *Engine) Retain(ctx context.Context, userID string, at time.Time) error {
	v, err := e.viewer(ctx, userID)
	if err == nil {
		key := "palace:retain:" + v.UserID + ":" + at.UTC().Format(byHour)
		_, err = e.create(ctx, v, run.KindPalace, key, "what is past its time", key, activities.PalaceInput{Does: activities.PalaceRetain})
	}
	if errors.Is(err, fault.Conflict) || errors.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// Classify starts the run that asks a model about a history of so many exchanges (PAL-08):
// the same number again is the same run. Of a history one is under way at a time; a
// Conflict says that it is, about an earlier window.
func (e *Engine) Classify(ctx context.Context, v identity.Viewer, lineage string, exchanges int, model string) error {
	id := "palace:classify:" + lineage
	_, err := e.create(ctx, v, run.KindPalace, fmt.Sprintf("%s:%d", id, exchanges), "what an agent should go on to see", id, activities.PalaceInput{Does: activities.PalaceClassify, Lineage: lineage, Model: model})
	if errors.Is(err, fault.NotFound) { // no run of this window, and another's is in its place
		return fault.New(fault.Conflict, "A model is being asked about an earlier window of the history %s.", lineage)
	}
	return err
}

// Consolidate starts the runs that propose notes of a person's histories that have ended:
// notable gives those, with the model that is asked. The same day again are the same runs.
func (e *Engine) Consolidate(ctx context.Context, userID string, at time.Time, notable func(ctx context.Context, v identity.Viewer) (map[string]string, error)) error {
	v, err := e.viewer(ctx, userID)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := notable(ctx, v)
	errs := []error{err}
	for lineage, model := range list {
		id := "palace:consolidate:" + lineage
		_, err := e.create(ctx, v, run.KindPalace, id+":"+at.UTC().Format(time.DateOnly), "notes of what has ended", id, activities.PalaceInput{Does: activities.PalaceConsolidate, Lineage: lineage, Model: model})
		if !errors.Is(err, fault.NotFound) { // it is under way since yesterday
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

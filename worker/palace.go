package worker

import (
	"context"
	"errors"
	"time"

	"liminal/activities"
	"liminal/internal/fault"
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

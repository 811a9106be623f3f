package worker

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/run"
)

// global is whose situations are everybody's, in ids of runs.
const global = "global"

// The times in the ids of runs that learn: the sweep comes once a minute, a
// person whenever they like.
const (
	byMinute = "2006-01-02T15:04"
	bySecond = "2006-01-02T15:04:05"
	byMilli  = "2006-01-02T15:04:05.000"
)

// Learn starts the run that reads what a person said of answers and makes
// something of it (CLUS-01), as they wish it now; the same second again is the
// same run, unless that has ended: it would not read what was said since.
// Conflict, with its id as run_id, while one of theirs is under way.
func (e *Engine) Learn(ctx context.Context, v identity.Viewer, at time.Time) (run.Run, error) {
	r, err := e.learn(ctx, v, at.UTC().Format(bySecond))
	if err != nil || !r.Status.Ended() {
		return r, err
	}
	return e.learn(ctx, v, at.UTC().Format(byMilli))
}

func (e *Engine) learn(ctx context.Context, v identity.Viewer, at string) (run.Run, error) {
	key := "cluster:" + v.UserID + ":" + at
	if r, err := e.o.Runs.RunByRequest(ctx, v, key); !errors.Is(err, fault.NotFound) {
		return r, err
	}
	under, _, err := e.o.Runs.ListRuns(ctx, v, run.Filter{Kind: run.KindCluster, Status: run.Running, Limit: 1})
	if err != nil {
		return run.Run{}, err
	}
	if len(under) > 0 {
		return run.Run{}, fault.New(fault.Conflict, "What you said of answers is being read just now. Look again in a minute.").
			With(map[string]any{"run_id": under[0].ID})
	}
	return e.create(ctx, v, run.KindCluster, key, "what was said of answers", key, struct{}{})
}

// LearnFor is Learn for a person by their id, for the sweep that finds them; the
// same minute again is the same run. One whose run is under way is left alone.
func (e *Engine) LearnFor(ctx context.Context, userID string, at time.Time) error {
	v, err := e.viewer(ctx, userID)
	if err == nil {
		_, err = e.learn(ctx, v, at.UTC().Format(byMinute))
	}
	if errors.Is(err, fault.Conflict) || errors.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// trainInput is what a run that trains was asked.
type trainInput struct {
	Job   string `json:"job"`
	Fence int64  `json:"fence"`
}

// Train starts the run of a training job's claim, in its person's name; the same
// claim again is the same run. NotFound for somebody who may not act any more.
func (e *Engine) Train(ctx context.Context, j learning.Job) error {
	v, err := e.viewer(ctx, j.UserID)
	if err != nil {
		return err
	}
	if _, err := e.o.Runs.Run(ctx, v, j.RunID); !errors.Is(err, fault.NotFound) {
		return err
	}
	raw, err := json.Marshal(trainInput{j.ID, j.Fence})
	if err != nil {
		return err
	}
	r := run.Run{ID: j.RunID, WorkflowID: "train:" + j.ID, Kind: run.KindTrain, UserID: v.UserID, Status: run.Running, Input: raw}
	if err := e.o.Runs.CreateRun(ctx, v, r); err != nil {
		if errors.Is(err, fault.Conflict) { // another process was quicker
			return nil
		}
		return err
	}
	e.launch(ctx, v, r, "training of an adapter")
	return nil
}

// LearnGlobal starts the run that finds the situations of everybody who allows
// it (CLUS-02); the same day again is the same run.
func (e *Engine) LearnGlobal(ctx context.Context, at time.Time) (run.Run, error) {
	key := "cluster:" + global + ":" + at.UTC().Format(time.DateOnly)
	return e.create(ctx, identity.Steward(), run.KindCluster, key, "what was said of answers, of everybody", key, struct{}{})
}

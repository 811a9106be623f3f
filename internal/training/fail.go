package training

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/queue"
	"liminal/internal/lora/train"
)

// passing are the codes of failures that may pass: a disk, memory, a worker that
// went, a store that is away (TRAIN-10).
var passing = map[string]bool{string(fault.Internal): true, string(fault.RateLimited): true, fault.Upstream: true, "timeout": true}

// Failed is what becomes of a job that failed.
type Failed struct {
	Status string `json:"status"` // queued: it is tried again; gone: there is no such job any more
	Reason string `json:"reason"`
}

// Failure is how a step failed: the code of a fault, its reason where that is
// known, and a sentence for people.
type Failure struct {
	Code    string
	Reason  string
	Message string
}

// remark is a failure as its person is told of it.
func (f Failure) remark(at learning.JobStage) learning.Remark {
	return learning.Say("failed", map[string]any{"at": string(at), "reason": f.Reason}, "%s", f.Message)
}

// Fail notes why a job failed, and has it tried again where that may help, up to
// three times (TRAIN-10). A job that is gone, has ended or was given to somebody
// else is left alone.
func (s *Steps) Fail(ctx context.Context, v identity.Viewer, c Claim, f Failure) (Failed, error) {
	j, err := s.o.Store.TrainingJob(ctx, v, c.Job)
	if errors.Is(err, fault.NotFound) {
		return Failed{Status: "gone", Reason: f.Message}, nil
	}
	if err != nil {
		return Failed{}, err
	}
	if j.Fence != c.Fence || j.Status != learning.JobRunning {
		return Failed{string(j.Status), j.Reason}, nil
	}
	if f.Message == "" {
		f.Message = "The training failed on our side."
	}
	step := learning.JobStep{ID: j.ID, Fence: j.Fence, To: learning.StageFailed, Status: learning.JobFailed, Why: learning.Remarks{f.remark(j.Stage)}, Meta: map[string]any{"code": f.Code, "curve": s.curve(j)}}
	if at, again := queue.Again(j.Attempts, s.o.Now()); again && passing[f.Code] {
		step.To, step.Status, step.NotBefore = learning.StageQueue, learning.JobQueued, at
		ended, err := s.o.Store.StepJob(ctx, v, step)
		if err == nil {
			return Failed{string(ended.Status), ended.Reason}, nil
		}
		if !errors.Is(err, fault.Conflict) {
			return Failed{}, err
		}
		step.To, step.Status, step.NotBefore = learning.StageFailed, learning.JobFailed, time.Time{} // another one of its adapter waits
	}
	if err := s.later(ctx, v, j); err != nil {
		return Failed{}, err
	}
	ended, err := s.o.Store.StepJob(ctx, v, step)
	if errors.Is(err, fault.NotFound) || errors.Is(err, fault.Conflict) { // cancelled, or gone, meanwhile
		return Failed{Status: "gone", Reason: f.Message}, nil
	}
	return Failed{string(ended.Status), ended.Reason}, err
}

// Curve is the steps of a job's training so far, or, where its folder is gone,
// what was kept of them.
func (s *Steps) Curve(ctx context.Context, v identity.Viewer, id string) ([]train.Metric, error) {
	j, err := s.o.Store.TrainingJob(ctx, v, id)
	if err != nil {
		return nil, err
	}
	dir, _ := s.dir(j)
	list, err := train.ReadMetrics(filepath.Join(dir, train.MetricsFile))
	if err != nil || len(list) > 0 {
		return list, err
	}
	raw, err := json.Marshal(j.Meta["curve"])
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	return list, err
}

// Cancel ends a job of the viewer's, whether it waits or is trained: its run looks
// every few seconds whether it is still wanted.
func (s *Steps) Cancel(ctx context.Context, v identity.Viewer, id string) (learning.Job, error) {
	j, err := s.o.Store.CancelJob(ctx, v, id, learning.Cancelled())
	if err != nil || j.Stage != learning.StageCancelled {
		return j, err
	}
	return j, s.later(ctx, v, j)
}

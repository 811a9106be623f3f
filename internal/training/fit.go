package training

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"liminal/internal/cell"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/lora/train"
)

// watched is how often it is looked whether a job is still to be trained.
const watched = 3 * time.Second

// Fitted is what came of training.
type Fitted struct {
	Steps   int  `json:"steps"`
	Of      int  `json:"of"`
	Stopped bool `json:"stopped"` // early, as losses rose
}

// Fit trains the folder of a job. report hears of each step, and notice what a
// person should know. A job that is cancelled, given to somebody else, or of whose
// events one is taken back, is stopped.
func (s *Steps) Fit(ctx context.Context, v identity.Viewer, c Claim, report func(train.Metric), notice func(string)) (Fitted, error) {
	j, done, err := s.at(ctx, v, c, learning.StageFit)
	if err != nil {
		return Fitted{}, err
	}
	if done {
		return fitted(j), nil
	}
	dir, _ := s.dir(j)
	if err := s.claimed(dir, j); err != nil {
		return Fitted{}, s.failed("What the adapter is trained with could not be read", err)
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := s.watch(within, v, j, cancel)
	m, err := s.o.Trainer.Train(within, dir, train.Options{Memory: s.o.Memory, Report: report, Notice: notice})
	stop()
	if err != nil {
		if why := context.Cause(within); ctx.Err() == nil && why != nil && !errors.Is(why, context.Canceled) {
			return Fitted{}, why
		}
		if ctx.Err() != nil {
			return Fitted{}, ctx.Err()
		}
		return Fitted{}, s.failed("The training could not go on; what was done until its last checkpoint is kept", err)
	}
	j, err = s.o.Store.StepJob(ctx, v, learning.JobStep{
		ID: j.ID, Fence: j.Fence, From: learning.StageFit, To: learning.StageJudge,
		Meta: map[string]any{"done": m.Steps, "of": m.Of, "stopped": m.Stopped, "trainer": m.Trainer},
	})
	return fitted(j), err
}

func fitted(j learning.Job) Fitted {
	done, _ := j.Meta["done"].(float64)
	of, _ := j.Meta["of"].(float64)
	stopped, _ := j.Meta["stopped"].(bool)
	return Fitted{Steps: int(done), Of: int(of), Stopped: stopped}
}

// claimed writes the fence of the claim into a folder that another claim made.
func (s *Steps) claimed(dir string, j learning.Job) error {
	job, err := train.ReadJob(dir)
	if err != nil || job.Fence == j.Fence {
		return err
	}
	job.Fence = j.Fence
	return train.WriteJob(dir, job)
}

// watch ends a training that is not wanted any more.
func (s *Steps) watch(ctx context.Context, v identity.Viewer, j learning.Job, end context.CancelCauseFunc) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(watched)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if err := s.wanted(ctx, v, j); err != nil && ctx.Err() == nil {
				end(err)
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// wanted says why a job is not to be trained any more; nil: it is, or nobody can
// tell now.
func (s *Steps) wanted(ctx context.Context, v identity.Viewer, j learning.Job) error {
	_, _, err := s.at(ctx, v, Claim{j.ID, j.Fence}, learning.StageFit)
	if errors.Is(err, fault.NotFound) || errors.Is(err, fault.Conflict) {
		return err
	}
	list, err := s.o.Store.Weights(ctx, v, j.AdapterID)
	if err != nil {
		return nil //nolint:nilerr // the store is away: it is asked again
	}
	for _, w := range list {
		if w.JobID == j.ID && w.SHA256 == "" && w.State == learning.WeightsMarked {
			return errTakenBack()
		}
	}
	return nil
}

// TakenBack is the reason of a failure that a new dataset mends.
const TakenBack = "source_gone"

func errTakenBack() error {
	return fault.New(fault.Internal, "Something of what the adapter is trained with was taken back meanwhile; it is trained again without it.").
		With(map[string]any{"reason": TakenBack})
}

// Cells trains in processes of this program, with bounds of memory and time.
type Cells struct {
	Cell   *cell.Cell
	Limits cell.Limits
}

var _ Trainer = Cells{}

// InCells makes the trainer of this machine: name is the subcommand that calls
// train.Serve, dir where its processes have temporary files.
// log hears which bounds this machine does not have.
func InCells(name, dir string, memory int64, processors int, log *slog.Logger) (Cells, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Cells{}, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Cells{}, err
	}
	c, err := train.Cell(name, dir, processors, log)
	// What is beside the batches: gradients, the adapter, and what Go keeps free.
	return Cells{c, cell.Limits{Memory: memory + 512<<20, CPU: time.Duration(max(processors, 1)) * 6 * time.Hour, Wall: 6 * time.Hour, Output: 1 << 20}}, err
}

// Train implements Trainer.
func (c Cells) Train(ctx context.Context, dir string, o train.Options) (train.Manifest, error) {
	return train.In(ctx, c.Cell, dir, c.Limits, o)
}

// Close ends processes that wait.
func (c Cells) Close() error {
	c.Cell.Close()
	return nil
}

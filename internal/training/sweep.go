package training

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/queue"
	"liminal/internal/run"
)

// Runs are where claimed jobs are trained.
type Runs interface {
	// Train starts the run of a claim, or does nothing where it was started.
	// NotFound for somebody who may not act any more.
	Train(ctx context.Context, j learning.Job) error
	// Run is a run of the viewer's.
	Run(ctx context.Context, v identity.Viewer, id string) (run.Run, error)
}

// settling is how old a claim is before it is looked at: until then its run is on
// its way.
const settling = 30 * time.Second

// openJobs bounds how many jobs one sweep looks at.
const openJobs = 100

// Sweep gives out jobs that can be trained now, and looks after those that were
// given out: one whose run never began is begun, one whose run is over has
// failed. It says how many jobs it moved.
func (s *Steps) Sweep(ctx context.Context, runs Runs) (moved int, err error) {
	list, _, err := s.o.Store.TrainingJobs(ctx, identity.System(), learning.JobFilter{Status: learning.JobRunning, Limit: openJobs})
	if err != nil {
		return 0, err
	}
	var faults []error
	for _, j := range list {
		done, err := s.look(ctx, runs, j)
		if err != nil {
			faults = append(faults, err)
		}
		if done {
			moved++
		}
	}
	if !s.Possible() {
		return moved, errors.Join(faults...)
	}
	for range queue.DefaultLimits().Most {
		// Each claim is a process of its own here: a trainer takes one at a time off
		// its task queue.
		runID := id.New()
		j, ok, err := s.o.Store.ClaimJob(ctx, identity.System(), runID, runID)
		if err != nil {
			return moved, errors.Join(append(faults, err)...)
		}
		if !ok {
			break
		}
		moved++
		if err := s.start(ctx, runs, j); err != nil {
			faults = append(faults, err)
		}
	}
	return moved, errors.Join(faults...)
}

// start begins the run of a claim. Whose account may not act any more has nothing
// trained.
func (s *Steps) start(ctx context.Context, runs Runs, j learning.Job) error {
	err := runs.Train(ctx, j)
	if errors.Is(err, fault.NotFound) {
		_, err = s.o.Store.CancelJob(ctx, identity.System(), j.ID, learning.Say("no_account", nil, "Its account may not use this place any more."))
		if errors.Is(err, fault.NotFound) {
			return nil
		}
	}
	return err
}

// look looks after a job that was given out.
func (s *Steps) look(ctx context.Context, runs Runs, j learning.Job) (moved bool, err error) {
	if s.o.Now().Sub(j.StartedAt) < settling {
		return false, nil
	}
	r, err := runs.Run(ctx, identity.Viewer{UserID: j.UserID, Role: identity.RoleUser}, j.RunID)
	if errors.Is(err, fault.NotFound) {
		return true, s.start(ctx, runs, j)
	}
	if err != nil || !r.Status.Ended() {
		return false, err
	}
	if r.Status == run.Cancelled {
		_, err := s.o.Store.CancelJob(ctx, identity.System(), j.ID, learning.Say("run_cancelled", nil, "Its run was cancelled."))
		return true, err
	}
	var e struct{ Code, Message string }
	_ = json.Unmarshal(r.Error, &e) // of one that ended without an error, nothing is known
	if e.Code == "" {
		e.Code = string(fault.Internal)
	}
	_, err = s.Fail(ctx, identity.System(), Claim{j.ID, j.Fence}, Failure{Code: e.Code, Message: e.Message})
	return true, err
}

// erasedAtOnce bounds how many paths one sweep deletes.
const erasedAtOnce = 500

// Erase deletes what is due to be deleted below the shared folder. It says how
// many paths are gone.
func (s *Steps) Erase(ctx context.Context) (n int, err error) {
	root, err := os.OpenRoot(s.o.Root)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	paths, err := s.o.Store.Erasures(ctx, identity.System(), erasedAtOnce)
	if err != nil {
		return 0, err
	}
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if fs.ValidPath(p) && path.Dir(p) != "." {
			if err := root.RemoveAll(p); err != nil {
				s.o.Logger.WarnContext(ctx, "a path that is to be deleted stays for now", "path", p, "error", err)
				continue
			}
			for dir := path.Dir(p); len(dir) > len("users"); dir = path.Dir(dir) {
				if root.Remove(dir) != nil { // there is something else in it
					break
				}
			}
		}
		if err := s.o.Store.Erased(ctx, identity.System(), p); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Package training trains adapters of people's own with what they said of
// answers: when one is due, the steps of the graph learn.train, and what is done
// for jobs and paths that nobody looks after.
//
// Each step re-checks where its job stands: called by hand, twice, or by somebody
// who lost the job, it does nothing. What people said goes into folders of
// theirs and nowhere else; reports have numbers. Who trains a prepared folder is
// behind Trainer. The package may import the nouns below it, artifacts and lora;
// what changes an adapter's document is internal/adaptation, which it does not
// know.
package training

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/dataset"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
	"liminal/internal/lora/train"
	"liminal/internal/quota"
)

// Store keeps jobs, versions, and what they are made of.
type Store interface {
	learning.Training
	learning.WeightsStore
	learning.Erasures
	// TrainingCases are a person's events with what was said before each answer.
	TrainingCases(ctx context.Context, v identity.Viewer, clusterID string, limit int, untrusted []string) ([]dataset.Case, error)
	// Events are those of ids that are there, by id.
	Events(ctx context.Context, v identity.Viewer, ids ...int64) (map[int64]learning.Case, error)
	ListClusters(ctx context.Context, v identity.Viewer, global bool) ([]learning.Cluster, error)
	LearningSettings(ctx context.Context, v identity.Viewer) (learning.Settings, error)
}

// Trainer trains the job in a folder and leaves what came of it there, as
// docs/training.md says. The errors are those of train.Run: one that may pass is
// tried again, and goes on from a checkpoint where there is one. When ctx ends it
// stops within seconds.
type Trainer interface {
	Train(ctx context.Context, dir string, o train.Options) (train.Manifest, error)
}

// Adapters reads documents of adapters.
type Adapters interface {
	// Trainable is one of the viewer's own; NotFound for one that is not theirs or
	// is disabled.
	Trainable(ctx context.Context, v identity.Viewer, id string) (learning.Trainable, error)
	// Trainables are those that learning looks after, made for the run runID where
	// one is missing.
	Trainables(ctx context.Context, v identity.Viewer, runID string) ([]learning.Trainable, error)
	// Policy is the numbers that hold for the viewer.
	Policy(ctx context.Context, v identity.Viewer) (learning.Policy, int, error)
}

// Options are what the steps work with. All but the last four are needed.
type Options struct {
	Store    Store
	Adapters Adapters
	Trainer  Trainer
	Plans    *quota.PlanTable
	Root     string // the shared folder
	// Base is the folder of the model that adapters are trained for; empty: there
	// is none, and nothing is trained.
	Base      string
	Untrusted []string         // tools whose results strangers write, for answers that do not note it themselves
	Memory    int64            // bytes a trainer may take; 0: 2 GiB
	Now       func() time.Time // time.Now when nil
	Logger    *slog.Logger     // discards when nil
}

// Steps are the steps of training. They are safe for concurrent use.
type Steps struct {
	o Options

	mu     sync.Mutex
	folder *serve.Folder
	base   peft.Base
}

// New returns the steps. A missing part is an error.
func New(o Options) (*Steps, error) {
	if o.Store == nil || o.Adapters == nil || o.Trainer == nil || o.Root == "" {
		return nil, errors.New("training: it needs a store, adapters, a trainer and the shared folder")
	}
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return nil, err
	}
	o.Root = root
	if o.Memory <= 0 {
		o.Memory = 2 << 30
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Steps{o: o}, nil
}

// Possible reports whether adapters can be trained here.
func (s *Steps) Possible() bool { return s.o.Base != "" }

// open reads the base model, once for each process: it is mapped, and stays so.
func (s *Steps) open() (*serve.Folder, peft.Base, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folder != nil {
		return s.folder, s.base, nil
	}
	if s.o.Base == "" {
		return nil, peft.Base{}, fault.New(fault.Invalid, "No model runs here that an adapter could be trained for.")
	}
	dir, err := filepath.Abs(s.o.Base)
	if err != nil {
		return nil, peft.Base{}, err
	}
	f, err := serve.Open(dir)
	if err != nil {
		return nil, peft.Base{}, fault.Wrap(fault.Invalid, err, "The language model in %s cannot be trained on: %v.", filepath.Base(dir), err)
	}
	sum, err := llm.Fingerprint(dir)
	if err != nil {
		return nil, peft.Base{}, errors.Join(err, f.Model.Close())
	}
	s.folder, s.base = f, peft.Base{Config: f.Model.Config, Name: f.Name, Fingerprint: sum}
	return f, s.base, nil
}

// writer writes dialogues as the base was taught to read them.
func writer(f *serve.Folder) batches.Writer {
	end := -1
	if len(f.Template.Stops(f.Tokens)) == 0 && len(f.Model.Ends) > 0 {
		end = f.Model.Ends[0]
	}
	return batches.Template{Tokens: f.Tokens, Way: f.Template, End: end}
}

// order is the stages of a job in their order.
var order = map[learning.JobStage]int{
	learning.StageDataset: 1, learning.StageFit: 2, learning.StageJudge: 3, learning.StagePublish: 4, learning.StagePropose: 5, learning.StageSettle: 6,
	learning.StageDone: 7, learning.StageKept: 7,
}

// at reads a job for the step of a stage. done says that it was made: the job is
// at a later one. Conflict when somebody else has the job, when it has ended in
// another way, or when the step is not yet due.
func (s *Steps) at(ctx context.Context, v identity.Viewer, c Claim, stage learning.JobStage) (j learning.Job, done bool, err error) {
	if j, err = s.o.Store.TrainingJob(ctx, v, c.Job); err != nil {
		return j, false, err
	}
	switch now, known := order[j.Stage]; {
	case j.Fence != c.Fence:
		return j, false, fault.New(fault.Conflict, "The training job %s was given to somebody else.", j.ID)
	case !known && j.Stage == learning.StageFew && stage == learning.StageDataset:
		return j, true, nil
	case !known || j.Status == learning.JobQueued:
		return j, false, fault.New(fault.Conflict, "The training job %s does not run: it is %s.", j.ID, j.Stage)
	case now < order[stage]:
		return j, false, fault.New(fault.Conflict, "The training job %s is at %s, not at %s.", j.ID, j.Stage, stage)
	default:
		return j, now > order[stage], nil
	}
}

// Claim names a job and the claim under which it is trained.
type Claim struct {
	Job   string
	Fence int64
}

// dir is the folder of a job, and its path below the shared one.
func (s *Steps) dir(j learning.Job) (dir, path string) {
	dir = train.JobDir(s.o.Root, j.UserID, j.AdapterID, j.ID)
	return dir, s.below(dir)
}

func (s *Steps) below(dir string) string {
	rel, err := filepath.Rel(s.o.Root, dir)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// versionDir is the folder of a version of a job's adapter.
func (s *Steps) versionDir(j learning.Job, version int) string {
	return filepath.Join(train.AdapterDir(s.o.Root, j.UserID, j.AdapterID), train.VersionName(version))
}

// sentence is what failed as a sentence for people, without where the server keeps
// things.
func (s *Steps) sentence(err error) string {
	text := strings.ReplaceAll(err.Error(), s.o.Root+string(filepath.Separator), "")
	if e, ok := errors.AsType[*fault.Error](err); ok {
		text = strings.ReplaceAll(e.Message, s.o.Root+string(filepath.Separator), "")
	}
	return text
}

// failed is an error as a step gives it: one that may pass is Internal, with a
// sentence that says what to do.
func (s *Steps) failed(what string, err error) error {
	if err == nil || !train.Passes(err) {
		return err
	}
	s.o.Logger.Warn("a step of a training failed", "error", err)
	return fault.Wrap(fault.Internal, err, "%s: %s.", what, strings.TrimSuffix(s.sentence(err), ".")).With(map[string]any{"reason": train.Why(err)})
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

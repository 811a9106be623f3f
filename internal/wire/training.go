package wire

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"liminal/activities"
	"liminal/internal/config"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/lora/remote"
	"liminal/internal/lora/serve"
	"liminal/internal/lora/train"
	"liminal/internal/run"
	"liminal/internal/tool/builtin"
	"liminal/internal/training"
)

// trainMemory is what training may take beside the model, in bytes.
const trainMemory = 2 << 30

// trains makes the steps of training. Where no model runs in this process they
// are there and do nothing: what was queued before is still shown and cancelled.
func (p *Platform) trains(o Options, svc *services) (*training.Steps, error) {
	base, err := trainedOn(o.Config)
	if err != nil {
		return nil, err
	}
	trainer, err := p.trainer(o)
	if err != nil {
		return nil, err
	}
	untrusted, err := untrustedTools(o)
	if err != nil {
		return nil, err
	}
	steps, err := training.New(training.Options{
		Store: p.store, Adapters: svc.learning, Trainer: trainer, Plans: p.plans, Root: usersDir(o.Config), Base: base, Untrusted: untrusted,
		Memory: trainMemory, Logger: o.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("training: %w", err)
	}
	return steps, nil
}

// trainedOn is the folder of the model that adapters are trained for: the one
// that answers here, or that of which a server is handed adapters; empty: nothing
// is trained.
func trainedOn(c config.Config) (string, error) {
	switch {
	case c.Changes.Learning != config.LearningFull:
		return "", nil
	case c.Model.Backend == localLoRA:
		return LocalModel(c)
	case c.Adapters.Dir == "" || !remote.Takes(c.Model.Backend):
		return "", nil
	}
	dir := servedBase(c, c.Model.Name)
	if dir == "" || !serve.IsModel(dir) {
		return "", nil // doctor says so, and words are learnt all the same
	}
	return dir, nil
}

// trainer is who trains: a command of the settings, or processes of this program
// with bounds where there is a program for that.
func (p *Platform) trainer(o Options) (training.Trainer, error) {
	if o.Trainers == "" || o.Config.Adapters.Trainer == "command" {
		return Trainer(o.Config, inProcess{})
	}
	cells, err := training.InCells(o.Trainers, filepath.Join(o.Config.Data, "cache", "trainers"), trainMemory, runtime.GOMAXPROCS(0), o.Logger)
	if err != nil {
		return nil, fmt.Errorf("the trainer of adapters: %w", err)
	}
	p.closes("the trainer of adapters", cells.Close)
	return cells, nil
}

// inProcess trains in this process, which tests do.
type inProcess struct{}

func (inProcess) Train(ctx context.Context, dir string, o train.Options) (train.Manifest, error) {
	return train.Run(ctx, dir, o)
}

// untrustedTools are the program's tools whose results strangers write. Turns note
// whether one was called, those of artifacts too; older answers have its name.
func untrustedTools(o Options) (names []string, err error) {
	specs, err := builtin.Specs()
	for _, s := range slices.Concat(specs, o.Specs) {
		if s.Strange() {
			names = append(names, s.Name)
		}
	}
	return names, err
}

// trainingRuns are where claimed jobs are trained.
type trainingRuns struct{ p *Platform }

func (r trainingRuns) Train(ctx context.Context, j learning.Job) error {
	return r.p.engine.Train(ctx, j)
}

func (r trainingRuns) Run(ctx context.Context, v identity.Viewer, id string) (run.Run, error) {
	return r.p.store.Run(ctx, v, id)
}

// trainingSweeps give out jobs, and delete what is due to be deleted.
func (p *Platform) trainingSweeps(o Options, svc *services) map[string]activities.Sweep {
	sweeps := map[string]activities.Sweep{
		activities.NameErasures: {Every: time.Minute, Run: func(ctx context.Context) (s activities.Swept, err error) {
			s.Removed, err = svc.training.Erase(ctx)
			return s, err
		}},
	}
	if o.Config.Changes.Learning != config.LearningOff {
		sweeps[activities.NameTraining] = activities.Sweep{Every: time.Minute, Run: func(ctx context.Context) (s activities.Swept, err error) {
			s.Changed, err = svc.training.Sweep(ctx, trainingRuns{p})
			return s, err
		}}
	}
	return sweeps
}

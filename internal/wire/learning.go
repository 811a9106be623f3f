package wire

import (
	"context"
	"fmt"
	"slices"
	"time"

	"liminal/activities"
	"liminal/api"
	"liminal/internal/adaptation"
	"liminal/internal/config"
	"liminal/internal/identity"
	"liminal/internal/lora/serve"
	"liminal/internal/tool/builtin"
)

// adapt makes the steps of learning and lets the library ask them what
// documents name, and tell them what is written.
func (p *Platform) adapt(o Options, svc *services) (*adaptation.Steps, error) {
	specs, err := builtin.Specs()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range slices.Concat(specs, o.Specs) {
		names = append(names, s.Name)
	}
	base, err := trainedOn(o.Config)
	if err != nil {
		return nil, err
	}
	steps, err := adaptation.New(adaptation.Options{
		Store: p.store, Library: p.library, Desk: svc.desk, Runs: p.store, Encoder: svc.embedder, Cache: p.cache, Feedback: svc.feedback,
		Off: o.Config.Changes.Learning == config.LearningOff, Generative: o.Model.Generative(), Trains: base != "", Tools: names, Logger: o.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("learning: %w", err)
	}
	p.library.Refer(steps)
	p.library.Changed(steps.Changed)
	return steps, nil
}

// learningOptions are what the API shows and changes of what is learnt.
func (p *Platform) learningOptions(o Options, svc *services) api.LearningOptions {
	out := api.LearningOptions{Consents: p.store, Lessons: p.store, Situations: p.store, Uses: p.store, LearningChanged: svc.learning.Forget, Trainings: p.store}
	out.Weights = serve.Folders{Root: o.Config.Data}
	if o.Config.Changes.Learning != config.LearningOff {
		out.Learner, out.Trainer = p.engine, svc.training
	}
	return out
}

// learningSweeps begin what learns: people's runs as they are due, and once a
// day that of everybody.
func (p *Platform) learningSweeps(o Options) map[string]activities.Sweep {
	if o.Config.Changes.Learning == config.LearningOff {
		return nil
	}
	due := func(ctx context.Context, limit int) ([]string, error) {
		return p.store.Learners(ctx, identity.System(), limit)
	}
	begin := func(ctx context.Context, userID string) error { return p.engine.LearnFor(ctx, userID, time.Now()) }
	return map[string]activities.Sweep{
		activities.NameLearning: activities.Learning(due, begin),
		activities.NameLearningGlobal: {Every: 24 * time.Hour, Run: func(ctx context.Context) (activities.Swept, error) {
			_, err := p.engine.LearnGlobal(ctx, time.Now())
			return activities.Swept{}, err
		}},
	}
}

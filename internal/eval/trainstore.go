package eval

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/dataset"
	"liminal/internal/lora/train"
	"liminal/internal/quota"
	"liminal/internal/training"
)

// trainStore is what the steps of training keep, of one person at a time and in
// memory. What they do not ask for on the way to a version is not there.
type trainStore struct {
	training.Store // nil

	mu      sync.Mutex // Fit looks at the job while it is trained
	job     learning.Job
	cases   []dataset.Case
	weights []learning.Weights
}

// steps are the steps of the platform with the numbers that ship.
func (s *trainStore) steps(root, base string) (*training.Steps, error) {
	return training.New(training.Options{
		Store: s, Adapters: persona{}, Trainer: inHere{}, Plans: quota.NewPlanTable(nil, nil), Root: root, Base: base, Now: func() time.Time { return trainedAt },
	})
}

// trainedAt is some weeks after the first answer was judged.
var trainedAt = judgedFrom.AddDate(0, 1, 0)

// begin makes the job of a person, claimed.
func (s *trainStore) begin(name string, cases []dataset.Case) (identity.Viewer, training.Claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cases, s.weights = cases, nil
	s.job = learning.Job{
		ID: name, UserID: name, AdapterID: name, Status: learning.JobRunning, Stage: learning.StageDataset, Fence: 1, StartedAt: trainedAt, Meta: map[string]any{},
	}
	return identity.Viewer{UserID: name, Role: identity.RoleUser, Plan: quota.Free}, training.Claim{Job: name, Fence: 1}
}

func (s *trainStore) TrainingJob(_ context.Context, _ identity.Viewer, id string) (learning.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != s.job.ID {
		return learning.Job{}, fault.New(fault.NotFound, "There is no training job %s.", id)
	}
	j := s.job
	j.Meta = maps.Clone(j.Meta)
	return j, nil
}

func (s *trainStore) StepJob(_ context.Context, _ identity.Viewer, step learning.JobStep) (learning.Job, error) {
	raw, err := json.Marshal(step.Meta) // numbers are read as a database gives them
	if err != nil {
		return learning.Job{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j := &s.job
	if step.ID != j.ID || step.Fence != j.Fence || step.From != j.Stage {
		return *j, fault.New(fault.Conflict, "The training job %s is at %s, not at %s.", j.ID, j.Stage, step.From)
	}
	j.Stage = step.To
	if step.Status != "" {
		j.Status = step.Status
	}
	set(&j.BaseSHA, step.BaseSHA)
	set(&j.Dataset, step.Dataset)
	set(&j.Tokens, step.Tokens)
	set(&j.Version, step.Version)
	if step.Events != nil {
		j.Events = step.Events
	}
	if step.Report != nil {
		j.Report = step.Report
	}
	if step.Loss != nil {
		j.Loss = step.Loss
	}
	j.Meta = maps.Clone(j.Meta)
	if step.Why != nil {
		j.Because(step.Why)
	}
	return *j, json.Unmarshal(raw, &j.Meta)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func (s *trainStore) TrainingCases(context.Context, identity.Viewer, string, int, []string) ([]dataset.Case, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]dataset.Case(nil), s.cases...), nil
}

func (s *trainStore) ListClusters(context.Context, identity.Viewer, bool) ([]learning.Cluster, error) {
	return nil, nil
}

func (s *trainStore) Weights(context.Context, identity.Viewer, string) ([]learning.Weights, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]learning.Weights(nil), s.weights...), nil
}

func (s *trainStore) ReserveWeights(_ context.Context, v identity.Viewer, w learning.Weights, path func(int) string, _ []learning.Source) (learning.Weights, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Version, w.UserID, w.State, w.Path = 1, v.UserID, learning.WeightsWriting, path(1)
	s.weights = []learning.Weights{w}
	return w, nil
}

func (s *trainStore) FinishWeights(_ context.Context, _ identity.Viewer, w learning.Weights) (learning.Weights, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.State = learning.WeightsReady
	s.weights = []learning.Weights{w}
	return w, nil
}

// persona is the adapter of all answers, without weights yet.
type persona struct{}

func (persona) Trainable(_ context.Context, _ identity.Viewer, id string) (learning.Trainable, error) {
	return learning.Trainable{ID: id}, nil
}

func (persona) Trainables(_ context.Context, v identity.Viewer, _ string) ([]learning.Trainable, error) {
	return []learning.Trainable{{ID: v.UserID}}, nil
}

func (persona) Policy(context.Context, identity.Viewer) (learning.Policy, int, error) {
	return learning.DefaultPolicy(), 1, nil
}

// inHere trains in this process.
type inHere struct{}

func (inHere) Train(ctx context.Context, dir string, o train.Options) (train.Manifest, error) {
	return train.Run(ctx, dir, o)
}

package training

import (
	"context"
	"slices"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

// Planned is what came of looking which adapters are due.
type Planned struct {
	Queued int `json:"queued"` // jobs
}

// Plan queues a job for each adapter of the viewer's that is due (PREF-05): whose
// situation, or person, has enough liked or corrected answers that are new since
// its last training, or which was trained with something that is gone.
func (s *Steps) Plan(ctx context.Context, v identity.Viewer, runID string) (Planned, error) {
	var out Planned
	if !s.Possible() || v.IsSystem() {
		return out, nil
	}
	allowed, err := s.o.Store.LearningSettings(ctx, v)
	if err != nil || !allowed.Personal {
		return out, err
	}
	p, _, err := s.o.Adapters.Policy(ctx, v)
	if err != nil {
		return out, err
	}
	events, err := s.o.Store.TrainingCases(ctx, v, "", p.Training.Newest, s.o.Untrusted)
	if err != nil {
		return out, err
	}
	liked := imitable(events)
	if len(liked) < p.Training.Events {
		return out, nil // there is nothing to train with: no adapter is made for it either
	}
	adapters, err := s.o.Adapters.Trainables(ctx, v, runID)
	if err != nil {
		return out, err
	}
	for _, a := range adapters {
		due, err := s.due(ctx, v, a, liked, p.Training)
		if err != nil {
			return out, err
		}
		if !due {
			continue
		}
		_, made, err := s.o.Store.QueueJob(ctx, v, learning.Job{AdapterID: a.ID, ClusterID: a.ClusterID})
		if err != nil {
			return out, err
		}
		if made {
			out.Queued++
		}
	}
	return out, nil
}

// due reports whether an adapter is to be trained.
func (s *Steps) due(ctx context.Context, v identity.Viewer, a learning.Trainable, liked []imitated, n learning.TrainingNumbers) (bool, error) {
	jobs, _, err := s.o.Store.TrainingJobs(ctx, v, learning.JobFilter{AdapterID: a.ID, Limit: 20})
	if err != nil {
		return false, err
	}
	var last learning.Job // that looked at what was said
	for _, j := range jobs {
		if !j.Ended() {
			return false, nil
		}
		if last.ID == "" && !j.StartedAt.IsZero() && j.Kind != learning.JobDistil {
			last = j
		}
	}
	fresh := 0
	for _, e := range liked {
		if (a.ClusterID == "" || e.cluster == a.ClusterID) && e.at.After(last.StartedAt) {
			fresh++
		}
	}
	if fresh >= n.Events {
		return true, nil
	}
	list, err := s.o.Store.Weights(ctx, v, a.ID)
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(list, func(w learning.Weights) bool { return w.Version == a.Weights && a.Weights > 0 })
	return at >= 0 && list[at].State == learning.WeightsMarked && list[at].UpdatedAt.After(last.StartedAt), nil
}

// Ask queues a job for an adapter as its person wishes it (POST
// /v1/adapters/{id}/train). Invalid where nothing can be trained.
func (s *Steps) Ask(ctx context.Context, v identity.Viewer, adapterID string) (learning.Job, error) {
	if !s.Possible() {
		return learning.Job{}, fault.New(fault.Invalid, "No model runs here that an adapter could be trained for: it takes MODEL_BACKEND=local_lora and LIMINAL_LEARNING=full.").
			With(map[string]any{"reason": fault.NotConfigured})
	}
	allowed, err := s.o.Store.LearningSettings(ctx, v)
	if err != nil {
		return learning.Job{}, err
	}
	if !allowed.Personal {
		return learning.Job{}, fault.New(fault.Forbidden, "Nothing is learnt from you: you have switched it off. Switch it on first.").With(map[string]any{"field": "personal"})
	}
	a, err := s.o.Adapters.Trainable(ctx, v, adapterID)
	if err != nil {
		return learning.Job{}, err
	}
	j, _, err := s.o.Store.QueueJob(ctx, v, learning.Job{AdapterID: a.ID, ClusterID: a.ClusterID, Meta: map[string]any{"asked": true}})
	return j, err
}

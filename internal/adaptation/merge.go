package adaptation

import (
	"context"
	"errors"

	"liminal/internal/changes"
	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

// merges has what an adapter learnt that nobody misses taught to a sibling of its
// (CLUS-06), and reports whether that is under way: the adapter is let be until
// then. It is not where there is no sibling, nothing is trained here, or that was
// tried before: then it is as if there was no merging.
func (s *Steps) merges(ctx context.Context, v identity.Viewer, a adapter, list []adapter, poor func(adapter) (bool, error), n learning.PruneNumbers) (bool, error) {
	jobs, keeps := s.o.Store.(learning.Training)
	if !keeps || !s.o.Trains || v.IsSystem() {
		return false, nil
	}
	allowed, err := s.o.Store.LearningSettings(ctx, v)
	if err != nil || !allowed.Personal {
		return false, err
	}
	into, err := s.sibling(ctx, v, a, list, poor, n.Alike)
	if err != nil || into.ID == "" {
		return false, err
	}
	earlier, _, err := jobs.TrainingJobs(ctx, v, learning.JobFilter{AdapterID: into.ID, Limit: maxEarlier})
	if err != nil {
		return false, err
	}
	for _, j := range earlier {
		if !j.Ended() {
			return true, nil // this one, or another that comes first
		}
		if j.From() == a.ID {
			return s.undecided(ctx, v, j)
		}
	}
	_, _, err = jobs.QueueJob(ctx, v, learning.Job{
		AdapterID: into.ID, ClusterID: into.document.ClusterID, Kind: learning.JobDistil, Meta: map[string]any{learning.MetaFrom: a.ID},
	})
	return err == nil, err
}

// undecided reports whether the version that a job made waits for its person.
func (s *Steps) undecided(ctx context.Context, v identity.Viewer, j learning.Job) (bool, error) {
	patch, _ := j.Meta["patch"].(float64)
	if patch == 0 {
		return false, nil
	}
	view, err := s.o.Desk.Get(ctx, v, int64(patch))
	if errors.Is(err, fault.NotFound) {
		return false, nil
	}
	return view.Status == changes.Pending || view.Status == changes.Approved, err
}

// sibling is the adapter with weights, in use and of the situation most like an
// adapter's own, where that is alike enough; the zero one where there is none.
func (s *Steps) sibling(ctx context.Context, v identity.Viewer, a adapter, list []adapter, poor func(adapter) (bool, error), alike float64) (out adapter, err error) {
	if !a.weighs() {
		return out, nil
	}
	clusters, err := s.o.Store.ListClusters(ctx, v, false)
	if err != nil {
		return out, err
	}
	middle := map[string][]float32{}
	for _, c := range clusters {
		middle[c.ID] = c.Centroid
	}
	for _, b := range list {
		if b.ID == a.ID || !b.weighs() || b.BaseModel != a.BaseModel || middle[a.document.ClusterID] == nil || middle[b.document.ClusterID] == nil {
			continue
		}
		near := embed.Cosine(middle[a.document.ClusterID], middle[b.document.ClusterID])
		if near < alike {
			continue
		}
		if out.ID != "" && near <= embed.Cosine(middle[a.document.ClusterID], middle[out.document.ClusterID]) {
			continue
		}
		unused, err := poor(b)
		if err != nil {
			return adapter{}, err
		}
		if !unused {
			out = b
		}
	}
	return out, nil
}

// weighs reports whether it is of a situation and has weights that say something.
func (a adapter) weighs() bool {
	return a.document.ClusterID != "" && a.Weights != nil && *a.Weights > 0 && a.Checksum != ""
}

// replaced is an adapter of the viewer's that another is to answer for; the zero
// one where it is gone, or they do without it already.
func (s *Steps) replaced(ctx context.Context, v identity.Viewer, id string) (adapter, error) {
	a, err := s.ownAdapter(ctx, v, id)
	if errors.Is(err, fault.NotFound) || err == nil && !a.usable() {
		return adapter{}, nil
	}
	return a, err
}

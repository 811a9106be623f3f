package adaptation

import (
	"context"
	"slices"
	"strings"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/cluster"
)

// maxUnsituated is how many events' tasks are named in one run.
const maxUnsituated = 60

// Unsituated are the viewer's latest events whose task nobody has named yet.
func (s *Steps) Unsituated(ctx context.Context, v identity.Viewer) ([]learning.Case, error) {
	cases, err := s.cases(ctx, v)
	if err != nil {
		return nil, err
	}
	cases = slices.DeleteFunc(cases, func(c learning.Case) bool { return c.Situation != "" })
	return cases[max(0, len(cases)-maxUnsituated):], nil
}

// maxSituation bounds the name of a task, in bytes.
const maxSituation = 200

// Situate stores what a model calls the tasks of events.
func (s *Steps) Situate(ctx context.Context, v identity.Viewer, of map[int64]string) error {
	named := map[int64]string{}
	for id, task := range of {
		if task = strings.Join(strings.Fields(task), " "); task != "" && len(task) <= maxSituation {
			named[id] = task
		}
	}
	if len(named) == 0 {
		return nil
	}
	return s.o.Store.Situate(ctx, keeper(v), named)
}

// Updated is what came of grouping events.
type Updated struct {
	Clusters int      `json:"clusters"` // that stand
	Retired  int      `json:"retired"`  // that stand no longer
	Unnamed  []string `json:"unnamed"`  // ids of those without a name, at most 20 of them
}

// maxUnnamed is how many situations are named in one run.
const maxUnnamed = 20

// Update groups the viewer's events into situations, or those of everybody, and
// stores them (CLUS-01). Done twice it changes nothing (CLUS-07).
func (s *Steps) Update(ctx context.Context, v identity.Viewer) (Updated, error) {
	p, _, err := s.Policy(ctx, v)
	if err != nil {
		return Updated{}, err
	}
	cases, err := s.cases(ctx, v)
	if err != nil {
		return Updated{}, err
	}
	had, err := s.o.Store.ListClusters(ctx, keeper(v), v.IsSystem())
	if err != nil {
		return Updated{}, err
	}
	o, encoder, err := s.numbers(ctx, p.Situations)
	if err != nil {
		return Updated{}, err
	}
	found := cluster.Find(cases, had, ownerOf(v), encoder, o)
	if err := s.o.Store.PutClustering(ctx, keeper(v), found); err != nil {
		return Updated{}, err
	}
	s.Forget(ctx, ownerOf(v))
	return updated(found.Clusters), nil
}

func updated(list []learning.Cluster) Updated {
	out := Updated{Unnamed: []string{}}
	for _, c := range list {
		switch {
		case c.Status == learning.ClusterRetired:
			out.Retired++
			continue
		case c.LabelBy == "" && len(out.Unnamed) < maxUnnamed:
			out.Unnamed = append(out.Unnamed, c.ID)
		}
		out.Clusters++
	}
	return out
}

// ownerOf is whose situations a viewer's run is about; the system's are
// everybody's.
func ownerOf(v identity.Viewer) string {
	if v.IsSystem() {
		return ""
	}
	return v.UserID
}

// numbers are the clusterer's options, and the version of the encoder whose
// vectors count.
func (s *Steps) numbers(ctx context.Context, n learning.SituationNumbers) (cluster.Options, string, error) {
	o := cluster.DefaultOptions()
	o.Newest, o.Cut, o.Assign, o.Rounds, o.Least = n.Newest, n.Cut, n.Assign, n.Rounds, n.Least
	o.Strength, o.Halves, o.LeastPeople, o.Language = n.Strength, n.Halves, n.People, n.LanguageShare
	if s.o.Encoder == nil {
		return o, "", nil
	}
	scale, err := s.gauge(ctx)
	if err != nil {
		return o, "", err
	}
	o.Power = scale.Power
	return o, s.o.Encoder.Version(), nil
}

// gauge measures the encoder, once for each process.
func (s *Steps) gauge(ctx context.Context) (embed.Scale, error) {
	s.memo.mu.Lock()
	defer s.memo.mu.Unlock()
	if s.memo.scale != nil {
		return *s.memo.scale, nil
	}
	scale, err := embed.Gauge(ctx, s.o.Encoder)
	if err != nil {
		return scale, err
	}
	s.memo.scale = &scale
	return scale, nil
}

// Unnamed is a situation that wants a name, with events of it.
type Unnamed struct {
	Cluster learning.Cluster
	Cases   []learning.Case // the nearest to its middle first, at most maxSamples
}

// maxSamples is how many tasks a model is shown to name a situation by.
const maxSamples = 12

// Named gives a situation with events of it; NotFound where there is none.
func (s *Steps) Named(ctx context.Context, v identity.Viewer, id string) (Unnamed, error) {
	c, err := s.clusterOf(ctx, v, id)
	if err != nil {
		return Unnamed{}, err
	}
	cases, err := s.placed(ctx, v)
	if err != nil {
		return Unnamed{}, err
	}
	cases = slices.DeleteFunc(cases, func(e learning.Case) bool { return e.ClusterID != id })
	slices.SortStableFunc(cases, nearest(c.Centroid))
	return Unnamed{c, cases[:min(len(cases), maxSamples)]}, nil
}

func (s *Steps) clusterOf(ctx context.Context, v identity.Viewer, id string) (learning.Cluster, error) {
	list, err := s.o.Store.ListClusters(ctx, keeper(v), v.IsSystem())
	if err != nil {
		return learning.Cluster{}, err
	}
	at := slices.IndexFunc(list, func(c learning.Cluster) bool { return c.ID == id })
	if at < 0 {
		return learning.Cluster{}, fault.New(fault.NotFound, "There is no situation %q of yours.", id)
	}
	return list[at], nil
}

// nearest orders events by how near they are to a vector, the nearest first.
func nearest(centroid []float32) func(a, b learning.Case) int {
	return func(a, b learning.Case) int {
		x, y := embed.Cosine(a.Embedding, centroid), embed.Cosine(b.Embedding, centroid)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	}
}

// The most a name and a description have, in bytes.
const (
	maxLabel       = 80
	maxDescription = 300
)

// Label names a situation. What a person called it stays.
func (s *Steps) Label(ctx context.Context, v identity.Viewer, id, label, description, by string) error {
	c, err := s.clusterOf(ctx, v, id)
	if err != nil || c.LabelBy == learning.ByPerson || c.Status == learning.ClusterRetired {
		return err
	}
	if label = line(label, maxLabel); label == "" {
		return fault.New(fault.Invalid, "A situation needs a name.").With(map[string]any{"field": "label"})
	}
	c.Label, c.Description, c.LabelBy = label, line(description, maxDescription), by
	if err := s.o.Store.PutCluster(ctx, keeper(v), c); err != nil {
		return err
	}
	s.Forget(ctx, ownerOf(v))
	return nil
}

// line is a text as one line of at most so many bytes.
func line(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.TrimSpace(strings.ToValidUTF8(text[:most], ""))
	}
	return text
}

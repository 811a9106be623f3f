package api

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

func (s *server) clusterRoutes() {
	add(s, route("GET /v1/clusters", "listClusters", "The situations I come back to, or those of everybody; the largest first", scopeRead), s.listClusters)
	add(s, route("PATCH /v1/clusters/{id}", "changeCluster", "Name a situation; those of everybody are an administrator's"), s.changeCluster)
	add(s, route("DELETE /v1/clusters/{id}", "deleteCluster", "Retire a situation; it is not found again"), s.deleteCluster)
	add(s, route("POST /v1/clusters/{id}/merge", "mergeCluster", "Make one situation of two"), s.mergeCluster)
	add(s, route("POST /v1/clusters/{id}/split", "splitCluster", "Say which answers of a situation belong to another; the next run finds it"), s.splitCluster)
	add(s, route("GET /v1/clusters/{id}/events", "listClusterEvents", "What I said of answers in a situation, the latest first", scopeRead), s.listClusterEvents)
}

// clusterEvents is how many events of a cluster are shown, and tied by a merge
// or a split.
const clusterEvents = 500

// Cluster is a situation that a person comes back to (CLUS-01).
type Cluster struct {
	ID          string    `json:"id" format:"uuid"`
	Label       string    `json:"label"`
	Description string    `json:"description"`
	LabelBy     string    `json:"label_by" enum:",rule,model,person" doc:"empty: it has none yet"`
	Size        int       `json:"size" doc:"answers I said something of"`
	Strength    float64   `json:"strength" minimum:"0" maximum:"1" doc:"how well one half of its answers predicts the other"`
	Status      string    `json:"status" enum:"active,retired"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

func clusterView(c learning.Cluster) Cluster {
	return Cluster{
		ID: c.ID, Label: c.Label, Description: c.Description, LabelBy: c.LabelBy, Size: c.Size, Strength: c.Strength, Status: string(c.Status),
		CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(),
	}
}

type listClustersInput struct {
	Scope string `query:"scope" enum:"mine,global" default:"mine"`
}

func (s *server) listClusters(ctx context.Context, in *listClustersInput) (Page[Cluster], error) {
	list, err := s.Situations.ListClusters(ctx, viewerOf(ctx), in.Scope == "global")
	list = slices.DeleteFunc(list, func(c learning.Cluster) bool { return c.Status != learning.ClusterActive })
	slices.SortStableFunc(list, func(a, b learning.Cluster) int { return cmp.Compare(b.Size, a.Size) })
	return page(list, "", clusterView), err
}

// standing is a cluster that stands, of the viewer's or, for an administrator,
// of everybody's, with all that are listed with it.
func (s *server) standing(ctx context.Context, v identity.Viewer, clusterID string) (learning.Cluster, []learning.Cluster, error) {
	for _, global := range []bool{false, true} {
		if global && !v.IsAdmin() {
			break
		}
		list, err := s.Situations.ListClusters(ctx, v, global)
		if err != nil {
			return learning.Cluster{}, nil, err
		}
		for _, c := range list {
			if c.ID == clusterID && c.Status == learning.ClusterActive {
				return c, list, nil
			}
		}
	}
	return learning.Cluster{}, nil, fault.New(fault.NotFound, "There is no such situation, or it is not yours.")
}

type changeClusterInput struct {
	ByID
	Body struct {
		Label       *string `json:"label,omitempty" doc:"one line of 1 to 80 characters"`
		Description *string `json:"description,omitempty" doc:"one line of at most 300 characters"`
	}
}

func (s *server) changeCluster(ctx context.Context, in *changeClusterInput) (Cluster, error) {
	v := viewerOf(ctx)
	c, _, err := s.standing(ctx, v, in.ID)
	if err == nil {
		c, err = c.Named(in.Body.Label, in.Body.Description)
	}
	if err != nil {
		return Cluster{}, err
	}
	return s.putClusters(ctx, v, c.ID, c)
}

// putClusters stores clusters and gives one of them as it is then.
func (s *server) putClusters(ctx context.Context, v identity.Viewer, one string, list ...learning.Cluster) (Cluster, error) {
	for _, c := range list {
		if err := s.relearnt(ctx, s.Situations.PutCluster(ctx, v, c)); err != nil {
			return Cluster{}, err
		}
	}
	c, _, err := s.standing(ctx, v, one)
	return clusterView(c), err
}

func (s *server) deleteCluster(ctx context.Context, in *ByID) (Nothing, error) {
	v := viewerOf(ctx)
	c, _, err := s.standing(ctx, v, in.ID)
	if err != nil {
		return Nothing{}, err
	}
	c.Status, c.LabelBy = learning.ClusterRetired, learning.ByPerson
	return Nothing{}, s.relearnt(ctx, s.Situations.PutCluster(ctx, v, c))
}

type mergeClusterInput struct {
	ByID
	Body struct {
		Into string `json:"into" format:"uuid" doc:"the situation that stays"`
	}
}

// mergeCluster ties the events of both for every later run, and moves them now.
func (s *server) mergeCluster(ctx context.Context, in *mergeClusterInput) (Cluster, error) {
	v := viewerOf(ctx)
	from, all, err := s.standing(ctx, v, in.ID)
	if err != nil {
		return Cluster{}, err
	}
	into := id.Canonical(in.Body.Into)
	if into == from.ID {
		return Cluster{}, fault.New(fault.Invalid, "A situation is merged into another one.").With(map[string]any{"field": "into"})
	}
	if _, _, err := s.standing(ctx, v, into); err != nil {
		return Cluster{}, err
	}
	more, err := s.eventsOf(ctx, v, from.ID)
	if err != nil {
		return Cluster{}, err
	}
	events, err := s.eventsOf(ctx, v, into)
	if err != nil {
		return Cluster{}, err
	}
	changed := learning.Joined(all, into, events, more)
	moved := learning.Clustering{Of: map[int64]string{}}
	for _, event := range more {
		moved.Of[event] = into
	}
	if at := slices.IndexFunc(changed, func(c learning.Cluster) bool { return c.ID == from.ID }); at >= 0 {
		from = changed[at]
	}
	from.Status, from.LabelBy = learning.ClusterRetired, learning.ByRule // another has its place: nobody refused it
	out, err := s.putClusters(ctx, v, into, append(changed, from)...)
	if err != nil {
		return Cluster{}, err
	}
	return out, s.Situations.PutClustering(ctx, v, moved)
}

// eventsOf are the newest events of a cluster of the viewer's own, by ascending
// id.
func (s *server) eventsOf(ctx context.Context, v identity.Viewer, clusterID string) ([]int64, error) {
	list, err := s.Situations.ClusterCases(ctx, v, clusterID, clusterEvents)
	ids := make([]int64, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	return ids, err
}

type splitClusterInput struct {
	ByID
	Body struct {
		Events []int64 `json:"event_ids" minItems:"1" maxItems:"500" doc:"of the situation, not all of them"`
	}
}

func (s *server) splitCluster(ctx context.Context, in *splitClusterInput) (Cluster, error) {
	v := viewerOf(ctx)
	c, all, err := s.standing(ctx, v, in.ID)
	if err != nil {
		return Cluster{}, err
	}
	events, err := s.eventsOf(ctx, v, c.ID)
	if err != nil {
		return Cluster{}, err
	}
	var out, rest []int64
	for _, event := range events {
		if slices.Contains(in.Body.Events, event) {
			out = append(out, event)
		} else {
			rest = append(rest, event)
		}
	}
	if asked := slices.Compact(slices.Sorted(slices.Values(in.Body.Events))); len(out) != len(asked) || len(rest) == 0 {
		return Cluster{}, fault.New(fault.Invalid, "Name some of the answers of this situation, and not all of them.").With(map[string]any{"field": "event_ids"})
	}
	return s.putClusters(ctx, v, c.ID, learning.Parted(all, c.ID, out, rest)...)
}

func (s *server) listClusterEvents(ctx context.Context, in *ByID) (Page[LearningEvent], error) {
	v := viewerOf(ctx)
	c, _, err := s.standing(ctx, v, in.ID)
	if err != nil {
		return Page[LearningEvent]{}, err
	}
	list, err := s.Situations.ClusterCases(ctx, v, c.ID, clusterEvents)
	if c.UserID == "" && errors.Is(err, fault.NotFound) { // whose they are is not kept
		err = nil
	}
	slices.Reverse(list)
	return page(list, "", learningEventView), err
}

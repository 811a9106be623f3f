package adaptation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

// Subjects are what lessons are derived of: the situations of the viewer's that
// have, or are to get, an adapter, by their ids, and all answers, which is
// empty.
func (s *Steps) Subjects(ctx context.Context, v identity.Viewer) ([]string, error) {
	if v.IsSystem() {
		return []string{}, nil
	}
	own, err := s.o.Store.OwnAdapters(ctx, v)
	if err != nil {
		return nil, err
	}
	subjects := []string{""}
	for id, clusterID := range own {
		if clusterID == "" {
			continue
		}
		a, err := s.o.Library.Get(ctx, v, id)
		if err == nil && a.Name == nameOf(clusterID) && !a.IsDraft() {
			subjects = append(subjects, clusterID)
		} else if err != nil && !errors.Is(err, fault.NotFound) {
			return nil, err
		}
	}
	ready, err := s.ready(ctx, v)
	if err != nil {
		return nil, err
	}
	for _, c := range ready {
		subjects = append(subjects, c.ID)
	}
	slices.Sort(subjects)
	return slices.Compact(subjects), nil
}

// ready are the viewer's situations that are to get an adapter (CLUS-04): large
// enough, praised often enough lately, and with none yet. One whose adapter was
// turned down or taken back gets none again.
func (s *Steps) ready(ctx context.Context, v identity.Viewer) ([]learning.Cluster, error) {
	p, _, err := s.Policy(ctx, v)
	if err != nil {
		return nil, err
	}
	list, err := s.o.Store.ListClusters(ctx, keeper(v), v.IsSystem())
	if err != nil {
		return nil, err
	}
	cases, err := s.placed(ctx, v)
	if err != nil {
		return nil, err
	}
	bound, err := s.bound(ctx, v)
	if err != nil {
		return nil, err
	}
	var out []learning.Cluster
	for _, c := range list {
		if c.Status == learning.ClusterRetired || c.Size < p.Skills.MinSkillSize || bound[c.ID] || praised(cases, c.ID, s.o.Now().AddDate(0, 0, -p.Skills.Days)) < p.Skills.Positive {
			continue
		}
		a, err := s.adapterOf(ctx, v, c.ID)
		if err != nil {
			return nil, err
		}
		if a.ID != "" && !s.waits(ctx, v, a) {
			continue
		}
		out = append(out, c)
	}
	return out, nil
}

// waits reports whether a draft is on its way to be one that counts.
func (s *Steps) waits(ctx context.Context, v identity.Viewer, a adapter) bool {
	list, _, err := s.o.Desk.List(ctx, v, changes.Filter{ArtifactID: a.ID, Limit: maxEarlier})
	return err == nil && slices.ContainsFunc(list, func(p changes.Patch) bool {
		return p.Status == changes.Pending || p.Status == changes.Approved
	})
}

// praised counts the events of praise of a situation since a time.
func praised(cases []learning.Case, clusterID string, since time.Time) (n int) {
	for _, c := range cases {
		if c.ClusterID == clusterID && c.Score > 0 && c.CreatedAt.After(since) {
			n++
		}
	}
	return n
}

// bound are the situations that an adapter is tied to: of the viewer's own, or,
// for the system, of everybody's.
func (s *Steps) bound(ctx context.Context, v identity.Viewer) (map[string]bool, error) {
	out := map[string]bool{}
	if !v.IsSystem() {
		own, err := s.o.Store.OwnAdapters(ctx, v)
		for _, clusterID := range own {
			out[clusterID] = true
		}
		return out, err
	}
	list, err := s.global(ctx)
	for _, a := range list {
		out[a.document.ClusterID] = true
	}
	return out, err
}

// skillOf is the seed's document of an adapter of a situation (CLUS-04). Its
// text half is what it has before the first training (CLUS-05).
func skillOf(v identity.Viewer, c learning.Cluster, n learning.SkillNumbers) document {
	zero := 0
	d := document{
		Kind: artifacts.KindAdapter, Mode: "hybrid", Scope: "per-user", Type: "skill", UserID: v.UserID,
		Rank: n.Rank, Layers: n.Layers, Matrices: n.Matrices, Weights: &zero, ClusterID: c.ID,
		Applicability: applicability{Words: "Skill: " + c.Label + " – " + c.Description, Centroid: widened(c.Centroid)},
	}
	if v.IsSystem() {
		d.Scope, d.UserID = "global", ""
	}
	return d
}

func widened(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// described is what people read of an adapter.
func (d document) described() string {
	if d.Applicability.Words != "" {
		return d.Applicability.Words
	}
	return "How you want to be answered, from what you said of answers."
}

// exemplify lists the liked answers of a situation nearest to its middle.
func (s *Steps) exemplify(ctx context.Context, v identity.Viewer, clusterID string, d *document) error {
	c, err := s.clusterOf(ctx, v, clusterID)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p, _, err := s.Policy(ctx, v)
	if err != nil {
		return err
	}
	cases, err := s.cases(ctx, v)
	if err != nil {
		return err
	}
	cases = slices.DeleteFunc(cases, func(e learning.Case) bool { return e.ClusterID != clusterID || e.Score <= 0 })
	slices.SortStableFunc(cases, nearest(c.Centroid))
	d.Examples = nil
	for _, e := range cases[:min(len(cases), p.Skills.Examples)] {
		d.Examples = append(d.Examples, e.ID)
	}
	return nil
}

// Skills says which situations lessons are derived of, and for the system
// proposes adapters of those of everybody, which people decide about.
func (s *Steps) Skills(ctx context.Context, v identity.Viewer) (subjects []string, proposed int, err error) {
	if !v.IsSystem() {
		subjects, err = s.Subjects(ctx, v)
		return subjects, 0, err
	}
	ready, err := s.ready(ctx, v)
	if err != nil {
		return nil, 0, err
	}
	p, _, err := s.Policy(ctx, v)
	if err != nil {
		return nil, 0, err
	}
	for _, c := range ready {
		if err := s.proposeGlobal(ctx, v, c, p.Skills); err != nil {
			return nil, proposed, err
		}
		proposed++
	}
	return []string{}, proposed, nil
}

func (s *Steps) proposeGlobal(ctx context.Context, v identity.Viewer, c learning.Cluster, n learning.SkillNumbers) error {
	doc, err := json.Marshal(skillOf(v, c, n))
	if err != nil {
		return err
	}
	why := learning.Say("everybodys_situation", map[string]any{"events": c.Size, "label": c.Label},
		"%d events of people who allow it are of one situation, %q, and no adapter is tied to it.", c.Size, c.Label)
	found, err := json.Marshal(Found{Why: learning.Remarks{why}})
	if err != nil {
		return err
	}
	_, err = s.o.Desk.Propose(ctx, v, changes.Proposal{
		Changes: []changes.ProposedChange{{Create: &artifacts.Draft{
			Type: artifacts.KindAdapter, Name: nameOf(c.ID), Description: line("Skill: "+c.Label, 400), Visibility: artifacts.Global, Schema: doc,
		}}},
		Justification: why.Text, Found: found,
	})
	if errors.Is(err, fault.Conflict) { // there is one by now
		return nil
	}
	return err
}

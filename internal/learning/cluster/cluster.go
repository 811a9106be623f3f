// Package cluster finds the situations that people come back to in what they
// said of answers (CLUS-01).
//
// It is pure: the same events give the same clusters, whatever ran before, and
// it reads no clock and no map order (CLUS-07). Clusters are made from scratch
// each time; what they were before only lends them its ids, labels and the
// pairs that a person put together or apart. Merging, splitting and drift of
// clusters therefore need no code of their own. It may import learning, embed,
// words and id.
package cluster

import (
	"cmp"
	"slices"

	"liminal/internal/embed"
	"liminal/internal/learning"
)

// Options are the numbers of the clusterer.
type Options struct {
	Power       float64 // of the encoder of the events, 0 to 1 (embed.Gauge): what its vectors count for beside words
	Newest      int     // events that clusters are made of, the newest; older ones join those that are made
	Cut         float64 // similarity down to which groups are joined, by the average of their pairs
	Assign      float64 // similarity to a centroid from which an event joins its group in a later round
	Rounds      int     // of giving events to the nearest centroid
	Least       int     // events of a cluster
	Strength    float64 // that a cluster must have, see learning.Cluster
	Halves      int     // random halves that strength is measured with
	LeastPeople int     // whose events a cluster of everybody holds
	Language    float64 // what the language of an event counts for
}

// DefaultOptions are the numbers that were measured (eval/README.md), for an
// encoder that knows words and no meaning.
func DefaultOptions() Options {
	return Options{
		Newest: 2000, Cut: 0.06, Assign: 0.3, Rounds: 6, Least: 5, Strength: 0.5, Halves: 6, LeastPeople: 5, Language: 0.1,
	}
}

// olderToo times Options.Newest events are looked at: those that clusters are
// made of, and as many older ones. What is older still stays where it is.
const olderToo = 2

// samples is how many messages a cluster is shown by.
const samples = 5

// Find groups cases into the clusters of owner, or of everybody where owner is
// empty. had are that owner's clusters of before, encoder the version of the
// encoder that is in use: vectors of another count for nothing. Events of other
// people, and those that are excluded, are left out (CLUS-02).
//
// A cluster has Options.Least events and predicts itself (Options.Strength), or
// a person named it or put events into it; what is in none is of no situation. It keeps the id and
// the label of the cluster that most of its events were in. Those that nothing
// inherits retire; LabelBy of a retired one is ByPerson only where a person
// retired it, and then its events are of no situation. Times are left to who
// stores the clusters.
func Find(cases []learning.Case, had []learning.Cluster, owner, encoder string, o Options) learning.Clustering {
	cases = eligible(cases, owner)
	cases = cases[max(0, len(cases)-olderToo*o.Newest):]
	s := newSpace(cases, encoder, o)
	all := make([]int, len(cases))
	for i := range all {
		all[i] = i
	}
	recent := all[max(0, len(all)-o.Newest):]
	ties := tiesOf(cases, had)
	groups := s.groups(recent, ties)
	of := map[int]int{}
	for _, i := range all[:len(all)-len(recent)] {
		of[i] = s.nearest(i, groups)
	}
	for _, i := range slices.Backward(all[:len(all)-len(recent)]) {
		if g := of[i]; g >= 0 {
			groups[g].members = append([]int{i}, groups[g].members...)
		}
	}
	strengths := s.strengths(groups, recent)
	return s.settle(groups, strengths, had, owner)
}

// eligible are the cases that may be grouped, each event once, by ascending id.
func eligible(cases []learning.Case, owner string) []learning.Case {
	var out []learning.Case
	for _, c := range cases {
		if !c.Excluded && (owner == "" || c.UserID == owner) {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b learning.Case) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(out, func(a, b learning.Case) bool { return a.ID == b.ID })
}

// settle says which groups are clusters, and which clusters of before they are.
func (s *space) settle(groups []group, strengths []float64, had []learning.Cluster, owner string) learning.Clustering {
	out := learning.Clustering{Of: map[int64]string{}}
	for _, c := range s.cases {
		out.Of[c.ID] = ""
	}
	found := make([]learning.Cluster, 0, len(groups))
	var of [][]int
	for i, g := range groups {
		if c, ok := s.describe(g, strengths[i]); ok {
			found, of = append(found, c), append(of, g.members)
		}
	}
	heirs := s.inherit(found, of, had, owner)
	for i, c := range found {
		h := heirs[i]
		if h.refused || c.Strength < s.o.Strength && !shaped(h.from) || owner == "" && s.people(of[i]) < s.o.LeastPeople {
			heirs[i].from = learning.Cluster{}
			continue
		}
		out.Clusters = append(out.Clusters, named(c, h, owner))
		for _, m := range of[i] {
			out.Of[s.cases[m].ID] = h.id
		}
	}
	for _, c := range had {
		if c.Status != learning.ClusterRetired && !slices.ContainsFunc(out.Clusters, func(f learning.Cluster) bool { return f.ID == c.ID }) {
			c.Status, c.Size, c.LabelBy = learning.ClusterRetired, 0, learning.ByRule
			out.Clusters = append(out.Clusters, c)
		}
	}
	slices.SortFunc(out.Clusters, func(a, b learning.Cluster) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// shaped reports whether a person named a cluster or put events into it.
func shaped(c learning.Cluster) bool { return c.LabelBy == learning.ByPerson || len(c.Together) > 0 }

// named is a cluster with what it takes over of the one it was before.
func named(c learning.Cluster, h heir, owner string) learning.Cluster {
	c.ID, c.UserID = h.id, owner
	c.Label, c.Description, c.LabelBy = h.from.Label, h.from.Description, h.from.LabelBy
	c.Together, c.Apart, c.CreatedAt = h.from.Together, h.from.Apart, h.from.CreatedAt
	return c
}

// describe is a group as a cluster without a name; false for one that is too
// small, or of which no vector is of the encoder in use.
func (s *space) describe(g group, strength float64) (learning.Cluster, bool) {
	if len(g.members) < s.o.Least {
		return learning.Cluster{}, false
	}
	centroid, known := s.stored(g.members)
	if !known {
		return learning.Cluster{}, false
	}
	return learning.Cluster{
		Centroid: centroid, Size: len(g.members), Status: learning.ClusterActive, Encoder: s.encoder,
		Strength: strength, Reach: s.reach(centroid, g.members), Samples: s.nearestMessages(centroid, g.members),
	}, true
}

// nearestMessages are the messages of a cluster nearest to its centroid, each
// once.
func (s *space) nearestMessages(centroid []float32, members []int) []string {
	order := slices.Clone(members)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(embed.Cosine(centroid, s.cases[b].Embedding), embed.Cosine(centroid, s.cases[a].Embedding))
	})
	var out []string
	for _, i := range order {
		if m := s.cases[i].MessageID; len(out) < samples && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// people is how many people's events are among members.
func (s *space) people(members []int) int {
	ids := map[string]bool{}
	for _, i := range members {
		ids[s.cases[i].UserID] = true
	}
	return len(ids)
}

package cluster

import (
	"cmp"
	"slices"
	"strconv"

	"liminal/internal/embed"
	"liminal/internal/id"
	"liminal/internal/learning"
)

// akin is the cosine of centroids from which a group of which no event was in a
// cluster is that cluster all the same: events of everybody's clusters do not
// say which they were in.
const akin = 0.85

// heir is what a group takes over.
type heir struct {
	id      string
	from    learning.Cluster // as it was; the zero value for a new one
	refused bool             // a person retired what this is
}

// claim is a group that may be a cluster of before.
type claim struct {
	group, had int
	events     int     // in both
	cosine     float64 // of their centroids
}

// inherit says which cluster of before each group is: most events in common
// first, then the nearest centroids; each cluster has one heir. Groups that are
// none get an id that follows from their oldest event.
func (s *space) inherit(found []learning.Cluster, of [][]int, had []learning.Cluster, owner string) []heir {
	var claims []claim
	for g, c := range found {
		for h, before := range had {
			if before.Status == learning.ClusterRetired && before.LabelBy != learning.ByPerson {
				continue
			}
			next := claim{group: g, had: h, events: s.inBoth(of[g], before.ID)}
			if before.Encoder == c.Encoder {
				next.cosine = embed.Cosine(c.Centroid, before.Centroid)
			}
			if next.events > 0 || next.cosine >= akin {
				claims = append(claims, next)
			}
		}
	}
	slices.SortStableFunc(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(b.events, a.events), cmp.Compare(b.cosine, a.cosine), cmp.Compare(had[a.had].ID, had[b.had].ID))
	})
	out := make([]heir, len(found))
	taken := map[string]bool{}
	for _, c := range claims {
		before := had[c.had]
		switch retired := before.Status == learning.ClusterRetired; {
		case out[c.group].id != "" || out[c.group].refused:
		case retired:
			out[c.group].refused = c.cosine >= akin || 2*c.events > len(of[c.group])
		case !taken[before.ID]:
			out[c.group] = heir{id: before.ID, from: before}
			taken[before.ID] = true
		}
	}
	for _, c := range had {
		taken[c.ID] = true
	}
	for g := range out {
		if out[g].id == "" {
			out[g].id = fresh(owner, s.cases[of[g][0]].ID, taken)
		}
	}
	return out
}

// inBoth is how many of members were in a cluster.
func (s *space) inBoth(members []int, cluster string) int {
	n := 0
	for _, i := range members {
		if s.cases[i].ClusterID == cluster {
			n++
		}
	}
	return n
}

// fresh is an id that no cluster has had.
func fresh(owner string, oldest int64, taken map[string]bool) string {
	for n := 0; ; n++ {
		next := id.Derive("cluster", owner, strconv.FormatInt(oldest, 10), strconv.Itoa(n))
		if !taken[next] {
			taken[next] = true
			return next
		}
	}
}

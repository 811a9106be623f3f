package knowledge

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/words"
)

// Near is the rating from which a quote of Closest speaks of the same thing.
const Near = 0.36

// Closest picks at most n verbatim quotes that speak of what a sentence speaks
// of, the closest first: those that share its content words, the rare ones
// above all. A rating is between 0 and 1; one below Near shares words and no
// matter. What a quote says of it may be the opposite.
func (m *Matter) Closest(sentence string, n int) []Quote {
	q := inquire("")
	l := words.Detect(sentence)
	asked := content(l, q.bag(l, sentence))
	parts := []map[string]bool{{}}
	for _, clause := range clauses.Split(sentence, -1) {
		part := content(l, q.bag(l, clause))
		if last := parts[len(parts)-1]; len(last) < 2 { // a word alone makes no clause
			maps.Copy(last, part)
			continue
		}
		parts = append(parts, part)
	}
	if last := len(parts) - 1; last > 0 && len(parts[last]) < 2 {
		maps.Copy(parts[last-1], parts[last])
		parts = parts[:last]
	}
	var all []choice
	for _, s := range m.statements {
		if s.names() {
			continue
		}
		if rating := m.speaks(asked, parts, s); rating > 0 {
			all = append(all, choice{s, rating})
		}
	}
	slices.SortStableFunc(all, func(a, b choice) int { return cmp.Compare(b.rating, a.rating) })
	return distinct(quotesOf(all[:min(len(all), 3*n)]), n)
}

// Shares of a word that are not the same stem.
const (
	byBeginning = 0.85
	byPart      = 0.6 // "Kündigungsfrist" and "Frist"
)

// underHeading is how much a word counts that only the heading holds.
const underHeading = 0.5

// clauses are the borders of the statements a sentence makes.
var clauses = regexp.MustCompile(`(?i)[,;:]|\s(?:and|but|or|if|unless|when|und|aber|oder|wenn|sofern|falls)\s`)

// wholly is how much it counts that a statement has all that a clause has: a
// rule is longer than what is said of it, so likeness alone is too little.
const wholly = 0.45

// speaks is how near a statement comes to a sentence or to one of its clauses.
func (m *Matter) speaks(asked map[string]bool, clauses []map[string]bool, s *statement) float64 {
	alike, _ := m.shared(asked, s)
	near := alike
	for _, c := range clauses {
		_, held := m.shared(c, s)
		near = max(near, wholly*held+alike/2)
	}
	return min(1, near)
}

// shared is the cosine of two sentences over their content words, and how much
// of the first the second has.
func (m *Matter) shared(asked map[string]bool, s *statement) (cosine, held float64) {
	both, one, other, strong := 0.0, 0.0, 0.0, 0
	for stem := range asked {
		w := m.rare(stem)
		one += w * w
		part := found(stem, s.stems)
		if part == 0 {
			part = underHeading * found(stem, s.heading)
		}
		if part >= byPart {
			strong++
		}
		both += part * w * w
	}
	for stem := range s.stems {
		w := m.rare(stem)
		other += w * w
	}
	if both == 0 || strong < 2 && len(asked) > 1 && len(s.stems) > 2 {
		return 0, 0
	}
	return min(1, both/math.Sqrt(one*max(other, one/4))), both / one
}

// rare is the weight of a stem; one the passages do not hold weighs like the
// rarest they do.
func (m *Matter) rare(stem string) float64 {
	if w, ok := m.rarity[stem]; ok {
		return w
	}
	return math.Log1p(float64(len(m.statements)))
}

// found is how well a set of stems holds one: 0 to 1.
func found(stem string, in map[string]bool) float64 {
	if in[stem] {
		return 1
	}
	best := 0.0
	for have := range in {
		switch {
		case akin(stem, have):
			return byBeginning
		case len(stem) >= 5 && strings.Contains(have, stem), len(have) >= 5 && strings.Contains(stem, have):
			best = byPart
		}
	}
	return best
}

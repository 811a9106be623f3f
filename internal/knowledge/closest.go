package knowledge

import (
	"cmp"
	"math"
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
	var all []choice
	for _, s := range m.statements {
		if s.names() {
			continue
		}
		if rating := m.shared(asked, s); rating > 0 {
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

// shared is the cosine of two sentences over their content words.
func (m *Matter) shared(asked map[string]bool, s *statement) float64 {
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
		return 0
	}
	return min(1, both/math.Sqrt(one*max(other, one/4)))
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

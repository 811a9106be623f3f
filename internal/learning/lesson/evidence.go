package lesson

import "math"

// sign is what one event says of a kind.
type sign struct {
	event  int64
	value  string
	weight float64
	words  bool // the person said it
}

// conclusion is what all events together say of a kind.
type conclusion struct {
	value    string
	strength float64 // 0 to 1
	sources  []int64
}

// conclude weighs signs of one kind. False when they make no lesson.
func conclude(k kind, signs []sign) (conclusion, bool) {
	first, second := values(k)
	sum := map[string]float64{}
	for _, s := range signs {
		sum[s.value] += s.weight
	}
	c := conclusion{value: first}
	if sum[second] > sum[first] {
		c.value = second
	}
	all := sum[first] + sum[second]
	net := math.Abs(sum[first] - sum[second])
	said := false
	for _, s := range signs {
		if s.value == c.value {
			c.sources = append(c.sources, s.event)
			said = said || s.words
		}
	}
	if net < enough || net < leastShare*all || !said && len(c.sources) < fewest {
		return conclusion{}, false
	}
	c.strength = net / (all + noteWeight)
	return c, true
}

// evidenceOf is what events say of a kind, each at most once: its note before
// its correction, and its correction before its thumb.
func evidenceOf(k kind, list []weighed, usual shape) (kind, []sign) {
	contrast := contrastOf(k, list, usual)
	var out []sign
	for _, w := range list {
		s := sign{event: w.ID}
		switch value := w.asked(k); {
		case value != "":
			s.value, s.words, s.weight = value, true, noteWeight*w.weight
			if w.Signal == "always" || w.Signal == "never" {
				s.weight = standingWeight * w.weight
			}
		case w.Corrected != "":
			s.value, s.weight = w.corrects(k), correctionWeight*w.shape
		default:
			s.value, s.weight = w.leans(k, contrast, usual), thumbWeight*w.shape
		}
		if s.value != "" && s.weight > 0 {
			out = append(out, s)
		}
	}
	return k, out
}

// asked is what a case's note asks for of a kind.
func (w weighed) asked(k kind) string {
	for _, wish := range w.wishes {
		if wish.kind == k {
			return wish.value
		}
	}
	return ""
}

// corrects is what a correction has of a kind that the answer did not have.
func (w weighed) corrects(k kind) string {
	is, want := w.is.value(k, w.want), w.want.value(k, w.is)
	if k == kindLanguage && w.want.words < fewWords || is == want {
		return ""
	}
	return want
}

// leans is what a thumb says of a kind: what the liked answer is, or what the
// disliked one is not, where that is what tells liked from disliked ones.
func (w weighed) leans(k kind, contrast bool, usual shape) string {
	value := w.is.value(k, usual)
	if value == "" || !contrast {
		return ""
	}
	if w.Score < 0 {
		return wishOf(k, value).opposite().value
	}
	return value
}

// tellsApart is how much more often answers of one side are so than those of the
// other, from which on it may be what the person liked.
const tellsApart = 0.5

// contrastOf reports whether a kind tells the answers a person liked from those
// they disliked. Without both there is nothing to compare.
func contrastOf(k kind, list []weighed, usual shape) bool {
	first, _ := values(k)
	var liked, likedSo, disliked, dislikedSo float64
	for _, w := range list {
		value := w.is.value(k, usual)
		if value == "" || w.Corrected != "" {
			continue
		}
		so := 0.0
		if value == first {
			so = 1
		}
		if w.Score > 0 {
			liked++
			likedSo += so
		} else {
			disliked++
			dislikedSo += so
		}
	}
	return liked > 0 && disliked > 0 && math.Abs(likedSo/liked-dislikedSo/disliked) >= tellsApart
}

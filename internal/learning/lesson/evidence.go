package lesson

import "math"

// sign is what one event says of a kind.
type sign struct {
	event  int64
	value  string
	weight float64
	words  bool // the person said it
	slight bool // it says nothing for its value, but a liked answer speaks against the other
	liked  bool
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
		if !s.slight {
			sum[s.value] += s.weight
		}
	}
	c := conclusion{value: first}
	if sum[second] > sum[first] {
		c.value = second
	}
	for _, s := range signs {
		if s.slight && s.liked && s.value != c.value {
			sum[s.value] += s.weight
		}
	}
	all := sum[first] + sum[second]
	net := 2*sum[c.value] - all
	said := false
	for _, s := range signs {
		if s.value == c.value && !s.slight {
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
// its correction, and its correction before its thumb. What a note or a
// correction explains, the thumb beside it does not explain by something else.
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
			if s.value == "no" {
				s.weight *= absence
			}
		case w.Score > 0 || len(w.wishes) == 0:
			s.value, s.weight, s.liked = w.leans(k, usual), thumbWeight*w.shape, w.Score > 0
			s.slight = !contrast
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
// Whoever writes an answer anew writes other sentences, and somewhat fewer words:
// only a plain difference of length says that they want it.
func (w weighed) corrects(k kind) string {
	is, want := w.is.value(k, w.want), w.want.value(k, w.is)
	ratio := float64(w.want.words) / float64(max(w.is.words, 1))
	switch {
	case is == want, k == kindSimple,
		k == kindLanguage && w.want.words < fewWords,
		k == kindLength && ratio > plainlyShorter && ratio < 1/plainlyShorter:
		return ""
	}
	return want
}

// plainlyShorter is the share of an answer's words that a correction has that is
// there to be shorter.
const plainlyShorter = 0.6

// leans is what a thumb says of a kind: what the liked answer is, or what the
// disliked one is not.
func (w weighed) leans(k kind, usual shape) string {
	value := w.is.value(k, usual)
	if value == "" || w.Score > 0 {
		return value
	}
	return wishOf(k, value).opposite().value
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
	return liked >= fewest && disliked >= fewest && math.Abs(likedSo/liked-dislikedSo/disliked) >= tellsApart
}

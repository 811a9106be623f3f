package cluster

import (
	"context"
	"math"
	"slices"

	"liminal/internal/embed"
	"liminal/internal/learning"
	"liminal/internal/words"
)

// wide is how many numbers the words of an event are hashed to. Among the 64
// that are stored most are shared by several words, and unrelated events look
// alike; among 512 a word still meets one of another situation here and there.
const wide = 2048

// maxAnswer is how much of an answer tells what was asked for, in bytes.
const maxAnswer = 200

// space is where events are compared. Its vectors are unit vectors, and none of
// them is stored: routing compares the 64 numbers of the encoder.
type space struct {
	o       Options
	cases   []learning.Case
	encoder string
	near    [][]float32 // the cosine of each two events
}

func newSpace(cases []learning.Case, encoder string, o Options) *space {
	s := &space{o: o, cases: cases, encoder: encoder, near: make([][]float32, len(cases))}
	parts := make([][]part, len(cases))
	whole := make([]float32, dims)
	for i, c := range cases {
		parts[i], s.near[i] = s.vector(c), make([]float32, len(cases))
		for _, p := range parts[i] {
			whole[p.at] = p.value
		}
		for j := range i + 1 {
			var cosine float32
			for _, p := range parts[j] {
				cosine += p.value * whole[p.at]
			}
			s.near[i][j], s.near[j][i] = cosine, cosine
		}
		for _, p := range parts[i] {
			whole[p.at] = 0
		}
	}
	return s
}

// part is a number of a vector that is not zero.
type part struct {
	at    int
	value float32
}

// dims is how many numbers a vector has: the encoder's, those of words, and one
// for each language.
const dims = embed.Dim + wide + 2

// vector is what an event is compared by: the encoder's numbers as far as the
// encoder knows meaning, its words, and a little its language.
func (s *space) vector(c learning.Case) []part {
	power := max(0, min(1, s.o.Power))
	if !s.current(c) {
		power = 0
	}
	out := make([]float32, dims)
	if power > 0 {
		add(out, embed.Fit(c.Embedding, embed.Dim), math.Sqrt(power))
	}
	answer := c.Answer
	if len(answer) > maxAnswer {
		answer = answer[:maxAnswer]
	}
	add(out[embed.Dim:], hashed(c.Situation+"\n"+c.Question+"\n"+answer), math.Sqrt(1-power))
	at := embed.Dim + wide
	if words.Detect(c.Question) == words.German {
		at++
	}
	out[at] = float32(s.o.Language)
	var parts []part
	for i, x := range embed.Unit(out) {
		if x != 0 {
			parts = append(parts, part{i, x})
		}
	}
	return parts
}

// current reports whether the stored vector of an event is of the encoder that
// is in use.
func (s *space) current(c learning.Case) bool {
	version, _ := c.Meta["encoder"].(string)
	return version == s.encoder && len(c.Embedding) == embed.Dim
}

// hashed is a text by its words. The encoder of hashes asks nobody, so it fails
// only when its context has ended.
func hashed(text string) []float32 {
	v, err := embed.Hash{Size: wide}.Embed(context.Background(), []string{text})
	if err != nil {
		return make([]float32, wide)
	}
	return v[0]
}

func add(to, v []float32, times float64) {
	for i, x := range v {
		to[i] += float32(times) * x
	}
}

// stored is the direction of the encoder's vectors of members, as it is kept
// and routed by; false where none of them is of the encoder in use.
func (s *space) stored(members []int) ([]float32, bool) {
	out, known := make([]float32, embed.Dim), false
	for _, i := range members {
		if s.current(s.cases[i]) {
			add(out, embed.Fit(s.cases[i].Embedding, embed.Dim), 1)
			known = true
		}
	}
	return embed.Fit(out, embed.Dim), known
}

// reach is the cosine to a cluster's centroid from which a turn belongs to it:
// nine of ten of its events reach it, and one of twenty of the others.
func (s *space) reach(centroid []float32, members []int) float64 {
	var inside, outside []float64
	for i, c := range s.cases {
		if !s.current(c) {
			continue
		}
		cosine := embed.Cosine(centroid, c.Embedding)
		if _, in := slices.BinarySearch(members, i); in {
			inside = append(inside, cosine)
		} else {
			outside = append(outside, cosine)
		}
	}
	return max(0, share(inside, 0.1), share(outside, 0.95))
}

// share is the value below which a part of a list lies; 0 of an empty one.
func share(list []float64, part float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[int(part*float64(len(list)-1))]
}

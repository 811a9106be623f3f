package embed

import (
	"context"
	"math"
)

// Fit makes vec a unit vector of dim numbers: longer ones are cut, shorter
// ones padded with zeros (EMB-01, EMB-04). Numbers that are not finite count
// as zero, and a vector without any direction becomes the fixed unit vector
// of an empty text (EMB-03). vec itself is left as it is.
func Fit(vec []float32, dim int) []float32 {
	out := make([]float32, dim)
	for i, x := range vec[:min(len(vec), dim)] {
		if !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) {
			out[i] = x
		}
	}
	return normalise(out)
}

// normalise scales v to length one, in place.
func normalise(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if len(v) > 0 && (sum == 0 || math.IsInf(sum, 0)) {
		clear(v)
		v[0] = 1
		return v
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return v
}

// Unit returns v with length one: v itself where it is that already, and a zero
// vector as it is, which is near to nothing (Fit gives it a direction).
func Unit(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.Abs(sum-1) < 1e-6 {
		return v
	}
	scale := float32(1 / math.Sqrt(sum))
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = x * scale
	}
	return out
}

// Cosine is the similarity of two vectors, from -1 to 1. Vectors of different
// length, and zero vectors, are not alike: 0.
func Cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, na, nb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		na += x * x
		nb += y * y
	}
	if na == 0 || nb == 0 {
		return 0
	}
	return max(-1, min(1, dot/math.Sqrt(na*nb)))
}

// turnShare is how much of a turn's embedding is its last message; the rest
// is what was said before.
const turnShare = 0.75

// Turn is the embedding of where a conversation stands: its last user
// message, leaning a little towards the context before it (EMB-05). Without
// context it is the embedding of the message.
func Turn(ctx context.Context, e Embedder, message, before string) ([]float32, error) {
	texts := []string{message}
	if before != "" {
		texts = append(texts, before)
	}
	vecs, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vecs) == 1 {
		return Fit(vecs[0], e.Dim()), nil
	}
	now, then := Fit(vecs[0], e.Dim()), Fit(vecs[1], e.Dim())
	for i := range now {
		now[i] = turnShare*now[i] + (1-turnShare)*then[i]
	}
	return normalise(now), nil
}

package embed

import (
	"context"
	"hash/fnv"
	"math"

	"liminal/internal/words"
)

// Hash is the deterministic embedder that needs no model (EMB-02). Stemmed
// words, pairs of neighbouring words and the trigrams inside words are hashed
// to signed dimensions with sublinear weights, so texts that share wording
// lie close. The zero value is ready and makes vectors of Dim numbers.
type Hash struct {
	Size int // numbers in a vector; 0 means Dim
}

var _ Embedder = Hash{}

// Version names the encoder. It changes whenever the vectors would (RAG-09).
func (h Hash) Version() string { return "hash-v1" }

// Dim is how many numbers a vector has.
func (h Hash) Dim() int {
	if h.Size > 0 {
		return h.Size
	}
	return Dim
}

// Embed returns a unit vector for every text, in their order.
func (h Hash) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = h.vector(text)
	}
	return out, nil
}

// The weight of each kind of feature. Whole words carry most of the meaning;
// trigrams forgive typing errors and inflections the stemmer missed.
const (
	wordWeight    = 1.0
	pairWeight    = 0.6
	trigramWeight = 0.25
)

// maxWords bounds the work for one text; a chunk has at most a few thousand.
const maxWords = 20_000

func (h Hash) vector(text string) []float32 {
	v := make([]float64, h.Dim())
	list, counts := features(text)
	for _, f := range list {
		at, sign := place(f.text, f.kind, len(v))
		v[at] += sign * f.weight() * (1 + math.Log(counts[f]))
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return normalise(out)
}

type feature struct {
	kind byte
	text string
}

func (f feature) weight() float64 {
	switch f.kind {
	case 'w':
		return wordWeight
	case 'p':
		return pairWeight
	}
	return trigramWeight
}

// features lists what a text is made of, each once and in the order of its
// first appearance, so that sums over them never depend on map order.
func features(text string) ([]feature, map[feature]float64) {
	stems := words.Stems(words.Detect(text), text)
	if len(stems) > maxWords {
		stems = stems[:maxWords]
	}
	var list []feature
	counts := make(map[feature]float64, 4*len(stems))
	add := func(kind byte, text string) {
		f := feature{kind, text}
		if counts[f]++; counts[f] == 1 {
			list = append(list, f)
		}
	}
	for i, s := range stems {
		add('w', s)
		if i > 0 {
			add('p', stems[i-1]+" "+s)
		}
		for _, tri := range trigrams(s) {
			add('t', tri)
		}
	}
	return list, counts
}

// trigrams of a word with its borders marked: "cat" gives "^ca cat at$".
func trigrams(word string) []string {
	r := append(append([]rune{'^'}, []rune(word)...), '$')
	var out []string
	for i := 0; i+3 <= len(r); i++ {
		out = append(out, string(r[i:i+3]))
	}
	return out
}

// place hashes a feature to a dimension and a sign.
func place(text string, kind byte, dim int) (int, float64) {
	f := fnv.New64a()
	f.Write([]byte{kind})
	f.Write([]byte(text))
	sum := f.Sum64()
	sum ^= sum >> 32 // FNV's high bits are the better mixed ones
	sum *= 0x9e3779b97f4a7c15
	sign := 1.0
	if sum>>63 == 1 {
		sign = -1
	}
	return int((sum >> 20) % uint64(dim)), sign
}

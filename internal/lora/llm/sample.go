package llm

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"liminal/internal/lora/kernels"
)

// Sampler chooses tokens (LORA-19). The same seed and logits give the same
// tokens.
type Sampler struct {
	Temperature float64 // 0: always the likeliest
	TopP        float64 // of the likeliest tokens, as many as make up this share; 0 or 1: all
	TopK        int     // and at most so many; 0: any number
	Penalty     float64 // what was said or asked already is less likely by this factor, 1 to 2; 0 or 1: as likely
	seen        map[int]bool
	random      *rand.Rand
	work        []candidate
}

// candidate is a token that may be chosen, and its share.
type candidate struct {
	id    int
	share float32
}

// NewSampler makes a sampler. Numbers out of bounds are brought into them.
func NewSampler(temperature, topP float64, seed uint64) *Sampler {
	if !(topP > 0) || topP > 1 {
		topP = 1
	}
	return &Sampler{Temperature: max(temperature, 0), TopP: topP, random: rand.New(rand.NewPCG(seed, 0x6c696d696e616c))} //nolint:gosec // answers, not secrets
}

// See notes tokens that were said or asked, for the Penalty.
func (s *Sampler) See(ids ...int) {
	if s.Penalty <= 1 {
		return
	}
	if s.seen == nil {
		s.seen = map[int]bool{}
	}
	for _, id := range ids {
		s.seen[id] = true
	}
}

// Next chooses a token by its logits, which it may change.
func (s *Sampler) Next(logits []float32) int {
	id := s.next(logits)
	s.See(id)
	return id
}

func (s *Sampler) next(logits []float32) int {
	for id := range s.seen { // each by itself: their order does not matter
		if factor := float32(s.Penalty); logits[id] > 0 {
			logits[id] /= factor
		} else {
			logits[id] *= factor
		}
	}
	best := 0
	for i, x := range logits {
		if x > logits[best] {
			best = i
		}
	}
	if s.Temperature < 1e-4 {
		return best
	}
	most := logits[best]
	for i := range logits {
		logits[i] = float32(float64(logits[i]-most) / s.Temperature)
	}
	kernels.Softmax(logits)
	list := s.candidates(logits)
	var total float32
	for _, c := range list {
		total += c.share
	}
	point := s.random.Float32() * total
	for _, c := range list {
		if point -= c.share; point < 0 {
			return c.id
		}
	}
	return list[0].id
}

// candidates are the tokens to choose from, the likeliest first.
func (s *Sampler) candidates(shares []float32) []candidate {
	list := s.work[:0]
	// Tokens below this cannot be among those that make up the share: all of
	// them together are less than what is left out.
	least := float32((1 - s.TopP) / float64(len(shares)))
	for id, share := range shares {
		if share > least {
			list = append(list, candidate{id, share})
		}
	}
	s.work = list
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.id, b.id)) })
	if s.TopK > 0 && len(list) > s.TopK {
		list = list[:s.TopK]
	}
	if s.TopP == 1 {
		return list
	}
	var sum float64
	for i, c := range list {
		if sum += float64(c.share); sum >= s.TopP {
			return list[:i+1]
		}
	}
	return list
}

// LogProb is the natural logarithm of the share of a token by its logits.
func LogProb(logits []float32, id int) float64 {
	most := slices.Max(logits)
	var sum float64
	for _, x := range logits {
		sum += math.Exp(float64(x - most))
	}
	return float64(logits[id]-most) - math.Log(sum)
}

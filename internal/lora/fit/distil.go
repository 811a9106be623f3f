package fit

import (
	"math"
	"slices"

	"liminal/internal/lora/kernels"
	"liminal/internal/lora/llm"
)

// Taught is what a teacher makes of a batch: the rows before the model's head,
// which no adapter changes, as wide as the model and one for each token.
func (p *Pass) Taught(b Batch, teacher *llm.Adapter) []float32 {
	learner := p.adapter
	p.adapter = teacher
	p.forward(b)
	p.adapter = learner
	return slices.Clone(p.normed)
}

// Distil computes how far the answers of what is learnt are from those of a
// teacher, and the gradients of what is learnt: at each target of the batch the
// Kullback-Leibler divergence of the teacher's shares of all tokens from its own,
// in nats, as a mean by the targets' weights. Which token stands there does not
// count. taught is Taught of the same batch.
func (p *Pass) Distil(b Batch, taught []float32) (loss float64) {
	return p.gradients(b, func(dn []float32) float64 { return p.apart(b, taught, dn) })
}

// Apart is the loss of Distil without gradients.
func (p *Pass) Apart(b Batch, taught []float32) float64 {
	p.forward(b)
	return p.apart(b, taught, nil)
}

func (p *Pass) apart(b Batch, taught, dn []float32) float64 {
	return p.mean(b, func(total float64) []float64 { return p.divergences(b, taught, dn, total) })
}

// divergences are those at the targets, by their weights. When dn is not nil their
// gradients by the normed rows are added to it.
func (p *Pass) divergences(b Batch, taught, dn []float32, total float64) []float64 {
	m, n, d := p.m, p.n, p.m.Width
	out := make([]float64, n)
	for lo := 0; lo < n; lo += chunk {
		c := min(chunk, n-lo)
		own, theirs := size(&p.logits, c*m.Vocab), size(&p.theirs, c*m.Vocab)
		m.Head.Forward(own, p.normed[lo*d:(lo+c)*d], c)
		m.Head.Forward(theirs, taught[lo*d:(lo+c)*d], c)
		rows(c, func(i int) {
			weight := b.weight(lo + i)
			out[lo+i] = float64(weight) * divergence(own[i*m.Vocab:(i+1)*m.Vocab], theirs[i*m.Vocab:(i+1)*m.Vocab], weight/float32(total))
		})
		if dn != nil {
			m.Head.Backward(dn[lo*d:(lo+c)*d], own, c)
		}
	}
	return out
}

// divergence is that of the shares which the logits theirs stand for from those of
// own, and makes of own its gradient times factor. theirs are used up.
func divergence(own, theirs []float32, factor float32) (sum float64) {
	if factor == 0 {
		clear(own)
		return 0
	}
	most, lead := slices.Max(own), slices.Max(theirs)
	// The differences are taken before both become shares.
	between := make([]float32, len(own))
	for i, x := range own {
		between[i] = (theirs[i] - lead) - (x - most)
	}
	kernels.ExpMinus(own, most)
	kernels.ExpMinus(theirs, lead)
	var all, whole float32
	for i, x := range own {
		all, whole = all+x, whole+theirs[i]
	}
	ratio := math.Log(float64(all)) - math.Log(float64(whole))
	for i, x := range own {
		share := theirs[i] / whole
		sum += float64(share) * (float64(between[i]) + ratio)
		own[i] = factor * (x/all - share)
	}
	return max(0, sum)
}

package fit

import "math"

// LogProbs are the log-probabilities of the targets of each text of a batch,
// added up. Weights do not count.
func (p *Pass) LogProbs(b Batch) []float64 {
	b.Weights = nil
	p.forward(b)
	sums := make([]float64, b.Rows())
	for i, loss := range p.losses(b, nil, 1) {
		sums[i/b.Length] -= loss
	}
	return sums
}

// Prefer computes the loss of DPO and the gradients of what is learnt. The texts
// of b are pairs, the better one first, of the weight of its first token; of are
// the LogProbs of the same batch without what is learnt. The loss is the mean of
// -ln σ(β·margin), where the margin is how much likelier the better text became
// than the worse one. The weights of b are changed.
func (p *Pass) Prefer(b Batch, of []float64, beta float64) (loss float64) {
	now := p.LogProbs(b)
	b.Over = 0
	for i := 0; i < b.Rows(); i += 2 {
		weight := float64(b.Weights[i*b.Length])
		margin := (now[i] - of[i]) - (now[i+1] - of[i+1])
		loss += weight * math.Log1p(math.Exp(-beta*margin))
		pull := float32(weight * beta / (1 + math.Exp(beta*margin)))
		for t := range b.Length {
			b.Weights[i*b.Length+t], b.Weights[(i+1)*b.Length+t] = pull, -pull
		}
		b.Over += weight
	}
	p.Gradients(b)
	return loss / b.Over
}

// Avoid computes the loss of KTO for texts that were disliked, and the gradients
// of what is learnt. of are the LogProbs of the same batch without what is
// learnt, and far is how far it has gone from there on the whole, 0 or more. The
// loss is the mean of 1 - σ(β·(far - gain)), where the gain is how much likelier
// a text became. The weights of b are changed.
func (p *Pass) Avoid(b Batch, of []float64, beta, far float64) (loss float64) {
	now := p.LogProbs(b)
	b.Over = 0
	for i := range b.Rows() {
		weight := float64(b.Weights[i*b.Length])
		s := 1 / (1 + math.Exp(-beta*(far-(now[i]-of[i]))))
		loss += weight * (1 - s)
		push := float32(-weight * beta * s * (1 - s))
		for t := range b.Length {
			b.Weights[i*b.Length+t] = push
		}
		b.Over += weight
	}
	p.Gradients(b)
	return loss / b.Over
}

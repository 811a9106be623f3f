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

package fit

import (
	"math"

	"liminal/internal/lora/kernels"
)

// Param is numbers that are learnt, with their gradients.
type Param struct {
	Value, Grad []float32
	Decays      bool // matrices are drawn to zero, norms and biases are not
}

// Params are all that a pass learns, always in the same order.
func (p *Pass) Params() []Param {
	var list []Param
	if p.pairs != nil {
		for i, layer := range p.adapter.Pairs {
			for k, pair := range layer {
				if pair.Rank > 0 {
					g := p.pairs.Pairs[i][k]
					list = append(list, Param{pair.A, g.A, true}, Param{pair.B, g.B, true})
				}
			}
		}
	}
	if p.full == nil {
		return list
	}
	list = append(list, Param{p.m.Embed.F32, p.full.Embed, true}, Param{p.m.Norm, p.full.Norm, false})
	for i, l := range p.m.Layers {
		g := p.full.Layers[i]
		list = append(list, Param{l.Norm1, g.Norm1, false}, Param{l.Norm2, g.Norm2, false})
		for k := range l.Linear {
			list = append(list, Param{l.Linear[k].F32, g.Linear[k], true})
			if len(l.Bias[k]) > 0 {
				list = append(list, Param{l.Bias[k], g.Bias[k], false})
			}
		}
	}
	return list
}

// AdamW is the optimiser: Adam with decay apart from the gradient.
type AdamW struct {
	Rate         float64 // of a step; it may be changed between steps
	Beta1, Beta2 float64
	Decay        float64
	Clip         float64 // the gradient's length at most; 0: any

	step         int
	mean, square [][]float32
}

// NewAdamW is the optimiser with its usual numbers.
func NewAdamW(rate float64) *AdamW {
	return &AdamW{Rate: rate, Beta1: 0.9, Beta2: 0.999, Clip: 1}
}

// Step moves the params along their gradients, and returns the length the
// gradient had before it was clipped. The params of all calls are the same.
func (a *AdamW) Step(params []Param) (length float64) {
	if a.mean == nil {
		for _, p := range params {
			a.mean = append(a.mean, make([]float32, len(p.Value)))
			a.square = append(a.square, make([]float32, len(p.Value)))
		}
	}
	length = Length(params)
	factor := 1.0
	if a.Clip > 0 && length > a.Clip {
		factor = a.Clip / length
	}
	a.step++
	// As PyTorch has it: epsilon is added to what the square is corrected to.
	square := math.Sqrt(1 - math.Pow(a.Beta2, float64(a.step)))
	rate, epsilon := a.Rate*square/(1-math.Pow(a.Beta1, float64(a.step))), 1e-8*square
	for i, p := range params {
		mean, squares := a.mean[i], a.square[i]
		keep := float32(1)
		if p.Decays {
			keep = float32(1 - a.Rate*a.Decay)
		}
		kernels.Parallel(len(p.Value), 1<<14, func(lo, hi int) {
			a.move(p.Value[lo:hi], p.Grad[lo:hi], mean[lo:hi], squares[lo:hi], float32(factor), float32(rate), float32(epsilon), keep)
		})
	}
	return length
}

func (a *AdamW) move(x, grad, mean, square []float32, factor, rate, epsilon, keep float32) {
	b1, b2 := float32(a.Beta1), float32(a.Beta2)
	for i, g := range grad {
		g *= factor
		m := b1*mean[i] + (1-b1)*g
		s := b2*square[i] + (1-b2)*g*g
		mean[i], square[i] = m, s
		x[i] = keep*x[i] - rate*m/(float32(math.Sqrt(float64(s)))+epsilon)
	}
}

// Length is the Euclidean length of a gradient.
func Length(params []Param) float64 {
	var sum float64
	for _, p := range params {
		for _, g := range p.Grad {
			sum += float64(g) * float64(g)
		}
	}
	return math.Sqrt(sum)
}

// Rate is the share of the full rate at a step of all: it rises over the first
// warm steps and then falls to a tenth along a cosine.
func Rate(step, warm, all int) float64 {
	if step < warm {
		return float64(step+1) / float64(warm)
	}
	t := float64(step-warm) / float64(max(1, all-warm))
	return 0.1 + 0.45*(1+math.Cos(math.Pi*min(t, 1)))
}

package fit_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"liminal/internal/lora/fit"
	"liminal/internal/lora/llm"
)

// Requirements: TRAIN-01 (DPO)
func TestGradientsOfPairsAreThoseOfTheLoss(t *testing.T) {
	t.Parallel()
	const beta = 0.5
	compared(t, func(p *fit.Pass, b fit.Batch, of []float64) float64 { return p.Prefer(b, of, beta) }, func(gain []float64) float64 {
		return -(math.Log(1/(1+math.Exp(-beta*(gain[0]-gain[1])))) + 0.25*math.Log(1/(1+math.Exp(-beta*(gain[2]-gain[3]))))) / 1.25
	})
}

func TestGradientsOfWhatIsAvoidedAreThoseOfTheLoss(t *testing.T) {
	t.Parallel()
	const beta, far = 0.5, 0.7
	compared(t, func(p *fit.Pass, b fit.Batch, of []float64) float64 { return p.Avoid(b, of, beta, far) }, func(gain []float64) (sum float64) {
		for i, weight := range []float64{1, 1, 0.25, 0.25} {
			sum += weight * (1 - 1/(1+math.Exp(-beta*(far-gain[i])))) / 2.5
		}
		return sum
	})
}

// compared compares a loss with its definition, by how much likelier the four
// texts became, and its gradients with what it does when a number is moved.
func compared(t *testing.T, loss func(p *fit.Pass, b fit.Batch, of []float64) float64, defined func(gain []float64) float64) {
	t.Helper()
	c := llm.NewConfig(2, 32, 4, 4, 48, 60, 32)
	m := llm.New(c, 1)
	for i := range m.Embed.F32 {
		m.Embed.F32[i] *= 25
	}
	a := llm.NewAdapter(c, 3, 6, 2, llm.Query, llm.Up)
	r := rand.New(rand.NewPCG(1, 1))
	for _, layer := range a.Pairs {
		for _, p := range layer {
			for i := range p.B {
				p.B[i] = r.Float32() - 0.5
			}
		}
	}
	b := batch(c, 4, 7, 1)
	for i := range b.Weights {
		b.Weights[i] = []float32{1, 1, 0.25, 0.25}[i/7]
	}
	bare := fit.NewPass(m, &llm.Adapter{Pairs: make([][llm.Linears]llm.Pair, 2)})
	of := bare.LogProbs(b)
	p := fit.NewPass(m, a)
	take := func() float64 {
		one := b
		one.Weights = slices.Clone(b.Weights)
		return loss(p, one, of)
	}
	gain := p.LogProbs(b)
	for i := range gain {
		gain[i] -= of[i]
	}
	if got, want := take(), defined(gain); math.Abs(got-want) > 1e-9 {
		t.Errorf("the loss is %v, not %v", got, want)
	}
	params := p.Params()
	grads := make([][]float32, len(params))
	for i, x := range params {
		grads[i] = slices.Clone(x.Grad)
	}
	for i, x := range params {
		steepest := 0
		for j, g := range grads[i] {
			if math.Abs(float64(g)) > math.Abs(float64(grads[i][steepest])) {
				steepest = j
			}
		}
		const step = 1e-2
		old := x.Value[steepest]
		x.Value[steepest] = old + step
		up := take()
		x.Value[steepest] = old - step
		down := take()
		x.Value[steepest] = old
		if want, got := (up-down)/(2*step), float64(grads[i][steepest]); math.Abs(want-got) > 2e-4+0.03*math.Abs(want) {
			t.Errorf("param %d: gradient %g, difference %g", i, got, want)
		}
	}
}

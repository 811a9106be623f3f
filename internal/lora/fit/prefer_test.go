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
	const beta = 0.5
	prefer := func() float64 {
		one := b
		one.Weights = slices.Clone(b.Weights)
		return p.Prefer(one, of, beta)
	}
	// The loss as it is defined, of what the pass says of each text.
	now, want := p.LogProbs(b), 0.0
	for i, weight := range []float64{1, 0.25} {
		margin := (now[2*i] - of[2*i]) - (now[2*i+1] - of[2*i+1])
		want -= weight * math.Log(1/(1+math.Exp(-beta*margin))) / 1.25
	}
	if got := prefer(); math.Abs(got-want) > 1e-9 {
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
		up := prefer()
		x.Value[steepest] = old - step
		down := prefer()
		x.Value[steepest] = old
		if want, got := (up-down)/(2*step), float64(grads[i][steepest]); math.Abs(want-got) > 2e-4+0.03*math.Abs(want) {
			t.Errorf("param %d: gradient %g, difference %g", i, got, want)
		}
	}
}

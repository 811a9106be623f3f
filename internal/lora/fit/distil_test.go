package fit_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"liminal/internal/lora/fit"
	"liminal/internal/lora/llm"
)

// random is an adapter whose numbers are all drawn.
func random(c llm.Config, rank int, seed uint64, which ...llm.Linear) *llm.Adapter {
	a := llm.NewAdapter(c, rank, 6, seed, which...)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, layer := range a.Pairs {
		for _, p := range layer {
			for i := range p.B {
				p.B[i] = r.Float32() - 0.5
			}
		}
	}
	return a
}

func logShares(x []float64) []float64 {
	var sum float64
	for _, l := range x {
		sum += math.Exp(l)
	}
	out := make([]float64, len(x))
	for i, l := range x {
		out[i] = l - math.Log(sum)
	}
	return out
}

// Requirements: CLUS-06 (the training of one by others)
func TestGradientsOfWhatIsTaughtAreThoseOfTheDivergence(t *testing.T) {
	t.Parallel()
	c := llm.NewConfig(2, 32, 4, 4, 48, 60, 32)
	m := llm.New(c, 1)
	for i := range m.Embed.F32 {
		m.Embed.F32[i] *= 25
	}
	b := batch(c, 3, 7, 1)
	learner, teacher := random(c, 3, 1, llm.Query, llm.Up), random(c, 2, 2, all...)
	p := fit.NewPass(m, learner)
	taught := p.Taught(b, teacher)
	loss := p.Distil(b, taught)

	// What the engine says of both is what the divergence is of.
	var sum, weights float64
	for text := range b.Rows() {
		tokens := b.Tokens[text*b.Length : (text+1)*b.Length]
		logits := func(a *llm.Adapter) (out [][]float64) {
			all := m.NewRunner().Forward(llm.Step{Sequence: m.NewSequence(b.Length, llm.Gated{Adapter: a, Gate: 1}), Tokens: tokens, All: true})
			for i := range tokens {
				wide := make([]float64, c.Vocab)
				for j := range wide {
					wide[j] = float64(all[i*c.Vocab+j])
				}
				out = append(out, logShares(wide))
			}
			return out
		}
		own, theirs := logits(learner), logits(teacher)
		for i := range b.Length {
			at := text*b.Length + i
			if b.Targets[at] == fit.None {
				continue
			}
			for j, l := range theirs[i] {
				sum += float64(b.Weights[at]) * math.Exp(l) * (l - own[i][j])
			}
			weights += float64(b.Weights[at])
		}
	}
	if want := sum / weights; want < 0.1 || math.Abs(loss-want) > 1e-3*want {
		t.Errorf("the divergence is %g; the engine's logits are %g apart", loss, want)
	}
	near(t, p, func() float64 { return p.Distil(b, taught) }, func() float64 { return p.Apart(b, taught) })

	same := fit.NewPass(m, teacher)
	if got := same.Distil(b, taught); got > 1e-5 {
		t.Errorf("a teacher is %g from itself", got)
	}
	for i, x := range same.Params() {
		for _, g := range x.Grad {
			if math.Abs(float64(g)) > 1e-4 {
				t.Fatalf("a teacher learns %g of itself in param %d", g, i)
			}
		}
	}
}

// near compares the gradients that take leaves with what the loss does when a
// number is moved a little.
func near(t *testing.T, p *fit.Pass, take, loss func() float64) {
	t.Helper()
	take()
	for i, x := range p.Params() {
		steepest := 0
		for j, g := range x.Grad {
			if math.Abs(float64(g)) > math.Abs(float64(x.Grad[steepest])) {
				steepest = j
			}
		}
		for _, j := range []int{steepest, 1, len(x.Value) / 2} {
			const step = 1e-2
			old, got := x.Value[j], float64(x.Grad[j])
			x.Value[j] = old + step
			up := loss()
			x.Value[j] = old - step
			down := loss()
			x.Value[j] = old
			if want := (up - down) / (2 * step); math.Abs(want-got) > 2e-4+0.02*math.Abs(want) {
				t.Errorf("param %d, number %d of %d: gradient %g, difference %g", i, j, len(x.Value), got, want)
			}
		}
	}
}

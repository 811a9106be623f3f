package fit_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"liminal/internal/lora/fit"
	"liminal/internal/lora/llm"
)

var all = []llm.Linear{llm.Query, llm.Key, llm.Value, llm.Output, llm.Gate, llm.Up, llm.Down}

// batch is random texts; some targets are not learnt, and those that are weigh
// differently.
func batch(c llm.Config, texts, length int, seed uint64) fit.Batch {
	r := rand.New(rand.NewPCG(seed, 1))
	b := fit.Batch{Length: length}
	for i := range texts * length {
		b.Tokens = append(b.Tokens, r.IntN(c.Vocab))
		target := r.IntN(c.Vocab)
		if i%5 == 0 {
			target = fit.None
		}
		b.Targets = append(b.Targets, target)
		b.Weights = append(b.Weights, 0.5+r.Float32())
	}
	return b
}

// differences compares gradients with what the loss does when a number is moved
// a little.
func differences(t *testing.T, name string, p *fit.Pass, b fit.Batch) {
	t.Helper()
	p.Gradients(b)
	params := p.Params()
	grads := make([][]float32, len(params))
	for i, x := range params {
		grads[i] = slices.Clone(x.Grad)
	}
	for i, x := range params {
		// The number with the steepest gradient, and two others.
		steepest := 0
		for j, g := range grads[i] {
			if math.Abs(float64(g)) > math.Abs(float64(grads[i][steepest])) {
				steepest = j
			}
		}
		for _, j := range []int{steepest, 1, len(x.Value) / 2} {
			const step = 1e-2
			old := x.Value[j]
			x.Value[j] = old + step
			up := p.Loss(b)
			x.Value[j] = old - step
			down := p.Loss(b)
			x.Value[j] = old
			want, got := (up-down)/(2*step), float64(grads[i][j])
			if math.Abs(want-got) > 2e-4+0.02*math.Abs(want) {
				t.Errorf("%s, param %d, number %d of %d: gradient %g, difference %g", name, i, j, len(x.Value), got, want)
			}
		}
	}
}

// Requirements: TRAIN-01
func TestGradientsAreThoseOfTheLoss(t *testing.T) {
	t.Parallel()
	plain := llm.NewConfig(2, 32, 4, 4, 48, 60, 32)
	grouped := llm.NewConfig(2, 48, 6, 2, 64, 50, 32)
	grouped.Family, grouped.Bias = "qwen2", true
	for name, c := range map[string]llm.Config{"plain": plain, "grouped, with biases": grouped} {
		m := llm.New(c, 1)
		for i := range m.Embed.F32 { // steps are small beside it
			m.Embed.F32[i] *= 25
		}
		for i := range m.Layers { // norms and biases that are not as they begin
			for j := range m.Layers[i].Norm1 {
				m.Layers[i].Norm1[j] += 0.3 * float32(j%5)
				m.Layers[i].Norm2[j] -= 0.1 * float32(j%3)
			}
		}
		b := batch(c, 3, 7, 1)
		a := llm.NewAdapter(c, 3, 6, 2, all...)
		r := rand.New(rand.NewPCG(1, 1))
		for _, layer := range a.Pairs {
			for _, p := range layer {
				for i := range p.B {
					p.B[i] = r.Float32() - 0.5
				}
			}
		}
		differences(t, name+" adapter", fit.NewPass(m, a), b)
		differences(t, name+" whole", fit.NewFullPass(m), b)
	}
}

// The loss is what the engine's own logits say.
func TestTheLossIsThatOfTheEngine(t *testing.T) {
	t.Parallel()
	c := llm.NewConfig(2, 48, 6, 2, 64, 50, 32)
	m := llm.New(c, 1)
	a := llm.NewAdapter(c, 3, 6, 2, llm.Query, llm.Down)
	for i := range a.Pairs[1][llm.Query].B {
		a.Pairs[1][llm.Query].B[i] = 0.3
	}
	b := batch(c, 2, 9, 1)
	var sum, weights float64
	for text := range b.Rows() {
		tokens := b.Tokens[text*9 : (text+1)*9]
		logits := m.NewRunner().Forward(llm.Step{Sequence: m.NewSequence(9, llm.Gated{Adapter: a, Gate: 1}), Tokens: tokens, All: true})
		for i := range tokens {
			at := text*9 + i
			if b.Targets[at] == fit.None {
				continue
			}
			sum -= float64(b.Weights[at]) * llm.LogProb(logits[i*c.Vocab:(i+1)*c.Vocab], b.Targets[at])
			weights += float64(b.Weights[at])
		}
	}
	if got := fit.NewPass(m, a).Loss(b); math.Abs(got-sum/weights) > 1e-4 {
		t.Errorf("the loss is %v, by the engine %v", got, sum/weights)
	}
	empty := b
	empty.Targets = make([]int, len(b.Targets))
	for i := range empty.Targets {
		empty.Targets[i] = fit.None
	}
	p := fit.NewPass(m, a)
	if loss := p.Gradients(empty); loss != 0 || fit.Length(p.Params()) != 0 {
		t.Errorf("with nothing to learn the loss is %v", loss)
	}
}

// Requirements: LORA-12 (the base is frozen), TRAIN-15 (loss falls, only the adapter changes)
func TestAnAdapterLearnsAndTheBaseStays(t *testing.T) {
	t.Parallel()
	c := llm.NewConfig(2, 64, 4, 2, 96, 60, 32)
	m, untouched := llm.New(c, 1), llm.New(c, 1)
	a := llm.NewAdapter(c, 8, 16, 1, llm.Query, llm.Value, llm.Gate, llm.Up, llm.Down)
	p, adam := fit.NewPass(m, a), fit.NewAdamW(1e-2)
	b := batch(c, 4, 16, 1)
	first := p.Loss(b)
	for range 80 {
		p.Gradients(b)
		adam.Step(p.Params())
	}
	if last := p.Loss(b); last > 0.7*first {
		t.Errorf("the loss fell from %v to %v only", first, last)
	}
	for i, x := range m.Tensors() {
		if !slices.Equal(x.F32, untouched.Tensors()[i].F32) {
			t.Errorf("%s was changed", x.Name)
		}
	}
}

// An adapter of upper layers only needs no gradients below, and gets the same.
func TestLayersBelowTheAdapterArePassedOver(t *testing.T) {
	t.Parallel()
	c := llm.NewConfig(3, 32, 4, 4, 48, 60, 32)
	m := llm.New(c, 1)
	b := batch(c, 2, 6, 1)
	everywhere := llm.NewAdapter(c, 2, 4, 1, llm.Query, llm.Up)
	upper := llm.NewAdapter(c, 2, 4, 1, llm.Query, llm.Up)
	upper.Pairs[0], upper.Pairs[1] = [llm.Linears]llm.Pair{}, [llm.Linears]llm.Pair{}
	p, q := fit.NewPass(m, everywhere), fit.NewPass(m, upper)
	p.Gradients(b)
	q.Gradients(b)
	last := p.Params()[8:]
	for i, x := range q.Params() {
		if !slices.Equal(x.Grad, last[i].Grad) {
			t.Errorf("gradient %d differs", i)
		}
	}
}

// Requirements: TRAIN-14 (the same losses, whatever the machine does beside)
func TestTrainingIsTheSameOnAnyNumberOfProcessors(t *testing.T) {
	c := llm.NewConfig(2, 64, 4, 2, 96, 300, 64)
	train := func(workers int) (losses []float64, m *llm.Model) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		m = llm.New(c, 1)
		p, adam := fit.NewFullPass(m), fit.NewAdamW(1e-3)
		for i := range 4 {
			losses = append(losses, p.Gradients(batch(c, 4, 40, uint64(i))))
			adam.Step(p.Params())
		}
		return losses, m
	}
	want, model := train(1)
	for _, n := range []int{2, 5} {
		got, other := train(n)
		if !slices.Equal(got, want) {
			t.Errorf("on %d processors the losses are %v, not %v", n, got, want)
		}
		for i, x := range model.Tensors() {
			if !slices.Equal(x.F32, other.Tensors()[i].F32) {
				t.Fatalf("on %d processors %s differs", n, x.Name)
			}
		}
	}
}

// AdamW is compared with its definition, in float64.
func TestAdamWStepsAsDefined(t *testing.T) {
	t.Parallel()
	x, g := []float32{1, -2}, []float32{0.1, 30}
	a := &fit.AdamW{Rate: 0.1, Beta1: 0.9, Beta2: 0.999, Decay: 0.01, Clip: 1}
	wide := []float64{1, -2}
	var mean, square [2]float64
	for step := 1; step <= 3; step++ {
		length := a.Step([]fit.Param{{Value: x, Grad: g, Decays: true}})
		if math.Abs(length-math.Hypot(0.1, 30)) > 1e-4 {
			t.Errorf("the gradient was %v long", length)
		}
		for i := range wide {
			d := float64(g[i]) / math.Hypot(0.1, 30)
			mean[i] = 0.9*mean[i] + 0.1*d
			square[i] = 0.999*square[i] + 0.001*d*d
			wide[i] *= 1 - 0.1*0.01
			wide[i] -= 0.1 * (mean[i] / (1 - math.Pow(0.9, float64(step)))) / math.Sqrt(square[i]/(1-math.Pow(0.999, float64(step))))
		}
	}
	for i := range x {
		if math.Abs(float64(x[i])-wide[i]) > 1e-4 {
			t.Errorf("number %d is %v, not %v", i, x[i], wide[i])
		}
	}
}

func TestTheRateRisesAndFalls(t *testing.T) {
	t.Parallel()
	for step, want := range map[int]float64{0: 0.1, 9: 1, 10: 1, 55: 0.55, 100: 0.1, 200: 0.1} {
		if got := fit.Rate(step, 10, 100); math.Abs(got-want) > 1e-9 {
			t.Errorf("at step %d it is %v, not %v", step, got, want)
		}
	}
}

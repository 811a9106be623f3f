// Package fit trains models of internal/lora/llm on the CPU: LoRA adapters of a
// frozen model, or a small model as a whole.
//
// A Pass computes the loss of a batch and its gradients, AdamW takes a step. The
// same seed, batches and shape give the same numbers, bit for bit, on any number
// of processors. The package may import llm, kernels, tensors and tokens.
package fit

import (
	"math"

	"liminal/internal/lora/kernels"
	"liminal/internal/lora/llm"
)

// Batch is rows of texts, all Length tokens long: what is shorter is filled up,
// with the target None.
type Batch struct {
	Length  int
	Tokens  []int     // row after row
	Targets []int     // the token that follows each; None: it is not learnt
	Weights []float32 // of the targets; nil: all 1. Below zero: to be avoided
	Over    float64   // what the sum of losses is divided by; 0: the sum of the weights
}

// None is the target of what is not learnt.
const None = -1

// Rows is how many texts a batch has.
func (b Batch) Rows() int { return len(b.Tokens) / b.Length }

// weight is what the target of a token counts.
func (b Batch) weight(i int) float32 {
	switch {
	case b.Targets[i] < 0:
		return 0
	case b.Weights != nil:
		return b.Weights[i]
	}
	return 1
}

// Pass computes losses and gradients of one model. It keeps the memory between
// calls and is for one goroutine.
type Pass struct {
	m       *llm.Model
	adapter *llm.Adapter // nil: none
	full    *Grads       // nil: the model is frozen
	pairs   *llm.Adapter // gradients of the adapter; nil: none
	lowest  int          // layer with something to learn

	n, length int // rows in all, and of a text
	layers    []saved
	last      []float32 // what the last layer gave
	normed    []float32
	factor    []float32
	sin, cos  []float32
	logits    []float32
	theirs    []float32 // logits of a teacher
	spare     [8][]float32
}

// saved are the numbers of a layer that its gradients are made of.
type saved struct {
	x, n1, q, k, v, shares, o, x2, n2, g, u, act []float32
	f1, f2                                       []float32
	h                                            [llm.Linears][]float32 // Scale·x·Aᵀ
}

// NewPass makes a pass that learns the adapter and leaves the model as it is.
func NewPass(m *llm.Model, a *llm.Adapter) *Pass {
	p := &Pass{m: m, adapter: a, pairs: zeros(a), lowest: m.Config.Layers}
	for i, layer := range a.Pairs {
		for _, pair := range layer {
			if pair.Rank > 0 {
				p.lowest = min(p.lowest, i)
			}
		}
	}
	return p
}

// NewFullPass makes a pass that learns all weights of a model, which are float32
// and whose head is its table of embeddings.
func NewFullPass(m *llm.Model) *Pass { return &Pass{m: m, full: newGrads(m)} }

// zeros is an adapter of the same shape, all zero.
func zeros(a *llm.Adapter) *llm.Adapter {
	z := &llm.Adapter{Scale: a.Scale, Pairs: make([][llm.Linears]llm.Pair, len(a.Pairs))}
	for i, layer := range a.Pairs {
		for k, p := range layer {
			z.Pairs[i][k] = llm.Pair{Rank: p.Rank, A: make([]float32, len(p.A)), B: make([]float32, len(p.B))}
		}
	}
	return z
}

// size makes a buffer n long, keeping its memory when it is enough.
func size(b *[]float32, n int) []float32 {
	if cap(*b) < n {
		*b = make([]float32, n)
	}
	*b = (*b)[:n]
	return *b
}

// rows calls f for all rows, on all processors.
func rows(n int, f func(i int)) {
	kernels.Parallel(n, 8, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

// Loss is the mean cross-entropy of a batch in nats a token, by its weights.
func (p *Pass) Loss(b Batch) float64 {
	p.forward(b)
	return p.head(b, nil)
}

// forward computes all layers and keeps what the gradients need.
func (p *Pass) forward(b Batch) {
	m := p.m
	p.n, p.length = len(b.Tokens), b.Length
	if p.layers == nil {
		p.layers = make([]saved, m.Config.Layers)
	}
	half := m.HeadDim / 2
	sin, cos := size(&p.sin, p.length*half), size(&p.cos, p.length*half)
	for t := range p.length {
		llm.Turns(sin[t*half:], cos[t*half:], m.Frequencies, t)
	}
	x := size(&p.layers[0].x, p.n*m.Width)
	for i, id := range b.Tokens {
		m.Embed.Row(x[i*m.Width:(i+1)*m.Width], id)
	}
	for l := range p.layers {
		p.attention(l)
		p.mlp(l)
	}
	d := m.Width
	normed, factor := size(&p.normed, p.n*d), size(&p.factor, p.n)
	rows(p.n, func(i int) {
		factor[i] = kernels.RMSNorm(normed[i*d:(i+1)*d], p.last[i*d:(i+1)*d], m.Norm, m.Epsilon)
	})
}

// linear computes a product of a layer, with its bias and its pair.
func (p *Pass) linear(l int, k llm.Linear, y, x []float32) {
	layer := &p.m.Layers[l]
	layer.Linear[k].Forward(y, x, p.n)
	llm.AddBias(y, layer.Bias[k])
	if p.adapter == nil || p.adapter.Pairs[l][k].Rank == 0 {
		return
	}
	pair := p.adapter.Pairs[l][k]
	out, in := p.m.Shape(k)
	pair.Add(y, size(&p.layers[l].h[k], p.n*pair.Rank), x, p.n, out, in, p.adapter.Scale)
}

func (p *Pass) attention(l int) {
	m, s, n := p.m, &p.layers[l], p.n
	d, qw, kw := m.Width, m.QueryWidth(), m.KVWidth()
	n1, f1 := size(&s.n1, n*d), size(&s.f1, n)
	rows(n, func(i int) {
		f1[i] = kernels.RMSNorm(n1[i*d:(i+1)*d], s.x[i*d:(i+1)*d], m.Layers[l].Norm1, m.Epsilon)
	})
	p.linear(l, llm.Query, size(&s.q, n*qw), n1)
	p.linear(l, llm.Key, size(&s.k, n*kw), n1)
	p.linear(l, llm.Value, size(&s.v, n*kw), n1)
	p.turn(s.q, m.Heads, 1)
	p.turn(s.k, m.KVHeads, 1)
	texts := n / p.length
	size(&s.shares, texts*m.Heads*p.length*p.length)
	size(&s.o, n*qw)
	kernels.Parallel(texts*m.Heads, 1, func(lo, hi int) {
		w := p.workspace()
		for i := lo; i < hi; i++ {
			p.attend(s, i/m.Heads, i%m.Heads, w)
		}
	})
	x2 := size(&s.x2, n*d)
	p.linear(l, llm.Output, x2, s.o)
	add(x2, s.x)
}

// turn turns heads by their positions; with sign -1 it turns them back.
func (p *Pass) turn(x []float32, heads int, sign float32) {
	d, half := p.m.HeadDim, p.m.HeadDim/2
	rows(p.n, func(i int) {
		t := i % p.length
		for h := range heads {
			llm.Turn(x[(i*heads+h)*d:(i*heads+h+1)*d], p.sin[t*half:(t+1)*half], p.cos[t*half:(t+1)*half], sign)
		}
	})
}

// workspace is what one goroutine needs for heads.
type workspace struct{ q, k, v, o, do, dh, ds, turned []float32 }

func (p *Pass) workspace() *workspace {
	head, square := p.length*p.m.HeadDim, p.length*p.length
	all := make([]float32, 6*head+2*square)
	cut := func(n int) (x []float32) { x, all = all[:n:n], all[n:]; return x }
	return &workspace{cut(head), cut(head), cut(head), cut(head), cut(head), cut(head), cut(square), cut(square)}
}

// gather copies one head of a text out of rows of several.
func (p *Pass) gather(to, from []float32, text, heads, head int) {
	d := p.m.HeadDim
	for t := range p.length {
		copy(to[t*d:(t+1)*d], from[((text*p.length+t)*heads+head)*d:][:d])
	}
}

// scatter adds one head of a text to rows of several.
func (p *Pass) scatter(to, from []float32, text, heads, head int) {
	d := p.m.HeadDim
	for t := range p.length {
		add(to[((text*p.length+t)*heads+head)*d:][:d], from[t*d:(t+1)*d])
	}
}

func (p *Pass) attend(s *saved, text, head int, w *workspace) {
	m, T, d := p.m, p.length, p.m.HeadDim
	kv := head / m.Group()
	p.gather(w.q, s.q, text, m.Heads, head)
	p.gather(w.k, s.k, text, m.KVHeads, kv)
	p.gather(w.v, s.v, text, m.KVHeads, kv)
	shares := s.shares[(text*m.Heads+head)*T*T:][:T*T]
	kernels.Matrix{Rows: T, Cols: d, F32: w.k}.ForwardHere(shares, w.q, T)
	scale := float32(1 / math.Sqrt(float64(d)))
	for i := range T {
		row := shares[i*T : (i+1)*T]
		for j := range row[:i+1] {
			row[j] *= scale
		}
		kernels.Softmax(row[:i+1])
		clear(row[i+1:])
	}
	clear(w.o)
	kernels.Matrix{Rows: T, Cols: d, F32: w.v}.BackwardHere(w.o, shares, T)
	for t := range T {
		copy(s.o[((text*T+t)*m.Heads+head)*d:][:d], w.o[t*d:(t+1)*d])
	}
}

func (p *Pass) mlp(l int) {
	m, s, n := p.m, &p.layers[l], p.n
	d := m.Width
	n2, f2 := size(&s.n2, n*d), size(&s.f2, n)
	rows(n, func(i int) {
		f2[i] = kernels.RMSNorm(n2[i*d:(i+1)*d], s.x2[i*d:(i+1)*d], m.Layers[l].Norm2, m.Epsilon)
	})
	g, u, act := size(&s.g, n*m.Inner), size(&s.u, n*m.Inner), size(&s.act, n*m.Inner)
	p.linear(l, llm.Gate, g, n2)
	p.linear(l, llm.Up, u, n2)
	kernels.Parallel(len(g), 1<<14, func(lo, hi int) { kernels.SiLUTimes(act[lo:hi], g[lo:hi], u[lo:hi]) })
	y := size(&p.last, n*d)
	if l+1 < len(p.layers) {
		y = size(&p.layers[l+1].x, n*d)
	}
	p.linear(l, llm.Down, y, act)
	add(y, s.x2)
}

func add(x, y []float32) {
	y = y[:len(x)]
	for i, v := range y {
		x[i] += v
	}
}

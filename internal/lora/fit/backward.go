package fit

import (
	"math"

	"liminal/internal/lora/kernels"
	"liminal/internal/lora/llm"
)

// Grads are the gradients of all weights of a model.
type Grads struct {
	Embed, Norm []float32
	Layers      []LayerGrads
}

// LayerGrads are those of a layer.
type LayerGrads struct {
	Norm1, Norm2 []float32
	Linear, Bias [llm.Linears][]float32
}

func newGrads(m *llm.Model) *Grads {
	like := func(x []float32) []float32 { return make([]float32, len(x)) }
	g := &Grads{Embed: like(m.Embed.F32), Norm: like(m.Norm), Layers: make([]LayerGrads, len(m.Layers))}
	for i, l := range m.Layers {
		to := &g.Layers[i]
		to.Norm1, to.Norm2 = like(l.Norm1), like(l.Norm2)
		for k := range l.Linear {
			to.Linear[k], to.Bias[k] = like(l.Linear[k].F32), like(l.Bias[k])
		}
	}
	return g
}

// Gradients computes the loss of a batch and the gradients of what is learnt,
// over those of before.
func (p *Pass) Gradients(b Batch) (loss float64) {
	return p.gradients(b, func(dn []float32) float64 { return p.head(b, dn) })
}

// gradients goes back from the head, which adds the gradient of the loss it gives
// to that of the normed rows.
func (p *Pass) gradients(b Batch, head func(dn []float32) float64) (loss float64) {
	for _, x := range p.Params() {
		clear(x.Grad)
	}
	p.forward(b)
	m, n, d := p.m, p.n, p.m.Width
	dn, dx := size(&p.spare[0], n*d), size(&p.spare[1], n*d)
	clear(dn)
	loss = head(dn)
	clear(dx)
	var dNorm []float32
	if p.full != nil {
		dNorm = p.full.Norm
	}
	normBack(dx, dn, p.last, m.Norm, dNorm, p.factor)
	for l := m.Config.Layers - 1; l >= p.lowest; l-- {
		p.mlpBack(l, dx, dn)
		p.attentionBack(l, dx, dn)
	}
	if p.full != nil {
		for i, id := range b.Tokens {
			add(p.full.Embed[id*d:(id+1)*d], dx[i*d:(i+1)*d])
		}
	}
	return loss
}

// chunk is how many rows of logits there are at once: they are the widest.
const chunk = 64

// head computes the loss and, when dn is not nil, adds its gradient by the
// normed rows to dn.
func (p *Pass) head(b Batch, dn []float32) float64 {
	return p.mean(b, func(total float64) []float64 { return p.losses(b, dn, total) })
}

// mean is that of losses, by the weights of their targets, which they are told the
// sum of.
func (p *Pass) mean(b Batch, losses func(total float64) []float64) (sum float64) {
	total := b.Over
	for i := 0; b.Over == 0 && i < p.n; i++ {
		total += float64(b.weight(i))
	}
	if total == 0 {
		return 0
	}
	for _, l := range losses(total) {
		sum += l
	}
	return sum / total
}

// losses are those of the targets, by their weights.
func (p *Pass) losses(b Batch, dn []float32, total float64) []float64 {
	m, n, d := p.m, p.n, p.m.Width
	losses := make([]float64, n)
	for lo := 0; lo < n; lo += chunk {
		c := min(chunk, n-lo)
		logits := size(&p.logits, c*m.Vocab)
		m.Head.Forward(logits, p.normed[lo*d:(lo+c)*d], c)
		rows(c, func(i int) {
			weight := b.weight(lo + i)
			losses[lo+i] = float64(weight) * crossEntropy(logits[i*m.Vocab:(i+1)*m.Vocab], b.Targets[lo+i], weight/float32(total))
		})
		if dn == nil {
			continue
		}
		m.Head.Backward(dn[lo*d:(lo+c)*d], logits, c)
		if p.full != nil {
			kernels.Outer(p.full.Embed, logits, p.normed[lo*d:(lo+c)*d], c, m.Vocab, d)
		}
	}
	return losses
}

// crossEntropy is -ln of the target's share, and makes of the logits their
// gradient times factor.
func crossEntropy(logits []float32, target int, factor float32) float64 {
	if target < 0 || factor == 0 {
		clear(logits)
		return 0
	}
	most := logits[0]
	for _, x := range logits {
		most = max(most, x)
	}
	of := logits[target]
	kernels.ExpMinus(logits, most)
	var sum float32
	for _, x := range logits {
		sum += x
	}
	for i := range logits {
		logits[i] *= factor / sum
	}
	logits[target] -= factor
	return math.Log(float64(sum)) + float64(most-of)
}

// normBack adds the gradient of an RMSNorm to dx, and that of its weights to dw
// unless it is nil.
func normBack(dx, dy, x, w, dw, factor []float32) {
	d := len(w)
	rows(len(factor), func(i int) {
		x, dx, dy := x[i*d:(i+1)*d], dx[i*d:(i+1)*d], dy[i*d:(i+1)*d]
		var dot float32
		for j, v := range x {
			dot += dy[j] * w[j] * v
		}
		f := factor[i]
		k := dot * f * f * f / float32(d)
		for j, v := range x {
			dx[j] += dy[j]*w[j]*f - v*k
		}
	})
	if dw == nil {
		return
	}
	for i, f := range factor {
		for j := range dw {
			dw[j] += dy[i*d+j] * x[i*d+j] * f
		}
	}
}

// linearBack adds what y = linear(x) passes on of dy to dx, unless it is nil, and
// the gradients of its weights to theirs.
func (p *Pass) linearBack(l int, k llm.Linear, dx, dy, x []float32) {
	out, in := p.m.Shape(k)
	if dx != nil {
		p.m.Layers[l].Linear[k].Backward(dx, dy, p.n)
	}
	if p.full != nil {
		g := &p.full.Layers[l]
		kernels.Outer(g.Linear[k], dy, x, p.n, out, in)
		if bias := g.Bias[k]; len(bias) > 0 {
			for i := range p.n {
				add(bias, dy[i*out:(i+1)*out])
			}
		}
	}
	if p.adapter == nil || p.adapter.Pairs[l][k].Rank == 0 {
		return
	}
	pair, grad, r := p.adapter.Pairs[l][k], p.pairs.Pairs[l][k], p.adapter.Pairs[l][k].Rank
	kernels.Outer(grad.B, p.layers[l].h[k], dy, p.n, r, out)
	dh := size(&p.spare[7], p.n*r)
	kernels.Matrix{Rows: r, Cols: out, F32: pair.B}.Forward(dh, dy, p.n)
	for i := range dh {
		dh[i] *= p.adapter.Scale
	}
	kernels.Outer(grad.A, dh, x, p.n, r, in)
	if dx != nil {
		kernels.Matrix{Rows: r, Cols: in, F32: pair.A}.Backward(dx, dh, p.n)
	}
}

func (p *Pass) mlpBack(l int, dx, dn []float32) {
	m, s, n := p.m, &p.layers[l], p.n
	da, du := size(&p.spare[2], n*m.Inner), size(&p.spare[3], n*m.Inner)
	clear(da)
	p.linearBack(l, llm.Down, da, dx, s.act)
	kernels.Parallel(len(da), 1<<14, func(lo, hi int) { siluBack(da[lo:hi], du[lo:hi], s.g[lo:hi], s.u[lo:hi]) })
	clear(dn)
	p.linearBack(l, llm.Gate, dn, da, s.n2)
	p.linearBack(l, llm.Up, dn, du, s.n2)
	var dw []float32
	if p.full != nil {
		dw = p.full.Layers[l].Norm2
	}
	normBack(dx, dn, s.x2, m.Layers[l].Norm2, dw, s.f2)
}

// siluBack makes of the gradient of silu(g)·u, in da, those of g, in da, and of
// u, in du.
func siluBack(da, du, g, u []float32) {
	for i, x := range g {
		du[i] = -x
	}
	kernels.ExpMinus(du, 0)
	for i, d := range da {
		s := 1 / (1 + du[i])
		du[i] = d * g[i] * s
		da[i] = d * u[i] * s * (1 + g[i]*(1-s))
	}
}

func (p *Pass) attentionBack(l int, dx, dn []float32) {
	m, s, n := p.m, &p.layers[l], p.n
	qw, kw := m.QueryWidth(), m.KVWidth()
	do := size(&p.spare[2], n*qw)
	clear(do)
	p.linearBack(l, llm.Output, do, dx, s.o)
	dq, dk, dv := size(&p.spare[3], n*qw), size(&p.spare[4], n*kw), size(&p.spare[5], n*kw)
	clear(dq)
	clear(dk)
	clear(dv)
	// One task has all heads of a key: nobody else adds to its gradients.
	kernels.Parallel(n/p.length*m.KVHeads, 1, func(lo, hi int) {
		w := p.workspace()
		for i := lo; i < hi; i++ {
			p.attendBack(s, do, dq, dk, dv, i/m.KVHeads, i%m.KVHeads, w)
		}
	})
	p.turn(dq, m.Heads, -1)
	p.turn(dk, m.KVHeads, -1)
	on := dn
	if p.full == nil && l == p.lowest {
		on = nil // below it nothing is learnt
	}
	clear(dn)
	p.linearBack(l, llm.Query, on, dq, s.n1)
	p.linearBack(l, llm.Key, on, dk, s.n1)
	p.linearBack(l, llm.Value, on, dv, s.n1)
	if on == nil {
		return
	}
	var dw []float32
	if p.full != nil {
		dw = p.full.Layers[l].Norm1
	}
	normBack(dx, dn, s.x, m.Layers[l].Norm1, dw, s.f1)
}

func (p *Pass) attendBack(s *saved, do, dq, dk, dv []float32, text, kv int, w *workspace) {
	m, T, d := p.m, p.length, p.m.HeadDim
	scale := float32(1 / math.Sqrt(float64(d)))
	p.gather(w.k, s.k, text, m.KVHeads, kv)
	p.gather(w.v, s.v, text, m.KVHeads, kv)
	for head := kv * m.Group(); head < (kv+1)*m.Group(); head++ {
		p.gather(w.q, s.q, text, m.Heads, head)
		p.gather(w.o, s.o, text, m.Heads, head)
		p.gather(w.do, do, text, m.Heads, head)
		shares := s.shares[(text*m.Heads+head)*T*T:][:T*T]
		clear(w.dh)
		kernels.OuterHere(w.dh, shares, w.do, T, T, d) // sharesᵀ·do
		p.scatter(dv, w.dh, text, m.KVHeads, kv)
		kernels.Matrix{Rows: T, Cols: d, F32: w.v}.ForwardHere(w.ds, w.do, T)
		for i := range T {
			var dot float32
			for j := range d {
				dot += w.do[i*d+j] * w.o[i*d+j]
			}
			share, ds := shares[i*T:(i+1)*T], w.ds[i*T:(i+1)*T]
			for j := range ds {
				ds[j] = share[j] * (ds[j] - dot) * scale
			}
		}
		clear(w.dh)
		kernels.Matrix{Rows: T, Cols: d, F32: w.k}.BackwardHere(w.dh, w.ds, T)
		p.scatter(dq, w.dh, text, m.Heads, head)
		clear(w.dh)
		kernels.OuterHere(w.dh, w.ds, w.q, T, T, d) // dsᵀ·q
		p.scatter(dk, w.dh, text, m.KVHeads, kv)
	}
}

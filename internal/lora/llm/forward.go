package llm

import (
	"math"
	"slices"
	"sync"

	"liminal/internal/lora/kernels"
)

// Sequence is a text on its way: the keys and values of its tokens so far, and
// the adapters its answer is computed with. It is for one Runner at a time.
type Sequence struct {
	Adapters []Gated
	length   int
	room     int
	keys     []float32 // [layer][head][room][HeadDim]
	values   []float32
}

// NewSequence is an empty sequence with room for at most room tokens, which
// takes CacheBytes(room).
func (m *Model) NewSequence(room int, adapters ...Gated) *Sequence {
	n := m.Config.Layers * m.KVWidth() * room
	return &Sequence{room: room, keys: make([]float32, n), values: make([]float32, n), Adapters: adapters}
}

// Len is how many tokens were taken.
func (s *Sequence) Len() int { return s.length }

// Room is how many tokens can be taken at most.
func (s *Sequence) Room() int { return s.room }

// Cut forgets all tokens but the first n, which must have been taken.
func (s *Sequence) Cut(n int) { s.length = min(s.length, n) }

// Step is tokens a sequence takes next, at least one.
type Step struct {
	*Sequence
	Tokens []int
	All    bool // logits after each token; else after the last
}

// Runner computes with one model. It keeps the memory between calls and is for
// one goroutine; several may share a model.
type Runner struct {
	m                                   *Model
	x, n, q, k, v, o, g, u, head, logit []float32
	sin, cos                            []float32
	sets                                []run
	scratch                             sync.Pool
}

// NewRunner makes a runner.
func (m *Model) NewRunner() *Runner { return &Runner{m: m} }

// size makes a buffer n long, keeping its memory when it is enough.
func size(b *[]float32, n int) []float32 {
	if cap(*b) < n {
		*b = make([]float32, n)
	}
	*b = (*b)[:n]
	return *b
}

// run is the rows of one step in the buffers.
type run struct {
	*Sequence
	from, to int // rows
	at       int // position of the first
}

// Forward takes the tokens of all steps, of different sequences, and returns
// the logits after the last token of each step, or after all of them, in order:
// Vocab numbers each. They are good until the next call. Ids must be below
// Vocab, and sequences have room.
func (r *Runner) Forward(steps ...Step) []float32 {
	m := r.m
	var runs []run
	rows := 0
	for _, s := range steps {
		runs = append(runs, run{s.Sequence, rows, rows + len(s.Tokens), s.length})
		rows += len(s.Tokens)
	}
	x := size(&r.x, rows*m.Width)
	i := 0
	for _, s := range steps {
		for _, id := range s.Tokens {
			m.Embed.Row(x[i*m.Width:(i+1)*m.Width], id)
			i++
		}
	}
	r.turns(runs, rows)
	r.sets = sets(r.sets[:0], runs)
	for l := range m.Layers {
		r.attention(l, runs, rows)
		r.mlp(l, rows)
	}
	for _, s := range steps {
		s.length += len(s.Tokens)
	}
	return r.logits(steps)
}

// turns are the sines and cosines of the rows' positions.
func (r *Runner) turns(runs []run, rows int) {
	half := r.m.HeadDim / 2
	sin, cos := size(&r.sin, rows*half), size(&r.cos, rows*half)
	for _, u := range runs {
		for i := u.from; i < u.to; i++ {
			Turns(sin[i*half:], cos[i*half:], r.m.Frequencies, u.at+i-u.from)
		}
	}
}

// Turns are the sines and cosines a head at a position is turned by.
func Turns(sin, cos []float32, frequencies []float64, position int) {
	for j, f := range frequencies {
		s, c := math.Sincos(float64(position) * f)
		sin[j], cos[j] = float32(s), float32(c)
	}
}

// Turn turns the pairs (j, j+half) of a head; with -sin it turns them back.
func Turn(head, sin, cos []float32, sign float32) {
	half := len(head) / 2
	low, high := head[:half], head[half:]
	sin, cos = sin[:half], cos[:half]
	for j, c := range cos {
		a, b, s := low[j], high[j], sign*sin[j]
		low[j] = a*c - b*s
		high[j] = b*c + a*s
	}
}

func (r *Runner) norm(w []float32, rows int) []float32 {
	d := r.m.Width
	n := size(&r.n, rows*d)
	kernels.Parallel(rows, 8, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			kernels.RMSNorm(n[i*d:(i+1)*d], r.x[i*d:(i+1)*d], w, r.m.Epsilon)
		}
	})
	return n
}

func (r *Runner) attention(layer int, runs []run, rows int) {
	m := r.m
	l := &m.Layers[layer]
	qw, kw := m.QueryWidth(), m.KVWidth()
	n := r.norm(l.Norm1, rows)
	q, k, v := size(&r.q, rows*qw), size(&r.k, rows*kw), size(&r.v, rows*kw)
	kernels.Forwards(n, rows, kernels.Output{W: l.Linear[Query], To: q}, kernels.Output{W: l.Linear[Key], To: k}, kernels.Output{W: l.Linear[Value], To: v})
	for which, y := range [...][]float32{Query: q, Key: k, Value: v} {
		AddBias(y, l.Bias[which])
		r.adapt(layer, Linear(which), y, n)
	}
	r.keep(layer, runs)
	o := size(&r.o, rows*qw)
	heads := m.KVHeads
	kernels.Parallel(len(runs)*heads, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r.attend(layer, runs[i/heads], i%heads)
		}
	})
	l.Linear[Output].Forward(n, o, rows)
	r.adapt(layer, Output, n, o)
	add(r.x, n)
}

// AddBias adds a bias to every row of y; nil is none.
func AddBias(y, bias []float32) {
	if bias == nil {
		return
	}
	for ; len(y) >= len(bias); y = y[len(bias):] {
		for j, b := range bias {
			y[j] += b
		}
	}
}

func add(x, y []float32) {
	y = y[:len(x)]
	for i, v := range y {
		x[i] += v
	}
}

// keep turns queries and keys by their positions, and puts keys and values
// where the sequences keep them.
func (r *Runner) keep(layer int, runs []run) {
	m := r.m
	d, half := m.HeadDim, m.HeadDim/2
	for _, u := range runs {
		for i := u.from; i < u.to; i++ {
			sin, cos := r.sin[i*half:(i+1)*half], r.cos[i*half:(i+1)*half]
			for h := range m.Heads {
				Turn(r.q[(i*m.Heads+h)*d:(i*m.Heads+h+1)*d], sin, cos, 1)
			}
			at := u.at + i - u.from
			for h := range m.KVHeads {
				key := r.k[(i*m.KVHeads+h)*d : (i*m.KVHeads+h+1)*d]
				Turn(key, sin, cos, 1)
				place := ((layer*m.KVHeads+h)*u.room + at) * d
				copy(u.keys[place:place+d], key)
				copy(u.values[place:place+d], r.v[(i*m.KVHeads+h)*d:(i*m.KVHeads+h+1)*d])
			}
		}
	}
}

// attend computes the heads that share one key for the rows of a run: they are
// rows of one product.
func (r *Runner) attend(layer int, u run, head int) {
	m := r.m
	d, group, qw := m.HeadDim, m.Group(), m.QueryWidth()
	rows, total := u.to-u.from, u.at+u.to-u.from
	place := (layer*m.KVHeads + head) * u.room * d
	keys := kernels.Matrix{Rows: total, Cols: d, F32: u.keys[place : place+total*d]}
	values := kernels.Matrix{Rows: total, Cols: d, F32: u.values[place : place+total*d]}
	buffer := r.borrow(rows * group * (2*d + total))
	defer r.scratch.Put(buffer)
	q, o, scores := (*buffer)[:rows*group*d], (*buffer)[rows*group*d:2*rows*group*d], (*buffer)[2*rows*group*d:]
	for i := range rows {
		for g := range group {
			copy(q[(i*group+g)*d:], r.q[(u.from+i)*qw+(head*group+g)*d:][:d])
		}
	}
	keys.ForwardHere(scores, q, rows*group)
	scale := float32(1 / math.Sqrt(float64(d)))
	for i := range rows * group {
		// A token sees those before it and itself; what comes after it weighs
		// nothing, which changes no bit of its sums.
		sees := u.at + i/group + 1
		row := scores[i*total : (i+1)*total]
		for j := range row[:sees] {
			row[j] *= scale
		}
		kernels.Softmax(row[:sees])
		clear(row[sees:])
	}
	clear(o)
	values.BackwardHere(o, scores, rows*group)
	for i := range rows {
		for g := range group {
			copy(r.o[(u.from+i)*qw+(head*group+g)*d:][:d], o[(i*group+g)*d:][:d])
		}
	}
}

func (r *Runner) borrow(n int) *[]float32 {
	b, _ := r.scratch.Get().(*[]float32)
	if b == nil {
		b = new([]float32)
	}
	size(b, n)
	return b
}

func (r *Runner) mlp(layer, rows int) {
	m := r.m
	l := &m.Layers[layer]
	n := r.norm(l.Norm2, rows)
	g, u := size(&r.g, rows*m.Inner), size(&r.u, rows*m.Inner)
	kernels.Forwards(n, rows, kernels.Output{W: l.Linear[Gate], To: g}, kernels.Output{W: l.Linear[Up], To: u})
	r.adapt(layer, Gate, g, n)
	r.adapt(layer, Up, u, n)
	kernels.Parallel(len(g), 1<<14, func(lo, hi int) { kernels.SiLUTimes(g[lo:hi], g[lo:hi], u[lo:hi]) })
	l.Linear[Down].Forward(n, g, rows)
	r.adapt(layer, Down, n, g)
	add(r.x, n)
}

// logits computes the head for the rows that are asked for.
func (r *Runner) logits(steps []Step) []float32 {
	m := r.m
	d := m.Width
	head := r.head[:0]
	row := 0
	for _, s := range steps {
		from := row + len(s.Tokens) - 1
		if s.All {
			from = row
		}
		row += len(s.Tokens)
		head = append(head, r.x[from*d:row*d]...)
	}
	r.head = head
	rows := len(head) / d
	for i := range rows {
		kernels.RMSNorm(head[i*d:(i+1)*d], head[i*d:(i+1)*d], m.Norm, m.Epsilon)
	}
	out := size(&r.logit, rows*m.Vocab)
	m.Head.Forward(out, head, rows)
	return out
}

// sets are the rows that have the same adapters: neighbours are one product
// (LORA-20).
func sets(list []run, runs []run) []run {
	for _, u := range runs {
		if last := len(list) - 1; last >= 0 && slices.Equal(list[last].Adapters, u.Adapters) {
			list[last].to = u.to
			continue
		}
		list = append(list, u)
	}
	return list
}

// adapt adds what the adapters of the rows make of x to y.
func (r *Runner) adapt(layer int, which Linear, y, x []float32) {
	runs := r.sets
	out, in := r.m.Shape(which)
	work := 0
	for _, u := range runs {
		for _, a := range u.Adapters {
			work += (u.to - u.from) * in * a.Pairs[layer][which].Rank
		}
	}
	if work == 0 {
		return
	}
	each := func(lo, hi int) {
		for _, u := range runs[lo:hi] {
			for _, a := range u.Adapters {
				p := a.Pairs[layer][which]
				if p.Rank == 0 {
					continue
				}
				rows := u.to - u.from
				buffer := r.borrow(rows * p.Rank)
				p.Add(y[u.from*out:u.to*out], *buffer, x[u.from*in:u.to*in], rows, out, in, a.Gate*a.Scale)
				r.scratch.Put(buffer)
			}
		}
	}
	if len(runs) > 1 && work > 1<<14 {
		kernels.Parallel(len(runs), 1, each)
		return
	}
	each(0, len(runs))
}

// Grow makes room for at least room tokens, keeping those that were taken.
func (s *Sequence) Grow(c Config, room int) {
	if room <= s.room {
		return
	}
	wide := func(old []float32) []float32 {
		out := make([]float32, c.Layers*c.KVWidth()*room)
		for h := range c.Layers * c.KVHeads {
			copy(out[h*room*c.HeadDim:], old[h*s.room*c.HeadDim:(h*s.room+s.length)*c.HeadDim])
		}
		return out
	}
	s.keys, s.values, s.room = wide(s.keys), wide(s.values), room
}

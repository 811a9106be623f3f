package llm

import (
	"fmt"
	"math"

	"liminal/internal/lora/kernels"
)

// Pair is the two matrices that are added to one product; of rank 0 nothing is.
// They are in float32, which can be trained, or in bfloat16, which is half as
// much to read: where every row of a batch has an adapter of its own, reading
// them is what they cost.
type Pair struct {
	Rank         int
	A            []float32 // [Rank, in]
	B            []float32 // [Rank, out]: lora_B turned, so that both are read along their rows
	HalfA, HalfB []uint16  // the same in bfloat16, instead
}

// Add adds factor·(x·Aᵀ)·B to y for some rows. h is where rows·Rank numbers are
// left: factor·x·Aᵀ.
func (p Pair) Add(y, h, x []float32, rows, out, in int, factor float32) {
	r := p.Rank
	a, b := kernels.Matrix{Rows: r, Cols: in, F32: p.A, BF16: p.HalfA}, kernels.Matrix{Rows: r, Cols: out, F32: p.B, BF16: p.HalfB}
	here := rows*r*max(in, out) <= little
	if here {
		a.ForwardHere(h, x, rows)
	} else {
		a.Forward(h, x, rows)
	}
	for i := range h[:rows*r] {
		h[i] *= factor
	}
	if here {
		b.BackwardHere(y, h, rows)
		return
	}
	b.Backward(y, h, rows)
}

// little is how many multiplications are not worth asking for other processors.
const little = 1 << 16

// Wide is the pair in float32.
func (p Pair) Wide() Pair {
	if p.HalfA == nil {
		return p
	}
	return Pair{Rank: p.Rank, A: wide(p.HalfA), B: wide(p.HalfB)}
}

func wide(x []uint16) []float32 {
	out := make([]float32, len(x))
	for i, h := range x {
		out[i] = kernels.FromBF16(h)
	}
	return out
}

// rounded is the pair in bfloat16.
func (p Pair) rounded() Pair {
	if p.Rank == 0 || p.HalfA != nil {
		return p
	}
	return Pair{Rank: p.Rank, HalfA: kernels.BF16(p.A), HalfB: kernels.BF16(p.B)}
}

// narrow reports whether bfloat16 holds all numbers of the pair.
func (p Pair) narrow() bool {
	for _, list := range [][]float32{p.A, p.B} {
		for _, x := range list {
			if math.Float32bits(x)&0xffff != 0 {
				return false
			}
		}
	}
	return true
}

// Adapter is a LoRA adapter: y = x·Wᵀ becomes y + gate·Scale·(x·Aᵀ)·B for the
// products that have a pair (LORA-13). It is not changed while it is in use.
type Adapter struct {
	Scale float32 // α/r
	Pairs [][Linears]Pair
}

// Gated is an adapter with its gate.
type Gated struct {
	*Adapter
	Gate float32
}

// Rank is the largest rank of an adapter's pairs.
func (a *Adapter) Rank() int {
	most := 0
	for _, layer := range a.Pairs {
		for _, p := range layer {
			most = max(most, p.Rank)
		}
	}
	return most
}

// Bytes is the memory an adapter takes.
func (a *Adapter) Bytes() int {
	n := 0
	for _, layer := range a.Pairs {
		for _, p := range layer {
			n += 4*(len(p.A)+len(p.B)) + 2*(len(p.HalfA)+len(p.HalfB))
		}
	}
	return n
}

// Rounded is the adapter in bfloat16, as what was trained is kept: its numbers
// are rounded once, before anybody judges it.
func (a *Adapter) Rounded() *Adapter {
	return a.each(Pair.rounded)
}

// Compact is the adapter with each pair in bfloat16 that loses nothing by it: it
// computes the same bits.
func (a *Adapter) Compact() *Adapter {
	return a.each(func(p Pair) Pair {
		if !p.narrow() {
			return p
		}
		return p.rounded()
	})
}

func (a *Adapter) each(f func(Pair) Pair) *Adapter {
	out := &Adapter{Scale: a.Scale, Pairs: make([][Linears]Pair, len(a.Pairs))}
	for i, layer := range a.Pairs {
		for k, p := range layer {
			out.Pairs[i][k] = f(p)
		}
	}
	return out
}

// Fits reports whether an adapter's matrices are of the shapes of c.
func (a *Adapter) Fits(c Config) error {
	if len(a.Pairs) != c.Layers {
		return fmt.Errorf("the adapter is for %d layers, the model has %d", len(a.Pairs), c.Layers)
	}
	for i, layer := range a.Pairs {
		for k, p := range layer {
			out, in := c.Shape(Linear(k))
			if max(len(p.A), len(p.HalfA)) != p.Rank*in || max(len(p.B), len(p.HalfB)) != p.Rank*out {
				return fmt.Errorf("the adapter's layer %d, %s, is not of the model's shape", i, Linear(k).Name())
			}
		}
	}
	return nil
}

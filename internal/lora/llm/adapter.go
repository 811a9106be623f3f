package llm

import (
	"fmt"

	"liminal/internal/lora/kernels"
)

// Pair is the two matrices that are added to one product; of rank 0 nothing is.
type Pair struct {
	Rank int
	A    []float32 // [Rank, in]
	B    []float32 // [Rank, out]: lora_B turned, so that both are read along their rows
}

// Add adds factor·(x·Aᵀ)·B to y for some rows. h is where rows·Rank numbers are
// left: factor·x·Aᵀ.
func (p Pair) Add(y, h, x []float32, rows, out, in int, factor float32) {
	r := p.Rank
	kernels.Matrix{Rows: r, Cols: in, F32: p.A}.Forward(h, x, rows)
	for i := range h[:rows*r] {
		h[i] *= factor
	}
	kernels.Matrix{Rows: r, Cols: out, F32: p.B}.Backward(y, h, rows)
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
			n += 4 * (len(p.A) + len(p.B))
		}
	}
	return n
}

// Fits reports whether an adapter's matrices are of the shapes of c.
func (a *Adapter) Fits(c Config) error {
	if len(a.Pairs) != c.Layers {
		return fmt.Errorf("the adapter is for %d layers, the model has %d", len(a.Pairs), c.Layers)
	}
	for i, layer := range a.Pairs {
		for k, p := range layer {
			out, in := c.Shape(Linear(k))
			if len(p.A) != p.Rank*in || len(p.B) != p.Rank*out {
				return fmt.Errorf("the adapter's layer %d, %s, is not of the model's shape", i, Linear(k).Name())
			}
		}
	}
	return nil
}

package kernels

import "unsafe"

// product is one product: c[m,n] = a[m,k]·b[n,k]ᵀ for nt, and
// c[m,k] += a[m,n]·b[n,k] for nn, where a's number (i, j) stands at
// i·lda + j·step.
type product struct {
	c, a      unsafe.Pointer
	b         Matrix
	m, n, k   int
	lda, step int
}

// tile computes one tile; distances are in bytes. For NT the last two are the
// length of the sums and whether they are added, for NN the number of rows of
// b and the distance of two numbers in a row of a.
type tile func(c, a, b unsafe.Pointer, ldc, lda, ldb, n, last int)

// byRows are tiles by how many rows of a they take.
type byRows [7]tile

// tiles is an instruction set: wide numbers a register, rowsB rows of b in an
// NT tile, vectors registers in a row of an NN tile. Edge tiles take one of
// these; ntOne takes one row of a and 8 of b.
type tiles struct {
	wide, rowsB, vectors                             int
	nt, ntHalf, ntEdge, ntEdgeHalf, ntOne, ntOneHalf byRows
	nn, nnHalf, nnEdge, nnEdgeHalf                   byRows
	exp                                              func(x unsafe.Pointer, n int, minus float32)
	silu                                             func(y, x, u unsafe.Pointer, n int)
}

// Blocks keep what is read again in the caches near the processor.
const (
	ntBlock = 1024 // length of a partial sum of NT; part of the order of sums
	nnBlock = 256  // rows of b an NN tile passes at once
	rowsA   = 96   // rows of a that are one piece of work
)

// at is the address i numbers of size bytes after p.
func at(p unsafe.Pointer, i, size int) unsafe.Pointer { return unsafe.Add(p, i*size) } //nolint:gosec // within slices that were checked

func (p product) weights() (base unsafe.Pointer, size int) {
	if p.b.half() {
		return unsafe.Pointer(unsafe.SliceData(p.b.BF16)), 2 //nolint:gosec // checked by Matrix.check
	}
	return unsafe.Pointer(unsafe.SliceData(p.b.F32)), 4 //nolint:gosec // as above
}

// nt computes rows i0 to i1 and columns lo to hi of c.
func (p product) nt(i0, i1, lo, hi int) {
	set := tilesOf(inUse())
	if set == nil || p.k < set.wide {
		p.ntPlain(i0, i1, lo, hi)
		return
	}
	whole := p.k / set.wide * set.wide
	if i1-i0 <= 8 { // the weights pass once: whole rows of them, one after the other
		for j := lo; j < hi; {
			n := set.columns(i1-i0, hi-j)
			for k := 0; k < whole; k += ntBlock {
				p.ntTiles(set, i0, i1, j, n, k, min(ntBlock, whole-k))
			}
			j += n
		}
	} else {
		for k := 0; k < whole; k += ntBlock {
			for j := lo; j < hi; {
				n := set.columns(i1-i0, hi-j)
				p.ntTiles(set, i0, i1, j, n, k, min(ntBlock, whole-k))
				j += n
			}
		}
	}
	if whole < p.k {
		p.ntRest(i0, i1, lo, hi, whole)
	}
}

// columns is how many of the left columns the next tile takes.
func (s *tiles) columns(rows, left int) int {
	switch {
	case rows == 1 && left >= 8:
		return 8
	case rows > 1 && left >= s.rowsB:
		return s.rowsB
	}
	return 1
}

// ntTiles computes n columns from j on over the numbers k to k+length.
func (p product) ntTiles(set *tiles, i0, i1, j, n, k, length int) {
	half := p.b.half()
	list := &set.nt
	switch {
	case n == 8 && half:
		list = &set.ntOneHalf
	case n == 8:
		list = &set.ntOne
	case n == 1 && half:
		list = &set.ntEdgeHalf
	case n == 1:
		list = &set.ntEdge
	case half:
		list = &set.ntHalf
	}
	base, size := p.weights()
	b, add := at(base, j*p.k+k, size), 0
	if k > 0 {
		add = 1
	}
	for i := i0; i < i1; {
		rows := min(4, i1-i)
		list[rows](at(p.c, i*p.n+j, 4), at(p.a, i*p.k+k, 4), b, p.n*4, p.k*4, p.k*size, length, add)
		i += rows
	}
}

// ntRest adds the numbers from k on, too few for a register.
func (p product) ntRest(i0, i1, lo, hi, k int) {
	c, a := unsafe.Slice((*float32)(p.c), p.m*p.n), unsafe.Slice((*float32)(p.a), p.m*p.k)
	for i := i0; i < i1; i++ {
		x := a[i*p.k+k : (i+1)*p.k]
		for j := lo; j < hi; j++ {
			var s float32
			for l, v := range x {
				s += v * p.b.at(j*p.k+k+l)
			}
			c[i*p.n+j] += s
		}
	}
}

func (w Matrix) at(i int) float32 {
	if w.half() {
		return FromBF16(w.BF16[i])
	}
	return w.F32[i]
}

// nn computes rows i0 to i1 and columns lo to hi of c.
func (p product) nn(i0, i1, lo, hi int) {
	set := tilesOf(inUse())
	if set == nil {
		p.nnPlain(i0, i1, lo, hi)
		return
	}
	whole := lo + (hi-lo)/set.wide*set.wide
	base, size := p.weights()
	for n := 0; n < p.n; n += nnBlock {
		length := min(nnBlock, p.n-n)
		for l := lo; l < whole; {
			wide := set.wide * set.vectors
			list := &set.nn
			if p.b.half() {
				list = &set.nnHalf
			}
			if l+wide > whole {
				wide = set.wide
				if list = &set.nnEdge; p.b.half() {
					list = &set.nnEdgeHalf
				}
			}
			b := at(base, n*p.k+l, size)
			for i := i0; i < i1; {
				rows := nnRows(i1 - i)
				list[rows](at(p.c, i*p.k+l, 4), at(p.a, i*p.lda+n*p.step, 4), b, p.k*4, p.lda*4, p.k*size, length, p.step*4)
				i += rows
			}
			l += wide
		}
	}
	if whole < hi {
		p.nnPlain(i0, i1, whole, hi)
	}
}

// nnRows is how many of the left rows the next NN tile takes.
func nnRows(left int) int {
	switch {
	case left >= 6:
		return 6
	case left >= 4:
		return 4
	case left >= 2:
		return 2
	}
	return 1
}

// Package kernels computes the products of matrices that language models are
// made of, on the CPU: y = x·Wᵀ and the two shapes of its backward pass, for
// weights in float32 or bfloat16, and the few functions between them.
//
// Matrices are row-major. Weights are [out, in], as safetensors files hold
// them, and are read where they lie: nothing is packed or copied. Sums are
// float32, in an order that depends on the shape only: neither GOMAXPROCS nor
// how many rows are computed together changes a bit of a row's result. Another
// instruction set may.
//
// The innermost tiles are assembly for AVX-512 and for AVX2 with FMA, written
// by the package asm beside this one (go generate); Use tells which of them
// run. Plain Go computes the same everywhere else and is what they are tested
// against. All functions are safe for concurrent use and panic when a slice is
// shorter than its shape. The package imports the standard library and x/sys.
package kernels

//go:generate go run ./asm/write

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Level is a set of instructions.
type Level int32

// The levels, slowest first.
const (
	Plain Level = iota
	AVX2
	AVX512
)

func (l Level) String() string { return [...]string{"plain Go", "AVX2", "AVX-512"}[l] }

var level atomic.Int32

// Current is the level in use: the best of this machine until Use says
// otherwise.
func Current() Level { return inUse() }

// Use makes l the level in use, for tests and measurements; it returns what
// was in use before, and an error where the machine cannot do l. It is not to
// be called while products are computed.
func Use(l Level) (before Level, err error) {
	before = inUse()
	if l < Plain || l > best() {
		return before, fmt.Errorf("this machine cannot compute with %s", l)
	}
	level.Store(int32(l) + 1)
	return before, nil
}

// inUse is the level in use, chosen at the first call. The variable holds one
// more than the level, so that its zero means not chosen.
func inUse() Level {
	if l := level.Load(); l != 0 {
		return Level(l - 1)
	}
	l := best()
	level.CompareAndSwap(0, int32(l)+1)
	return l
}

// Matrix is weights of Rows × Cols numbers: either F32 or BF16 is set.
type Matrix struct {
	Rows, Cols int
	F32        []float32
	BF16       []uint16
}

// half reports whether the weights are bfloat16.
func (w Matrix) half() bool { return w.BF16 != nil }

func (w Matrix) check() {
	if n := w.Rows * w.Cols; w.Rows < 0 || w.Cols < 0 || w.half() && len(w.BF16) < n || !w.half() && len(w.F32) < n {
		panic(fmt.Sprintf("kernels: a matrix of %d × %d has %d numbers", w.Rows, w.Cols, max(len(w.F32), len(w.BF16))))
	}
}

// Row copies row i as float32 into dst.
func (w Matrix) Row(dst []float32, i int) {
	if !w.half() {
		copy(dst[:w.Cols], w.F32[i*w.Cols:(i+1)*w.Cols])
		return
	}
	for j, b := range w.BF16[i*w.Cols : (i+1)*w.Cols] {
		dst[j] = FromBF16(b)
	}
}

func need(what string, have, want int) {
	if have < want {
		panic(fmt.Sprintf("kernels: %s has %d numbers of %d", what, have, want))
	}
}

// Forward computes y = x·wᵀ for m rows: x is [m, Cols], y is [m, Rows] and is
// overwritten. It uses all processors.
func (w Matrix) Forward(y, x []float32, m int) {
	job := w.forward(y, x, m)
	job.parallel()
}

// ForwardHere is Forward on the caller's goroutine alone.
func (w Matrix) ForwardHere(y, x []float32, m int) {
	job := w.forward(y, x, m)
	job.nt(0, m, 0, w.Rows)
}

func (w Matrix) forward(y, x []float32, m int) product {
	w.check()
	need("y", len(y), m*w.Rows)
	need("x", len(x), m*w.Cols)
	return product{c: ptr(y), a: ptr(x), b: w, m: m, n: w.Rows, k: w.Cols}
}

// Output is one of several products that share x: To = x·Wᵀ.
type Output struct {
	W  Matrix
	To []float32
}

// Forwards computes several products of the same m rows x, dividing the work
// among the processors once.
func Forwards(x []float32, m int, outputs ...Output) {
	jobs := make([]product, 0, 3)
	for _, o := range outputs {
		jobs = append(jobs, o.W.forward(o.To, x, m))
	}
	parallel(jobs)
}

// Backward adds dy·w to dx for m rows: dy is [m, Rows], dx is [m, Cols]. This
// is how a gradient passes from y = x·wᵀ to x, and also y += h·W for a matrix
// that is stored [in, out]. It uses all processors.
func (w Matrix) Backward(dx, dy []float32, m int) {
	w.backward(dx, dy, m).parallelColumns()
}

// BackwardHere is Backward on the caller's goroutine alone.
func (w Matrix) BackwardHere(dx, dy []float32, m int) {
	w.backward(dx, dy, m).nn(0, m, 0, w.Cols)
}

func (w Matrix) backward(dx, dy []float32, m int) product {
	w.check()
	need("dx", len(dx), m*w.Cols)
	need("dy", len(dy), m*w.Rows)
	return product{c: ptr(dx), a: ptr(dy), b: w, m: m, n: w.Rows, k: w.Cols, lda: w.Rows, step: 1}
}

// Outer adds dyᵀ·x to dw: dy is [m, rows], x is [m, cols], dw is [rows, cols].
// This is the gradient of the weights of y = x·wᵀ. It uses all processors.
func Outer(dw, dy, x []float32, m, rows, cols int) {
	outer(dw, dy, x, m, rows, cols).parallelColumns()
}

// OuterHere is Outer on the caller's goroutine alone.
func OuterHere(dw, dy, x []float32, m, rows, cols int) {
	outer(dw, dy, x, m, rows, cols).nn(0, rows, 0, cols)
}

func outer(dw, dy, x []float32, m, rows, cols int) product {
	need("dw", len(dw), rows*cols)
	need("dy", len(dy), m*rows)
	need("x", len(x), m*cols)
	return product{c: ptr(dw), a: ptr(dy), b: Matrix{Rows: m, Cols: cols, F32: x}, m: rows, n: m, k: cols, lda: 1, step: rows}
}

func ptr(x []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) } //nolint:gosec // lengths are checked by the caller

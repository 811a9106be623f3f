package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"liminal/internal/cputime"
	"liminal/internal/lora/kernels"
)

// Before Use was called the best level is in use: a run of this test alone, or
// first, holds that.
func TestTheLevelInUseIsKnownBeforeItIsChosen(t *testing.T) {
	if l := kernels.Current(); l < kernels.Plain || l.String() == "" {
		t.Errorf("it is %d", l)
	}
	if _, err := kernels.Use(kernels.AVX512 + 1); err == nil {
		t.Error("a level that is none was taken")
	}
}

// levels calls f with each level of this machine. What its processor lacks no test
// can play, and is said in the log.
func levels(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	for _, l := range []kernels.Level{kernels.Plain, kernels.AVX2, kernels.AVX512} {
		before, err := kernels.Use(l)
		if err != nil && l != kernels.Plain {
			t.Logf("not played: %v", err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Run(l.String(), func(t *testing.T) {
			defer func() {
				if _, err := kernels.Use(before); err != nil {
					t.Error(err)
				}
			}()
			if kernels.Current() != l {
				t.Fatalf("in use is %v", kernels.Current())
			}
			f(t)
		})
	}
}

func numbers(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = r.Float32()*2 - 1
	}
	return x
}

// shapes are rows, outputs and inputs: tiles, their edges, and more than a
// block of each.
var shapes = [][3]int{
	{1, 1, 1}, {1, 1, 16}, {1, 9, 8}, {1, 100, 64}, {2, 3, 15}, {3, 7, 33}, {4, 6, 16}, {5, 24, 17}, {7, 53, 96}, {8, 6, 40},
	{9, 65, 48}, {13, 8, 24}, {13, 50, 1037}, {16, 260, 31}, {97, 26, 65}, {100, 300, 80}, {2, 70, 2100},
}

func near(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= 2e-4) {
			t.Fatalf("%s: number %d is %v, not %v", what, i, got[i], w)
		}
	}
}

func weights(x []float32, rows, cols int, half bool) kernels.Matrix {
	if !half {
		return kernels.Matrix{Rows: rows, Cols: cols, F32: x}
	}
	w := kernels.Matrix{Rows: rows, Cols: cols, BF16: kernels.BF16(x)}
	for i := range rows {
		w.Row(x[i*cols:], i)
	}
	return w
}

// Products are compared with sums in float64.
//
// Requirements: LORA-13
func TestEveryLevelComputesTheProducts(t *testing.T) {
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, s := range shapes {
			m, n, k := s[0], s[1], s[2]
			for _, half := range []bool{false, true} {
				name := fmt.Sprint(s, " bf16 ", half)
				b, x, dy, old := numbers(r, n*k), numbers(r, m*k), numbers(r, m*n), numbers(r, max(m*k, n*k))
				w := weights(b, n, k, half)
				y, dx, dw := make([]float32, m*n), slices.Clone(old[:m*k]), slices.Clone(old[:n*k])
				y[0] = 99 // is overwritten
				w.Forward(y, x, m)
				w.Backward(dx, dy, m)
				kernels.Outer(dw, dy, x, m, n, k)
				wantY, wantX, wantW := make([]float64, m*n), wide(old[:m*k]), wide(old[:n*k])
				for i := range m {
					for j := range n {
						for l := range k {
							wantY[i*n+j] += float64(x[i*k+l]) * float64(b[j*k+l])
							wantX[i*k+l] += float64(dy[i*n+j]) * float64(b[j*k+l])
							wantW[j*k+l] += float64(dy[i*n+j]) * float64(x[i*k+l])
						}
					}
				}
				near(t, name+" forward", y, wantY)
				near(t, name+" backward", dx, wantX)
				near(t, name+" outer", dw, wantW)
			}
		}
	})
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// What trains twice from one seed must come to the same weights on any number
// of processors, and what one person is answered must not depend on who else
// is answered at the same time.
func TestNoBitDependsOnTheDivisionOfWork(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const m, n, k = 101, 65, 1100
	b, x, dy := numbers(r, n*k), numbers(r, m*k), numbers(r, m*n)
	compute := func(w kernels.Matrix) [][]float32 {
		y, y2, dx, dw := make([]float32, m*n), make([]float32, m*n), make([]float32, m*k), make([]float32, n*k)
		w.Forward(y, x, m)
		kernels.Forwards(x, m, kernels.Output{W: w, To: y2}, kernels.Output{W: kernels.Matrix{Rows: 5, Cols: k, F32: b}, To: make([]float32, m*5)})
		w.Backward(dx, dy, m)
		kernels.Outer(dw, dy, x, m, n, k)
		return [][]float32{y, y2, dx, dw}
	}
	levels(t, func(t *testing.T) {
		for _, half := range []bool{false, true} {
			w := weights(slices.Clone(b), n, k, half)
			before := runtime.GOMAXPROCS(1)
			defer runtime.GOMAXPROCS(before)
			want := compute(w)
			for _, workers := range []int{2, 3, 7} {
				runtime.GOMAXPROCS(workers)
				for i, got := range compute(w) {
					if !slices.Equal(got, want[i]) {
						t.Errorf("bf16 %v: product %d differs on %d processors", half, i, workers)
					}
				}
			}
			here := [][]float32{make([]float32, m*n), nil, make([]float32, m*k), make([]float32, n*k)}
			w.ForwardHere(here[0], x, m)
			w.BackwardHere(here[2], dy, m)
			kernels.OuterHere(here[3], dy, x, m, n, k)
			for i, got := range here {
				if got != nil && !slices.Equal(got, want[i]) {
					t.Errorf("bf16 %v: product %d differs on the caller's goroutine", half, i)
				}
			}
			for _, rows := range []int{1, 2, 3, 5, 9} {
				y, dx := make([]float32, rows*n), make([]float32, rows*k)
				w.Forward(y, x[7*k:], rows)
				w.Backward(dx, dy[7*n:], rows)
				if !slices.Equal(y, want[0][7*n:(7+rows)*n]) || !slices.Equal(dx, want[2][7*k:(7+rows)*k]) {
					t.Errorf("bf16 %v: rows differ when %d are computed together", half, rows)
				}
			}
		}
	})
}

func TestAShortSliceIsRefused(t *testing.T) {
	w := kernels.Matrix{Rows: 4, Cols: 16, F32: make([]float32, 64)}
	x, y := make([]float32, 32), make([]float32, 8)
	for name, call := range map[string]func(){
		"y":  func() { w.Forward(y[:7], x, 2) },
		"x":  func() { w.Forward(y, x[:31], 2) },
		"w":  func() { kernels.Matrix{Rows: 5, Cols: 16, F32: w.F32}.Forward(make([]float32, 10), x, 2) },
		"dx": func() { w.Backward(x[:31], y, 2) },
		"dy": func() { w.BackwardHere(x, y[:7], 2) },
		"dw": func() { kernels.Outer(w.F32[:63], y, x, 2, 4, 16) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a %s that is too short was taken", name)
				}
			}()
			call()
		}()
	}
}

func TestParallelCoversEachPieceOnce(t *testing.T) {
	for _, n := range []int{0, 1, 5, 24, 1000} {
		seen := make([]int32, n)
		kernels.Parallel(n, 7, func(lo, hi int) {
			if lo%7 != 0 || hi != n && hi%7 != 0 {
				t.Errorf("a piece of %d is %d to %d", n, lo, hi)
			}
			for i := lo; i < hi; i++ {
				seen[i]++
			}
		})
		if i := slices.IndexFunc(seen, func(s int32) bool { return s != 1 }); i >= 0 {
			t.Errorf("%d of %d was done %d times", i, n, seen[i])
		}
	}
}

func TestBF16RoundsToNearest(t *testing.T) {
	for _, c := range []struct{ from, to float32 }{
		{1, 1}, {1 + 1./512, 1}, {1 + 3./256, 1 + 2./128}, {1.01, 1.0078125}, {-3.1415927, -3.140625},
		{float32(math.Inf(1)), float32(math.Inf(1))}, {3.4e38, float32(math.Inf(1))},
	} {
		if got := kernels.FromBF16(kernels.ToBF16(c.from)); got != c.to {
			t.Errorf("%v becomes %v, not %v", c.from, got, c.to)
		}
	}
	if nan := kernels.FromBF16(kernels.ToBF16(math.Float32frombits(0x7f800001))); nan == nan {
		t.Errorf("NaN becomes %v", nan)
	}
}

func TestExpAndSoftmax(t *testing.T) {
	levels(t, func(t *testing.T) {
		var all []float32
		for x := float32(-80); x < 80; x += 0.37 {
			all = append(all, x)
		}
		vector := slices.Clone(all)
		kernels.ExpMinus(vector, 1.5)
		for i, x := range all {
			want := math.Exp(float64(x))
			if d := math.Abs(float64(kernels.Exp(x))-want) / want; d > 2e-7 {
				t.Fatalf("e to the %v is off by %g", x, d)
			}
			want = math.Exp(float64(x - 1.5))
			if d := math.Abs(float64(vector[i])-want) / want; d > 2.5e-7 {
				t.Fatalf("of a list, e to the %v is off by %g", x-1.5, d)
			}
			one := []float32{x}
			if kernels.ExpMinus(one, 1.5); one[0] != vector[i] {
				t.Fatalf("e to the %v is %v alone and %v in a list", x-1.5, one[0], vector[i])
			}
		}
		x := []float32{1000, 999, -1e30, float32(math.Inf(-1))}
		kernels.Softmax(x)
		if math.Abs(float64(x[0])-0.7310586) > 1e-6 || x[2] > 1e-30 || x[3] > 1e-30 || math.Abs(float64(x[0]+x[1])-1) > 1e-6 {
			t.Errorf("%v", x)
		}
		kernels.Softmax(nil)
	})
}

func TestSiLUTimes(t *testing.T) {
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{0, 1, 7, 16, 37} {
			x, u, y := numbers(r, n), numbers(r, n), make([]float32, n)
			for i := range x {
				x[i] *= 20
			}
			kernels.SiLUTimes(y, x, u)
			for i, v := range x {
				want := float64(v) / (1 + math.Exp(-float64(v))) * float64(u[i])
				if math.Abs(float64(y[i])-want) > 1e-5 {
					t.Errorf("of %v and %v it is %v, not %v", v, u[i], y[i], want)
				}
				one := []float32{v}
				if kernels.SiLUTimes(one, one, u[i:i+1]); one[0] != y[i] {
					t.Errorf("of %v it is %v alone and %v in a list", v, one[0], y[i])
				}
			}
		}
	})
}

func TestRMSNorm(t *testing.T) {
	y := make([]float32, 2)
	f := kernels.RMSNorm(y, []float32{3, 4}, []float32{1, 2}, 0)
	if math.Abs(float64(f)-1/math.Sqrt(12.5)) > 1e-6 || y[0] != 3*f || y[1] != 8*f {
		t.Errorf("%v, %v", f, y)
	}
}

// BenchmarkProducts is GFLOP a second of processor time, for products a model of
// 135M parameters has.
func BenchmarkProducts(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{128, 1536, 576}, {128, 576, 1536}, {8, 1536, 576}, {1, 1536, 576}, {1, 49152, 576}, {128, 4096, 4096}} {
		m, n, k := s[0], s[1], s[2]
		x, y, dx := numbers(r, m*k), numbers(r, m*n), make([]float32, m*k)
		f := numbers(r, n*k)
		for _, w := range []kernels.Matrix{{Rows: n, Cols: k, F32: f}, {Rows: n, Cols: k, BF16: kernels.BF16(f)}} {
			kind := "f32"
			if w.BF16 != nil {
				kind = "bf16"
			}
			for _, l := range []kernels.Level{kernels.Plain, kernels.AVX2, kernels.AVX512} {
				if _, err := kernels.Use(l); err != nil {
					continue
				}
				for name, f := range map[string]func(){"forward": func() { w.Forward(y, x, m) }, "backward": func() { w.Backward(dx, y, m) }} {
					b.Run(fmt.Sprintf("%dx%dx%d/%s/%s/%s", m, n, k, kind, l, name), func(b *testing.B) {
						began := cputime.Process()
						for b.Loop() {
							f()
						}
						b.ReportMetric(2*float64(m*n*k)*float64(b.N)/float64((cputime.Process()-began).Nanoseconds()), "GFLOP/cpu-s")
					})
				}
			}
		}
	}
}

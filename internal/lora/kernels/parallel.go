package kernels

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// little is how many multiplications are not worth a second goroutine.
const little = 1 << 16

// Parallel calls f for pieces of 0 to n, on up to GOMAXPROCS goroutines, the
// caller's among them, and returns when all are done. A piece is at least
// grain long and, but for the last, a multiple of it.
func Parallel(n, grain int, f func(lo, hi int)) {
	workers := min(runtime.GOMAXPROCS(0), (n+grain-1)/grain)
	if workers <= 1 {
		if n > 0 {
			f(0, n)
		}
		return
	}
	// Four pieces a worker even out what others take of the machine.
	step := max(1, n/(4*workers*grain)) * grain
	var next atomic.Int64
	work := func() {
		for {
			lo := int(next.Add(int64(step))) - step
			if lo >= n {
				return
			}
			f(lo, min(lo+step, n))
		}
	}
	var others sync.WaitGroup
	for range workers - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

// columnsAtOnce is the smallest piece of NT work: a multiple of every tile.
const columnsAtOnce = 24

func (p product) parallel() { parallel([]product{p}) }

// parallel computes NT products that share a: blocks of rows one after the
// other, and within a block the columns of all products in pieces.
func parallel(jobs []product) {
	if len(jobs) == 0 || jobs[0].m == 0 {
		return
	}
	m, k, all := jobs[0].m, jobs[0].k, 0
	for _, p := range jobs {
		all += p.n
	}
	blocks := (m + rowsA - 1) / rowsA
	work := func(lo, hi int) {
		for lo < hi {
			block := lo / all
			from, to := lo-block*all, min(hi-block*all, all)
			for _, p := range jobs {
				if l, h := max(from, 0), min(to, p.n); l < h {
					p.nt(block*rowsA, min((block+1)*rowsA, m), l, h)
				}
				from, to = from-p.n, to-p.n
			}
			lo = min(hi, (block+1)*all)
		}
	}
	rows := min(m, rowsA)
	grain := max(columnsAtOnce, little/max(1, rows*k)/columnsAtOnce*columnsAtOnce)
	Parallel(blocks*all, grain, work)
}

// parallelColumns computes an NN product in pieces of its columns, and of its
// rows where the columns are few.
func (p product) parallelColumns() {
	const columns = 64
	if p.m == 0 || p.k == 0 {
		return
	}
	if p.k < 4*columns && p.m > 16 {
		grain := max(6, little/max(1, p.n*p.k)/6*6)
		Parallel(p.m, grain, func(lo, hi int) { p.nn(lo, hi, 0, p.k) })
		return
	}
	grain := max(columns, little/max(1, p.m*p.n)/columns*columns)
	Parallel(p.k, grain, func(lo, hi int) { p.nn(0, p.m, lo, hi) })
}

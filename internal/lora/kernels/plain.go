package kernels

import "unsafe"

// ntPlain is nt in Go: two rows and four columns at once, each sum in order.
func (p product) ntPlain(i0, i1, lo, hi int) {
	k := p.k
	c, a := unsafe.Slice((*float32)(p.c), p.m*p.n), unsafe.Slice((*float32)(p.a), p.m*k)
	var wide [4][]float32
	if p.b.half() {
		buffer := make([]float32, 4*k)
		for q := range wide {
			wide[q] = buffer[q*k : (q+1)*k]
		}
	}
	row := func(q, j int) []float32 {
		if !p.b.half() {
			return p.b.F32[j*k : j*k+k]
		}
		p.b.Row(wide[q], j)
		return wide[q]
	}
	j := lo
	for ; j+4 <= hi; j += 4 {
		b0, b1, b2, b3 := row(0, j), row(1, j+1), row(2, j+2), row(3, j+3)
		i := i0
		for ; i+2 <= i1; i += 2 {
			ntPlain2x4(c[i*p.n+j:], c[(i+1)*p.n+j:], a[i*k:i*k+k], a[(i+1)*k:(i+1)*k+k], b0, b1, b2, b3)
		}
		if i < i1 {
			ntPlain1x4(c[i*p.n+j:], a[i*k:i*k+k], b0, b1, b2, b3)
		}
	}
	for ; j < hi; j++ {
		b := row(0, j)
		for i := i0; i < i1; i++ {
			var s float32
			x := a[i*k : i*k+k]
			b := b[:len(x)]
			for l, v := range x {
				s += v * b[l]
			}
			c[i*p.n+j] = s
		}
	}
}

func ntPlain2x4(c0, c1, a0, a1, b0, b1, b2, b3 []float32) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	n := len(a0)
	a1, b0, b1, b2, b3 = a1[:n], b0[:n], b1[:n], b2[:n], b3[:n]
	for l, x := range a0 {
		y, w := a1[l], b0[l]
		s00 += x * w
		s10 += y * w
		w = b1[l]
		s01 += x * w
		s11 += y * w
		w = b2[l]
		s02 += x * w
		s12 += y * w
		w = b3[l]
		s03 += x * w
		s13 += y * w
	}
	c0[0], c0[1], c0[2], c0[3] = s00, s01, s02, s03
	c1[0], c1[1], c1[2], c1[3] = s10, s11, s12, s13
}

func ntPlain1x4(c, a, b0, b1, b2, b3 []float32) {
	var s0, s1, s2, s3 float32
	n := len(a)
	b0, b1, b2, b3 = b0[:n], b1[:n], b2[:n], b3[:n]
	for l, x := range a {
		s0 += x * b0[l]
		s1 += x * b1[l]
		s2 += x * b2[l]
		s3 += x * b3[l]
	}
	c[0], c[1], c[2], c[3] = s0, s1, s2, s3
}

// nnPlain is nn in Go.
func (p product) nnPlain(i0, i1, lo, hi int) {
	if p.m == 0 || p.n == 0 || lo >= hi {
		return
	}
	c := unsafe.Slice((*float32)(p.c), p.m*p.k)
	a := unsafe.Slice((*float32)(p.a), (p.m-1)*p.lda+(p.n-1)*p.step+1)
	var wide []float32
	if p.b.half() {
		wide = make([]float32, hi-lo)
	}
	for j := range p.n {
		b := wide
		if p.b.half() {
			for l, h := range p.b.BF16[j*p.k+lo : j*p.k+hi] {
				wide[l] = FromBF16(h)
			}
		} else {
			b = p.b.F32[j*p.k+lo : j*p.k+hi]
		}
		for i := i0; i < i1; i++ {
			x := a[i*p.lda+j*p.step]
			to := c[i*p.k+lo : i*p.k+hi]
			to = to[:len(b)]
			for l, w := range b {
				to[l] += x * w
			}
		}
	}
}

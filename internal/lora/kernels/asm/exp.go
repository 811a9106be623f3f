package asm

import (
	"fmt"
	"math"
)

// numbers are what eˣ is computed with, by name. Each stands in the file 16
// times, to be read as a vector.
var numbers = []struct {
	name string
	x    float32
}{
	{"low", -87}, {"high", 88}, {"log2e", 1.44269504088896}, {"magic", 12582912}, {"ln2high", 0.693359375}, {"ln2low", 2.12194440e-4},
	{"p0", 1.9875691500e-4}, {"p1", 1.3981999507e-3}, {"p2", 8.3334519073e-3}, {"p3", 4.1665795894e-2}, {"p4", 1.6666665459e-1}, {"p5", 5.0000001201e-1},
	{"one", 1},
}

// numbers writes them.
func (w *writer) numbers() {
	for i, n := range numbers {
		for lane := range 16 {
			w.line("DATA numbers<>+%d(SB)/4, $%#x", 64*i+4*lane, math.Float32bits(n.x))
		}
	}
	w.line("GLOBL numbers<>(SB), RODATA|NOPTR, $%d", 64*len(numbers))
}

// number is where one of them stands.
func (w *writer) number(name string) string {
	for i, n := range numbers {
		if n.name == name {
			return fmt.Sprintf("numbers<>+%d(SB)", 64*i)
		}
	}
	panic("asm: no number " + name)
}

// power makes eˣ of register 0 in register 3, with 1 and 2 to work in: as Exp of
// the package kernels does, but for multiplying and adding in one step.
func (w *writer) power(s Set) {
	x, z, n, p := s.reg(0), s.reg(1), s.reg(2), s.reg(3)
	w.op("VMAXPS %s, %s, %s", w.number("low"), x, x)
	w.op("VMINPS %s, %s, %s", w.number("high"), x, x)
	w.op("VMOVUPS %s, %s", w.number("log2e"), z)
	w.op("VFMADD213PS %s, %s, %s", w.number("magic"), x, z)
	w.op("VSUBPS %s, %s, %s", w.number("magic"), z, n)
	w.op("VFNMADD231PS %s, %s, %s", w.number("ln2high"), n, x)
	w.op("VFMADD231PS %s, %s, %s", w.number("ln2low"), n, x)
	w.op("VMOVUPS %s, %s", w.number("p0"), p)
	for _, next := range []string{"p1", "p2", "p3", "p4", "p5"} {
		w.op("VFMADD213PS %s, %s, %s", w.number(next), x, p)
	}
	w.op("VMULPS %s, %s, %s", x, x, n)
	w.op("VFMADD213PS %s, %s, %s", x, n, p)
	w.op("VADDPS %s, %s, %s", w.number("one"), p, p)
	w.op("VPSLLD $23, %s, %s", z, z)
	w.op("VPADDD %s, %s, %s", z, p, p)
}

// exp writes the function that makes e to the x-minus of n numbers, a multiple of
// the vector's width.
func (w *writer) exp(s Set) {
	name := s.Name + "Exp"
	w.declare("//go:noescape\nfunc %s(x unsafe.Pointer, n int, minus float32)\n", name)
	w.line("\n// func %s(x unsafe.Pointer, n int, minus float32)", name)
	w.line("TEXT ·%s(SB), NOSPLIT, $0-20", name)
	w.op("MOVQ x+0(FP), SI")
	w.op("MOVQ n+8(FP), CX")
	w.op("VBROADCASTSS minus+16(FP), %s", s.reg(4))
	w.line("\nloop_%s:", name)
	w.op("VMOVUPS (SI), %s", s.reg(0))
	w.op("VSUBPS %s, %s, %s", s.reg(4), s.reg(0), s.reg(0))
	w.power(s)
	w.op("VMOVUPS %s, (SI)", s.reg(3))
	w.op("ADDQ $%d, SI", 4*s.Wide)
	w.op("SUBQ $%d, CX", s.Wide)
	w.op("JGT loop_%s", name)
	w.op("VZEROUPPER")
	w.op("RET")
}

// silu writes the function that makes x/(1+e⁻ˣ)·u of n numbers, a multiple of the
// vector's width.
func (w *writer) silu(s Set) {
	name := s.Name + "SiLU"
	w.declare("//go:noescape\nfunc %s(y, x, u unsafe.Pointer, n int)\n", name)
	w.line("\n// func %s(y, x, u unsafe.Pointer, n int)", name)
	w.line("TEXT ·%s(SB), NOSPLIT, $0-32", name)
	for _, at := range []string{"y+0(FP), DI", "x+8(FP), SI", "u+16(FP), DX", "n+24(FP), CX"} {
		w.op("MOVQ %s", at)
	}
	w.zero(s, 5)
	w.line("\nloop_%s:", name)
	w.op("VMOVUPS (SI), %s", s.reg(4))
	w.op("VSUBPS %s, %s, %s", s.reg(4), s.reg(5), s.reg(0))
	w.power(s)
	w.op("VADDPS %s, %s, %s", w.number("one"), s.reg(3), s.reg(3))
	w.op("VDIVPS %s, %s, %s", s.reg(3), s.reg(4), s.reg(4))
	w.op("VMULPS (DX), %s, %s", s.reg(4), s.reg(4))
	w.op("VMOVUPS %s, (DI)", s.reg(4))
	for _, r := range []string{"SI", "DX", "DI"} {
		w.op("ADDQ $%d, %s", 4*s.Wide, r)
	}
	w.op("SUBQ $%d, CX", s.Wide)
	w.op("JGT loop_%s", name)
	w.op("VZEROUPPER")
	w.op("RET")
}

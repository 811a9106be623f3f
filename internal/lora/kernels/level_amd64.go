package kernels

import "golang.org/x/sys/cpu"

// best is the best level of this machine.
func best() Level {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512VL && x.HasAVX512DQ && x.HasAVX512BW:
		return AVX512
	case x.HasAVX2 && x.HasFMA:
		return AVX2
	}
	return Plain
}

// tilesOf is the assembly of a level; nil: plain Go.
func tilesOf(l Level) *tiles {
	switch l {
	case AVX512:
		return &avx512Tiles
	case AVX2:
		return &avx2Tiles
	default:
		return nil
	}
}

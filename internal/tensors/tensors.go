// Package tensors reads and writes the files neural networks keep their numbers
// in: safetensors, and NumPy's .npz.
//
// A file is not believed: its header is bounded, every tensor must lie inside
// the file, none over another, and numbers that are not finite are refused where
// numbers are read. Numbers are little-endian in both formats. The package
// imports the standard library only.
package tensors

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

// DType is the type of a tensor's numbers, as safetensors names it.
type DType string

// The types numbers are read of.
const (
	F64  DType = "F64"
	F32  DType = "F32"
	F16  DType = "F16"
	BF16 DType = "BF16"
	I64  DType = "I64"
	I32  DType = "I32"
	I16  DType = "I16"
	I8   DType = "I8"
)

// Width is how many bytes a number of the type takes; 0: it cannot be read.
func (t DType) Width() int {
	switch t {
	case F64, I64:
		return 8
	case F32, I32:
		return 4
	case F16, BF16, I16:
		return 2
	case I8:
		return 1
	default:
		return 0
	}
}

// number decodes one number of the type.
func (t DType) number(b []byte) float64 {
	le := binary.LittleEndian
	switch t {
	case F64:
		return math.Float64frombits(le.Uint64(b))
	case I64:
		return float64(int64(le.Uint64(b))) //nolint:gosec // two's complement is what the format holds
	case F32:
		return float64(math.Float32frombits(le.Uint32(b)))
	case I32:
		return float64(int32(le.Uint32(b))) //nolint:gosec // as above
	case F16:
		return half(le.Uint16(b))
	case BF16:
		return float64(math.Float32frombits(uint32(le.Uint16(b)) << 16))
	case I16:
		return float64(int16(le.Uint16(b))) //nolint:gosec // as above
	default:
		return float64(int8(b[0])) //nolint:gosec // as above
	}
}

// half decodes an IEEE 754 number of 16 bits.
func half(b uint16) float64 {
	sign, exponent, fraction := 1.0, int(b>>10&0x1f), float64(b&0x3ff)
	if b>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction == 0 {
			return math.Inf(int(sign))
		}
		return math.NaN()
	}
	return sign * math.Ldexp(1+fraction/1024, exponent-15)
}

// Info is what is known of a tensor without reading it.
type Info struct {
	DType DType
	Shape []int
}

// Len is how many numbers a tensor has: 1 without axes.
func (i Info) Len() int {
	n := 1
	for _, d := range i.Shape {
		n *= d
	}
	return n
}

// count multiplies a shape without overflowing; false when it cannot be.
func count(shape []int) (n int64, ok bool) {
	n = 1
	for _, d := range shape {
		if d < 0 {
			return 0, false
		}
		high, low := bits.Mul64(uint64(n), uint64(d)) //nolint:gosec // neither is negative
		if high != 0 || low > math.MaxInt64/8 {
			return 0, false
		}
		n = int64(low) //nolint:gosec // checked
	}
	return n, true
}

// Store is an open file of tensors, whatever its format.
type Store interface {
	// Names are those of all tensors, sorted.
	Names() []string
	// Info is about one tensor; false when there is none of that name.
	Info(name string) (Info, bool)
	// Float32s are the numbers of a tensor, all finite. They may be those of
	// the mapped file: they are not to be written and end with Close.
	Float32s(name string) ([]float32, error)
	// BF16s are the numbers of a tensor of type BF16, under the same rules.
	BF16s(name string) ([]uint16, error)
	Close() error
}

// little reports whether this machine keeps numbers as the files do.
var little = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1 //nolint:gosec // looks at the first byte of a number
}()

// float32s reads numbers of a type; those of F32 where they lie when they can
// be.
func float32s(name string, t DType, raw []byte) ([]float32, error) {
	width := t.Width()
	if width == 0 {
		return nil, unreadable(name, t)
	}
	n := len(raw) / width
	var out []float32
	if t == F32 && aligned(raw, 4) {
		out = unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(raw))), n) //nolint:gosec // n numbers lie in raw, at an address for them
	} else {
		out = make([]float32, n)
		for i := range out {
			out[i] = float32(t.number(raw[i*width:]))
		}
	}
	for i, x := range out {
		if math.Float32bits(x)&0x7f800000 == 0x7f800000 {
			return nil, fmt.Errorf("tensor %q: number %d is not finite", name, i)
		}
	}
	return out, nil
}

func bf16s(name string, t DType, raw []byte) ([]uint16, error) {
	if t != BF16 {
		return nil, fmt.Errorf("tensor %q has numbers of type %q, not BF16", name, t)
	}
	n := len(raw) / 2
	var out []uint16
	if aligned(raw, 2) {
		out = unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(raw))), n) //nolint:gosec // as in float32s
	} else {
		out = make([]uint16, n)
		for i := range out {
			out[i] = binary.LittleEndian.Uint16(raw[2*i:])
		}
	}
	for i, x := range out {
		if x&0x7f80 == 0x7f80 {
			return nil, fmt.Errorf("tensor %q: number %d is not finite", name, i)
		}
	}
	return out, nil
}

func aligned(raw []byte, width uintptr) bool {
	return little && len(raw) > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(raw)))%width == 0
}

func unreadable(name string, t DType) error {
	return fmt.Errorf("tensor %q has numbers of type %q; F64, F32, F16, BF16 and I8 to I64 can be read", name, t)
}

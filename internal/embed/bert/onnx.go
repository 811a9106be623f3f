package bert

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of an ONNX file that are read, by their numbers in onnx.proto.
const (
	modelGraph = 7

	graphNode        = 1
	graphInitializer = 5

	nodeInput = 1
	nodeName  = 3
	nodeOp    = 4

	tensorDims   = 1
	tensorType   = 2
	tensorFloats = 4
	tensorInts   = 5
	tensorName   = 8
	tensorRaw    = 9
)

// The types of numbers that are read, by their numbers in onnx.proto.
const (
	typeFloat = 1
	typeUint8 = 2
	typeInt8  = 3
)

// maxNumbers bounds the numbers of one tensor.
const maxNumbers = 64 << 20

// tensor is numbers of an ONNX file, as they lie there.
type tensor struct {
	dims []int
	kind uint64
	raw  []byte
}

func (t tensor) size() int {
	n := 1
	for _, d := range t.dims {
		n *= d
	}
	return n
}

// graph is what is read of an ONNX file: the numbers by their names, and which of
// them a product of matrices takes, by the name of that node.
type graph struct {
	tensors map[string]tensor
	weights map[string]string
}

// fields calls f for each field of a message: n for numbers, b for all else.
func fields(b []byte, f func(num protowire.Number, n uint64, b []byte) error) error {
	for len(b) > 0 {
		num, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		var n uint64
		var inner []byte
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			inner, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(num, kind, b)
			inner = b[:max(size, 0)]
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		if err := f(num, n, inner); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// readGraph reads an ONNX file.
func readGraph(raw []byte) (graph, error) {
	g := graph{tensors: map[string]tensor{}, weights: map[string]string{}}
	err := fields(raw, func(num protowire.Number, _ uint64, b []byte) error {
		if num != modelGraph {
			return nil
		}
		return fields(b, func(num protowire.Number, _ uint64, b []byte) error {
			switch num {
			case graphNode:
				return g.node(b)
			case graphInitializer:
				return g.initializer(b)
			}
			return nil
		})
	})
	if err == nil && len(g.tensors) == 0 {
		err = errors.New("it holds no numbers")
	}
	return g, err
}

func (g graph) node(raw []byte) error {
	var inputs []string
	name, op := "", ""
	err := fields(raw, func(num protowire.Number, _ uint64, b []byte) error {
		switch num {
		case nodeInput:
			inputs = append(inputs, string(b))
		case nodeName:
			name = string(b)
		case nodeOp:
			op = string(b)
		}
		return nil
	})
	if op == "MatMulInteger" && len(inputs) > 1 {
		g.weights[name] = inputs[1]
	}
	return err
}

func (g graph) initializer(raw []byte) error {
	var t tensor
	var spread []byte // numbers that are not in raw
	name := ""
	err := fields(raw, func(num protowire.Number, n uint64, b []byte) error {
		switch num {
		case tensorDims:
			if b == nil {
				t.dims = append(t.dims, int(n))
			}
			for len(b) > 0 {
				d, size := protowire.ConsumeVarint(b)
				if size < 0 {
					return protowire.ParseError(size)
				}
				t.dims, b = append(t.dims, int(d)), b[size:]
			}
		case tensorType:
			t.kind = n
		case tensorFloats:
			spread = append(spread, b...)
		case tensorInts:
			if b == nil {
				spread = append(spread, byte(n))
			}
			for len(b) > 0 {
				d, size := protowire.ConsumeVarint(b)
				if size < 0 {
					return protowire.ParseError(size)
				}
				spread, b = append(spread, byte(d)), b[size:]
			}
		case tensorName:
			name = string(b)
		case tensorRaw:
			t.raw = b
		}
		return nil
	})
	if t.raw == nil {
		t.raw = spread
	}
	for _, d := range t.dims {
		if d < 0 || d > maxNumbers {
			return fmt.Errorf("%s has a side of %d", name, d)
		}
	}
	g.tensors[name] = t
	return err
}

// floats is a tensor of float32 numbers in a shape.
func (g graph) floats(name string, dims ...int) ([]float32, error) {
	t, err := g.shaped(name, dims)
	if err != nil {
		return nil, err
	}
	if t.kind != typeFloat || len(t.raw) != 4*t.size() {
		return nil, fmt.Errorf("%s is not float32 numbers", name)
	}
	out := make([]float32, t.size())
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.raw[4*i:]))
		if x := float64(out[i]); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%s holds a number that is none", name)
		}
	}
	return out, nil
}

func (g graph) shaped(name string, dims []int) (tensor, error) {
	t, ok := g.tensors[name]
	switch {
	case !ok:
		return t, fmt.Errorf("it has no %s", name)
	case fmt.Sprint(t.dims) != fmt.Sprint(dims):
		return t, fmt.Errorf("%s has the shape %v, not %v", name, t.dims, dims)
	}
	return t, nil
}

// table is rows of numbers that were kept in one byte each: a number of column c is
// scale[c] times the one in at, which is between -255 and 255.
type table struct {
	at    []int16
	scale []float32
}

// quantized is a tensor of bytes in a shape, with the scales and the zeros beside
// it: one of each, or one of each for every column.
func (g graph) quantized(name string, rows, cols int) (table, error) {
	t, err := g.shaped(name, []int{rows, cols})
	if err != nil {
		return table{}, err
	}
	base := strings.TrimSuffix(name, "_quantized")
	of := g.tensors[base+"_scale"].dims
	scales, err := g.floats(base+"_scale", of...)
	if err != nil {
		return table{}, err
	}
	zeros := g.tensors[base+"_zero_point"]
	if zeros.kind != t.kind || len(zeros.raw) != len(scales) || len(t.raw) != t.size() || len(scales) != 1 && len(scales) != cols {
		return table{}, fmt.Errorf("%s is not bytes with a scale and a zero for all of it or for each column", name)
	}
	number := map[uint64]func(byte) int16{
		typeUint8: func(b byte) int16 { return int16(b) },
		typeInt8:  func(b byte) int16 { return int16(int8(b)) },
	}[t.kind]
	if number == nil {
		return table{}, fmt.Errorf("%s is not in bytes", name)
	}
	out := table{at: make([]int16, len(t.raw)), scale: make([]float32, cols)}
	for c := range cols {
		one := min(c, len(scales)-1)
		out.scale[c] = scales[one]
		for i := c; i < len(t.raw); i += cols {
			out.at[i] = number(t.raw[i]) - number(zeros.raw[one])
		}
	}
	return out, nil
}

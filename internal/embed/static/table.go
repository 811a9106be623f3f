package static

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
)

// Bounds of what is believed of a file.
const (
	maxHeader = 16 << 20 // of a safetensors header
	maxRows   = 4 << 20
	maxWidth  = 16 << 10
)

// table is the vectors of the tokens: row mapping[id], or id, weighed.
type table struct {
	dim     int
	rows    []float32 // dim numbers each
	weights []float32 // of tokens; nil: all 1
	mapping []int     // of tokens to rows; nil: itself
}

// add adds the vector of a token to sum.
func (t *table) add(sum []float64, id int) {
	row, weight := id, float32(1)
	if t.mapping != nil {
		row = t.mapping[id]
	}
	if t.weights != nil {
		weight = t.weights[id]
	}
	for i, x := range t.rows[row*t.dim : (row+1)*t.dim] {
		sum[i] += float64(x * weight)
	}
}

// covers reports whether every token below n has a vector.
func (t *table) covers(n int) error {
	rows := len(t.rows) / t.dim
	switch {
	case t.mapping == nil && rows < n, t.mapping != nil && len(t.mapping) < n:
		return fmt.Errorf("the tokenizer has %d tokens, the table fewer vectors", n)
	case t.weights != nil && len(t.weights) < n:
		return fmt.Errorf("the tokenizer has %d tokens, the table %d weights", n, len(t.weights))
	}
	for _, row := range t.mapping {
		if row < 0 || row >= rows {
			return fmt.Errorf("a token is mapped to row %d of %d", row, rows)
		}
	}
	return nil
}

// tensor is the place of one tensor in a safetensors file.
type tensor struct {
	DType   string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// safetensors is an open file of that format: the length of a header, the
// header in JSON, and the tensors one after the other, little-endian.
type safetensors struct {
	file    *os.File
	start   int64 // of the data
	size    int64
	tensors map[string]tensor
}

func openTensors(path string) (s *safetensors, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it was only read
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return nil, errors.New("it is no safetensors file: it is shorter than its header")
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n > maxHeader || int64(n)+8 > info.Size() {
		return nil, fmt.Errorf("it is no safetensors file: a header of %d bytes in a file of %d", n, info.Size())
	}
	raw := make([]byte, n)
	if _, err := f.ReadAt(raw, 8); err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("it is no safetensors file: %w", err)
	}
	s = &safetensors{file: f, start: 8 + int64(n), size: info.Size(), tensors: map[string]tensor{}}
	for name, field := range fields {
		if name == "__metadata__" {
			continue
		}
		var t tensor
		if err := json.Unmarshal(field, &t); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		s.tensors[name] = t
	}
	return s, nil
}

// width is how many bytes a number of a type takes; 0 for a type that is not
// read here.
func width(dtype string) int {
	switch dtype {
	case "F64", "I64":
		return 8
	case "F32", "I32":
		return 4
	case "F16", "BF16", "I16":
		return 2
	case "I8":
		return 1
	}
	return 0
}

// number decodes one number of a type.
func number(dtype string, b []byte) float64 {
	le := binary.LittleEndian
	switch dtype {
	case "F64":
		return math.Float64frombits(le.Uint64(b))
	case "I64":
		return float64(int64(le.Uint64(b))) //nolint:gosec // two's complement is what the format holds
	case "F32":
		return float64(math.Float32frombits(le.Uint32(b)))
	case "I32":
		return float64(int32(le.Uint32(b))) //nolint:gosec // as above
	case "F16":
		return half(le.Uint16(b))
	case "BF16":
		return float64(math.Float32frombits(uint32(le.Uint16(b)) << 16))
	case "I16":
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

// read calls row for each row of a tensor with its first cut numbers, and adds
// all of its bytes to sum. A tensor of one axis has rows of one number.
func (s *safetensors) read(name string, cut int, sum hash.Hash, row func(n int, numbers []float64) error) (rows, columns int, err error) {
	t := s.tensors[name]
	rows, columns, err = s.shape(name)
	if err != nil {
		return 0, 0, err
	}
	size := width(t.DType)
	section := io.NewSectionReader(s.file, s.start+t.Offsets[0], t.Offsets[1]-t.Offsets[0])
	r := bufio.NewReaderSize(io.TeeReader(section, sum), 1<<20)
	line := make([]byte, columns*size)
	numbers := make([]float64, min(cut, columns))
	for n := range rows {
		if _, err := io.ReadFull(r, line); err != nil {
			return 0, 0, err
		}
		for i := range numbers {
			numbers[i] = number(t.DType, line[i*size:])
			if math.IsNaN(numbers[i]) || math.IsInf(numbers[i], 0) {
				return 0, 0, fmt.Errorf("tensor %q, row %d: a number is not finite", name, n)
			}
		}
		if err := row(n, numbers); err != nil {
			return 0, 0, err
		}
	}
	return rows, columns, nil
}

// shape checks that a tensor is one that can be read and lies in the file.
func (s *safetensors) shape(name string) (rows, columns int, err error) {
	t := s.tensors[name]
	if width(t.DType) == 0 {
		return 0, 0, fmt.Errorf("tensor %q has numbers of type %q; F64, F32, F16, BF16 and I8 to I64 can be read", name, t.DType)
	}
	columns = 1
	switch len(t.Shape) {
	case 1:
		rows = t.Shape[0]
	case 2:
		rows, columns = t.Shape[0], t.Shape[1]
	default:
		return 0, 0, fmt.Errorf("tensor %q has %d axes; one or two are expected", name, len(t.Shape))
	}
	if rows < 1 || rows > maxRows || columns < 1 || columns > maxWidth {
		return 0, 0, fmt.Errorf("tensor %q is of %d × %d numbers", name, rows, columns)
	}
	bytes := int64(rows) * int64(columns) * int64(width(t.DType))
	if t.Offsets[0] < 0 || t.Offsets[1]-t.Offsets[0] != bytes || t.Offsets[1] > s.size-s.start {
		return 0, 0, fmt.Errorf("tensor %q does not lie where the header says", name)
	}
	return rows, columns, nil
}

// readTable reads the vectors of a model, of each its first dim numbers.
func readTable(path, name string, dim int, sum hash.Hash) (t table, err error) {
	s, err := openTensors(path)
	if err != nil {
		return t, err
	}
	defer func() { _ = s.file.Close() }() // it was only read
	if _, ok := s.tensors[name]; !ok {
		return t, fmt.Errorf("there is no tensor %q in it", name)
	}
	_, columns, err := s.read(name, dim, sum, func(_ int, numbers []float64) error {
		for _, x := range numbers {
			t.rows = append(t.rows, float32(x))
		}
		return nil
	})
	if err != nil {
		return t, err
	}
	t.dim = min(columns, dim)
	if _, ok := s.tensors["weights"]; ok {
		if _, _, err = s.read("weights", 1, sum, func(_ int, numbers []float64) error {
			t.weights = append(t.weights, float32(numbers[0]))
			return nil
		}); err != nil {
			return t, err
		}
	}
	if _, ok := s.tensors["mapping"]; ok {
		_, _, err = s.read("mapping", 1, sum, func(_ int, numbers []float64) error {
			t.mapping = append(t.mapping, int(numbers[0]))
			return nil
		})
	}
	return t, err
}

package tensors

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
)

// Bounds of what is believed of a file.
const (
	maxHeader = 16 << 20 // bytes of a safetensors header
	maxRows   = 4 << 20  // of a table
	maxWidth  = 16 << 10
)

// File is an open safetensors file: the length of a header, the header in
// JSON, and the tensors one after the other.
type File struct {
	file     *os.File
	start    int64 // of the data
	entries  map[string]entry
	metadata map[string]string
	mapped   []byte // the whole file; nil: not mapped
}

var _ Store = (*File)(nil)

// entry is the place of one tensor.
type entry struct {
	DType   DType    `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// Open opens a file and checks where its tensors lie.
func Open(path string) (f *File, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // it was only read
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	f = &File{file: file}
	raw, err := f.header(info.Size())
	if err != nil {
		return nil, err
	}
	if err := f.parse(raw); err != nil {
		return nil, err
	}
	return f, f.check(info.Size() - f.start)
}

// OpenMapped is Open with the numbers mapped into memory, where the system can:
// they are read when they are used, and shared with other processes. Whoever
// shortens the file afterwards ends the process; what people can write to is
// opened with Open.
func OpenMapped(path string) (*File, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.file.Stat()
	if err == nil {
		f.mapped, err = mapFile(f.file, info.Size())
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return f, nil
	}
	if err != nil {
		_ = f.Close() // it was only read
		return nil, fmt.Errorf("it cannot be mapped into memory: %w", err)
	}
	return f, nil
}

func (f *File) header(size int64) ([]byte, error) {
	var head [8]byte
	if _, err := f.file.ReadAt(head[:], 0); err != nil {
		return nil, errors.New("it is no safetensors file: it is shorter than its header")
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n > maxHeader || int64(n)+8 > size {
		return nil, fmt.Errorf("it is no safetensors file: a header of %d bytes in a file of %d", n, size)
	}
	f.start = 8 + int64(n)
	raw := make([]byte, n)
	_, err := f.file.ReadAt(raw, 8)
	return raw, err
}

func (f *File) parse(raw []byte) error {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return fmt.Errorf("it is no safetensors file: %w", err)
	}
	f.entries = map[string]entry{}
	for name, field := range fields {
		if name == "__metadata__" {
			if err := json.Unmarshal(field, &f.metadata); err != nil {
				return fmt.Errorf("its metadata: %w", err)
			}
			continue
		}
		var e entry
		if err := json.Unmarshal(field, &e); err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		f.entries[name] = e
	}
	return nil
}

// check refuses tensors that are not of the size their shape says, lie outside
// of the data, or over one another.
func (f *File) check(size int64) error {
	names := slices.SortedFunc(maps.Keys(f.entries), func(a, b string) int {
		x, y := f.entries[a], f.entries[b]
		return cmp.Or(cmp.Compare(x.Offsets[0], y.Offsets[0]), cmp.Compare(x.Offsets[1], y.Offsets[1]), cmp.Compare(a, b))
	})
	end := int64(0)
	for _, name := range names {
		e := f.entries[name]
		n, ok := count(e.Shape)
		if !ok {
			return fmt.Errorf("tensor %q is of the shape %v", name, e.Shape)
		}
		from, to := e.Offsets[0], e.Offsets[1]
		width := int64(e.DType.Width())
		if from < 0 || to < from || to > size || width > 0 && to-from != n*width {
			return fmt.Errorf("tensor %q does not lie where the header says", name)
		}
		if from < end {
			return fmt.Errorf("tensor %q lies over another one", name)
		}
		end = to
	}
	return nil
}

// Close ends the use of the file and of all mapped numbers.
func (f *File) Close() error {
	err := unmap(f.mapped)
	f.mapped = nil
	return errors.Join(err, f.file.Close())
}

// Names are those of all tensors, sorted.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.entries)) }

// Info is about one tensor.
func (f *File) Info(name string) (Info, bool) {
	e, ok := f.entries[name]
	return Info{e.DType, e.Shape}, ok
}

// Metadata is what the file says of itself.
func (f *File) Metadata() map[string]string { return maps.Clone(f.metadata) }

// Float32s implements Store.
func (f *File) Float32s(name string) ([]float32, error) {
	raw, e, err := f.bytes(name)
	if err != nil {
		return nil, err
	}
	return float32s(name, e.DType, raw)
}

// BF16s implements Store.
func (f *File) BF16s(name string) ([]uint16, error) {
	raw, e, err := f.bytes(name)
	if err != nil {
		return nil, err
	}
	return bf16s(name, e.DType, raw)
}

// Int64s are the numbers of a tensor of type I64.
func (f *File) Int64s(name string) ([]int64, error) {
	raw, e, err := f.bytes(name)
	if err != nil {
		return nil, err
	}
	if e.DType != I64 {
		return nil, fmt.Errorf("tensor %q has numbers of type %q, not I64", name, e.DType)
	}
	out := make([]int64, len(raw)/8)
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(raw[8*i:])) //nolint:gosec // two's complement is what the format holds
	}
	return out, nil
}

func (f *File) bytes(name string) ([]byte, entry, error) {
	e, ok := f.entries[name]
	if !ok {
		return nil, e, fmt.Errorf("there is no tensor %q in it", name)
	}
	from, to := f.start+e.Offsets[0], f.start+e.Offsets[1]
	if f.mapped != nil {
		return f.mapped[from:to:to], e, nil
	}
	raw := make([]byte, to-from)
	if _, err := f.file.ReadAt(raw, from); err != nil && (len(raw) > 0 || !errors.Is(err, io.EOF)) {
		return nil, e, err
	}
	return raw, e, nil
}

// Rows calls row for each row of a table with its first cut numbers, and writes
// all of its bytes to seen. A tensor of one axis has rows of one number. It
// reads a row at a time and keeps nothing.
func (f *File) Rows(name string, cut int, seen io.Writer, row func(n int, numbers []float64) error) (rows, columns int, err error) {
	rows, columns, err = f.table(name)
	if err != nil {
		return 0, 0, err
	}
	e := f.entries[name]
	size := e.DType.Width()
	section := io.NewSectionReader(f.file, f.start+e.Offsets[0], e.Offsets[1]-e.Offsets[0])
	r := bufio.NewReaderSize(io.TeeReader(section, seen), 1<<20)
	line := make([]byte, columns*size)
	numbers := make([]float64, min(cut, columns))
	for n := range rows {
		if _, err := io.ReadFull(r, line); err != nil {
			return 0, 0, err
		}
		for i := range numbers {
			numbers[i] = e.DType.number(line[i*size:])
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

// table checks that a tensor is a table that can be read.
func (f *File) table(name string) (rows, columns int, err error) {
	e, ok := f.entries[name]
	if !ok {
		return 0, 0, fmt.Errorf("there is no tensor %q in it", name)
	}
	if e.DType.Width() == 0 {
		return 0, 0, unreadable(name, e.DType)
	}
	columns = 1
	switch len(e.Shape) {
	case 1:
		rows = e.Shape[0]
	case 2:
		rows, columns = e.Shape[0], e.Shape[1]
	default:
		return 0, 0, fmt.Errorf("tensor %q has %d axes; one or two are expected", name, len(e.Shape))
	}
	if rows < 1 || rows > maxRows || columns < 1 || columns > maxWidth {
		return 0, 0, fmt.Errorf("tensor %q is of %d × %d numbers", name, rows, columns)
	}
	return rows, columns, nil
}

package tensors

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is believed of an .npz file.
const (
	maxArrays    = 1 << 16
	maxArrayHead = 1 << 16 // bytes of the header of one array
)

// Archive is the arrays of an .npz file, read as they are asked for.
type Archive struct {
	zip    *zip.ReadCloser
	arrays map[string]array
}

var _ Store = (*Archive)(nil)

type array struct {
	Info
	file *zip.File
	head int64 // bytes before the numbers
}

// OpenNPZ opens an .npz file, as numpy.savez and savez_compressed write it,
// and checks the sizes of its arrays.
func OpenNPZ(path string) (a *Archive, err error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("it is no .npz file: %w", err)
	}
	a = &Archive{zip: z, arrays: map[string]array{}}
	defer func() {
		if err != nil {
			_ = z.Close() // it was only read
		}
	}()
	if len(z.File) > maxArrays {
		return nil, fmt.Errorf("it has %d arrays", len(z.File))
	}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, fmt.Errorf("it has a file %q, which is no array", f.Name)
		}
		if _, twice := a.arrays[name]; twice {
			return nil, fmt.Errorf("there are two arrays %q", name)
		}
		if a.arrays[name], err = arrayOf(f); err != nil {
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
	}
	return a, nil
}

var (
	npyDescr = regexp.MustCompile(`'descr':\s*'([^']*)'`)
	npyOrder = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	npyShape = regexp.MustCompile(`'shape':\s*\(([0-9, ]*)\)`)
)

// numpyTypes are NumPy's names of our types. NumPy has no bfloat16 and calls
// it two bytes of no type.
var numpyTypes = map[string]DType{
	"<f8": F64, "<f4": F32, "<f2": F16, "|V2": BF16, "<V2": BF16, "<i8": I64, "<i4": I32, "<i2": I16, "|i1": I8,
}

func arrayOf(f *zip.File) (array, error) {
	r, err := f.Open()
	if err != nil {
		return array{}, err
	}
	defer func() { _ = r.Close() }() // it was only read
	var magic [8]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil || string(magic[:6]) != "\x93NUMPY" {
		return array{}, errors.New("it is no .npy file")
	}
	length := make([]byte, 2)
	if magic[6] >= 2 {
		length = make([]byte, 4)
	}
	if _, err := io.ReadFull(r, length); err != nil {
		return array{}, err
	}
	n := int64(binary.LittleEndian.Uint16(length))
	if len(length) == 4 {
		n = int64(binary.LittleEndian.Uint32(length))
	}
	if n > maxArrayHead {
		return array{}, fmt.Errorf("a header of %d bytes", n)
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(r, raw); err != nil {
		return array{}, err
	}
	a := array{file: f, head: int64(8+len(length)) + n}
	if a.Info, err = arrayInfo(string(raw)); err != nil {
		return a, err
	}
	numbers, ok := count(a.Shape)
	if size := uint64(a.head + numbers*int64(a.DType.Width())); !ok || f.UncompressedSize64 != size { //nolint:gosec // not negative
		return a, fmt.Errorf("%d bytes for an array of the shape %v", f.UncompressedSize64, a.Shape)
	}
	return a, nil
}

func arrayInfo(head string) (Info, error) {
	descr, order, shape := npyDescr.FindStringSubmatch(head), npyOrder.FindStringSubmatch(head), npyShape.FindStringSubmatch(head)
	if descr == nil || order == nil || shape == nil {
		return Info{}, errors.New("its header cannot be read")
	}
	info := Info{DType: numpyTypes[descr[1]], Shape: []int{}}
	if info.DType == "" {
		return info, fmt.Errorf("numbers of the type %q cannot be read", descr[1])
	}
	for _, axis := range strings.Split(shape[1], ",") {
		if axis = strings.TrimSpace(axis); axis == "" {
			continue
		}
		n, err := strconv.Atoi(axis)
		if err != nil {
			return info, err
		}
		info.Shape = append(info.Shape, n)
	}
	if order[1] == "True" && len(info.Shape) > 1 {
		return info, errors.New("its columns come before its rows (Fortran order), which is not read")
	}
	return info, nil
}

// Names implements Store.
func (a *Archive) Names() []string { return slices.Sorted(maps.Keys(a.arrays)) }

// Info implements Store.
func (a *Archive) Info(name string) (Info, bool) {
	one, ok := a.arrays[name]
	return one.Info, ok
}

// Float32s implements Store; the numbers are the caller's.
func (a *Archive) Float32s(name string) ([]float32, error) {
	raw, t, err := a.bytes(name)
	if err != nil {
		return nil, err
	}
	return float32s(name, t, raw)
}

// BF16s implements Store; the numbers are the caller's.
func (a *Archive) BF16s(name string) ([]uint16, error) {
	raw, t, err := a.bytes(name)
	if err != nil {
		return nil, err
	}
	return bf16s(name, t, raw)
}

func (a *Archive) bytes(name string) ([]byte, DType, error) {
	one, ok := a.arrays[name]
	if !ok {
		return nil, "", fmt.Errorf("there is no array %q in it", name)
	}
	r, err := one.file.Open()
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = r.Close() }() // it was only read
	if _, err := io.CopyN(io.Discard, r, one.head); err != nil {
		return nil, "", err
	}
	// The size was compared with the directory's at Open; what is packed may
	// still be shorter or longer than the directory says.
	want := one.Len() * one.DType.Width()
	raw := make([]byte, 0, min(want, 1<<20))
	for len(raw) < want {
		raw = slices.Grow(raw, min(want-len(raw), max(len(raw), 1<<20)))
		n, err := io.ReadFull(r, raw[len(raw):min(want, cap(raw))])
		raw = raw[:len(raw)+n]
		if err != nil {
			return nil, "", fmt.Errorf("array %q: %w", name, err)
		}
	}
	return raw, one.DType, nil
}

// Close ends the use of the file.
func (a *Archive) Close() error { return a.zip.Close() }

// WriteNPZ writes an .npz file, not compressed, whole or not at all, and
// returns its SHA-256 in hexadecimal.
func WriteNPZ(path string, tensors []Tensor) (sum string, err error) {
	return Replace(path, func(w io.Writer) error {
		z := zip.NewWriter(w)
		for _, t := range tensors {
			if err := writeArray(z, t); err != nil {
				return err
			}
		}
		return z.Close()
	})
}

func writeArray(z *zip.Writer, t Tensor) error {
	kind, err := t.check()
	if err != nil {
		return err
	}
	names := map[DType]string{F32: "<f4", BF16: "|V2", I64: "<i8"}
	shape := ""
	for _, d := range t.Shape {
		shape += strconv.Itoa(d) + ", "
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", names[kind], strings.TrimSuffix(shape, " "))
	for (10+len(head)+1)%64 != 0 {
		head += " "
	}
	head += "\n"
	w, err := z.CreateHeader(&zip.FileHeader{Name: t.Name + ".npy", Method: zip.Store})
	if err != nil {
		return err
	}
	prefix := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	if _, err := w.Write(append(prefix, head...)); err != nil {
		return err
	}
	return t.write(w)
}

// OpenAny opens a file by the end of its name, .npz or .safetensors. The
// numbers of the latter are mapped.
func OpenAny(path string) (Store, error) {
	if strings.HasSuffix(path, ".npz") {
		return OpenNPZ(path)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return OpenMapped(path)
}

package tensors

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// Tensor is numbers to write: one of F32, BF16 and I64 is set.
type Tensor struct {
	Name  string
	Shape []int
	F32   []float32
	BF16  []uint16
	I64   []int64
}

func (t Tensor) dtype() (DType, int) {
	switch {
	case t.BF16 != nil:
		return BF16, len(t.BF16)
	case t.I64 != nil:
		return I64, len(t.I64)
	}
	return F32, len(t.F32)
}

// check compares the numbers with the shape and returns their type.
func (t Tensor) check() (DType, error) {
	kind, have := t.dtype()
	if n, ok := count(t.Shape); !ok || n != int64(have) {
		return kind, fmt.Errorf("tensor %q of the shape %v has %d numbers", t.Name, t.Shape, have)
	}
	return kind, nil
}

func (t Tensor) write(w io.Writer) error {
	var b [8]byte
	kind, n := t.dtype()
	width := kind.Width()
	for i := range n {
		switch kind {
		case BF16:
			binary.LittleEndian.PutUint16(b[:], t.BF16[i])
		case I64:
			binary.LittleEndian.PutUint64(b[:], uint64(t.I64[i])) //nolint:gosec // two's complement is what the format holds
		default:
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(t.F32[i]))
		}
		if _, err := w.Write(b[:width]); err != nil {
			return err
		}
	}
	return nil
}

// Write writes a safetensors file with the tensors in their order, and returns
// the SHA-256 of it in hexadecimal. The file is there whole or, after an error
// or a crash, as it was before.
func Write(path string, tensors []Tensor, metadata map[string]string) (sum string, err error) {
	head, err := header(tensors, metadata)
	if err != nil {
		return "", err
	}
	return Replace(path, func(w io.Writer) error {
		if _, err := w.Write(head); err != nil {
			return err
		}
		for _, t := range tensors {
			if err := t.write(w); err != nil {
				return err
			}
		}
		return nil
	})
}

// header is the beginning of a file, its data aligned to 8 bytes.
func header(tensors []Tensor, metadata map[string]string) ([]byte, error) {
	fields := map[string]any{}
	if len(metadata) > 0 {
		fields["__metadata__"] = metadata
	}
	end := int64(0)
	for _, t := range tensors {
		kind, err := t.check()
		if err != nil {
			return nil, err
		}
		if _, twice := fields[t.Name]; twice {
			return nil, fmt.Errorf("there are two tensors %q", t.Name)
		}
		n, _ := count(t.Shape)
		from := end
		end += n * int64(kind.Width())
		fields[t.Name] = entry{kind, append([]int{}, t.Shape...), [2]int64{from, end}}
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	for len(raw)%8 != 0 {
		raw = append(raw, ' ')
	}
	if len(raw) > maxHeader {
		return nil, errors.New("too many tensors for one file")
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw...), nil
}

// Replace puts what write writes at path: beside it first, then, when all is on
// the disk, in its place. It returns the SHA-256 of what was written, in
// hexadecimal.
func Replace(path string, write func(io.Writer) error) (sum string, err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = f.Close()           // it is closed, or thrown away
			_ = os.Remove(f.Name()) // what is left of it is hidden
		}
	}()
	hash := sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(f, hash), 1<<20)
	if err := write(w); err != nil {
		return "", err
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	if err := f.Chmod(0o644); err != nil { //nolint:gosec // as other files of a model
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), syncDir(dir)
}

// syncDir puts a rename on the disk. Systems that cannot are not told off.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // not every file system knows how
	return d.Close()
}

package tensors_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/internal/tensors"
)

func some() []tensors.Tensor {
	return []tensors.Tensor{
		{Name: "w", Shape: []int{2, 3}, F32: []float32{1, 2, 3, -4, 0.5, 6}},
		{Name: "half", Shape: []int{3}, BF16: []uint16{0x3f80, 0x4000, 0xc040}},
		{Name: "ids", Shape: []int{1, 2}, I64: []int64{-1, 1 << 40}},
		{Name: "none", Shape: []int{0, 4}, F32: []float32{}},
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.safetensors")
	sum, err := tensors.Write(path, some(), map[string]string{"format": "pt"})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := sha256.Sum256(raw); hex.EncodeToString(got[:]) != sum {
		t.Error("the sum is not that of the file")
	}
	if n := binary.LittleEndian.Uint64(raw); n%8 != 0 {
		t.Errorf("numbers begin at %d", 8+n)
	}
	for name, open := range map[string]func(string) (*tensors.File, error){"read": tensors.Open, "mapped": tensors.OpenMapped} {
		f, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Metadata()["format"]; got != "pt" {
			t.Errorf("%s: format %q", name, got)
		}
		same(t, f)
		ids, err := f.Int64s("ids")
		if err != nil || !slices.Equal(ids, []int64{-1, 1 << 40}) {
			t.Errorf("%s: ids %v, %v", name, ids, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// same checks what every store of some says of them.
func same(t *testing.T, s tensors.Store) {
	t.Helper()
	if got := s.Names(); !slices.Equal(got, []string{"half", "ids", "none", "w"}) {
		t.Errorf("names %v", got)
	}
	info, ok := s.Info("w")
	if !ok || info.DType != tensors.F32 || !slices.Equal(info.Shape, []int{2, 3}) {
		t.Errorf("w is %v", info)
	}
	w, err := s.Float32s("w")
	if err != nil || !slices.Equal(w, some()[0].F32) {
		t.Errorf("w: %v, %v", w, err)
	}
	half, err := s.BF16s("half")
	if err != nil || !slices.Equal(half, some()[1].BF16) {
		t.Errorf("half: %v, %v", half, err)
	}
	if wide, err := s.Float32s("half"); err != nil || !slices.Equal(wide, []float32{1, 2, -3}) {
		t.Errorf("half as float32: %v, %v", wide, err)
	}
	if ids, err := s.Float32s("ids"); err != nil || !slices.Equal(ids, []float32{-1, 1 << 40}) {
		t.Errorf("ids as float32: %v, %v", ids, err)
	}
	if none, err := s.Float32s("none"); err != nil || len(none) != 0 {
		t.Errorf("none: %v, %v", none, err)
	}
	if _, err := s.BF16s("w"); err == nil {
		t.Error("float32 is taken for bfloat16")
	}
	if _, err := s.Float32s("z"); err == nil || !strings.Contains(err.Error(), `"z"`) {
		t.Errorf("a tensor that is not there: %v", err)
	}
}

func TestNPZIsReadAndWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shard_00.npz")
	if _, err := tensors.WriteNPZ(path, some()); err != nil {
		t.Fatal(err)
	}
	a, err := tensors.OpenAny(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, a)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// testdata/numpy.npz is numpy's own: savez_compressed(f4=…, f2=…, i8=…, one=…).
func TestNumPysOwnFileIsRead(t *testing.T) {
	t.Parallel()
	a, err := tensors.OpenNPZ("testdata/numpy.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	for name, want := range map[string][]float32{
		"layer.0/f4": {0, 1, 2, 3, 4, 5}, "f2": {0.5, -2, 65504}, "i8": {-7}, "f8": {0.1},
	} {
		if got, err := a.Float32s(name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is %v: %v", name, got, err)
		}
	}
	if info, _ := a.Info("i8"); len(info.Shape) != 0 {
		t.Errorf("a number without axes has the shape %v", info.Shape)
	}
}

func TestTypesAreDecoded(t *testing.T) {
	t.Parallel()
	le := binary.LittleEndian
	for kind, c := range map[string]struct {
		raw  []byte
		want float32
	}{
		"F64":  {le.AppendUint64(nil, math.Float64bits(-2.5)), -2.5},
		"F16":  {[]byte{0x01, 0x00}, 5.9604645e-08},
		"BF16": {[]byte{0xc0, 0x3f}, 1.5},
		"I32":  {[]byte{0xff, 0xff, 0xff, 0xff}, -1},
		"I16":  {[]byte{0xfe, 0xff}, -2},
		"I8":   {[]byte{0x80}, -128},
	} {
		path := file(t, map[string]any{"x": entry(kind, []int{1}, 0, int64(len(c.raw)))}, c.raw)
		f, err := tensors.Open(path)
		if err != nil {
			t.Fatal(kind, err)
		}
		if got, err := f.Float32s("x"); err != nil || got[0] != c.want {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
		_ = f.Close()
	}
}

func entry(kind string, shape []int, from, to int64) map[string]any {
	return map[string]any{"dtype": kind, "shape": shape, "data_offsets": []int64{from, to}}
}

// file writes a file with any header.
func file(t *testing.T, header any, data []byte) string {
	t.Helper()
	raw, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	out := append(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw...)
	if err := os.WriteFile(path, append(out, data...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAHeaderThatLiesIsRefused(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	for name, c := range map[string]struct {
		header fields
		says   string
	}{
		"beyond the end":   {fields{"x": entry("F32", []int{5}, 0, 20)}, "does not lie"},
		"before the data":  {fields{"x": entry("F32", []int{1}, -4, 0)}, "does not lie"},
		"backwards":        {fields{"x": entry("F32", []int{0}, 8, 4)}, "does not lie"},
		"another size":     {fields{"x": entry("F32", []int{3}, 0, 16)}, "does not lie"},
		"over another":     {fields{"x": entry("F32", []int{2}, 0, 8), "y": entry("F32", []int{2}, 4, 12)}, "over another"},
		"the same place":   {fields{"x": entry("F32", []int{2}, 0, 8), "y": entry("F32", []int{2}, 0, 8)}, "over another"},
		"a negative shape": {fields{"x": entry("F32", []int{-1, -4}, 0, 16)}, "shape"},
		"an endless shape": {fields{"x": entry("F32", []int{1 << 32, 1 << 32, 1 << 32}, 0, 16)}, "shape"},
		"a wrapped shape":  {fields{"x": entry("F32", []int{1 << 62, 2, 2}, 0, 0)}, "shape"},
		"no list":          {fields{"x": 3}, `"x"`},
		"odd metadata":     {fields{"__metadata__": 3}, "metadata"},
	} {
		f, err := tensors.Open(file(t, c.header, make([]byte, 16)))
		if err == nil {
			_ = f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, raw := range map[string][]byte{
		"empty": {}, "short": {1, 0, 0}, "a header longer than the file": {9, 0, 0, 0, 0, 0, 0, 0, '{', '}'},
		"an endless header": {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, '{', '}'}, "no JSON": {2, 0, 0, 0, 0, 0, 0, 0, '}', '{'},
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tensors.OpenMapped(path); err == nil || !strings.Contains(err.Error(), "no safetensors file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNumbersThatAreNotFiniteAreRefused(t *testing.T) {
	t.Parallel()
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	path := filepath.Join(t.TempDir(), "x")
	_, err := tensors.Write(path, []tensors.Tensor{
		{Name: "nan", Shape: []int{2}, F32: []float32{1, nan}}, {Name: "inf", Shape: []int{1}, F32: []float32{inf}}, {Name: "half", Shape: []int{1}, BF16: []uint16{0x7fc0}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tensors.OpenMapped(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, name := range f.Names() {
		if _, err := f.Float32s(name); err == nil || !strings.Contains(err.Error(), "not finite") {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := f.Rows(name, 1, io.Discard, func(int, []float64) error { return nil }); err == nil {
			t.Errorf("%s: its rows are taken", name)
		}
	}
	if _, err := f.BF16s("half"); err == nil {
		t.Error("a bfloat16 that is not finite is taken")
	}
}

func TestRowsAreReadOneByOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	if _, err := tensors.Write(path, some(), nil); err != nil {
		t.Fatal(err)
	}
	f, err := tensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var seen bytes.Buffer
	var got []float64
	rows, columns, err := f.Rows("w", 2, &seen, func(_ int, numbers []float64) error {
		got = append(got, numbers...)
		return nil
	})
	if err != nil || rows != 2 || columns != 3 || !slices.Equal(got, []float64{1, 2, -4, 0.5}) || seen.Len() != 24 {
		t.Errorf("%d × %d: %v of %d bytes, %v", rows, columns, got, seen.Len(), err)
	}
	stop := errors.New("enough")
	if _, _, err := f.Rows("w", 2, io.Discard, func(int, []float64) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("it ended with %v", err)
	}
}

func TestAWriteThatFailsLeavesWhatWasThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	if _, err := tensors.Replace(path, func(w io.Writer) error {
		_, _ = w.Write(make([]byte, 2<<20))
		return full
	}); !errors.Is(err, full) {
		t.Errorf("it ended with %v", err)
	}
	for name, bad := range map[string][]tensors.Tensor{
		"a wrong shape": {{Name: "x", Shape: []int{3}, F32: []float32{1}}},
		"two of a name": {{Name: "x", Shape: []int{1}, F32: []float32{1}}, {Name: "x", Shape: []int{1}, F32: []float32{1}}},
	} {
		if _, err := tensors.Write(path, bad, nil); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil || string(raw) != "before" {
		t.Errorf("it holds %q now, %v", raw, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("beside it lies %v, %v", list, err)
	}
}

func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed")
	if _, err := tensors.Write(path, some(), nil); err != nil {
		f.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	npz, err := os.ReadFile("testdata/numpy.npz")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(npz)
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := tensors.OpenMapped(path); err == nil {
			read(t, s)
		}
		if a, err := tensors.OpenNPZ(path); err == nil {
			read(t, a)
		}
	})
}

// read asks for everything: what is given is as long as it says.
func read(t *testing.T, s tensors.Store) {
	t.Helper()
	for _, name := range s.Names() {
		info, _ := s.Info(name)
		if x, err := s.Float32s(name); err == nil && len(x) != info.Len() {
			t.Errorf("%q of the shape %v has %d numbers", name, info.Shape, len(x))
		}
		if x, err := s.BF16s(name); err == nil && len(x) != info.Len() {
			t.Errorf("%q of the shape %v has %d numbers", name, info.Shape, len(x))
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

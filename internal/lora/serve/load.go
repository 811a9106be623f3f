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
	"regexp"
	"slices"

	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
)

// ParamsFile names the files of a version of an adapter with their SHA-256
// (C-05): its own is the checksum of the whole (LORA-16).
const ParamsFile = "params.json"

var versionName = regexp.MustCompile(`^v\d{4,}$`)

// Version finds a version of an adapter: dir itself when it holds one, else the
// latest of its folders vNNNN. The name is that of the folder.
func Version(dir string) (at, name string, err error) {
	if _, err := os.Stat(filepath.Join(dir, peft.ConfigFile)); err == nil {
		return dir, filepath.Base(dir), nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", "", err
	}
	for _, e := range slices.Backward(entries) { // sorted by name
		if e.IsDir() && versionName.MatchString(e.Name()) {
			return filepath.Join(dir, e.Name()), e.Name(), nil
		}
	}
	return "", "", fmt.Errorf("%s holds no adapter: that is an %s with an %s, or folders v0001 and on", dir, peft.ConfigFile, peft.WeightsFile)
}

// ReadAdapter reads a version of an adapter for a base, after its files were
// compared with its params.json, where it has one; checksum is what that must
// have, empty: anything.
func ReadAdapter(dir, checksum string, b peft.Base) (*llm.Adapter, error) {
	if err := verify(dir, checksum, b); err != nil {
		return nil, err
	}
	return peft.Read(dir, b)
}

func verify(dir, checksum string, b peft.Base) error {
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
	var p struct {
		Base  string            `json:"base_sha256"`
		Files map[string]string `json:"files"`
	}
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
		if got, err := sumOf(filepath.Join(dir, name)); err != nil || got != want {
			return errors.Join(fmt.Errorf("%s is not what %s says: the adapter was changed or not written whole", name, ParamsFile), err)
		}
	}
	return nil
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

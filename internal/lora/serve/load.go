package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
)

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

// At finds the weights of an adapter: the version n of those in dir, a path below
// root, which may be that version itself; 0, or one that is not there, is the
// latest.
func At(root, dir string, n int) (string, error) {
	dir = strings.TrimPrefix(dir, "/")
	if !filepath.IsLocal(dir) {
		return "", errors.New("its folder is not below the shared one")
	}
	dir = filepath.Join(root, dir)
	if n > 0 {
		at := filepath.Join(dir, fmt.Sprintf("v%04d", n))
		if _, err := os.Stat(at); err == nil {
			return at, nil
		}
	}
	at, _, err := Version(dir)
	return at, err
}

// ReadAdapter reads a version of an adapter for a base, after its files were
// compared with its params.json, where it has one; checksum is what that must
// have, empty: anything. Numbers that bfloat16 holds take two bytes in memory.
func ReadAdapter(dir, checksum string, b peft.Base) (*llm.Adapter, error) {
	if err := Verify(dir, checksum, b); err != nil {
		return nil, err
	}
	a, err := peft.Read(dir, b)
	if err != nil {
		return nil, err
	}
	return a.Compact(), nil
}

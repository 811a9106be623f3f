package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

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

// ReadAdapter reads a version of an adapter for a base, after its files were
// compared with its params.json, where it has one; checksum is what that must
// have, empty: anything.
func ReadAdapter(dir, checksum string, b peft.Base) (*llm.Adapter, error) {
	if err := Verify(dir, checksum, b); err != nil {
		return nil, err
	}
	return peft.Read(dir, b)
}

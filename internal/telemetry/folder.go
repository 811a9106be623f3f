package telemetry

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Folder checks that files can be kept below dir: it writes a file of its own,
// reads it back and removes it. A folder that is not there, as of a disk that
// is not mounted, is not made.
func Folder(dir string) func(context.Context) error {
	return func(context.Context) error {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return fmt.Errorf("the folder of files: %w", err)
		}
		defer func() { _ = root.Close() }() // nothing was written through it that has no Close of its own
		return probe(root)
	}
}

func probe(root *os.Root) (err error) {
	// Many processes may look at one mount at the same moment.
	name := filepath.Join(".", ".probe-"+strings.ToLower(rand.Text()))
	want := rand.Text()
	defer func() {
		if removed := root.Remove(name); err == nil && removed != nil {
			err = fmt.Errorf("removing a probe: %w", removed)
		}
	}()
	if err := root.WriteFile(name, []byte(want), 0o600); err != nil {
		return fmt.Errorf("writing a probe: %w", err)
	}
	got, err := root.ReadFile(name)
	if err != nil {
		return fmt.Errorf("reading a probe: %w", err)
	}
	if string(got) != want {
		return fmt.Errorf("a probe of %d bytes came back as %d", len(want), len(got))
	}
	return nil
}

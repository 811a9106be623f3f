//go:build unix

package files

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"liminal/internal/fault"
)

// Requirements: ISO-03
func TestPipesAndDevicesAreNoFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.save(t, b.ada, "a.txt", "x")
	if err := syscall.Mkfifo(filepath.Join(b.home("ada"), "files", "pipe.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := b.Open(t.Context(), b.ada, "files/pipe.txt"); !errors.Is(err, fault.NotFound) {
		t.Errorf("opened %v, %v", f, err)
	}
	root, err := b.root(b.ada)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if f, err := openPlain(root, "files/pipe.txt"); !errors.Is(err, fault.NotFound) { // as when it is swapped in at the last moment
		t.Errorf("opened %v, %v", f, err)
	}
	if _, err := b.Walk(t.Context(), b.ada, "files", true); err != nil {
		t.Errorf("walking past it: %v", err)
	}
}

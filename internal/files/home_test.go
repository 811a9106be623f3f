package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/id"
)

// Requirements: DATA-01
func TestAHomeIsRemovedAndNoOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := OpenRoots(dir, nil, []byte("key"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	mine, theirs := id.New(), id.New()
	for _, who := range []string{mine, theirs} {
		if err := os.MkdirAll(filepath.Join(dir, "users", who, "files", "deep"), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "users", theirs), filepath.Join(dir, "users", mine, "files", "link")); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"", "..", ".", mine + "/..", "*"} {
		if err := r.RemoveHome(t.Context(), wrong); !errors.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	for range 2 { // there is nothing the second time, which is fine
		if err := r.RemoveHome(t.Context(), mine); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "users", mine)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the home is there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "users", theirs, "files", "deep")); err != nil {
		t.Errorf("another's home: %v", err)
	}
}

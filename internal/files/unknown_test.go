package files

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// unsure is a Store whose connection breaks with a commit: nobody is told
// whether the row was stored.
type unsure struct {
	Store
	stored, deaf bool
}

func (s unsure) PutFile(ctx context.Context, v identity.Viewer, f File, b Bounds) error {
	if s.stored {
		if err := s.Store.PutFile(ctx, v, f, b); err != nil {
			return err
		}
	}
	return fault.New(fault.Internal, "The connection was lost; whether it was stored is not known.")
}

func (s unsure) File(ctx context.Context, v identity.Viewer, path string) (File, error) {
	f, err := s.Store.File(ctx, v, path)
	if s.deaf && err == nil {
		return File{}, errors.New("connection refused")
	}
	return f, err
}

// Requirements: FILE-02
func TestARowThatWasStoredHasItsFileWhateverTheStoreSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stored, deaf bool
		saved, kept  bool // what the caller hears, whether the file is there
	}{
		"it was stored":                     {true, false, true, true},
		"it was not":                        {false, false, false, false},
		"it was, and nobody can be told so": {true, true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.store = unsure{b.store, c.stored, c.deaf}
			f, err := b.Save(t.Context(), b.ada, "a.txt", strings.NewReader("text"), Bounds{File: 1 << 20})
			if (err == nil) != c.saved || c.saved && f.Path != "files/a.txt" {
				t.Errorf("Save gives %+v, %v", f, err)
			}
			_, err = os.Stat(b.home("ada") + "/files/a.txt")
			if kept := err == nil; kept != c.kept {
				t.Errorf("the file is there: %v", kept)
			}
		})
	}
}

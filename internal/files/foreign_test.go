package files

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// Requirements: RAG-02 (further parsers as tool.spec), FILE-04
func TestFilesOfATypeAToolReadsAreTakenFromWhoHasTheTool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Accept(func(_ context.Context, v identity.Viewer) ([]string, error) {
		if v.UserID == b.ada.UserID {
			return []string{".Mid", ".md"}, nil
		}
		return nil, nil
	})
	bounds := Bounds{File: 1 << 20, Total: 1 << 20, Count: 10}
	f, err := b.Save(t.Context(), b.ada, "Song.MID", strings.NewReader("MThd"), bounds)
	if err != nil || f.MIME != "application/octet-stream" {
		t.Errorf("ada's song: %+v, %v", f, err)
	}
	if found, err := b.Walk(t.Context(), b.ada, "files", true); err != nil || len(found) != 1 || found[0].Path != f.Path {
		t.Errorf("ada's folder holds %+v, %v", found, err)
	}
	if _, err := b.Save(t.Context(), b.bob, "Song.MID", strings.NewReader("MThd"), bounds); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), ".mid") {
		t.Errorf("bob's song: %v", err)
	}
	if _, err := b.Save(t.Context(), b.ada, "song", strings.NewReader("MThd"), bounds); !errors.Is(err, fault.Invalid) {
		t.Errorf("a name of no type: %v", err)
	}
	list, err := b.Extensions(t.Context(), b.ada)
	if err != nil || !slices.IsSorted(list) || len(list) != len(Extensions())+1 || !slices.Contains(list, ".mid") {
		t.Errorf("ada may send %v, %v", list, err)
	}
}

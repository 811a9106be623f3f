package artifacts_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"liminal/artifacts"
)

// Requirements: DATA-15
func TestEveryVersionIsAFileToo(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	library.Mirror(artifacts.NewFolder(root), slog.New(slog.DiscardHandler))
	a, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "workflow", Name: "w", Schema: json.RawMessage(plainGraph)})
	if err != nil {
		t.Fatal(err)
	}
	if a, err = library.Patch(t.Context(), ann, a.ID, artifacts.Change{Patch: json.RawMessage(`[{"op":"add","path":"/max_retries","value":1}]`)}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"v0001.json": plainGraph, "v0002.json": string(a.Schema)} {
		if got, err := os.ReadFile(filepath.Join(dir, a.ID, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := library.Patch(t.Context(), ann, a.ID, artifacts.Change{Patch: json.RawMessage(`[{"op":"remove","path":"/max_retries"}]`)}); err != nil {
		t.Errorf("a folder that is gone stops the patch: %v", err)
	}
}

// Two servers that start together write the same versions to the folder they
// share.
//
// Requirements: DATA-15
func TestWritersOfOneVersionNeverShowHalfOfIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	doc := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				if err := artifacts.NewFolder(root).PutPayload(t.Context(), "a", 1, doc); err != nil {
					t.Error(err)
				}
				if got, err := os.ReadFile(filepath.Join(dir, "a", "v0001.json")); err != nil || !bytes.Equal(got, doc) {
					t.Errorf("a reader sees %d bytes, %v", len(got), err)
				}
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(filepath.Join(dir, "a")); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}

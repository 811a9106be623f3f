package artifacts_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
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

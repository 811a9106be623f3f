package files

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"liminal/internal/id"
	"liminal/internal/identity"
)

// Requirements: RAG-07
func TestAFolderIsWalkedForWhatCanBeReadIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := &rows{rows: map[string]File{}}
	r, err := OpenRoots(dir, store, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	v := identity.Viewer{UserID: id.New()}
	home := filepath.Join(dir, "users", v.UserID, "files")
	for _, p := range []string{"in/a.md", "in/deep/b.txt", "in/tool.exe", "beside.md"} {
		if err := os.MkdirAll(filepath.Join(home, filepath.Dir(p)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, p), []byte("text of "+p), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(dir, "secret.md")
	if err := os.WriteFile(secret, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, link := range map[string]func(string, string) error{"soft.md": os.Symlink, "hard.md": os.Link} {
		if err := link(secret, filepath.Join(home, "in", name)); err != nil {
			t.Fatal(err)
		}
	}
	walk := func(p string, recursive bool) (paths []string) {
		t.Helper()
		list, err := r.Walk(t.Context(), v, p, recursive)
		if err != nil {
			t.Errorf("%s: %v", p, err)
		}
		for _, f := range list {
			if f.Size == 0 || f.Changed.IsZero() {
				t.Errorf("%+v", f)
			}
			paths = append(paths, f.Path)
		}
		return paths
	}
	for _, c := range []struct {
		path      string
		recursive bool
		want      []string
	}{
		{"files/in", true, []string{"files/in/a.md", "files/in/deep/b.txt"}},
		{"files/in", false, []string{"files/in/a.md"}},
		{"files/in/a.md", true, []string{"files/in/a.md"}},
		{"files", true, []string{"files/beside.md", "files/in/a.md", "files/in/deep/b.txt"}},
		{"files/gone", true, nil},
	} {
		if got := walk(c.path, c.recursive); !slices.Equal(got, c.want) {
			t.Errorf("%s (recursive %t) holds %v, want %v", c.path, c.recursive, got, c.want)
		}
	}
	for _, p := range []string{"../secret.md", "/etc", "files/../..", "tmp"} {
		if list, err := r.Walk(t.Context(), v, p, true); err == nil {
			t.Errorf("%s was walked: %v", p, list)
		}
	}
}

// Requirements: RAG-07
func TestAFileFoundInAFolderBecomesOneOfThePersons(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := OpenRoots(dir, &rows{rows: map[string]File{}}, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	v := identity.Viewer{UserID: id.New()}
	home := filepath.Join(dir, "users", v.UserID, "files")
	if err := os.MkdirAll(home, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "a.md"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := r.Adopt(t.Context(), v, "files/a.md", Bounds{Total: 5})
	if err != nil || f.Size != 5 || f.MIME == "" || len(f.SHA256) != 64 {
		t.Fatalf("%+v, %v", f, err)
	}
	again, err := r.Adopt(t.Context(), v, "files/a.md", Bounds{Total: 1})
	if err != nil || again.CreatedAt != f.CreatedAt {
		t.Errorf("adopting again gave %+v, %v", again, err)
	}
	if err := os.WriteFile(filepath.Join(home, "b.md"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := r.Adopt(t.Context(), v, "files/b.md", Bounds{Total: 5}); err == nil {
		t.Errorf("what is beyond the bounds was adopted: %+v", f)
	}
}

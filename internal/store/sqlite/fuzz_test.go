package sqlite

import (
	"path/filepath"
	"testing"

	"liminal/internal/knowledge"
	"liminal/internal/store"
)

// FuzzSearch looks for texts that FTS5 would take for syntax.
func FuzzSearch(f *testing.F) {
	for _, text := range []string{"", `"`, `a"b`, "a OR", "NEAR(a b)", "a*", "^a", "-a", "(a", "{scope}: x", "\x00", "a\xff", "ⅷ ² ½ ǆ", "'", "a ̈ b"} {
		f.Add(text)
	}
	db, err := Open(f.Context(), filepath.Join(f.TempDir(), "db"), Options{sync: "off"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	s, x := store.New(db, store.Options{}), NewIndex(db, IndexOptions{})
	x.words.common = 0 // every text takes the ways of a large index
	v := user(f, s)
	k, err := s.CreateContext(f.Context(), v, knowledge.Context{Name: "c"})
	if err != nil {
		f.Fatal(err)
	}
	d, err := s.PutDocument(f.Context(), v, knowledge.Document{ContextID: k.ID, Path: "files/d"})
	if err != nil {
		f.Fatal(err)
	}
	if err := x.Upsert(f.Context(), v, []knowledge.Chunk{{ID: "1", DocumentID: d.ID, ContextID: k.ID, Content: "a b"}}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := x.Search(t.Context(), v, knowledge.Query{ContextIDs: []string{k.ID}, Text: text, Limit: 3}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

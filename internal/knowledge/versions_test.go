package knowledge_test

import (
	"strings"
	"testing"

	"liminal/internal/knowledge"
)

// version takes in the file at a path as it comes from origin.
func (b *bundle) version(t *testing.T, contextID, path, origin, text string) knowledge.Document {
	t.Helper()
	b.files[path] = text
	d, _, err := b.PutVersion(t.Context(), b.viewer, knowledge.Document{ContextID: contextID, Path: path, Title: path, Origin: origin, Status: knowledge.Waiting}, false)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = b.ingest(t, d.ID); err != nil {
		t.Fatal(err)
	}
	return d
}

func (b *bundle) quoted(t *testing.T, q knowledge.Question) string {
	t.Helper()
	f, err := b.Library.Search(t.Context(), b.viewer, q)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range f.Passages {
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n")
}

// Requirements: FILE-01, RAG-20
func TestTheTextOfAVersionThatWasReplacedIsQuotedNoMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	ask := knowledge.Question{Text: "What does the ferry cost?", ContextIDs: []string{c}}
	old := b.version(t, c, "files/fares.md", "fares.md", "# Fares\n\nThe ferry costs four euros.\n")
	if got := b.quoted(t, ask); !strings.Contains(got, "four euros") {
		t.Fatalf("before: %q", got)
	}
	now := b.version(t, c, "files/fares (2).md", "fares.md", "# Fares\n\nThe ferry costs five euros.\n")
	for what, q := range map[string]knowledge.Question{
		"the context": ask, "the new document": {Text: ask.Text, DocumentIDs: []string{now.ID}}, "the old one": {Text: ask.Text, DocumentIDs: []string{old.ID}},
	} {
		if got := b.quoted(t, q); !strings.Contains(got, "five euros") || strings.Contains(got, "four euros") {
			t.Errorf("of %s: %q", what, got)
		}
	}
	g, err := b.Gather(t.Context(), b.viewer, knowledge.Need{DocumentIDs: []string{old.ID, now.ID}})
	if err != nil || len(g.Passages) != 1 || g.Passages[0].DocumentID != now.ID {
		t.Errorf("gathered %+v, %v", g.Passages, err)
	}
	for _, chunk := range b.chunksOf(t, c) {
		if chunk.DocumentID == old.ID {
			t.Errorf("%q is still indexed", chunk.Content)
		}
	}
	if x, err := b.Text(t.Context(), b.viewer, old.ID); err != nil || !strings.Contains(x.Text, "four euros") {
		t.Errorf("a citation opens %q, %v", x.Text, err)
	}
}

func TestAVersionThatCannotBeReadLeavesTheOneBefore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	b.version(t, c, "files/fares.md", "fares.md", "# Fares\n\nThe ferry costs four euros.\n")
	b.files["files/fares (2).md"] = " "
	d, _, err := b.PutVersion(t.Context(), b.viewer, knowledge.Document{ContextID: c, Path: "files/fares (2).md", Origin: "fares.md", Status: knowledge.Waiting}, false)
	if err != nil {
		t.Fatal(err)
	}
	_, cause := b.ingest(t, d.ID)
	if _, err := b.Fail(t.Context(), b.viewer, d.ID, cause); cause == nil || err != nil {
		t.Fatal(cause, err)
	}
	if got := b.quoted(t, knowledge.Question{Text: "What does the ferry cost?", ContextIDs: []string{c}}); !strings.Contains(got, "four euros") {
		t.Errorf("quoted %q", got)
	}
}

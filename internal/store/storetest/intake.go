package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"liminal/internal/embed"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/store"
)

// Intake proves that what a knowledge.Library takes in is what its files hold,
// also when they change before, while and after they are read.
func Intake(t *testing.T, open Open) {
	t.Run("a file that changed is found by what it says now", func(t *testing.T) { changedFile(t, open) })
	t.Run("a document knows the file it was read from", func(t *testing.T) { fileFacts(t, open) })
	t.Run("a file replaced while it is taken in is taken in again", func(t *testing.T) { replacedMeanwhile(t, open) })
	t.Run("a document on its way tells how much of it is indexed", func(t *testing.T) { progress(t, open) })
}

// intakeFixture is a library over a store, and one file that is a document of it.
type intakeFixture struct {
	Backend
	library  *knowledge.Library
	viewer   identity.Viewer
	document knowledge.Document
	content  string
}

type textFile struct{ *strings.Reader }

func (textFile) Close() error { return nil }

func newIntakeFixture(t *testing.T, open Open, content string, sum string) *intakeFixture {
	t.Helper()
	b := open(t, store.Options{})
	s := &intakeFixture{Backend: b, viewer: person(t, b.Store), content: content, library: knowledge.NewLibrary(knowledge.Options{
		Contexts: b.Store, Documents: b.Store, Index: b.Index, Embedder: embed.Hash{},
	})}
	t.Cleanup(func() { need(t, s.library.Close()) })
	k := newContext(t, b.Store, s.viewer, "c")
	s.document = got(b.Store.PutDocument(t.Context(), s.viewer, knowledge.Document{
		ContextID: k.ID, Path: "files/a.md", Title: "A", MIME: "text/markdown", Size: int64(len(content)), SHA256: sum,
	}))(t)
	return s
}

func (s *intakeFixture) read(t *testing.T) {
	t.Helper()
	_, err := s.library.Read(t.Context(), s.viewer, s.document.ID, "", func(context.Context, identity.Viewer, string) (knowledge.File, error) {
		return textFile{strings.NewReader(s.content)}, nil
	})
	need(t, err)
}

// ingest is the three steps of taking a document in.
func (s *intakeFixture) ingest(t *testing.T) {
	t.Helper()
	s.read(t)
	s.finish(t)
}

func (s *intakeFixture) finish(t *testing.T) {
	t.Helper()
	_, err := s.library.Cut(t.Context(), s.viewer, s.document.ID)
	need(t, err)
	s.document = got(s.library.Store(t.Context(), s.viewer, s.document.ID, nil))(t)
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// says is how many passages speak of a word.
func (s *intakeFixture) says(t *testing.T, word string) int {
	t.Helper()
	return len(search(t, s.Backend, s.viewer, s.document.ContextID, word))
}

const (
	harbour  = "# Port\n\nThe harbour is open in winter.\n"
	mountain = "# Range\n\nThe mountain is closed to everybody in spring.\n"
)

func progress(t *testing.T, open Open) {
	var text strings.Builder
	for i := range 70 {
		fmt.Fprintf(&text, "# Pier %d\n\nPier %d is %d metres long.\n\n", i, i, 10*i)
	}
	s := newIntakeFixture(t, open, text.String(), "")
	s.read(t)
	d := got(s.library.Cut(t.Context(), s.viewer, s.document.ID))(t)
	spans := s.library.Spans(d.Chunks)
	if d.Chunks != 70 || len(spans) != 2 {
		t.Fatalf("%d chunks in %d batches", d.Chunks, len(spans))
	}
	p := got(s.library.Embed(t.Context(), s.viewer, d.ID, spans[0]))(t)
	done, total, err := s.library.IndexBatch(t.Context(), s.viewer, d.ID, p)
	need(t, err)
	want(t, "indexed", done, spans[0].To)
	want(t, "all", total, 70)
	half := got(s.Store.Document(t.Context(), s.viewer, d.ID))(t)
	want(t, "status", half.Status, knowledge.Reading)
	want(t, "indexed half way", half.Indexed, spans[0].To)
	again := got(s.library.Embed(t.Context(), s.viewer, d.ID, spans[0]))(t)
	want(t, "embedded again", len(again.Indices), 0)
	d = got(s.library.Finish(t.Context(), s.viewer, d.ID))(t)
	want(t, "indexed in the end", got(s.Store.Document(t.Context(), s.viewer, d.ID))(t).Indexed, 70)
	want(t, "piers", s.says(t, "metres"), 20) // as many as a search lists
}

func changedFile(t *testing.T, open Open) {
	s := newIntakeFixture(t, open, harbour, sumOf(harbour)) // as the upload counted it
	s.ingest(t)
	want(t, "harbours", s.says(t, "harbour"), 1)
	again := got(s.Store.PutDocument(t.Context(), s.viewer, knowledge.Document{
		ContextID: s.document.ContextID, Path: s.document.Path, Title: "a.md", SHA256: sumOf(harbour),
	}))(t)
	want(t, "title of the same file, given once more", again.Title, s.document.Title)
	s.content = mountain // on the disk; nobody uploaded it
	s.ingest(t)
	want(t, "status", s.document.Status, knowledge.Ready)
	want(t, "mountains", s.says(t, "mountain"), 1)
	want(t, "harbours", s.says(t, "harbour"), 0)
}

func fileFacts(t *testing.T, open Open) {
	s := newIntakeFixture(t, open, harbour, "") // a sweep that finds a file does not read it
	s.ingest(t)
	s.content = mountain
	s.ingest(t)
	d := got(s.Store.Document(t.Context(), s.viewer, s.document.ID))(t)
	want(t, "size", d.Size, int64(len(mountain)))
	if !s.library.Current(d) {
		t.Errorf("the document of a file that did not change since is not current: it is %q of %q", d.Version, d.SHA256)
	}
}

func replacedMeanwhile(t *testing.T, open Open) {
	s := newIntakeFixture(t, open, harbour, "one")
	s.read(t)
	s.content = mountain
	_, err := s.Store.PutDocument(t.Context(), s.viewer, knowledge.Document{
		ContextID: s.document.ContextID, Path: s.document.Path, MIME: "text/markdown", Size: int64(len(mountain)),
		SHA256: sumOf(mountain),
	})
	need(t, err)
	s.finish(t) // of what was read
	s.ingest(t)
	want(t, "mountains", s.says(t, "mountain"), 1)
	want(t, "harbours", s.says(t, "harbour"), 0)
}

package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
	"liminal/internal/store"
)

// versionFixture is a context whose documents have versions.
type versionFixture struct {
	Backend
	t       *testing.T
	clock   *clock
	viewer  identity.Viewer
	context string
}

func newVersionFixture(t *testing.T, open Open) *versionFixture {
	t.Helper()
	c := newClock()
	b := open(t, store.Options{Now: c.now})
	v := person(t, b.Store)
	return &versionFixture{b, t, c, v, newContext(t, b.Store, v, "c").ID}
}

// put stores the file at a path as it comes from origin, and returns what it
// will replace.
func (f *versionFixture) put(path, origin string, apart bool) (knowledge.Document, string) {
	f.t.Helper()
	f.clock.add(time.Second)
	d, replaced, err := f.Store.PutVersion(f.t.Context(), f.viewer, knowledge.Document{
		ContextID: f.context, Path: "files/" + path, Title: path, Origin: origin, SHA256: path, Size: 7,
	}, apart)
	need(f.t, err)
	if replaced == nil {
		return d, ""
	}
	return d, replaced.Path
}

// read makes a document as ready as a Library does: its text, its passage, and
// its place among its versions. It returns whose chunks are to be removed, and
// removes them.
func (f *versionFixture) read(d knowledge.Document) []string {
	f.t.Helper()
	need(f.t, f.Store.PutText(f.t.Context(), f.viewer, d.ID, extract.Document{Text: "zebra of " + d.Path}))
	upsert(f.t, f.Backend, f.viewer, d, "zebra of "+d.Path)
	d.Status, d.Chunks, d.Version = knowledge.Ready, 1, "v/"+d.SHA256
	need(f.t, f.Store.SetDocument(f.t.Context(), f.viewer, d))
	gone := got(f.Store.Supersede(f.t.Context(), f.viewer, d.ID))(f.t)
	for _, id := range gone {
		need(f.t, f.Index.Prune(f.t.Context(), f.viewer, id, nil))
	}
	return gone
}

func (f *versionFixture) stored(d knowledge.Document) knowledge.Document {
	f.t.Helper()
	return got(f.Store.Document(f.t.Context(), f.viewer, d.ID))(f.t)
}

// listed are the paths of the documents of the context, the newest first.
func (f *versionFixture) listed() string {
	f.t.Helper()
	list, _, err := f.Store.ListDocuments(f.t.Context(), f.viewer, f.context, "", 10)
	need(f.t, err)
	return paths(list)
}

func (f *versionFixture) versions(d knowledge.Document) string {
	f.t.Helper()
	return paths(got(f.Store.DocumentVersions(f.t.Context(), f.viewer, d.ID))(f.t))
}

func paths(list []knowledge.Document) string {
	var out []string
	for _, d := range list {
		out = append(out, strings.TrimPrefix(d.Path, "files/"))
	}
	return strings.Join(out, " ")
}

// Requirements: FILE-01
func replacing(t *testing.T, open Open) {
	f := newVersionFixture(t, open)
	one, replaces := f.put("a.md", "a.md", false)
	want(t, "of the first", replaces, "")
	want(t, "nothing to remove", len(f.read(one)), 0)
	set := got(f.Store.CreateSet(t.Context(), f.viewer, knowledge.Set{Title: "set", Documents: []string{one.ID}}))(t)
	got(f.Store.RenameDocument(t.Context(), f.viewer, one.ID, "Given"))(t)

	two, replaces := f.put("a2.md", "a.md", false)
	want(t, "replaces", replaces, "files/a.md")
	want(t, "title that was given", two.Title, "Given")
	want(t, "until it is read", f.listed(), "a2.md a.md")
	wantLines(t, search(t, f.Backend, f.viewer, f.context, "zebra"), []string{"zebra of files/a.md"})
	wantLines(t, f.read(two), []string{one.ID})
	want(t, "when it is read", f.listed(), "a2.md")
	wantLines(t, search(t, f.Backend, f.viewer, f.context, "zebra"), []string{"zebra of files/a2.md"})
	want(t, "again", len(got(f.Store.Supersede(t.Context(), f.viewer, two.ID))(t)), 0)

	old, now := f.stored(one), f.stored(two)
	want(t, "the old one", inARow(old.Superseded(), old.CurrentID == two.ID, old.Chunks, old.Version, old.Former), "true true 0  0")
	want(t, "the new one", inARow(now.Superseded(), now.CurrentID, now.Chunks, now.Former), "false  1 1")
	want(t, "text of the old one", got(f.Store.Text(t.Context(), f.viewer, one.ID))(t).Text, "zebra of files/a.md")
	want(t, "versions", f.versions(one), "a2.md a.md")
	want(t, "set", got(f.Store.Set(t.Context(), f.viewer, set.ID))(t).Documents[0], two.ID)
	k := got(f.Store.Context(t.Context(), f.viewer, f.context))(t)
	want(t, "counts", inARow(k.Documents, k.Chunks, k.Unread), "1 1 0")
	own, _, err := f.Store.FindDocuments(t.Context(), f.viewer, "", "", 10)
	need(t, err)
	want(t, "titles", inARow(len(own), len(got(f.Store.OwnDocuments(t.Context(), f.viewer, 0))(t))), "1 1")
	want(t, "to embed anew", len(got(f.Store.Holdings(t.Context(), system, f.context, "x"))(t)), 1)

	again := got(f.Store.PutDocument(t.Context(), f.viewer, knowledge.Document{ContextID: f.context, Path: "files/a.md", SHA256: "other"}))(t)
	want(t, "one that is only found again", inARow(again.Superseded(), again.SHA256), "true a.md")
	need(t, f.Store.DeleteDocument(t.Context(), f.viewer, two.ID))
	wantFault(t, second(f.Store.Document(t.Context(), f.viewer, one.ID)), fault.NotFound)
	want(t, "after deleting", f.listed(), "")
}

func versionComesBack(t *testing.T, open Open) {
	f := newVersionFixture(t, open)
	one, _ := f.put("a.md", "a.md", false)
	f.read(one)
	two, _ := f.put("a2.md", "a.md", false)
	f.read(two)
	one, replaces := f.put("a.md", "a.md", false)
	want(t, "replaces", replaces, "files/a2.md")
	want(t, "waits", inARow(one.Status, one.Superseded()), "waiting false")
	wantLines(t, f.read(one), []string{two.ID})
	want(t, "versions", f.versions(two), "a.md a2.md")
	same, replaces := f.put("a.md", "a.md", false)
	want(t, "the same once more", inARow(same.ID == one.ID, same.Status, replaces), "true ready ")

	two, replaces = f.put("a2.md", "a2.md", true) // both are kept from now on
	want(t, "kept", inARow(replaces, two.Lineage, two.Superseded()), "  false")
	f.read(two)
	want(t, "both", f.listed(), "a2.md a.md")
	need(t, f.Store.DeleteDocument(t.Context(), f.viewer, one.ID))
	want(t, "the other stays", f.listed(), "a2.md")
}

// A later version that has been read wins, whichever is read first.
func versionUnread(t *testing.T, open Open) {
	f := newVersionFixture(t, open)
	one, _ := f.put("a.md", "a.md", false)
	f.read(one)
	slow, _ := f.put("slow.md", "a.md", false)
	last, replaces := f.put("last.md", "a.md", false)
	want(t, "replaces what has been read", replaces, "files/a.md")
	want(t, "under way", got(f.Store.UnderWay(t.Context(), f.viewer))(t).Bytes, int64(14))
	f.read(last)
	want(t, "the one that is not read either", f.listed(), "last.md")
	want(t, "nothing waits", got(f.Store.UnderWay(t.Context(), f.viewer))(t).Bytes, int64(0))
	wantLines(t, f.read(slow), []string{slow.ID}) // its run went on
	wantLines(t, search(t, f.Backend, f.viewer, f.context, "zebra"), []string{"zebra of files/last.md"})
	want(t, "passages of the one that came late", f.stored(slow).Chunks, 0)

	broken, _ := f.put("broken.md", "a.md", false)
	broken.Status = knowledge.Failed
	need(t, f.Store.SetDocument(t.Context(), f.viewer, broken))
	want(t, "beside the one in use", f.listed(), "broken.md last.md")
	need(t, f.Store.DeleteDocument(t.Context(), f.viewer, broken.ID))
	want(t, "those before it stay", f.versions(last), "last.md slow.md a.md")
	need(t, f.Store.DeleteDocument(t.Context(), f.viewer, slow.ID))
	want(t, "one version less", f.versions(last), "last.md a.md")
}

func versionsApart(t *testing.T, open Open) {
	f := newVersionFixture(t, open)
	one, _ := f.put("a.md", "a.md", false)
	f.read(one)
	_, replaces := f.put("b - a.md", "b/a.md", false)
	want(t, "from another folder", replaces, "")
	_, replaces = f.put("a2.md", "a2.md", true)
	want(t, "beside it", replaces, "")
	ours := f.context
	f.context = newContext(t, f.Store, f.viewer, "other").ID
	_, replaces = f.put("a3.md", "a.md", false)
	want(t, "in another context", replaces, "")
	want(t, "documents", f.listed(), "a3.md")
	f.context = ours

	// Administrators share a global context, and keep each other's documents.
	ada, bob := administrator(t, f.Store), administrator(t, f.Store)
	f.context = got(f.Store.CreateContext(t.Context(), ada, knowledge.Context{Name: "global", Visibility: "global"}))(t).ID
	f.viewer = ada
	f.put("a.md", "a.md", false)
	f.viewer = bob
	_, replaces = f.put("b.md", "a.md", false)
	want(t, "of another person", replaces, "")
}

// What a program before this one stored has no origin: its path tells the name.
func versionOfBefore(t *testing.T, open Open) {
	f := newVersionFixture(t, open)
	one := newDocument(t, f.Store, f.viewer, f.context, "files/a.md")
	f.read(one)
	f.clock.add(time.Second)
	newDocument(t, f.Store, f.viewer, f.context, "files/b.md")
	two, replaces := f.put("a2.md", "a.md", false)
	want(t, "replaces", replaces, "files/a.md")
	f.read(two)
	want(t, "in use", f.listed(), "a2.md b.md")
	back, _, err := f.Store.PutVersion(t.Context(), f.viewer, knowledge.Document{ContextID: f.context, Path: "files/a.md"}, false)
	need(t, err)
	wantLines(t, f.read(back), []string{two.ID})
	want(t, "put back", f.listed(), "b.md a.md")
}

// inARow is values side by side, also those that are empty.
func inARow(values ...any) string { return strings.TrimSuffix(fmt.Sprintln(values...), "\n") }

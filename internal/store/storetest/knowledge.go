package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
	"liminal/internal/quota"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Knowledge proves knowledge.Contexts and knowledge.Documents.
func Knowledge(t *testing.T, open Open) {
	t.Run("a context counts its documents and chunks", func(t *testing.T) { contextCounts(t, open) })
	t.Run("documents take no more of the index than a plan has room for", func(t *testing.T) { chunkRoom(t, open) })
	t.Run("what of a person's documents is under way is known", func(t *testing.T) { underWay(t, open) })
	t.Run("what is on its way in is told by its contexts", func(t *testing.T) { unread(t, open) })
	t.Run("contexts are listed by owner, in pages", func(t *testing.T) { listContexts(t, open) })
	t.Run("a context is renamed by those who may change it", func(t *testing.T) { renameContext(t, open) })
	t.Run("a path is one document of its context", func(t *testing.T) { onePath(t, open) })
	t.Run("a version takes the place of those before it when it is read", func(t *testing.T) { replacing(t, open) })
	t.Run("a version that was replaced comes back", func(t *testing.T) { versionComesBack(t, open) })
	t.Run("a version that cannot be read replaces nothing", func(t *testing.T) { versionUnread(t, open) })
	t.Run("versions are of one person, context and place", func(t *testing.T) { versionsApart(t, open) })
	t.Run("a document of before versions has them too", func(t *testing.T) { versionOfBefore(t, open) })
	t.Run("a text comes back with its blocks", func(t *testing.T) { texts(t, open) })
	t.Run("deleting a document or a context removes what was read", func(t *testing.T) { deleteKnowledge(t, open) })
	t.Run("a global context is read by all and changed by administrators", func(t *testing.T) { globalContext(t, open) })
}

func newContext(t testing.TB, s *store.Store, v identity.Viewer, name string) knowledge.Context {
	t.Helper()
	return got(s.CreateContext(t.Context(), v, knowledge.Context{Name: name}))(t)
}

func newDocument(t testing.TB, s *store.Store, v identity.Viewer, contextID, path string) knowledge.Document {
	t.Helper()
	return got(s.PutDocument(t.Context(), v, knowledge.Document{ContextID: contextID, Path: path, Title: path}))(t)
}

func contextCounts(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	k := got(s.CreateContext(t.Context(), v, knowledge.Context{Name: "Law", Description: "d", Meta: map[string]any{"embedding_model": "hash-1"}}))(t)
	want(t, "stored", fmt.Sprintf("%+v", got(s.Context(t.Context(), v, k.ID))(t)), fmt.Sprintf("%+v", k))
	for i := range 3 {
		d := newDocument(t, s, v, k.ID, fmt.Sprint("files/", i))
		d.Status, d.Chunks = knowledge.Ready, 10
		need(t, s.SetDocument(t.Context(), v, d))
	}
	k = got(s.Context(t.Context(), v, k.ID))(t)
	want(t, "counts", fmt.Sprint(k.Documents, k.Chunks), "3 30")
}

func unread(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, other := person(t, s), person(t, s)
	k, quiet, theirs := newContext(t, s, v, "Law"), newContext(t, s, v, "Quiet"), newContext(t, s, other, "Theirs")
	newDocument(t, s, other, theirs.ID, "files/secret")
	for _, status := range []knowledge.DocumentStatus{knowledge.Ready, knowledge.Reading, knowledge.Failed, knowledge.Waiting, knowledge.Skipped} {
		c.add(time.Second)
		d := newDocument(t, s, v, k.ID, "files/"+string(status))
		d.Status, d.Chunks = status, 4
		need(t, s.SetDocument(t.Context(), v, d))
	}
	tell := func(v identity.Viewer, limit int, contexts ...string) (out string) {
		for _, d := range got(s.Unread(t.Context(), v, contexts, limit))(t) {
			out += fmt.Sprint(d.Path, " ", d.Status, " ", d.Indexed, "/", d.Chunks, "; ")
		}
		return out
	}
	want(t, "counted", fmt.Sprint(got(s.Context(t.Context(), v, k.ID))(t).Unread, got(s.Context(t.Context(), v, quiet.ID))(t).Unread), "2 0")
	want(t, "listed", tell(v, 9, k.ID, quiet.ID, theirs.ID), "files/reading reading 0/4; files/waiting waiting 4/4; ")
	want(t, "the oldest", tell(v, 1, k.ID), "files/reading reading 0/4; ")
	want(t, "to others", tell(other, 9, k.ID, theirs.ID), "files/secret waiting 0/0; ")
	want(t, "of none", tell(v, 9)+tell(v, 9, "not an id"), "")
}

// A file that is read into many contexts is counted in each.
func chunkRoom(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	v.Plan = quota.Unverified
	most := quota.PlanOf(v.Plan).Chunks
	set := func(d knowledge.Document, chunks int, status knowledge.DocumentStatus) error {
		d.Chunks, d.Status = chunks, status
		return s.SetDocument(t.Context(), v, d)
	}
	one := newDocument(t, s, v, newContext(t, s, v, "one").ID, "files/a")
	two := newDocument(t, s, v, newContext(t, s, v, "two").ID, "files/a")
	need(t, set(one, most-1, knowledge.Reading))
	wantFault(t, set(two, 2, knowledge.Reading), fault.Conflict)
	need(t, set(two, 1, knowledge.Reading))
	wantFault(t, set(two, 2, knowledge.Reading), fault.Conflict)
	need(t, set(two, 1, knowledge.Failed))
	need(t, s.DeleteDocument(t.Context(), v, one.ID))
	need(t, set(two, most, knowledge.Ready))
	other := person(t, s)
	need(t, s.SetDocument(t.Context(), other, knowledge.Document{
		ID: newDocument(t, s, other, newContext(t, s, other, "theirs").ID, "files/a").ID, Status: knowledge.Ready, Chunks: 1,
	}))
}

// Runs of other kinds do not count, nor do those that have ended; bytes are those
// of documents that are not read yet.
func underWay(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other := person(t, s), person(t, s)
	want(t, "with nothing", got(s.UnderWay(t.Context(), v))(t), quota.UnderWay{})
	k := newContext(t, s, v, "c")
	var documents []knowledge.Document
	var runs []run.Run
	for i := range 3 {
		d := got(s.PutDocument(t.Context(), v, knowledge.Document{ContextID: k.ID, Path: fmt.Sprint("files/", i), Size: 1 << 31}))(t)
		documents = append(documents, d)
		r := job(v, "ingest:"+d.ID)
		need(t, s.CreateRun(t.Context(), v, r))
		runs = append(runs, r)
	}
	begun := job(v, "tool:1")
	begun.Kind = run.KindTool
	need(t, s.CreateRun(t.Context(), v, begun))
	want(t, "of three", got(s.UnderWay(t.Context(), v))(t), quota.UnderWay{Documents: 3, Bytes: 3 << 31})
	for i, status := range []knowledge.DocumentStatus{knowledge.Ready, knowledge.Failed, knowledge.Reading} {
		documents[i].Status = status
		need(t, s.SetDocument(t.Context(), v, documents[i]))
	}
	need(t, s.EndRun(t.Context(), v, runs[0].ID, run.End{Status: run.Done}))
	need(t, s.EndRun(t.Context(), v, runs[1].ID, run.End{Status: run.Failed}))
	want(t, "of one", got(s.UnderWay(t.Context(), v))(t), quota.UnderWay{Documents: 1, Bytes: 1 << 31})
	want(t, "of another person", got(s.UnderWay(t.Context(), other))(t), quota.UnderWay{})
}

func renameContext(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, other, admin := person(t, s), person(t, s), administrator(t, s)
	k := got(s.CreateContext(t.Context(), v, knowledge.Context{Name: "Law", Description: "d"}))(t)
	newDocument(t, s, v, k.ID, "files/a")
	name, description := "Laws", "all of them"
	c.add(time.Minute)
	changed := got(s.UpdateContext(t.Context(), v, k.ID, knowledge.ContextChange{Name: &name}))(t)
	want(t, "renamed", fmt.Sprintln(changed.Name, changed.Description, changed.Documents, changed.UpdatedAt.After(k.UpdatedAt)), "Laws d 1 true\n")
	got(s.UpdateContext(t.Context(), v, k.ID, knowledge.ContextChange{Description: &description}))(t)
	stored := got(s.Context(t.Context(), v, k.ID))(t)
	want(t, "stored", stored.Name+" "+stored.Description, "Laws all of them")

	laws := got(s.CreateContext(t.Context(), admin, knowledge.Context{Name: "global", Visibility: "global"}))(t)
	got(s.UpdateContext(t.Context(), admin, laws.ID, knowledge.ContextChange{Name: &name}))(t)
	for _, id := range []string{k.ID, laws.ID} {
		_, err := s.UpdateContext(t.Context(), other, id, knowledge.ContextChange{Name: &name})
		wantFault(t, err, fault.NotFound)
	}
}

func listContexts(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other, admin := person(t, s), person(t, s), administrator(t, s)
	got(s.CreateContext(t.Context(), admin, knowledge.Context{Name: "global", Visibility: "global"}))(t)
	newContext(t, s, other, "theirs")
	for i := range 3 {
		newContext(t, s, v, fmt.Sprint("mine", i))
	}
	list := func(owner string) (names []string) {
		for cursor, more := "", true; more; more = cursor != "" {
			var page []knowledge.Context
			var err error
			page, cursor, err = s.ListContexts(t.Context(), v, owner, cursor, 2)
			need(t, err)
			for _, c := range page {
				names = append(names, c.Name)
			}
		}
		return names
	}
	wantLines(t, list(""), []string{"mine2", "mine1", "mine0", "global"})
	wantLines(t, list("me"), []string{"mine2", "mine1", "mine0"})
	wantLines(t, list("global"), []string{"global"})
	_, _, err := s.ListContexts(t.Context(), v, other.UserID, "", 0)
	wantFault(t, err, fault.Invalid)
}

func onePath(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	k := newContext(t, s, v, "c")
	ids := make([]string, writers)
	errs := race(writers, func(i int) error {
		d, err := s.PutDocument(t.Context(), v, knowledge.Document{ContextID: k.ID, Path: "files/a.pdf", Title: "A", MIME: "application/pdf", Size: int64(i), SHA256: "x"})
		ids[i] = d.ID
		return err
	})
	want(t, "stored", winners(t, errs, fault.Conflict), writers)
	for _, one := range ids {
		want(t, "document", one, ids[0])
	}
	d := got(s.Document(t.Context(), v, ids[0]))(t)
	want(t, "status", d.Status, knowledge.Waiting)
	d.Status, d.Error, d.Pages, d.Length, d.Chunks, d.RunID, d.Version = knowledge.Failed, "It is encrypted.", 3, 400, 5, id.New(), "hash-1"
	need(t, s.SetDocument(t.Context(), v, d))
	c.add(time.Minute)
	d.Size, d.SHA256, d.Title = 77, "y", ""
	d = got(s.PutDocument(t.Context(), v, knowledge.Document{ContextID: k.ID, Path: d.Path, MIME: "text/plain", Size: 77, SHA256: "y", ChunkSize: 99}))(t)
	want(t, "facts and progress", strings.TrimSpace(fmt.Sprintln(d.MIME, d.Size, d.SHA256, d.ChunkSize, d.Title, d.Status, d.Pages, d.Chunks, d.Version)), "text/plain 77 y 99 A failed 3 5 hash-1")
	_, err := s.PutDocument(t.Context(), v, knowledge.Document{ContextID: id.New(), Path: "x"})
	wantFault(t, err, fault.NotFound)
	for i := range 4 {
		newDocument(t, s, v, k.ID, fmt.Sprint("files/", i))
	}
	n := 0
	for cursor, more := "", true; more; more = cursor != "" {
		var page []knowledge.Document
		page, cursor, err = s.ListDocuments(t.Context(), v, k.ID, cursor, 2)
		need(t, err)
		n += len(page)
	}
	want(t, "listed", n, 5)
}

func texts(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	d := newDocument(t, s, v, newContext(t, s, v, "c").ID, "files/a")
	_, err := s.Text(t.Context(), v, d.ID)
	wantFault(t, err, fault.NotFound)
	x := extract.Document{Text: "Ä\nB", Title: "T", Pages: 2, Blocks: []extract.Block{{Start: 0, End: 2, Heading: "H", Page: 1, Kind: "heading"}}}
	need(t, s.PutText(t.Context(), v, d.ID, extract.Document{Text: "old"}))
	need(t, s.PutText(t.Context(), v, d.ID, x))
	want(t, "text", fmt.Sprintf("%+v", got(s.Text(t.Context(), v, d.ID))(t)), fmt.Sprintf("%+v", x))
	wantFault(t, s.PutText(t.Context(), v, d.ID, extract.Document{Text: "a\x00b"}), fault.Invalid)
	wantFault(t, s.PutText(t.Context(), v, id.New(), x), fault.NotFound)
}

func deleteKnowledge(t *testing.T, open Open) {
	b := open(t, store.Options{})
	v := person(t, b.Store)
	k := newContext(t, b.Store, v, "c")
	d, e := newDocument(t, b.Store, v, k.ID, "files/d"), newDocument(t, b.Store, v, k.ID, "files/e")
	var parts []string
	for i := range 520 { // more than one batch
		parts = append(parts, fmt.Sprint("zebra number ", i))
	}
	upsert(t, b, v, d, parts...)
	upsert(t, b, v, e, "zebra in another document")
	need(t, b.Store.PutText(t.Context(), v, d.ID, extract.Document{Text: "zebra"}))
	want(t, "found before", len(search(t, b, v, k.ID, "zebra")), 20)
	need(t, b.Store.DeleteDocument(t.Context(), v, d.ID))
	wantLines(t, search(t, b, v, k.ID, "zebra"), []string{"zebra in another document"})
	_, err := b.Store.Text(t.Context(), v, d.ID)
	wantFault(t, err, fault.NotFound)
	_, err = b.Index.Chunk(t.Context(), v, chunkID(d, 0))
	wantFault(t, err, fault.NotFound)
	wantFault(t, b.Store.DeleteDocument(t.Context(), v, d.ID), fault.NotFound)
	talk := got(b.Store.CreateConversation(t.Context(), v, chat.Conversation{Title: "about it", ActiveContextID: k.ID}))(t)
	want(t, "context", got(b.Store.Conversation(t.Context(), v, talk.ID))(t).ActiveContextID, k.ID)
	need(t, b.Store.DeleteContext(t.Context(), v, k.ID))
	want(t, "context that is gone", got(b.Store.Conversation(t.Context(), v, talk.ID))(t).ActiveContextID, "")
	_, err = b.Store.Document(t.Context(), v, e.ID)
	wantFault(t, err, fault.NotFound)
	_, err = b.Index.Chunk(t.Context(), v, chunkID(e, 0))
	wantFault(t, err, fault.NotFound)
	wantLines(t, search(t, b, v, k.ID, "zebra"), nil)
	wantFault(t, b.Store.DeleteContext(t.Context(), v, k.ID), fault.NotFound)
}

func globalContext(t *testing.T, open Open) {
	b := open(t, store.Options{})
	v, admin := person(t, b.Store), administrator(t, b.Store)
	_, err := b.Store.CreateContext(t.Context(), v, knowledge.Context{Name: "g", Visibility: "global"})
	wantFault(t, err, fault.Forbidden)
	k := got(b.Store.CreateContext(t.Context(), admin, knowledge.Context{Name: "g", Visibility: "global"}))(t)
	d := newDocument(t, b.Store, admin, k.ID, "files/g")
	upsert(t, b, admin, d, "a giraffe for everybody")
	need(t, b.Store.PutText(t.Context(), admin, d.ID, extract.Document{Text: "a giraffe for everybody"}))
	got(b.Store.Document(t.Context(), v, d.ID))(t)
	got(b.Store.Text(t.Context(), v, d.ID))(t)
	wantLines(t, search(t, b, v, k.ID, "giraffe"), []string{"a giraffe for everybody"})
	_, err = b.Store.PutDocument(t.Context(), v, knowledge.Document{ContextID: k.ID, Path: "files/v"})
	wantFault(t, err, fault.Forbidden)
	wantFault(t, b.Store.DeleteDocument(t.Context(), v, d.ID), fault.NotFound)
	wantFault(t, b.Store.DeleteContext(t.Context(), v, k.ID), fault.Forbidden)
	need(t, b.Store.DeleteContext(t.Context(), admin, k.ID))
}

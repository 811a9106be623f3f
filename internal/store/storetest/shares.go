package storetest

import (
	"context"
	"fmt"
	"testing"

	"liminal/artifacts"
	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
	"liminal/internal/sharing"
	"liminal/internal/store"
)

// Shares proves sharing.Shares, and that every way to something shared opens with
// the share, no further, and closes with it.
func Shares(t *testing.T, open Open) {
	t.Run("a context is read by whom it is shared with, and by nobody else", func(t *testing.T) { sharedContext(t, open) })
	t.Run("who may add puts documents of their own, and changes no others", func(t *testing.T) { addedDocuments(t, open) })
	t.Run("a set shows its documents and nothing beside them", func(t *testing.T) { sharedSet(t, open) })
	t.Run("an artifact is found by its id and never by its name", func(t *testing.T) { sharedArtifact(t, open) })
	t.Run("a tenant is everybody of it", func(t *testing.T) { sharedWithTenant(t, open) })
	t.Run("only its owner shares a thing, and takes it back", func(t *testing.T) { sharesOfOwners(t, open) })
	t.Run("people are found by exactly their address or name", func(t *testing.T) { foundPeople(t, open) })
	t.Run("shares go with the account of either", func(t *testing.T) { sharesLeave(t, open) })
	t.Run("a run that reads on finds nothing once it was taken back", func(t *testing.T) { takenBackMeanwhile(t, open) })
	t.Run("contexts are found by words of their names", func(t *testing.T) { foundContexts(t, open) })
}

// shelf is a context of a person with a document in it that says "secret", and
// one that says "other".
type shelf struct {
	owner         identity.Viewer
	context       knowledge.Context
	secret, other knowledge.Document
}

func newShelf(t *testing.T, b Backend) shelf {
	t.Helper()
	h := shelf{owner: person(t, b.Store)}
	h.context = newContext(t, b.Store, h.owner, "Shelf")
	for _, one := range []struct {
		into *knowledge.Document
		word string
	}{{&h.secret, "secret"}, {&h.other, "other"}} {
		*one.into = newDocument(t, b.Store, h.owner, h.context.ID, "files/"+one.word+".txt")
		need(t, b.Store.PutText(t.Context(), h.owner, one.into.ID, extract.Document{Text: one.word}))
		upsert(t, b, h.owner, *one.into, one.word+" passage")
	}
	return h
}

func share(t testing.TB, b Backend, v identity.Viewer, s sharing.Share) sharing.Share {
	t.Helper()
	return got(b.Store.PutShare(t.Context(), v, s))(t)
}

// hitsOf counts what a search of words finds.
func hitsOf(t testing.TB, b Backend, v identity.Viewer, q knowledge.Query) int {
	t.Helper()
	if q.Text == "" {
		q.Text = "passage"
	}
	return len(got(b.Index.Search(t.Context(), v, q))(t))
}

// sees says which ways to a document of a shelf are open to somebody.
func (h shelf) sees(ctx context.Context, b Backend, v identity.Viewer) map[string]bool {
	s := b.Store
	ok := func(err error) bool { return err == nil }
	_, context := s.Context(ctx, v, h.context.ID)
	_, _, documents := s.ListDocuments(ctx, v, h.context.ID, "", 10)
	_, document := s.Document(ctx, v, h.secret.ID)
	_, text := s.Text(ctx, v, h.secret.ID)
	_, chunks := b.Index.Chunks(ctx, v, h.context.ID, 10)
	hits, _ := b.Index.Search(ctx, v, knowledge.Query{ContextIDs: []string{h.context.ID}, Text: "secret"})
	titled, _ := s.DocumentsByID(ctx, v, []string{h.secret.ID})
	listed, _, _ := s.ListContexts(ctx, v, "", "", 100)
	found, _, _ := s.FindDocuments(ctx, v, "secret", "", 10)
	return map[string]bool{
		"context": ok(context), "documents": ok(documents), "document": ok(document), "text": ok(text), "chunks": ok(chunks),
		"hits": len(hits) > 0, "title": len(titled) > 0, "list": len(listed) > 0, "found": len(found) > 0,
	}
}

// is compares all of the ways at once.
func (h shelf) is(t *testing.T, b Backend, what string, v identity.Viewer, want bool) {
	t.Helper()
	for way, open := range h.sees(t.Context(), b, v) {
		if open != want {
			t.Errorf("%s: the %s is open: %v", what, way, open)
		}
	}
}

func sharedContext(t *testing.T, open Open) {
	b := open(t, store.Options{})
	h, bob, eve := newShelf(t, b), person(t, b.Store), person(t, b.Store)
	h.is(t, b, "before", bob, false)
	n := share(t, b, h.owner, sharing.Share{Kind: sharing.Context, ObjectID: h.context.ID, GranteeID: bob.UserID})
	h.is(t, b, "shared", bob, true)
	h.is(t, b, "another", eve, false)
	want(t, "visibility", got(b.Store.Context(t.Context(), h.owner, h.context.ID))(t).Visibility, "shared")
	want(t, "to add to", got(b.Store.Context(t.Context(), bob, h.context.ID))(t).Opened, false)
	mine, _, err := b.Store.ListContexts(t.Context(), bob, "me", "", 10)
	need(t, err)
	theirs, _, err := b.Store.ListContexts(t.Context(), bob, "shared", "", 10)
	need(t, err)
	want(t, "own contexts, which turns read unasked", len(mine), 0)
	want(t, "shared contexts", len(theirs), 1)
	k := got(b.Index.Chunks(t.Context(), h.owner, h.context.ID, 1))(t)[0]
	got(b.Index.Chunk(t.Context(), bob, k.ID))(t)
	title := "taken"
	for name, err := range map[string]error{
		"adds":    second(b.Store.PutDocument(t.Context(), bob, knowledge.Document{ContextID: h.context.ID, Path: "files/bob.txt"})),
		"changes": b.Store.SetDocument(t.Context(), bob, knowledge.Document{ID: h.secret.ID, Status: knowledge.Ready}),
		"renames": second(b.Store.UpdateContext(t.Context(), bob, h.context.ID, knowledge.ContextChange{Name: &title})),
		"deletes": b.Store.DeleteContext(t.Context(), bob, h.context.ID),
		"removes": b.Store.DeleteDocument(t.Context(), bob, h.secret.ID),
		"indexes": b.Index.Upsert(t.Context(), bob, []knowledge.Chunk{{ID: id.New(), DocumentID: h.secret.ID, ContextID: h.context.ID, Content: "x"}}),
	} {
		if code := fault.CodeOf(err); code != fault.Forbidden && code != fault.NotFound {
			t.Errorf("a reader %s: %v", name, err)
		}
	}
	got(b.Store.DropShare(t.Context(), h.owner, n.ID))(t)
	h.is(t, b, "taken back", bob, false)
	h.is(t, b, "the owner", h.owner, true)
	_, err = b.Index.Chunk(t.Context(), bob, k.ID)
	wantFault(t, err, fault.NotFound)
	want(t, "visibility", got(b.Store.Context(t.Context(), h.owner, h.context.ID))(t).Visibility, "private")
}

func addedDocuments(t *testing.T, open Open) {
	b := open(t, store.Options{})
	h, bob := newShelf(t, b), person(t, b.Store)
	n := share(t, b, h.owner, sharing.Share{Kind: sharing.Context, ObjectID: h.context.ID, GranteeID: bob.UserID, Write: true})
	want(t, "to add to", got(b.Store.Context(t.Context(), bob, h.context.ID))(t).Opened, true)
	d := got(b.Store.PutDocument(t.Context(), bob, knowledge.Document{ContextID: h.context.ID, Path: "files/bob.txt"}))(t)
	need(t, b.Store.PutText(t.Context(), bob, d.ID, extract.Document{Text: "bobs"}))
	upsert(t, b, bob, d, "bobs passage")
	need(t, b.Store.SetDocument(t.Context(), bob, knowledge.Document{ID: d.ID, Status: knowledge.Ready, Chunks: 1}))
	want(t, "the owner finds it", hitsOf(t, b, h.owner, knowledge.Query{ContextIDs: []string{h.context.ID}, Text: "bobs"}), 1)
	_, err := b.Store.PutDocument(t.Context(), bob, knowledge.Document{ContextID: h.context.ID, Path: h.secret.Path})
	wantFault(t, err, fault.Conflict) // the place is the owner's
	for name, err := range map[string]error{
		"changes the owner's": b.Store.SetDocument(t.Context(), bob, knowledge.Document{ID: h.secret.ID, Status: knowledge.Failed}),
		"writes the owner's":  b.Store.PutText(t.Context(), bob, h.secret.ID, extract.Document{Text: "forged"}),
		"removes the owner's": b.Store.DeleteDocument(t.Context(), bob, h.secret.ID),
		"indexes the owner's": b.Index.Upsert(t.Context(), bob, []knowledge.Chunk{{ID: id.New(), DocumentID: h.secret.ID, ContextID: h.context.ID, Content: "x"}}),
		"deletes the context": b.Store.DeleteContext(t.Context(), bob, h.context.ID),
	} {
		if code := fault.CodeOf(err); code != fault.Forbidden && code != fault.NotFound {
			t.Errorf("who may add %s: %v", name, err)
		}
	}
	waiting := got(b.Store.PutDocument(t.Context(), bob, knowledge.Document{ContextID: h.context.ID, Path: "files/late.txt"}))(t)
	got(b.Store.DropShare(t.Context(), h.owner, n.ID))(t)
	wantFault(t, b.Store.SetDocument(t.Context(), bob, knowledge.Document{ID: waiting.ID, Status: knowledge.Ready}), fault.NotFound)
	late := got(b.Store.Document(t.Context(), h.owner, waiting.ID))(t)
	want(t, "what was being added", late.Status, knowledge.Failed)
	want(t, "what was added", got(b.Store.Document(t.Context(), h.owner, d.ID))(t).Status, knowledge.Ready)
}

func sharedSet(t *testing.T, open Open) {
	b := open(t, store.Options{})
	h, bob, eve := newShelf(t, b), person(t, b.Store), person(t, b.Store)
	n := newSet(t, b.Store, h.owner, "For Bob", h.secret.ID)
	in := knowledge.Query{ContextIDs: []string{h.context.ID}}
	named := func(ids ...string) knowledge.Query {
		return knowledge.Query{ContextIDs: in.ContextIDs, DocumentIDs: ids}
	}
	want(t, "found before", hitsOf(t, b, bob, named(h.secret.ID)), 0)
	s := share(t, b, h.owner, sharing.Share{Kind: sharing.Set, ObjectID: n.ID, GranteeID: bob.UserID})
	read := got(b.Store.Set(t.Context(), bob, n.ID))(t)
	listed, _, err := b.Store.ListSets(t.Context(), bob, "", 10)
	need(t, err)
	want(t, "sets listed", len(listed), 1)
	want(t, "documents of the set", fmt.Sprint(read.Documents), fmt.Sprint([]string{h.secret.ID}))
	want(t, "text", got(b.Store.Text(t.Context(), bob, h.secret.ID))(t).Text, "secret")
	want(t, "titles", len(got(b.Store.DocumentsByID(t.Context(), bob, []string{h.secret.ID, h.other.ID}))(t)), 1)
	want(t, "found in it", hitsOf(t, b, bob, named(h.secret.ID)), 1)
	want(t, "found beside it", hitsOf(t, b, bob, named(h.other.ID)), 0)
	want(t, "found with what is beside it", hitsOf(t, b, bob, named(h.secret.ID, h.other.ID)), 1)
	want(t, "found in its context", hitsOf(t, b, bob, in), 0)
	want(t, "found by another", hitsOf(t, b, eve, named(h.secret.ID)), 0)
	for name, err := range map[string]error{
		"another document": second(b.Store.Document(t.Context(), bob, h.other.ID)),
		"the context":      second(b.Store.Context(t.Context(), bob, h.context.ID)),
		"its documents":    thirdOf(b.Store.ListDocuments(t.Context(), bob, h.context.ID, "", 10)),
		"another's set":    second(b.Store.Set(t.Context(), eve, n.ID)),
	} {
		if fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	title := "taken"
	wantFault(t, second(b.Store.UpdateSet(t.Context(), bob, n.ID, knowledge.SetChange{Title: &title})), fault.NotFound)
	wantFault(t, b.Store.DeleteSet(t.Context(), bob, n.ID), fault.NotFound)
	// What others share is not made a set of one's own, and so not passed on.
	_, err = b.Store.CreateSet(t.Context(), bob, knowledge.Set{Title: "Mine", Documents: []string{h.secret.ID}})
	wantFault(t, err, fault.NotFound)
	got(b.Store.DropShare(t.Context(), h.owner, s.ID))(t)
	want(t, "found afterwards", hitsOf(t, b, bob, named(h.secret.ID)), 0)
	wantFault(t, second(b.Store.Text(t.Context(), bob, h.secret.ID)), fault.NotFound)
	wantFault(t, second(b.Store.Set(t.Context(), bob, n.ID)), fault.NotFound)
}

func thirdOf[A, B any](_ A, _ B, err error) error { return err }

func sharedArtifact(t *testing.T, open Open) {
	b := open(t, store.Options{})
	ada, bob, eve := person(t, b.Store), person(t, b.Store), person(t, b.Store)
	a := got(b.Store.CreateArtifact(t.Context(), ada, draft("default"), ""))(t)
	n := share(t, b, ada, sharing.Share{Kind: sharing.Artifact, ObjectID: a.ID, GranteeID: bob.UserID})
	want(t, "by its id", got(b.Store.Artifact(t.Context(), bob, a.ID))(t).Opened, false)
	want(t, "versions", len(got(b.Store.Versions(t.Context(), bob, a.ID))(t)), 1)
	wantFault(t, second(b.Store.Artifact(t.Context(), eve, a.ID)), fault.NotFound)
	wantFault(t, second(b.Store.ArtifactNamed(t.Context(), bob, a.Type, a.Name)), fault.NotFound)
	for shared, wanted := range map[bool]int{true: 1, false: 0} {
		list, _, err := b.Store.ListArtifacts(t.Context(), bob, artifacts.Filter{Shared: shared})
		need(t, err)
		want(t, fmt.Sprintf("listed with what is shared: %v", shared), len(list), wanted)
	}
	write := func(v identity.Viewer, base int) error {
		return second(b.Store.AppendVersion(t.Context(), v, a.ID, base, []byte(`{"kind":"workflow.chat","title":"x"}`), "user", ""))
	}
	wantFault(t, write(bob, 1), fault.Forbidden)
	again := share(t, b, ada, sharing.Share{Kind: sharing.Artifact, ObjectID: a.ID, GranteeID: bob.UserID, Write: true})
	want(t, "shared again", again.ID, n.ID)
	want(t, "opened", got(b.Store.Artifact(t.Context(), bob, a.ID))(t).Opened, true)
	need(t, write(bob, 1))
	now := got(b.Store.Artifact(t.Context(), ada, a.ID))(t)
	if now.Version != 2 || now.OwnerID != ada.UserID || now.Visibility != "shared" {
		t.Errorf("artifact = %+v", now)
	}
	got(b.Store.DropShare(t.Context(), ada, n.ID))(t)
	wantFault(t, second(b.Store.Artifact(t.Context(), bob, a.ID)), fault.NotFound)
	wantFault(t, second(b.Store.VersionOf(t.Context(), bob, a.ID, 1)), fault.NotFound)
	wantFault(t, write(bob, 2), fault.NotFound)
}

func sharedWithTenant(t *testing.T, open Open) {
	b := open(t, store.Options{})
	h, bob := newShelf(t, b), person(t, b.Store)
	u := got(b.Store.CreateUser(t.Context(), identity.User{ID: id.New(), Email: id.New() + "@example.org", Active: true, TenantID: "acme"}, identity.Credential{}))(t)
	abroad := u.Viewer("")
	n := share(t, b, h.owner, sharing.Share{Kind: sharing.Context, ObjectID: h.context.ID, TenantID: "default"})
	h.is(t, b, "of the tenant", bob, true)
	h.is(t, b, "of another", abroad, false)
	wantFault(t, second(b.Store.DropShare(t.Context(), bob, n.ID)), fault.NotFound)
	got(b.Store.DropShare(t.Context(), h.owner, n.ID))(t)
	h.is(t, b, "afterwards", bob, false)
}

func sharesOfOwners(t *testing.T, open Open) {
	b := open(t, store.Options{})
	h, bob, eve := newShelf(t, b), person(t, b.Store), person(t, b.Store)
	of := sharing.Share{Kind: sharing.Context, ObjectID: h.context.ID, GranteeID: eve.UserID}
	wantFault(t, second(b.Store.PutShare(t.Context(), bob, of)), fault.NotFound)
	wantFault(t, second(b.Store.PutShare(t.Context(), h.owner, sharing.Share{Kind: sharing.Context, ObjectID: id.New(), GranteeID: eve.UserID})), fault.NotFound)
	n := share(t, b, h.owner, sharing.Share{Kind: sharing.Context, ObjectID: h.context.ID, GranteeID: bob.UserID, Write: true})
	wantFault(t, second(b.Store.PutShare(t.Context(), bob, of)), fault.NotFound) // what is shared is not passed on
	wantFault(t, second(b.Store.DropShare(t.Context(), eve, n.ID)), fault.NotFound)
	for who, c := range map[string]struct {
		v        identity.Viewer
		received bool
		want     int
	}{
		"given by the owner": {h.owner, false, 1}, "received by the owner": {h.owner, true, 0}, "received": {bob, true, 1}, "given by a reader": {bob, false, 0}, "another": {eve, true, 0},
	} {
		list, _, err := b.Store.ListShares(t.Context(), c.v, sharing.Filter{Received: c.received})
		need(t, err)
		want(t, who, len(list), c.want)
		if len(list) == 1 && (list[0].Name != "Shelf" || list[0].Owner.ID != h.owner.UserID || list[0].Grantee.ID != bob.UserID || !list[0].Write) {
			t.Errorf("%s: %+v", who, list[0])
		}
	}
	got(b.Store.DropShare(t.Context(), bob, n.ID))(t) // whom alone it reaches may let go of it
	h.is(t, b, "who left", bob, false)
	adapter := draft("persona")
	adapter.Type = "adapter.lora"
	a := got(b.Store.CreateArtifact(t.Context(), h.owner, adapter, ""))(t)
	wantFault(t, second(b.Store.PutShare(t.Context(), h.owner, sharing.Share{Kind: sharing.Artifact, ObjectID: a.ID, GranteeID: bob.UserID})), fault.Invalid)
	errs := race(writers, func(int) error { return second(b.Store.PutShare(t.Context(), h.owner, of)) })
	want(t, "who share it at once", winners(t, errs, fault.Conflict), writers)
	list, _, err := b.Store.ListShares(t.Context(), h.owner, sharing.Filter{Kind: sharing.Context, ObjectID: h.context.ID})
	need(t, err)
	want(t, "shares of it", len(list), 1)
}

func foundPeople(t *testing.T, open Open) {
	b := open(t, store.Options{})
	me := person(t, b.Store)
	make := func(email, handle, tenant string, active bool) {
		t.Helper()
		got(b.Store.CreateUser(t.Context(), identity.User{ID: id.New(), Email: email, Handle: handle, TenantID: tenant, Active: active}, identity.Credential{}))(t)
	}
	make("ada@example.org", "ada", "default", true)
	make("bob@example.org", "twin", "default", true)
	make("eve@example.org", "twin", "default", true)
	make("gone@example.org", "gone", "default", false)
	make("far@example.org", "far", "acme", true)
	for exact, there := range map[string]bool{
		"ada@example.org": true, " ADA@example.org ": true, "ada": true, "bob@example.org": true,
		"twin": false, "gone@example.org": false, "gone": false, "far@example.org": false, "far": false,
		"ad": false, "ada@": false, "%": false, "": false, "@example.org": false, "Ada": false,
	} {
		_, err := b.Store.FindPerson(t.Context(), me, exact)
		if (err == nil) != there || err != nil && fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%q: %v", exact, err)
		}
	}
}

func sharesLeave(t *testing.T, open Open) {
	b := open(t, store.Options{})
	person(t, b.Store) // the first account administers, and stays
	h, bob, eve := newShelf(t, b), person(t, b.Store), person(t, b.Store)
	for _, who := range []identity.Viewer{bob, eve} {
		share(t, b, h.owner, sharing.Share{Kind: sharing.Context, ObjectID: h.context.ID, GranteeID: who.UserID})
	}
	got(b.Store.DeleteUser(t.Context(), bob.UserID))(t)
	list, _, err := b.Store.ListShares(t.Context(), h.owner, sharing.Filter{})
	need(t, err)
	want(t, "after who had it", len(list), 1)
	got(b.Store.DeleteUser(t.Context(), h.owner.UserID))(t)
	list, _, err = b.Store.ListShares(t.Context(), eve, sharing.Filter{Received: true})
	need(t, err)
	want(t, "after whose it was", len(list), 0)
	h.is(t, b, "after whose it was", eve, false)
}

// A run keeps the ids it opened with, and reads as its person each time.
func takenBackMeanwhile(t *testing.T, open Open) {
	b := open(t, store.Options{})
	h, bob := newShelf(t, b), person(t, b.Store)
	library := knowledge.NewLibrary(knowledge.Options{Contexts: b.Store, Documents: b.Store, Index: b.Index, Embedder: embed.Hash{}})
	set := newSet(t, b.Store, h.owner, "For Bob", h.secret.ID)
	for what, c := range map[string]struct {
		share sharing.Share
		ask   knowledge.Question
	}{
		"a context": {sharing.Share{Kind: sharing.Context, ObjectID: h.context.ID}, knowledge.Question{Text: "secret passage", ContextIDs: []string{h.context.ID}}},
		"a set":     {sharing.Share{Kind: sharing.Set, ObjectID: set.ID}, knowledge.Question{Text: "secret passage", DocumentIDs: []string{h.secret.ID}}},
	} {
		c.share.GranteeID = bob.UserID
		n := share(t, b, h.owner, c.share)
		f := got(library.Search(t.Context(), bob, c.ask))(t)
		if len(f.Passages) == 0 || f.Passages[0].DocumentID != h.secret.ID {
			t.Errorf("%s: found %+v", what, f.Passages)
		}
		got(b.Store.DropShare(t.Context(), h.owner, n.ID))(t)
		_, err := library.Search(t.Context(), bob, c.ask)
		wantFault(t, err, fault.NotFound)
	}
}

func foundContexts(t *testing.T, open Open) {
	b := open(t, store.Options{})
	v, other := person(t, b.Store), person(t, b.Store)
	for _, name := range []string{"Verträge Müller", "Vertrag Meier", "Notes"} {
		newContext(t, b.Store, v, name)
	}
	newContext(t, b.Store, other, "Verträge geheim")
	shared := newContext(t, b.Store, other, "Verträge für alle")
	share(t, b, other, sharing.Share{Kind: sharing.Context, ObjectID: shared.ID, GranteeID: v.UserID})
	for q, wanted := range map[string]int{"": 4, "vertrag": 3, "MULLER vertrage": 1, "geheim": 0, "alle": 1, "notes x": 0} {
		list, _, err := b.Store.FindContexts(t.Context(), v, q, "", 10)
		need(t, err)
		want(t, "found by "+q, len(list), wanted)
	}
	first, next, err := b.Store.FindContexts(t.Context(), v, "vertr", "", 2)
	need(t, err)
	rest, end, err := b.Store.FindContexts(t.Context(), v, "vertr", next, 2)
	need(t, err)
	if len(first) != 2 || len(rest) != 1 || end != "" || first[0].ID != shared.ID {
		t.Errorf("pages: %d and %d, then %q", len(first), len(rest), end)
	}
}

package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/store"
)

// SweepStore proves knowledge.SweepStore, and that an index reads of each context the
// encoder it is read with.
func SweepStore(t *testing.T, open Open) {
	t.Run("sources are everybody's, for the system only", func(t *testing.T) { sources(t, open) })
	t.Run("contexts are walked by id", func(t *testing.T) { contextsAfter(t, open) })
	t.Run("a search reads the encoder of the context", func(t *testing.T) { readsEncoder(t, open) })
	t.Run("what waits longest is known", func(t *testing.T) { oldestWaiting(t, open) })
}

func sources(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other := person(t, s), person(t, s)
	k := newContext(t, s, v, "c")
	need(t, s.AddSource(t.Context(), v, knowledge.Source{ContextID: k.ID, Path: "files/a"}))
	need(t, s.AddSource(t.Context(), v, knowledge.Source{ContextID: k.ID, Path: "files/a", Recursive: true}))
	wantFault(t, s.AddSource(t.Context(), other, knowledge.Source{ContextID: k.ID, Path: "files/b"}), fault.NotFound)
	_, err := s.Sources(t.Context(), v)
	wantFault(t, err, fault.Forbidden)
	list := got(s.Sources(t.Context(), identity.System()))(t)
	mine := fmt.Sprint([]knowledge.Source{{ContextID: k.ID, UserID: v.UserID, Path: "files/a", Recursive: true}})
	want(t, "sources", fmt.Sprint(list), mine)
	want(t, "my own", fmt.Sprint(got(s.SourcesOf(t.Context(), v, k.ID))(t)), mine)
	want(t, "another's", len(got(s.SourcesOf(t.Context(), other, k.ID))(t)), 0)
}

func contextsAfter(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	a, b := person(t, s), person(t, s)
	for _, v := range []identity.Viewer{a, b, a} {
		newContext(t, s, v, "c")
	}
	_, err := s.ContextsAfter(t.Context(), a, "", 2)
	wantFault(t, err, fault.Forbidden)
	seen := map[string]bool{}
	for after := ""; ; {
		page := got(s.ContextsAfter(t.Context(), identity.System(), after, 2))(t)
		if len(page) == 0 {
			break
		}
		for _, c := range page {
			seen[c.ID], after = true, c.ID
		}
	}
	want(t, "contexts", len(seen), 3)
}

// encoded are a document's chunks as one encoder made them.
func encoded(d knowledge.Document, encoder string, axis int, text string) []knowledge.Chunk {
	return []knowledge.Chunk{{
		ID: id.Derive(d.ID, "0", encoder), DocumentID: d.ID, ContextID: d.ContextID, Content: text, End: len(text),
		Encoder: encoder, Vector: direction(axis),
	}}
}

func readsEncoder(t *testing.T, open Open) {
	b := open(t, store.Options{})
	s, v := b.Store, person(t, b.Store)
	k := got(s.CreateContext(t.Context(), v, knowledge.Context{Name: "c", Encoder: "one", Meta: map[string]any{"kept": true}}))(t)
	d := newDocument(t, s, v, k.ID, "files/a.md")
	d.Status, d.Version = knowledge.Ready, "two/1/x"
	need(t, s.SetDocument(t.Context(), v, d))
	for i, encoder := range []string{"one", "two"} {
		need(t, b.Index.Upsert(t.Context(), v, encoded(d, encoder, i, "the harbour is open")))
	}
	for i, encoder := range []string{"one", "two"} {
		for name, q := range map[string]knowledge.Query{
			"words": {Text: "harbour"}, "vector": {Vector: direction(0)}, "both": {Text: "harbour", Vector: direction(1)},
		} {
			q.ContextIDs = []string{k.ID}
			hits := ask20(t, b, v, q)
			if len(hits) != 1 || hits[0].Chunk.Encoder != encoder {
				t.Errorf("%s read with %s found %+v", name, encoder, hits)
			}
		}
		h := got(s.Holdings(t.Context(), identity.System(), k.ID, encoder))(t)
		want(t, "holdings", fmt.Sprint(h), fmt.Sprint([]knowledge.Holding{{DocumentID: d.ID, UserID: v.UserID, Version: "two/1/x", Leftover: true}}))
		if i == 0 {
			need(t, s.SetEncoder(t.Context(), identity.System(), k.ID, "two"))
		}
	}
	after := got(s.Context(t.Context(), v, k.ID))(t)
	want(t, "the context", fmt.Sprintf("%s %v", after.Encoder, after.Meta), "two map[embedding_model:two kept:true]")
	wantFault(t, s.SetEncoder(t.Context(), v, k.ID, "one"), fault.Forbidden)
	need(t, b.Index.Prune(t.Context(), v, d.ID, []string{id.Derive(d.ID, "0", "two")}))
	h := got(s.Holdings(t.Context(), identity.System(), k.ID, "two"))(t)
	want(t, "left over", h[0].Leftover, false)
	if _, err := s.Holdings(t.Context(), v, k.ID, "two"); !errors.Is(err, fault.Forbidden) {
		t.Errorf("a person reads holdings: %v", err)
	}
}

func oldestWaiting(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	want(t, "with nothing", got(s.OldestWaiting(t.Context()))(t).IsZero(), true)
	k := newContext(t, s, v, "c")
	since := c.now()
	d := newDocument(t, s, v, k.ID, "files/a.md")
	c.add(time.Hour)
	newDocument(t, s, v, k.ID, "files/b.md")
	want(t, "oldest", got(s.OldestWaiting(t.Context()))(t).Equal(since), true)
	d.Status = knowledge.Ready
	need(t, s.SetDocument(t.Context(), v, d))
	want(t, "the next", got(s.OldestWaiting(t.Context()))(t).Equal(c.now()), true)
}

package storetest

import (
	"fmt"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/store"
)

// Sets proves knowledge.Sets and knowledge.DocumentTitles.
func Sets(t *testing.T, open Open) {
	t.Run("a set keeps its documents in order, each once", func(t *testing.T) { setOrder(t, open) })
	t.Run("a document that is deleted leaves its sets", func(t *testing.T) { setLoses(t, open) })
	t.Run("sets are listed latest first, in pages", func(t *testing.T) { listSets(t, open) })
	t.Run("what is no set is refused", func(t *testing.T) { badSets(t, open) })
	t.Run("a person has so many sets", func(t *testing.T) { manySets(t, open) })
	t.Run("own documents are found by title and by id", func(t *testing.T) { findTitles(t, open) })
	t.Run("a title a person gave stays", func(t *testing.T) { renamed(t, open) })
}

func newSet(t testing.TB, s *store.Store, v identity.Viewer, title string, documents ...string) knowledge.Set {
	t.Helper()
	return got(s.CreateSet(t.Context(), v, knowledge.Set{Title: title, Documents: documents}))(t)
}

// bookcase is a person with documents 0 to n-1.
func bookcase(t testing.TB, s *store.Store, n int) (v identity.Viewer, ids []string) {
	v = person(t, s)
	k := newContext(t, s, v, "shelf")
	for i := range n {
		ids = append(ids, newDocument(t, s, v, k.ID, fmt.Sprint("files/", i, ".pdf")).ID)
	}
	return v, ids
}

func setOrder(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, ids := bookcase(t, s, 3)
	n := newSet(t, s, v, "  Laws ", ids[2], ids[0], strings.ToUpper(ids[2]))
	want(t, "stored", fmt.Sprintf("%+v", got(s.Set(t.Context(), v, n.ID))(t)), fmt.Sprintf("%+v", n))
	want(t, "title", n.Title, "Laws")
	wantLines(t, n.Documents, []string{ids[2], ids[0]})
	title, order := "Rules", []string{ids[1], ids[2]}
	changed := got(s.UpdateSet(t.Context(), v, n.ID, knowledge.SetChange{Title: &title}))(t)
	wantLines(t, changed.Documents, n.Documents)
	got(s.UpdateSet(t.Context(), v, n.ID, knowledge.SetChange{Documents: &order}))(t)
	n = got(s.Set(t.Context(), v, n.ID))(t)
	want(t, "title", n.Title, "Rules")
	wantLines(t, n.Documents, order)
	got(s.UpdateSet(t.Context(), v, n.ID, knowledge.SetChange{Documents: &[]string{}}))(t)
	want(t, "emptied", len(got(s.Set(t.Context(), v, n.ID))(t).Documents), 0)
	need(t, s.DeleteSet(t.Context(), v, n.ID))
	wantFault(t, s.DeleteSet(t.Context(), v, n.ID), fault.NotFound)
	got(s.Document(t.Context(), v, ids[1]))(t)
}

func setLoses(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, ids := bookcase(t, s, 2)
	n := newSet(t, s, v, "Laws", ids...)
	need(t, s.DeleteDocument(t.Context(), v, ids[0]))
	wantLines(t, got(s.Set(t.Context(), v, n.ID))(t).Documents, ids[1:])
	wantFault(t, second(s.UpdateSet(t.Context(), v, n.ID, knowledge.SetChange{Documents: &ids})), fault.NotFound)
	wantLines(t, got(s.Set(t.Context(), v, n.ID))(t).Documents, ids[1:])
}

func second[T any](_ T, err error) error { return err }

func listSets(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, ids := bookcase(t, s, 1)
	var made []string
	for i := range 5 {
		c.add(1e9)
		made = append(made, newSet(t, s, v, fmt.Sprint("set ", i), ids...).ID)
	}
	var titles []string
	for cursor, more := "", true; more; more = cursor != "" {
		page, next, err := s.ListSets(t.Context(), v, cursor, 2)
		need(t, err)
		for _, n := range page {
			titles = append(titles, fmt.Sprint(n.Title, " ", len(n.Documents)))
		}
		cursor = next
	}
	wantLines(t, titles, []string{"set 4 1", "set 3 1", "set 2 1", "set 1 1", "set 0 1"})
	found := got(s.SetsByID(t.Context(), v, []string{made[3], "no id", id.New(), made[1], made[3]}))(t)
	want(t, "found", len(found), 2)
	wantLines(t, []string{found[0].Title, found[1].Title}, []string{"set 3", "set 1"})
}

func badSets(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, ids := bookcase(t, s, 1)
	_, foreign := bookcase(t, s, 1)
	many := make([]string, knowledge.MaxSetDocuments+1)
	for i := range many {
		many[i] = id.New()
	}
	for what, try := range map[string]struct {
		set  knowledge.Set
		code fault.Code
	}{
		"no title":           {knowledge.Set{Title: " \t", Documents: ids}, fault.Invalid},
		"a long title":       {knowledge.Set{Title: strings.Repeat("ä", knowledge.MaxTitle+1)}, fault.Invalid},
		"two lines":          {knowledge.Set{Title: "a\nb"}, fault.Invalid},
		"two lines, unseen":  {knowledge.Set{Title: "a\u2028b"}, fault.Invalid},
		"a control sign":     {knowledge.Set{Title: "a\x07b"}, fault.Invalid},
		"nothing to see":     {knowledge.Set{Title: "\u200b\u3164 \u202e"}, fault.Invalid},
		"no text":            {knowledge.Set{Title: "a\xff"}, fault.Invalid},
		"no id":              {knowledge.Set{Title: "a", Documents: []string{"x"}}, fault.Invalid},
		"too many":           {knowledge.Set{Title: "a", Documents: many}, fault.Invalid},
		"another's document": {knowledge.Set{Title: "a", Documents: foreign}, fault.NotFound},
		"nobody's document":  {knowledge.Set{Title: "a", Documents: many[:1]}, fault.NotFound},
	} {
		t.Run(what, func(t *testing.T) { wantFault(t, second(s.CreateSet(t.Context(), v, try.set)), try.code) })
	}
	list, _, err := s.ListSets(t.Context(), v, "", 10)
	need(t, err)
	want(t, "sets that were refused", len(list), 0)
	newSet(t, s, v, strings.Repeat("ä", knowledge.MaxTitle), ids...)
	want(t, "turned around", newSet(t, s, v, "\u202eexe.law\u202c שלום").Title, "exe.law שלום")
}

func manySets(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, _ := bookcase(t, s, 0)
	for range knowledge.MaxSets - 2 {
		newSet(t, s, v, "a")
	}
	errs := race(8, func(int) error { return second(s.CreateSet(t.Context(), v, knowledge.Set{Title: "b"})) })
	want(t, "winners", winners(t, errs, fault.Conflict), 2)
}

func findTitles(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	one, two := newContext(t, s, v, "one"), newContext(t, s, v, "two")
	put := func(k knowledge.Context, path, title string) string {
		c.add(1e9)
		return got(s.PutDocument(t.Context(), v, knowledge.Document{ContextID: k.ID, Path: path, Title: title}))(t).ID
	}
	first := put(one, "files/a.pdf", "Prüfbericht Süd 2024")
	put(one, "files/b.pdf", "Travel policy")
	last := put(two, "files/deep/Travel notes.md", "")
	titles := func(q string) (list []string) {
		for cursor, more := "", true; more; more = cursor != "" {
			page, next, err := s.FindDocuments(t.Context(), v, q, cursor, 1)
			need(t, err)
			for _, d := range page {
				list = append(list, d.Title)
			}
			cursor = next
		}
		return list
	}
	wantLines(t, titles(""), []string{"Travel notes.md", "Travel policy", "Prüfbericht Süd 2024"})
	wantLines(t, titles("TRAVEL"), []string{"Travel notes.md", "Travel policy"})
	wantLines(t, titles("sud pruf"), []string{"Prüfbericht Süd 2024"})
	wantLines(t, titles("policy b.pdf"), []string{"Travel policy"}) // by the file, not by its folder
	wantLines(t, titles("files"), nil)
	wantLines(t, titles("100% _"), nil)
	own := got(s.OwnDocuments(t.Context(), v, 2))(t)
	wantLines(t, []string{own[0].Title, own[1].Title}, []string{"Travel notes.md", "Travel policy"})
	byID := got(s.DocumentsByID(t.Context(), v, []string{first, "x", last, id.New(), first}))(t)
	want(t, "by id", len(byID), 2)
	wantLines(t, []string{byID[0].ID, byID[1].ID}, []string{first, last})
	want(t, "context", byID[1].ContextID, two.ID)
	_, _, err := s.FindDocuments(t.Context(), v, "", "no cursor", 1)
	wantFault(t, err, fault.Invalid)
}

func renamed(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, ids := bookcase(t, s, 1)
	d := got(s.RenameDocument(t.Context(), v, ids[0], " The law "))(t)
	want(t, "title", d.Title, "The law")
	d.Title, d.Status = "from the file", knowledge.Ready
	need(t, s.SetDocument(t.Context(), v, d))
	again := got(s.PutDocument(t.Context(), v, d))(t)
	want(t, "title after reading it again", again.Title, "The law")
	wantFault(t, second(s.RenameDocument(t.Context(), v, ids[0], "")), fault.Invalid)
	wantFault(t, second(s.RenameDocument(t.Context(), v, id.New(), "x")), fault.NotFound)
}

package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/store"
)

// Index proves knowledge.Index. Backends rank differently; what they share is
// that the right passage is first and nothing leaks.
func Index(t *testing.T, open Open) {
	t.Run("a passage is found by its words and by its vector", func(t *testing.T) { findsBoth(t, open) })
	t.Run("words are stemmed and headings and titles count", func(t *testing.T) { stems(t, open) })
	t.Run("a word is found by its beginning", func(t *testing.T) { wordBeginnings(t, open) })
	t.Run("nothing a person writes is syntax", func(t *testing.T) { syntax(t, open) })
	t.Run("a search stays in its contexts and documents", func(t *testing.T) { scopes(t, open) })
	t.Run("writing again changes nothing, and a changed chunk is found anew", func(t *testing.T) { upsertAgain(t, open) })
	t.Run("pruning keeps what is named", func(t *testing.T) { prune(t, open) })
	t.Run("vectors of two encoders live side by side", func(t *testing.T) { twoEncoders(t, open) })
	t.Run("searches and writers go on together", func(t *testing.T) { searchWhileWriting(t, open) })
	t.Run("recent chunks are listed", func(t *testing.T) { listChunks(t, open) })
}

func chunkID(d knowledge.Document, i int) string { return id.Derive(d.ID, fmt.Sprint(i), "hash-1") }

// direction is a unit vector along one of eight axes.
func direction(axis int) []float32 {
	v := make([]float32, 8)
	v[axis%8] = 1
	return v
}

func chunksOf(d knowledge.Document, texts ...string) []knowledge.Chunk {
	var list []knowledge.Chunk
	for i, text := range texts {
		list = append(list, knowledge.Chunk{
			ID: chunkID(d, i), DocumentID: d.ID, ContextID: d.ContextID, Index: i, Content: text,
			Heading: "Chapter › Part", Page: i + 1, Start: i * 10, End: i*10 + len(text), Vector: direction(i),
		})
	}
	return list
}

func upsert(t testing.TB, b Backend, v identity.Viewer, d knowledge.Document, texts ...string) {
	t.Helper()
	need(t, b.Index.Upsert(t.Context(), v, chunksOf(d, texts...)))
}

func ask20(t testing.TB, b Backend, v identity.Viewer, q knowledge.Query) []knowledge.Hit {
	t.Helper()
	q.Limit = 20
	return got(b.Index.Search(t.Context(), v, q))(t)
}

// search returns the contents found by words alone.
func search(t testing.TB, b Backend, v identity.Viewer, contextID, text string) (contents []string) {
	t.Helper()
	for _, h := range ask20(t, b, v, knowledge.Query{ContextIDs: []string{contextID}, Text: text}) {
		contents = append(contents, h.Chunk.Content)
	}
	return contents
}

// library is a context with one document of these texts.
func library(t testing.TB, open Open, texts ...string) (Backend, identity.Viewer, knowledge.Document) {
	t.Helper()
	b := open(t, store.Options{})
	v := person(t, b.Store)
	d := newDocument(t, b.Store, v, newContext(t, b.Store, v, "c").ID, "files/handbook.md")
	upsert(t, b, v, d, texts...)
	return b, v, d
}

func findsBoth(t *testing.T, open Open) {
	b, v, d := library(t, open, "The lease ends in May.", "Rent is due monthly.", "Pets are welcome.")
	hits := ask20(t, b, v, knowledge.Query{ContextIDs: []string{d.ContextID}, Text: "When does the lease end?", Vector: direction(1)})
	if len(hits) != 3 {
		t.Fatalf("%d hits, want all three by their vectors", len(hits))
	}
	byText, byVector := hits[slices.IndexFunc(hits, func(h knowledge.Hit) bool { return h.TextRank == 1 })], hits[slices.IndexFunc(hits, func(h knowledge.Hit) bool { return h.VectorRank == 1 })]
	c := chunksOf(d, "The lease ends in May.")[0]
	c.Vector, byText.Chunk.Vector = nil, nil
	want(t, "by text", fmt.Sprintf("%+v", byText.Chunk), fmt.Sprintf("%+v", c))
	if byText.TextScore <= 0 {
		t.Errorf("the score of a match is %v, want more than zero", byText.TextScore)
	}
	want(t, "by vector", byVector.Chunk.Content, "Rent is due monthly.")
	if byVector.Cosine < 0.999 || byVector.Cosine > 1.001 {
		t.Errorf("the cosine of equal vectors is %v", byVector.Cosine)
	}
	ranks := map[int]bool{}
	for _, h := range hits {
		ranks[h.VectorRank] = true
	}
	want(t, "ranks", fmt.Sprint(ranks), "map[1:true 2:true 3:true]")
}

func stems(t *testing.T, open Open) {
	b, v, d := library(t, open, "Tenants are terminating contracts.", "Something else entirely.")
	wantLines(t, search(t, b, v, d.ContextID, "contract termination")[:1], []string{"Tenants are terminating contracts."})
	want(t, "by heading", len(search(t, b, v, d.ContextID, "chapters")), 2)
	want(t, "by title", len(search(t, b, v, d.ContextID, "handbook")), 2)
	want(t, "by stop words alone", len(search(t, b, v, d.ContextID, "are the")), 1)
	want(t, "by nothing", len(search(t, b, v, d.ContextID, " ?! ")), 0)
}

func wordBeginnings(t *testing.T, open Open) {
	b, v, d := library(t, open, "Die Kündigungsfrist beträgt drei Monate.", "The compressor hums.", "Other people compress files.")
	begins := func(start string, documents ...string) (contents []string) {
		for _, h := range ask20(t, b, v, knowledge.Query{ContextIDs: []string{d.ContextID}, DocumentIDs: documents, Text: "hums", Begins: start}) {
			contents = append(contents, h.Chunk.Content)
		}
		slices.Sort(contents)
		return contents
	}
	wantLines(t, begins("kündigungsf"), []string{"Die Kündigungsfrist beträgt drei Monate."})
	wantLines(t, begins("compre"), []string{"Other people compress files.", "The compressor hums."})
	wantLines(t, begins("compre", d.ID), []string{"Other people compress files.", "The compressor hums."})
	for _, none := range []string{"ompress", "zzz", `"`, "* OR hums", "'", ":*"} {
		if found := begins(none); len(found) > 0 && !strings.Contains(none, "hums") {
			t.Errorf("%q begins %v", none, found)
		}
	}
	if found := ask20(t, b, person(t, b.Store), knowledge.Query{ContextIDs: []string{d.ContextID}, Begins: "compre"}); len(found) > 0 {
		t.Errorf("somebody else finds %v", found)
	}
}

func syntax(t *testing.T, open Open) {
	b, v, d := library(t, open, "alpha beta NEAR gamma", `say "hello"`)
	for _, text := range []string{
		`"`, `"alpha`, `alpha"beta`, "alpha OR", "NEAR(alpha beta)", "AND", "NOT alpha", "scope : x", "{content} : alpha", "alpha*", "^alpha",
		"-alpha", "(alpha", "alpha)", "'; DROP TABLE message; --", "\x00alpha", "alpha\xff", strings.Repeat("alpha beta9 ", 5000), "😀 alpha", "%_",
	} {
		if _, err := b.Index.Search(t.Context(), v, knowledge.Query{ContextIDs: []string{d.ContextID}, Text: text, Limit: 5}); err != nil {
			t.Errorf("searching for %.40q: %v", text, err)
		}
	}
	want(t, "NOT is a word", len(search(t, b, v, d.ContextID, "NOT alpha")), 1)
}

func scopes(t *testing.T, open Open) {
	b := open(t, store.Options{})
	v, other := person(t, b.Store), person(t, b.Store)
	mine, second, foreign := newContext(t, b.Store, v, "1"), newContext(t, b.Store, v, "2"), newContext(t, b.Store, other, "3")
	d1, d2 := newDocument(t, b.Store, v, mine.ID, "a"), newDocument(t, b.Store, v, mine.ID, "b")
	d3, d4 := newDocument(t, b.Store, v, second.ID, "a"), newDocument(t, b.Store, other, foreign.ID, "a")
	for d, text := range map[knowledge.Document]string{d1: "lion one", d2: "lion two", d3: "lion three"} {
		upsert(t, b, v, d, text)
	}
	upsert(t, b, other, d4, "lion four")
	for name, test := range map[string]struct {
		q    knowledge.Query
		want []string
	}{
		"one context":          {knowledge.Query{ContextIDs: []string{mine.ID}}, []string{"lion one", "lion two"}},
		"two contexts":         {knowledge.Query{ContextIDs: []string{mine.ID, second.ID}}, []string{"lion one", "lion three", "lion two"}},
		"one document":         {knowledge.Query{ContextIDs: []string{mine.ID}, DocumentIDs: []string{d2.ID}}, []string{"lion two"}},
		"document elsewhere":   {knowledge.Query{ContextIDs: []string{mine.ID}, DocumentIDs: []string{d3.ID}}, nil},
		"foreign context":      {knowledge.Query{ContextIDs: []string{mine.ID, foreign.ID}}, []string{"lion one", "lion two"}},
		"foreign document":     {knowledge.Query{ContextIDs: []string{mine.ID}, DocumentIDs: []string{d4.ID}}, nil},
		"no context":           {knowledge.Query{}, nil},
		"only foreign context": {knowledge.Query{ContextIDs: []string{foreign.ID}}, nil},
	} {
		byWords, byVector := test.q, test.q
		byWords.Text, byVector.Vector = "lion", direction(0)
		for how, q := range map[string]knowledge.Query{"words": byWords, "vector": byVector} {
			var found []string
			for _, h := range ask20(t, b, v, q) {
				found = append(found, h.Chunk.Content)
			}
			slices.Sort(found)
			if !slices.Equal(found, test.want) {
				t.Errorf("%s by %s: found %v, want %v", name, how, found, test.want)
			}
		}
	}
	wantFault(t, b.Index.Upsert(t.Context(), other, chunksOf(d1, "intruder")), fault.NotFound)
	wantFault(t, b.Index.Prune(t.Context(), other, d1.ID, nil), fault.NotFound)
	_, err := b.Index.Chunk(t.Context(), other, chunkID(d1, 0))
	wantFault(t, err, fault.NotFound)
	_, err = b.Index.Chunks(t.Context(), other, mine.ID, 5)
	wantFault(t, err, fault.NotFound)
}

func upsertAgain(t *testing.T, open Open) {
	b, v, d := library(t, open, "the first text", "a second one")
	upsert(t, b, v, d, "the first text", "a second one")
	want(t, "chunks", len(got(b.Index.Chunks(t.Context(), v, d.ContextID, 50))(t)), 2)
	nearest := func(axis int) string {
		return ask20(t, b, v, knowledge.Query{ContextIDs: []string{d.ContextID}, Vector: direction(axis)})[0].Chunk.Content
	}
	want(t, "nearest", nearest(1), "a second one")
	changed := chunksOf(d, "the first text", "an elephant instead")
	changed[1].Vector = direction(5)
	need(t, b.Index.Upsert(t.Context(), v, changed))
	want(t, "by old words", len(search(t, b, v, d.ContextID, "second")), 0)
	wantLines(t, search(t, b, v, d.ContextID, "elephants"), []string{"an elephant instead"})
	want(t, "nearest", nearest(5), "an elephant instead")
	want(t, "chunks", len(got(b.Index.Chunks(t.Context(), v, d.ContextID, 50))(t)), 2)
}

func prune(t *testing.T, open Open) {
	var texts []string
	for i := range 120 {
		texts = append(texts, fmt.Sprint("wolf ", i))
	}
	b, v, d := library(t, open, texts...)
	want(t, "before", len(ask20(t, b, v, knowledge.Query{ContextIDs: []string{d.ContextID}, Vector: direction(0)})), 20)
	need(t, b.Index.Prune(t.Context(), v, d.ID, []string{chunkID(d, 3), chunkID(d, 119)}))
	found := search(t, b, v, d.ContextID, "wolf")
	slices.Sort(found)
	wantLines(t, found, []string{"wolf 119", "wolf 3"})
	want(t, "by vector", len(ask20(t, b, v, knowledge.Query{ContextIDs: []string{d.ContextID}, Vector: direction(0)})), 2)
	need(t, b.Index.Prune(t.Context(), v, d.ID, nil))
	want(t, "left", len(got(b.Index.Chunks(t.Context(), v, d.ContextID, 50))(t)), 0)
}

func twoEncoders(t *testing.T, open Open) {
	b, v, d := library(t, open, "old encoder")
	c := chunksOf(d, "new encoder")[0]
	c.ID, c.Vector = id.Derive(d.ID, "0", "hash-2"), []float32{0, 3, 4}
	need(t, b.Index.Upsert(t.Context(), v, []knowledge.Chunk{c}))
	hits := ask20(t, b, v, knowledge.Query{ContextIDs: []string{d.ContextID}, Vector: []float32{0, 6, 8}})
	if len(hits) != 1 || hits[0].Chunk.ID != c.ID || hits[0].Cosine < 0.999 {
		t.Errorf("found %+v, want the new chunk alone", hits)
	}
	want(t, "by the old encoder", ask20(t, b, v, knowledge.Query{ContextIDs: []string{d.ContextID}, Vector: direction(0)})[0].Chunk.Content, "old encoder")
}

func searchWhileWriting(t *testing.T, open Open) {
	b, v, d := library(t, open, "tiger zero")
	errs := race(8, func(i int) error {
		for n := range 5 {
			if err := writeSearchDelete(t, b, v, d.ContextID, fmt.Sprint("files/", i, n), n%2 == 0); err != nil {
				return err
			}
		}
		return nil
	})
	need(t, errors.Join(errs...))
	want(t, "left", len(got(b.Index.Search(t.Context(), v, knowledge.Query{ContextIDs: []string{d.ContextID}, Vector: direction(0), Limit: 1000}))(t)), 1+8*2*2)
}

// writeSearchDelete writes a document of two chunks, must find both at once,
// and deletes it again when told.
func writeSearchDelete(t *testing.T, b Backend, v identity.Viewer, contextID, path string, remove bool) error {
	d, err := b.Store.PutDocument(t.Context(), v, knowledge.Document{ContextID: contextID, Path: path})
	if err != nil {
		return err
	}
	if err := b.Index.Upsert(t.Context(), v, chunksOf(d, "tiger one", "tiger two")); err != nil {
		return err
	}
	hits, err := b.Index.Search(t.Context(), v, knowledge.Query{ContextIDs: []string{contextID}, DocumentIDs: []string{d.ID}, Text: "tiger", Vector: direction(0), Limit: 5})
	if err != nil {
		return err
	}
	if len(hits) != 2 {
		return fmt.Errorf("%d hits right after writing, want 2", len(hits))
	}
	if !remove {
		return nil
	}
	return b.Store.DeleteDocument(t.Context(), v, d.ID)
}

func listChunks(t *testing.T, open Open) {
	b, v, d := library(t, open, "one", "two", "three")
	var contents []string
	for _, c := range got(b.Index.Chunks(t.Context(), v, d.ContextID, 2))(t) {
		contents = append(contents, c.Content)
	}
	wantLines(t, contents, []string{"three", "two"})
	want(t, "by id", got(b.Index.Chunk(t.Context(), v, chunkID(d, 1)))(t).Content, "two")
}

package sqlite

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/store"
)

// indexFixture is an index with one owner's contexts.
type indexFixture struct {
	t  *testing.T
	db *DB
	s  *store.Store
	x  *Index
	v  identity.Viewer
}

func newIndexFixture(t *testing.T, o IndexOptions) indexFixture {
	t.Helper()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "db"), Options{Quiet: time.Millisecond, sync: "off"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := store.New(db, store.Options{})
	return indexFixture{t, db, s, NewIndex(db, o), user(t, s)}
}

// fill makes a context of n chunks with the text and vector of their number.
func (s indexFixture) fill(n int, text func(int) string, vector func(int) []float32) string {
	s.t.Helper()
	k, err := s.s.CreateContext(s.t.Context(), s.v, knowledge.Context{Name: "c"})
	if err != nil {
		s.t.Fatal(err)
	}
	d, err := s.s.PutDocument(s.t.Context(), s.v, knowledge.Document{ContextID: k.ID, Path: "files/d"})
	if err != nil {
		s.t.Fatal(err)
	}
	var list []knowledge.Chunk
	for i := range n {
		list = append(list, knowledge.Chunk{ID: id.Derive(d.ID, fmt.Sprint(i)), DocumentID: d.ID, ContextID: k.ID, Index: i, Content: text(i), Vector: vector(i)})
	}
	if err := s.x.Upsert(s.t.Context(), s.v, list); err != nil {
		s.t.Fatal(err)
	}
	return k.ID
}

func (s indexFixture) search(q knowledge.Query) []string {
	s.t.Helper()
	q.Limit = 3
	hits, err := s.x.Search(s.t.Context(), s.v, q)
	if err != nil {
		s.t.Fatal(err)
	}
	var contents []string
	for _, h := range hits {
		contents = append(contents, h.Chunk.Content)
	}
	return contents
}

func none(int) []float32 { return nil }

// around is the n-th of a hundred directions of a circle.
func around(n int) []float32 {
	sin, cos := math.Sincos(float64(n) * 2 * math.Pi / 100)
	return []float32{float32(cos), float32(sin)}
}

func TestInALargeIndexRareWordsDecide(t *testing.T) {
	t.Parallel()
	s := newIndexFixture(t, IndexOptions{})
	s.x.words.common = 20
	c := s.fill(300, func(i int) string {
		switch {
		case i == 7:
			return "the common seldom word"
		case i%100 == 8:
			return "a common frequent word both"
		case i%2 == 0:
			return "a common word"
		}
		return "a frequent word"
	}, none)
	for text, want := range map[string][]string{
		"common seldom":         {"the common seldom word"},
		"common frequent":       {"a common frequent word both"}, // both are common: chunks that hold both
		"common frequent words": {"a common frequent word both"},
	} {
		if got := s.search(knowledge.Query{ContextIDs: []string{c}, Text: text}); len(got) == 0 || got[0] != want[0] {
			t.Errorf("%s: found %v, want %v first", text, got, want)
		}
	}
	if got := s.search(knowledge.Query{ContextIDs: []string{c}, Text: "common"}); len(got) != 3 {
		t.Errorf("one common word alone: found %v", got)
	}
	if got := s.search(knowledge.Query{ContextIDs: []string{c}, Text: "common frequent nowhere"}); len(got) == 0 {
		t.Error("a word that is nowhere hides what the others would find")
	}
}

func TestVectorsStayWithinTheirBytesAndAnswersStayRight(t *testing.T) {
	t.Parallel()
	s := newIndexFixture(t, IndexOptions{VectorBytes: 5000})
	var contexts []string
	for c := range 6 {
		contexts = append(contexts, s.fill(100, func(i int) string { return fmt.Sprint(c, ":", i) }, around))
	}
	for range 2 {
		for c, context := range contexts {
			got := s.search(knowledge.Query{ContextIDs: []string{context}, Vector: around(42)})
			slices.Sort(got)
			if want := fmt.Sprintf("[%d:41 %d:42 %d:43]", c, c, c); fmt.Sprint(got) != want {
				t.Errorf("found %v, want %s", got, want)
			}
			if held := s.x.vectors.bytes; held > 5000 {
				t.Errorf("%d bytes are kept, the bound is 5000", held)
			}
		}
	}
	all := s.search(knowledge.Query{ContextIDs: contexts, Vector: around(10)})
	if len(all) != 3 {
		t.Errorf("over all contexts, more than fit at once: %v", all)
	}
}

func TestDotAndUnit(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		a, b, want := make([]float32, n), make([]float32, n), float32(0)
		for i := range n {
			a[i], b[i] = float32(i), float32(2*i+1)
			want += a[i] * b[i]
		}
		if got := dot(a, b); got != want {
			t.Errorf("of %d numbers: %v, want %v", n, got, want)
		}
	}
	if v := unpack(nil, pack([]float32{1.5, -2})); !slices.Equal(v, []float32{1.5, -2}) {
		t.Errorf("unpacked %v", v)
	}
}

func TestTheLogIsFoldedInWhenNobodyWrites(t *testing.T) {
	t.Parallel()
	s := newIndexFixture(t, IndexOptions{})
	s.fill(50, func(int) string { return "text" }, none)
	deadline := time.Now().Add(20 * time.Second)
	for size := int64(1); size > 0; {
		info, err := os.Stat(s.db.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		if size = info.Size(); size > 0 && time.Now().After(deadline) {
			t.Fatalf("the log still has %d bytes", size)
		}
		time.Sleep(time.Millisecond) // a file's size tells nobody when it changes
	}
}

package sqlite

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/store"
)

// corpus makes chunks of words drawn as people use them: few often, most rarely.
type corpus struct {
	random *rand.Rand
	zipf   *rand.Zipf
}

func newCorpus() corpus {
	r := rand.New(rand.NewPCG(1, 2))
	return corpus{r, rand.NewZipf(r, 1.1, 4, 30_000)}
}

func (c corpus) words(n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%dx ", c.zipf.Uint64())
	}
	return b.String()
}

func (c corpus) vector() []float32 {
	v := make([]float32, 64)
	for i := range v {
		v[i] = float32(c.random.NormFloat64())
	}
	return v
}

// BenchmarkSearch searches one context of 100,000 chunks, and one of 1,000
// beside it, by words and vector together.
func BenchmarkSearch(b *testing.B) {
	db, err := Open(b.Context(), filepath.Join(b.TempDir(), "db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s, x, c := store.New(db, store.Options{}), NewIndex(db, IndexOptions{}), newCorpus()
	v := user(b, s)
	start := time.Now()
	large := fill(b, s, x, v, c, 100_000)
	b.Logf("100,000 chunks indexed in %v", time.Since(start))
	small := fill(b, s, x, v, c, 1_000)
	for _, context := range []struct{ name, id string }{{"100000", large}, {"1000", small}} {
		for _, words := range []int{2, 6, 12} {
			b.Run(fmt.Sprintf("%s/%dwords", context.name, words), func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					q := knowledge.Query{ContextIDs: []string{context.id}, Text: c.words(words), Vector: c.vector(), Limit: 20}
					start := time.Now()
					if _, err := x.Search(b.Context(), v, q); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(start))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			})
		}
	}
}

func fill(b testing.TB, s *store.Store, x *Index, v identity.Viewer, c corpus, n int) string {
	k, err := s.CreateContext(b.Context(), v, knowledge.Context{Name: "c"})
	if err != nil {
		b.Fatal(err)
	}
	const each = 200
	for d := range n / each {
		doc, err := s.PutDocument(b.Context(), v, knowledge.Document{ContextID: k.ID, Path: fmt.Sprint("files/", d), Title: c.words(3)})
		if err != nil {
			b.Fatal(err)
		}
		var chunks []knowledge.Chunk
		for i := range each {
			chunks = append(chunks, knowledge.Chunk{
				ID: id.Derive(doc.ID, fmt.Sprint(i)), DocumentID: doc.ID, ContextID: k.ID,
				Index: i, Content: c.words(200), Heading: c.words(2), End: 10, Vector: c.vector(),
			})
		}
		if err := x.Upsert(b.Context(), v, chunks); err != nil {
			b.Fatal(err)
		}
	}
	return k.ID
}

package knowledge_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"liminal/internal/embed"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
	"liminal/internal/knowledge/extract/extracttest"
)

// bookPages is how long a book must be that is read in without trouble.
const bookPages = 300

// book is a PDF of so many pages, each with a running head, its number, prose,
// and one sentence that stands nowhere else.
func book(pages int) []byte {
	objects := []extracttest.Object{"<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"}
	var kids strings.Builder
	for n := 1; n <= pages; n++ {
		var text strings.Builder
		text.WriteString("BT /F1 10 Tf 13 TL 72 760 Td (Handbook of the waterworks) Tj T* T* ")
		if n%10 == 1 {
			fmt.Fprintf(&text, "(%d. Hall number %d) Tj T* T* ", n/10+1, n/10+1)
		}
		for line := range 38 {
			fmt.Fprintf(&text, "(The %s of the works is looked after by shift %d, which writes every reading of day %d down.) Tj T* ",
				[]string{"pump", "filter", "basin", "gauge", "gate"}[(n+line)%5], line%4+1, (n*7+line)%365)
			if line == 20 {
				text.WriteString("(" + fact(n) + ") Tj T* ")
			}
		}
		fmt.Fprintf(&text, "T* (%d) Tj ET", n)
		at := len(objects) + 1
		fmt.Fprintf(&kids, "%d 0 R ", at)
		packed := extracttest.Deflate(text.String())
		objects = append(objects,
			extracttest.Object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", at+1)),
			extracttest.Object(fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", len(packed), packed)))
	}
	objects[1] = extracttest.Object(fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), pages))
	return extracttest.PDF("", objects...)
}

// fact is what a page of the book says and no other.
func fact(page int) string {
	return fmt.Sprintf("Valve V-%d opens at %d bar and is sealed with number %d.", 1000+page, page%17+2, page*page+31)
}

// A book of 300 pages is stopped in the middle of its way in, as by kill -9,
// and another process goes on. Nothing is embedded or stored twice, and what
// is asked about a page is answered from that page.
//
// Requirements: RAG-19, RAG-02 (PDF), RAG-11
func TestABookComesInWithProgressAndIsCitedByPage(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	e := counted()
	b := setup(t, func(o *knowledge.Options) { o.Embedder, o.Batch = e, 64 })
	d := b.put(t, b.newContext(t, b.viewer), "handbook.pdf", string(book(bookPages)))
	var pages []int
	watched := extract.WithProgress(ctx, func(at extract.Progress) {
		if at.Total == bookPages {
			pages = append(pages, at.Done)
		}
	})
	if _, _, err := b.Extract(watched, b.viewer, d.ID, "run", b.open); err != nil {
		t.Fatal(err)
	}
	if len(pages) < 10 || !slices.IsSorted(pages) {
		t.Errorf("while it was read it told of the pages %v", pages)
	}
	if _, err := b.Clean(ctx, b.viewer, d.ID); err != nil {
		t.Fatal(err)
	}
	cut, err := b.Cut(ctx, b.viewer, d.ID)
	if err != nil || cut.Pages != bookPages || cut.Chunks < bookPages {
		t.Fatalf("%d pages, %d chunks, %v", cut.Pages, cut.Chunks, err)
	}
	spans := b.Spans(cut.Chunks)
	for i, s := range spans[:len(spans)/2] {
		p, err := b.Embed(ctx, b.viewer, d.ID, s)
		if err != nil {
			t.Fatal(err)
		}
		done, total, err := b.IndexBatch(ctx, b.viewer, d.ID, p)
		if err != nil || done != s.To || total != cut.Chunks {
			t.Fatalf("batch %d: %d of %d, %v", i, done, total, err)
		}
	}
	stop() // here the process dies
	if _, err := b.Embed(ctx, b.viewer, d.ID, spans[len(spans)/2]); err == nil {
		t.Error("a stopped step went on")
	}
	again := knowledge.NewLibrary(knowledge.Options{Contexts: b.MemStore, Documents: b.MemStore, Index: b.MemStore, Embedder: e, Parsers: parsers()})
	b.Library = again
	half, err := b.Document(t.Context(), b.viewer, d.ID)
	if err != nil || half.Status != knowledge.Reading || half.Indexed != spans[len(spans)/2-1].To || half.Chunks != cut.Chunks {
		t.Errorf("half way it is %s with %d of %d, %v", half.Status, half.Indexed, half.Chunks, err)
	}
	if d, err = b.steps(t, d.ID); err != nil || d.Status != knowledge.Ready || d.Chunks != cut.Chunks {
		t.Fatalf("%+v, %v", d, err)
	}
	b.checkBook(t, d, e)
}

func (b *bundle) checkBook(t *testing.T, d knowledge.Document, e *counting) {
	t.Helper()
	x, err := b.Text(t.Context(), b.viewer, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(x.Text, "Handbook of the waterworks\n") && strings.Count(x.Text, "Handbook of the waterworks") > 1 {
		t.Error("running heads are in the text")
	}
	chunks := b.chunksOf(t, d.ContextID)
	if len(chunks) != d.Chunks || b.Writes != d.Chunks {
		t.Errorf("%d chunks, %d written, of %d", len(chunks), b.Writes, d.Chunks)
	}
	for text, times := range e.texts {
		if times != 1 {
			t.Errorf("embedded %d times: %.80q", times, text)
		}
	}
	where := map[int]int{}
	for _, c := range chunks {
		if x.Text[c.Start:c.End] != c.Content {
			t.Errorf("chunk %d is not what stands there", c.Index)
		}
		for page := max(1, c.Page-1); page <= min(bookPages, c.Page+1); page++ {
			if strings.Contains(strings.ReplaceAll(c.Content, "\n", " "), fact(page)) {
				where[page] = c.Page
			}
		}
	}
	for page := 1; page <= bookPages; page++ {
		if where[page] != page {
			t.Errorf("the fact of page %d stands on page %d", page, where[page])
		}
	}
	for _, page := range []int{1, 17, 150, 299, 300} {
		f, err := b.search(t, b.viewer, knowledge.Question{Text: fmt.Sprintf("At how many bar does valve V-%d open?", 1000+page)})
		if err != nil || len(f.Passages) == 0 || f.Passages[0].Page != page {
			t.Errorf("the valve of page %d: %d passages, %+v, %v", page, len(f.Passages), f.Passages, err)
		}
	}
}

// What each step of a book of 300 pages takes.
func BenchmarkBook(b *testing.B) {
	raw := book(bookPages)
	var x extract.Document
	var err error
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			if x, err = parsers().Parse(b.Context(), "book.pdf", "", bytes.NewReader(raw), int64(len(raw))); err != nil {
				b.Fatal(err)
			}
		}
	})
	var chunks []knowledge.Chunk
	b.Run("chunk", func(b *testing.B) {
		for b.Loop() {
			chunks = knowledge.Cut(x, 0)
		}
		b.ReportMetric(float64(len(chunks)), "chunks")
	})
	b.Run("embed", func(b *testing.B) {
		texts := make([]string, len(chunks))
		for i, c := range chunks {
			texts[i] = c.Heading + "\n" + c.Content
		}
		for b.Loop() {
			if _, err := (embed.Hash{}).Embed(b.Context(), texts); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package knowledge_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
	"liminal/internal/words"
)

// parsers are shared: compiling the PDF engine takes a second.
var parsers = sync.OnceValue(extract.New)

func parse(t testing.TB, name, content string) extract.Document {
	t.Helper()
	p := parsers()
	x, err := p.Parse(context.Background(), name, "", strings.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func parseFile(t *testing.T, name string) extract.Document {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	x, err := parsers().Parse(t.Context(), filepath.Base(name), "", bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// checkCut fails unless chunks are exact, ordered, and cover the text.
func checkCut(t testing.TB, x extract.Document, chunks []knowledge.Chunk, size int) {
	t.Helper()
	covered := 0
	for i, c := range chunks {
		if c.Index != i || c.Start < 0 || c.End > len(x.Text) || c.Start >= c.End {
			t.Fatalf("chunk %d: %+v in %d bytes", i, c, len(x.Text))
		}
		if c.Content != x.Text[c.Start:c.End] {
			t.Fatalf("chunk %d is not what stands at its offsets", i)
		}
		if !utf8.ValidString(c.Content) {
			t.Fatalf("chunk %d cuts a character", i)
		}
		if got := words.Tokens(c.Content); got > size+size/4 {
			t.Fatalf("chunk %d has %d tokens, the size is %d", i, got, size)
		}
		if i > 0 && c.Start <= chunks[i-1].Start {
			t.Fatalf("chunk %d does not come after the one before", i)
		}
		if c.Start > covered && strings.ContainsFunc(x.Text[covered:c.Start], unicode.IsLetter) {
			t.Fatalf("%q lies between chunks", x.Text[covered:c.Start])
		}
		covered = max(covered, c.End)
	}
	if strings.ContainsFunc(x.Text[covered:], unicode.IsLetter) {
		t.Fatalf("%q lies after the last chunk", x.Text[covered:])
	}
}

// Requirements: RAG-03 (sliding window with overlap; index and offsets)
func TestCutSlidesOverSentences(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Handbook\n\n## Hours\n\n")
	for i := range 120 {
		b.WriteString("The desk answers questions about opening times in this long sentence number ")
		b.WriteString(strings.Repeat("x", i%7+1))
		b.WriteString(".\n")
	}
	b.WriteString("\n## Fees\n\nA late return costs two euros.\n")
	x := parse(t, "handbook.md", b.String())
	chunks := knowledge.Cut(x, 0)
	checkCut(t, x, chunks, knowledge.DefaultChunk)
	if len(chunks) < 5 {
		t.Fatalf("%d chunks", len(chunks))
	}
	for i, c := range chunks[:len(chunks)-2] {
		if n := words.Tokens(c.Content); n < 300 || n > 500 {
			t.Errorf("chunk %d has %d tokens, want 300 to 500", i, n)
		}
		next := chunks[i+1]
		if shared := c.End - next.Start; shared <= 0 {
			t.Errorf("chunks %d and %d do not overlap", i, i+1)
		} else if n := words.Tokens(x.Text[next.Start:c.End]); n > knowledge.Overlap {
			t.Errorf("chunks %d and %d share %d tokens, want at most %d", i, i+1, n, knowledge.Overlap)
		}
		if !strings.HasSuffix(c.Content, ".") {
			t.Errorf("chunk %d ends inside a sentence: %q", i, c.Content[len(c.Content)-20:])
		}
	}
	last := chunks[len(chunks)-1]
	if last.Heading != "Handbook › Fees" || !strings.HasPrefix(last.Content, "## Fees") {
		t.Errorf("last chunk is %q under %q", last.Content, last.Heading)
	}
}

// Every sample that extract has a golden for is cut exactly, at the default size
// and the smallest.
//
// Requirements: RAG-03 (sliding window with overlap; index and offsets)
func TestEveryFormatIsCutExactly(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("extract/testdata/parse/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d samples, %v", len(names), err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			x := parseFile(t, name)
			for _, size := range []int{0, knowledge.MinChunk} {
				checkCut(t, x, knowledge.Cut(x, size), max(size, knowledge.MinChunk)+knowledge.DefaultChunk*(1-min(size, 1)))
			}
		})
	}
}

// Requirements: RAG-02 (PDF), RAG-03 (sliding window with overlap; index and offsets)
func TestChunksOfAPDFKnowTheirPageAndHeading(t *testing.T) {
	t.Parallel()
	tower, manual := parseFile(t, "extract/testdata/tower.pdf"), parseFile(t, "extract/testdata/manual.pdf")
	for _, c := range []struct {
		x       extract.Document
		text    string
		page    int
		heading string
	}{
		{tower, "Its difficult staircase has 164 steps", 1, "1. The tower"},
		{tower, "the efficient operation of the lamp", 1, "1. The tower"},
		{tower, "The fog signal sounds every ninety seconds", 2, "2. Duties"},
		{tower, "The lens is cleaned with alcohol every Thursday.", 2, "2. Duties › 2.1. Maintenance"},
		{tower, "A guided tour costs seven euros", 3, "3. Visitors"},
		{manual, "Die Förderleistung beträgt höchstens 240 Kubikmeter", 1, "1 Überblick"},
		{manual, "Die Aufzeichnungen sind zehn Jahre aufzubewahren.", 2, "2 Wartung › 2.1 Prüfungen"},
		{manual, "unter der Nummer\n4711", 3, "3 Störungen"},
	} {
		found := false
		for _, chunk := range knowledge.Cut(c.x, 0) {
			if strings.Contains(chunk.Content, c.text) {
				found = true
				if chunk.Page != c.page || chunk.Heading != c.heading {
					t.Errorf("%q stands on page %d under %q, want %d and %q", c.text, chunk.Page, chunk.Heading, c.page, c.heading)
				}
			}
		}
		if !found {
			t.Errorf("%q is in no chunk", c.text)
		}
	}
	for _, x := range []extract.Document{tower, manual} {
		checkCut(t, x, knowledge.Cut(x, 0), knowledge.DefaultChunk)
	}
}

// Requirements: FILE-10
func TestChunkSizeHasBounds(t *testing.T) {
	t.Parallel()
	for size, ok := range map[int]bool{0: true, 63: false, 64: true, 4000: true, 4001: false, -1: false} {
		err := knowledge.CheckChunkSize(size)
		if ok != (err == nil) || !ok && !errors.Is(err, fault.Invalid) {
			t.Errorf("size %d: %v", size, err)
		}
	}
	x := parse(t, "a.txt", strings.Repeat("One sentence of seven short words here. ", 800))
	for _, size := range []int{64, 400, 4000} {
		checkCut(t, x, knowledge.Cut(x, size), size)
	}
	if a, b := len(knowledge.Cut(x, 64)), len(knowledge.Cut(x, 4000)); a < 20*b {
		t.Errorf("%d chunks of 64, %d of 4000 tokens", a, b)
	}
}

// Requirements: RAG-19
func TestChunkIDsAreDerived(t *testing.T) {
	t.Parallel()
	a := knowledge.ChunkID("doc", 3, "hash-v1")
	if a != knowledge.ChunkID("doc", 3, "hash-v1") {
		t.Error("the same chunk has two ids")
	}
	if a == knowledge.ChunkID("doc", 3, "hash-v2") || a == knowledge.ChunkID("doc", 4, "hash-v1") {
		t.Error("different chunks share an id")
	}
}

func FuzzParseAndCut(f *testing.F) {
	f.Add("a.md", []byte("# A\n\ntext\n\n```\ncode\n```\n\n| a | b |\n"), 64)
	f.Add("a.txt", []byte("1.2 Heading\n\nBody text.\r\nMore.\x00"), 0)
	f.Add("a.html", []byte("<h1>x</h1><p>one<p>two<pre>c</pre><ul><li>a<li>b</ul>"), 100)
	f.Add("a.md", []byte("\xff\xfea\x00b\x00"), 64)
	f.Add("a.html", []byte("<table><tr><td>e\u0301<td>\u0301"), 64)
	f.Add("a.py", []byte("import os\n# why\n@x\ndef f():\n  pass\n\nclass A:\n"), 64)
	f.Add("a.csv", []byte("a;b\n1;\"x;\ny\"\n;\n2;3\n"), 64)
	p := parsers()
	f.Fuzz(func(t *testing.T, name string, raw []byte, size int) {
		if strings.HasPrefix(string(raw), "%PDF-") {
			t.Skip()
		}
		x, err := p.Parse(context.Background(), name, "text/plain", strings.NewReader(string(raw)), int64(len(raw)))
		if err != nil {
			if !errors.Is(err, fault.Invalid) {
				t.Fatalf("refused without a sentence: %v", err)
			}
			return
		}
		if !utf8.ValidString(x.Text) || strings.ContainsAny(x.Text, "\x00\r") {
			t.Fatalf("stored text %q", x.Text)
		}
		last := 0
		for _, b := range x.Blocks {
			if b.Start < last || b.End <= b.Start || b.End > len(x.Text) || !utf8.ValidString(x.Text[b.Start:b.End]) {
				t.Fatalf("block %+v after %d of %d", b, last, len(x.Text))
			}
			last = b.End
		}
		if size < 0 || size > knowledge.MaxChunk {
			size = 0
		}
		checkCut(t, x, knowledge.Cut(x, size), max(size, knowledge.MinChunk, 64*(1-min(size, 1))+knowledge.DefaultChunk*(1-min(size, 1))))
	})
}

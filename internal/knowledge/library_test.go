package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
	"liminal/internal/knowledge/knowledgetest"
)

// bundle is a library over a store in memory, with files that live in a map.
type bundle struct {
	*knowledgetest.MemStore
	*knowledge.Library // its Search hides the store's
	viewer             identity.Viewer
	files              map[string]string
	reads              int
}

type memoryFile struct{ *strings.Reader }

func (memoryFile) Close() error { return nil }

func setup(t *testing.T, change ...func(*knowledge.Options)) *bundle {
	t.Helper()
	store := knowledgetest.New()
	o := knowledge.Options{Contexts: store, Documents: store, Index: store, Embedder: embed.Hash{}, Parsers: parsers(), Batch: 4}
	for _, c := range change {
		c(&o)
	}
	return &bundle{MemStore: store, Library: knowledge.NewLibrary(o), viewer: identity.Viewer{UserID: "anna"}, files: map[string]string{}}
}

func (b *bundle) open(_ context.Context, _ identity.Viewer, path string) (knowledge.File, error) {
	text, ok := b.files[path]
	if !ok {
		return nil, fault.New(fault.NotFound, "There is no file %s.", path)
	}
	b.reads++
	return memoryFile{strings.NewReader(text)}, nil
}

func (b *bundle) newContext(t *testing.T, v identity.Viewer) string {
	t.Helper()
	c, err := b.CreateContext(t.Context(), v, knowledge.Context{Name: "papers"})
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

// put creates a document of a file that holds text.
func (b *bundle) put(t *testing.T, contextID, path, text string) knowledge.Document {
	t.Helper()
	b.files[path] = text
	d, err := b.PutDocument(t.Context(), b.viewer, knowledge.Document{ContextID: contextID, Path: path, Title: path})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// ingest runs the three steps.
func (b *bundle) ingest(t *testing.T, id string) (knowledge.Document, error) {
	t.Helper()
	if _, err := b.Read(t.Context(), b.viewer, id, "", b.open); err != nil {
		return knowledge.Document{}, err
	}
	if _, err := b.Cut(t.Context(), b.viewer, id); err != nil {
		return knowledge.Document{}, err
	}
	return b.Store(t.Context(), b.viewer, id, nil)
}

func (b *bundle) chunksOf(t *testing.T, contextID string) []knowledge.Chunk {
	t.Helper()
	chunks, err := b.Chunks(t.Context(), b.viewer, contextID, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	return chunks
}

func longText(sections int) string {
	var b strings.Builder
	for i := range sections {
		fmt.Fprintf(&b, "## Section %d\n\nThe rule of section %d concerns the number %d and nothing else.\n\n", i, i, i*7)
	}
	return b.String()
}

// Requirements: RAG-03 (sliding window with overlap; index and offsets), EMB-01, EMB-03
func TestADocumentIsTakenIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	d := b.put(t, c, "files/rules.md", "# House rules\n\n"+longText(30))
	d, err := b.ingest(t, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	chunks := b.chunksOf(t, c)
	if d.Status != knowledge.Ready || d.Chunks != len(chunks) || d.Chunks < 30 || d.Title != "files/rules.md" && d.Title != "House rules" {
		t.Errorf("%+v with %d chunks", d, len(chunks))
	}
	x, err := b.Text(t.Context(), b.viewer, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks {
		if x.Text[c.Start:c.End] != c.Content || len(c.Vector) != 64 || math.Abs(embed.Cosine(c.Vector, c.Vector)-1) > 1e-6 {
			t.Errorf("chunk %d: %d numbers, text %q", c.Index, len(c.Vector), c.Content)
		}
	}
}

// Requirements: RAG-03 (per file type within 300 to 500 tokens)
func TestChunksAreOfTheSizeOfTheirType(t *testing.T) {
	t.Parallel()
	for _, ext := range extract.Extensions() {
		if size := knowledge.SizeFor("a"+ext, ""); size < 300 || size > 500 {
			t.Errorf("chunks of %s have %d tokens", ext, size)
		}
	}
	if knowledge.SizeFor("notes", "text/csv") != 300 || knowledge.SizeFor("a.ods", "") != 300 || knowledge.SizeFor("a.odt", "") != 400 || knowledge.SizeFor("a.epub", "") != 500 {
		t.Error("a type has the size of another")
	}
	b := setup(t)
	c := b.newContext(t, b.viewer)
	rows := strings.Repeat("berth 7, crane 3, Tuesday, 40 tonnes of barley for Rostock\n", 400)
	sizes := map[string]int{}
	for _, name := range []string{"rows.csv", "rows.txt"} {
		d, err := b.ingest(t, b.put(t, c, name, "place,machine,day,load\n"+rows).ID)
		if err != nil {
			t.Fatal(err)
		}
		x, err := b.Text(t.Context(), b.viewer, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		if want := len(knowledge.Cut(x, knowledge.SizeFor(name, ""))); d.Chunks != want {
			t.Errorf("%s has %d chunks, want %d", name, d.Chunks, want)
		}
		sizes[name] = d.Chunks
	}
	if sizes["rows.csv"] <= sizes["rows.txt"] {
		t.Errorf("rows are cut no finer than prose: %v", sizes)
	}
}

// What was taken in before types had sizes of their own stays as it is.
//
// Requirements: RAG-03 (per file type within 300 to 500 tokens), RAG-04
func TestADocumentOfBeforeStaysInItsChunksUntilItsFileChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	rows := "place,load\n" + strings.Repeat("berth 7, 40 tonnes of barley for Rostock\n", 400)
	d := b.put(t, c, "rows.csv", rows)
	former := *b
	former.Library = knowledge.NewLibrary(knowledge.Options{
		Contexts: b.MemStore, Documents: b.MemStore, Index: b.MemStore, Embedder: embed.Hash{}, Parsers: parsers(), ChunkSize: knowledge.DefaultChunk,
	})
	before, err := former.ingest(t, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	writes := b.Writes
	again, err := b.ingest(t, d.ID)
	if err != nil || again.Chunks != before.Chunks || b.Writes != writes {
		t.Errorf("%d chunks became %d, %d were written, %v", before.Chunks, again.Chunks, b.Writes-writes, err)
	}
	b.files["rows.csv"] = rows + "berth 8, nothing\n"
	changed, err := b.ingest(t, d.ID)
	if err != nil || changed.Chunks <= before.Chunks {
		t.Errorf("the changed file has %d chunks, the former %d, %v", changed.Chunks, before.Chunks, err)
	}
}

// Requirements: RAG-04
func TestAnUnchangedFileCreatesNoChunks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	d := b.put(t, c, "rules.md", longText(10))
	if _, err := b.ingest(t, d.ID); err != nil {
		t.Fatal(err)
	}
	before := b.Writes
	again, err := b.ingest(t, d.ID)
	if err != nil || again.Status != knowledge.Ready || b.Writes != before {
		t.Errorf("%d chunks were written again; %s, %v", b.Writes-before, again.Status, err)
	}
	b.files["rules.md"] = longText(4)
	changed, err := b.ingest(t, d.ID)
	if err != nil || b.Writes == before || changed.Chunks != len(b.chunksOf(t, c)) {
		t.Errorf("the changed file: %d chunks, %d stored, %v", changed.Chunks, len(b.chunksOf(t, c)), err)
	}
}

// failing is an index whose Upsert fails once, after some batches.
type failing struct {
	*knowledgetest.MemStore
	after int
}

func (f *failing) Upsert(ctx context.Context, v identity.Viewer, chunks []knowledge.Chunk) error {
	if f.after--; f.after == -1 {
		return errors.New("the process died here")
	}
	return f.MemStore.Upsert(ctx, v, chunks)
}

// Requirements: RAG-19
func TestAnInterruptedIngestionCompletesWithoutDuplicates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	broken := knowledge.NewLibrary(knowledge.Options{
		Contexts: b.MemStore, Documents: b.MemStore, Index: &failing{b.MemStore, 2}, Embedder: embed.Hash{}, Parsers: parsers(), Batch: 4,
	})
	c := b.newContext(t, b.viewer)
	d := b.put(t, c, "rules.md", longText(30))
	if _, err := broken.Read(t.Context(), b.viewer, d.ID, "", b.open); err != nil {
		t.Fatal(err)
	}
	var done []int
	_, err := broken.Store(t.Context(), b.viewer, d.ID, func(n, _ int) { done = append(done, n) })
	if err == nil || len(done) != 2 || len(b.chunksOf(t, c)) != 8 {
		t.Fatalf("it broke off after %v with %v", done, err)
	}
	d, err = b.ingest(t, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, chunk := range b.chunksOf(t, c) {
		if seen[chunk.Index] {
			t.Errorf("chunk %d is there twice", chunk.Index)
		}
		seen[chunk.Index] = true
	}
	if len(seen) != d.Chunks || d.Status != knowledge.Ready {
		t.Errorf("%d of %d chunks, %s", len(seen), d.Chunks, d.Status)
	}
}

// renamed is the hash embedder under another version.
type renamed struct{ embed.Hash }

func (renamed) Version() string { return "hash-v2" }

// Requirements: RAG-09
func TestAContextRecordsItsEncoder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, err := knowledge.Recording(b.MemStore, embed.Hash{}).CreateContext(t.Context(), b.viewer, knowledge.Context{Name: "x", Meta: map[string]any{"pii_scrub": true}})
	if err != nil || c.Meta["embedding_model"] != (embed.Hash{}).Version() || c.Meta["pii_scrub"] != true {
		t.Errorf("meta %v, %v", c.Meta, err)
	}
}

// Requirements: FILE-10
func TestAnotherEncoderOrChunkSizeReplacesTheChunks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	d := b.put(t, c, "rules.txt", strings.Repeat("A sentence that is repeated to fill the page. ", 400))
	first, err := b.ingest(t, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	old := b.chunksOf(t, c)[0].ID
	first.ChunkSize = 100
	if _, err := b.PutDocument(t.Context(), b.viewer, first); err != nil {
		t.Fatal(err)
	}
	finer, err := b.ingest(t, d.ID)
	if err != nil || finer.Chunks < 2*first.Chunks {
		t.Fatalf("%d chunks became %d, %v", first.Chunks, finer.Chunks, err)
	}
	b.Library = knowledge.NewLibrary(knowledge.Options{Contexts: b.MemStore, Documents: b.MemStore, Index: b.MemStore, Embedder: renamed{}, Parsers: parsers()})
	newer, err := b.ingest(t, d.ID)
	if err != nil || len(b.chunksOf(t, c)) != newer.Chunks {
		t.Fatalf("%d chunks stored, %d counted, %v", len(b.chunksOf(t, c)), newer.Chunks, err)
	}
	if _, err := b.Chunk(t.Context(), b.viewer, old); !errors.Is(err, fault.NotFound) {
		t.Errorf("a chunk of the old encoder is still there: %v", err)
	}
	newer.ChunkSize = 5000
	if _, err := b.PutDocument(t.Context(), b.viewer, newer); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ingest(t, d.ID); !errors.Is(err, fault.Invalid) {
		t.Errorf("a chunk size of 5000: %v", err)
	}
}

// Requirements: RAG-05
func TestAnUnreadableFileIsReportedAndOthersAreNotHurt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	for path, status := range map[string]knowledge.DocumentStatus{"photo.png": knowledge.Skipped, "cut.pdf": knowledge.Failed} {
		content := map[string]string{"photo.png": "\x89PNG\r\n\x1a\n\x00", "cut.pdf": "%PDF-1.4 and no more"}[path]
		d := b.put(t, c, path, content)
		_, cause := b.ingest(t, d.ID)
		if !errors.Is(cause, fault.Invalid) {
			t.Errorf("%s: %v", path, cause)
		}
		d, err := b.Fail(t.Context(), b.viewer, d.ID, cause)
		if err != nil || d.Status != status || !strings.Contains(d.Error, path) {
			t.Errorf("%s is %s: %q, %v", path, d.Status, d.Error, err)
		}
	}
	d := b.put(t, c, "good.txt", "The key hangs behind the door.")
	if d, err := b.ingest(t, d.ID); err != nil || d.Status != knowledge.Ready {
		t.Errorf("a good file is %s, %v", d.Status, err)
	}
}

// Requirements: RAG-05
func TestATextOfEmptySectionsDoesNotFillTheIndex(t *testing.T) {
	t.Parallel()
	b := setup(t)
	contextID := b.newContext(t, b.viewer)
	crowd := b.put(t, contextID, "crowd.md", strings.Repeat("# a\nb\n", 6_000))
	if _, err := b.ingest(t, crowd.ID); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "more pieces") {
		t.Errorf("taken in: %v", err)
	}
	if got := b.chunksOf(t, contextID); len(got) != 0 {
		t.Errorf("%d chunks", len(got))
	}
	glossary := b.put(t, contextID, "glossary.md", strings.Repeat("# a\nb\n", 2_000))
	if _, err := b.ingest(t, glossary.ID); err != nil {
		t.Errorf("a glossary: %v", err)
	}
}

func (b *bundle) search(t *testing.T, v identity.Viewer, q knowledge.Question) (knowledge.Found, error) {
	t.Helper()
	return b.Library.Search(t.Context(), v, q)
}

// Requirements: RAG-18
func TestASearchNeverLeavesWhatTheViewerMaySee(t *testing.T) {
	t.Parallel()
	b := setup(t)
	anna, bert := b.viewer, identity.Viewer{UserID: "bert"}
	hers, other := b.newContext(t, anna), b.newContext(t, anna)
	mine := b.put(t, hers, "a.txt", "The vault combination is 7341.")
	if _, err := b.ingest(t, mine.ID); err != nil {
		t.Fatal(err)
	}
	his := b.newContext(t, bert)
	q := knowledge.Question{Text: "What is the vault combination?"}
	if f, err := b.search(t, anna, q); err != nil || f.Clarity != knowledge.Clear {
		t.Errorf("the owner finds %s, %v", f.Clarity, err)
	}
	if f, err := b.search(t, bert, q); err != nil || len(f.Passages) != 0 {
		t.Errorf("another user finds %d passages, %v", len(f.Passages), err)
	}
	for name, q := range map[string]knowledge.Question{
		"a context of hers":               {Text: q.Text, ContextIDs: []string{hers}},
		"hers beside his own":             {Text: q.Text, ContextIDs: []string{his, hers}},
		"a document of hers":              {Text: q.Text, DocumentIDs: []string{mine.ID}},
		"a document of hers in his own":   {Text: q.Text, ContextIDs: []string{his}, DocumentIDs: []string{mine.ID}},
		"a context that does not exist":   {Text: q.Text, ContextIDs: []string{"0190a1b2-0000-7000-8000-000000000000"}},
		"hers, with a question too vague": {Text: "what is it?", ContextIDs: []string{hers}},
	} {
		if _, err := b.search(t, bert, q); !errors.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f, err := b.search(t, anna, knowledge.Question{Text: q.Text, ContextIDs: []string{other}}); err != nil || len(f.Passages) != 0 {
		t.Errorf("another context of the owner holds %d passages, %v", len(f.Passages), err)
	}
	if _, err := b.search(t, anna, knowledge.Question{Text: q.Text, ContextIDs: []string{other}, DocumentIDs: []string{mine.ID}}); !errors.Is(err, fault.NotFound) {
		t.Errorf("a document outside the chosen context: %v", err)
	}
}

// Requirements: RAG-20
func TestWhatIsDeletedIsNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	d := b.put(t, c, "a.txt", "The vault combination is 7341.")
	if _, err := b.ingest(t, d.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.DeleteDocument(t.Context(), b.viewer, d.ID); err != nil {
		t.Fatal(err)
	}
	if f, err := b.search(t, b.viewer, knowledge.Question{Text: "What is the vault combination?"}); err != nil || len(f.Passages) != 0 {
		t.Errorf("%d passages, %v", len(f.Passages), err)
	}
}

// Requirements: RAG-16
func TestConfidenceFollowsItsThresholds(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *knowledge.Options) { o.High, o.Medium = 0.999, 0.99 })
	c := b.newContext(t, b.viewer)
	d := b.put(t, c, "a.txt", "The key of the cellar hangs behind the kitchen door, beside the lamp.")
	if _, err := b.ingest(t, d.ID); err != nil {
		t.Fatal(err)
	}
	strict, err := b.search(t, b.viewer, knowledge.Question{Text: "Where does the cellar key hang in winter?"})
	if err != nil {
		t.Fatal(err)
	}
	b.Library = knowledge.NewLibrary(knowledge.Options{Contexts: b.MemStore, Documents: b.MemStore, Index: b.MemStore, Embedder: embed.Hash{}, Parsers: parsers()})
	usual, err := b.search(t, b.viewer, knowledge.Question{Text: "Where does the cellar key hang in winter?"})
	if err != nil {
		t.Fatal(err)
	}
	if strict.Confidence != knowledge.Low || strict.Clarity != knowledge.Nothing || usual.Confidence == knowledge.Low {
		t.Errorf("strict %s %s, usual %s", strict.Confidence, strict.Clarity, usual.Confidence)
	}
	if a := usual.AverageSimilarity; a <= 0 || a > 1 {
		t.Errorf("average similarity %f", a)
	}
}

func TestAPassageIsItsStoredText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	d := b.put(t, c, "long.txt", strings.Repeat("The archive keeps every letter of the merchant for eighty years. ", 120))
	if _, err := b.ingest(t, d.ID); err != nil {
		t.Fatal(err)
	}
	x, err := b.Text(t.Context(), b.viewer, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	f, err := b.search(t, b.viewer, knowledge.Question{Text: "How long does the archive keep letters?", K: 3})
	if err != nil || len(f.Passages) == 0 {
		t.Fatalf("%d passages, %v", len(f.Passages), err)
	}
	for _, p := range f.Passages {
		if x.Text[p.Start:p.End] != p.Text {
			t.Errorf("passage %d..%d is not what stands there", p.Start, p.End)
		}
	}
	for _, q := range knowledge.Quotes("How long does the archive keep letters?", f.Passages, 3) {
		if x.Text[q.Start:q.End] != q.Text {
			t.Errorf("quote %q is not what stands there", q.Text)
		}
	}
	whole, err := b.search(t, b.viewer, knowledge.Question{Text: "What is this about?", DocumentIDs: []string{d.ID}})
	if err != nil || whole.Clarity != knowledge.Clear || len(whole.Passages) != 1 || whole.Passages[0].Start != 0 {
		t.Errorf("asked about one document as a whole: %s, %d passages, %v", whole.Clarity, len(whole.Passages), err)
	}
}

func TestDocumentsOfOneTitleAreToldApartByPath(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	for _, path := range []string{"2024/rules.md", "2025/rules.md"} {
		d := b.put(t, c, path, "# House rules\n\nThe quiet hours begin at ten in the evening.\n")
		d.Title = "rules.md"
		if err := b.SetDocument(t.Context(), b.viewer, d); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ingest(t, d.ID); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.search(t, b.viewer, knowledge.Question{Text: "When do the quiet hours begin?"})
	if err != nil || f.Clarity != knowledge.Several || len(f.Documents) != 2 {
		t.Fatalf("%s of %+v, %v", f.Clarity, f.Documents, err)
	}
	if got := f.Documents[0].Title; got != "House rules (2024/rules.md)" && got != "House rules (2025/rules.md)" {
		t.Errorf("title %q", got)
	}
}

func TestAQuestionThatStandsInATextIsNoAnswerToItself(t *testing.T) {
	t.Parallel()
	text := "Try it: ask *How long does the vault keep letters?* and see.\n\nThe vault keeps letters for nine years.\n"
	passage := knowledge.Passage{Text: text}
	quotes := knowledge.Quotes("How long does the vault keep letters?", []knowledge.Passage{passage}, 1)
	if len(quotes) != 1 || !strings.Contains(quotes[0].Text, "nine years") {
		t.Errorf("quoted %+v", quotes)
	}
}

func TestATableOfContentsIsNoAnswer(t *testing.T) {
	t.Parallel()
	contents := "1 Vault . . . . . . . . . 4\n2 How the vault keeps letters . . . . . . . . . 9\n3 Keys . . . . . . . . . 12\n4 Doors . . . . . . 15\n"
	chapter := "In the vault letters are kept in boxes of lead.\n"
	quotes := knowledge.Quotes("How does the vault keep letters?", []knowledge.Passage{{Text: contents}, {Text: chapter}}, 1)
	if len(quotes) != 1 || !strings.Contains(quotes[0].Text, "lead") {
		t.Errorf("quoted %+v", quotes)
	}
}

func FuzzQuotes(f *testing.F) {
	f.Add("How long is it kept?", "# Log\n\nLogs are kept:\n- 30 days\n- or 90.\n\n```\nttl: 30\n```")
	f.Add("GET /x?", "| a | b |\n| GET /x | c |")
	f.Fuzz(func(t *testing.T, question, raw string) {
		text := extract.Clean([]byte(raw))
		passages := []knowledge.Passage{{Text: text}}
		for _, q := range knowledge.Quotes(question, passages, 3) {
			if q.Start < 0 || q.End > len(text) || text[q.Start:q.End] != q.Text || q.Rating < 0 || q.Rating > 1 {
				t.Fatalf("quote %q at %d..%d rated %f", q.Text, q.Start, q.End, q.Rating)
			}
		}
	})
}

// Requirements: RAG-06
func TestPersonalDataIsTakenOutBeforeATextIsStored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, err := b.CreateContext(t.Context(), b.viewer, knowledge.Context{Name: "letters", Meta: map[string]any{knowledge.PIIScrub: true}})
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{"ada@example.org", "+49 30 1234567", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00"}
	text := "# To ada@example.org\n\nWrite to ada@example.org or call +49 30 1234567.\n\n" +
		"# Paying\n\nThe card is 4111 1111 1111 1111, the account DE89 3704 0044 0532 0130 00. The invoice of 2026-05-04 is over 1,250.00 euros."
	d := b.put(t, c.ID, "files/letter.md", text)
	plain := b.put(t, b.newContext(t, b.viewer), "files/letter.md", text)
	for _, id := range []string{d.ID, plain.ID} {
		if _, err := b.ingest(t, id); err != nil {
			t.Fatal(err)
		}
	}
	x, err := b.Text(t.Context(), b.viewer, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := b.Chunks(t.Context(), b.viewer, c.ID, 100)
	if err != nil || len(chunks) == 0 {
		t.Fatalf("%d chunks, %v", len(chunks), err)
	}
	kept, _ := b.Text(t.Context(), b.viewer, plain.ID)
	for _, s := range secrets {
		if strings.Contains(x.Text, s) || !strings.Contains(kept.Text, s) {
			t.Errorf("%q: scrubbed %q, untouched %q", s, x.Text, kept.Text)
		}
		for _, chunk := range chunks {
			if strings.Contains(chunk.Content+chunk.Heading, s) {
				t.Errorf("%q stands in the chunk %+v", s, chunk)
			}
		}
	}
	for _, chunk := range chunks {
		if x.Text[chunk.Start:chunk.End] != chunk.Content {
			t.Errorf("the chunk %q does not stand at %d–%d of the text", chunk.Content, chunk.Start, chunk.End)
		}
	}
	for _, says := range []string{"2026-05-04", "1,250.00", "[email]", "[iban]"} {
		if !strings.Contains(x.Text, says) {
			t.Errorf("the scrubbed text lacks %q: %s", says, x.Text)
		}
	}
}

// sparing are documents of which nothing may be read that most turns can do
// without.
type sparing struct {
	knowledge.Documents
	t *testing.T
}

func (s sparing) Unread(context.Context, identity.Viewer, []string, int) ([]knowledge.Document, error) {
	s.t.Error("the documents on their way in were looked for, and there are none")
	return nil, nil
}

func (s sparing) Text(context.Context, identity.Viewer, string) (extract.Document, error) {
	s.t.Error("a whole text was read, and no passage begins in the midst of a table")
	return extract.Document{}, nil
}

func TestASearchReadsNothingForWhatIsNotThere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	for path, text := range map[string]string{"rules.md": longText(30), "prices.md": "# Prices\n\n| Model | Price |\n|---|---|\n| BW-210 | 49 |\n"} {
		if _, err := b.ingest(t, b.put(t, c, path, text).ID); err != nil {
			t.Fatal(err)
		}
	}
	l := knowledge.NewLibrary(knowledge.Options{Contexts: b.MemStore, Documents: sparing{b.MemStore, t}, Index: b.MemStore, Embedder: embed.Hash{}, Parsers: parsers()})
	for _, question := range []string{"What does the rule of section 3 concern?", "What is the price of the BW-210?"} {
		f, err := l.Search(t.Context(), b.viewer, knowledge.Question{Text: question, ContextIDs: []string{c}})
		if err != nil || len(f.Passages) == 0 || len(f.Unread) > 0 {
			t.Errorf("%s: %+v %v", question, f, err)
		}
	}
}

// A search says what it could not look into; the documents of other contexts
// are none of its business.
//
// Requirements: RAG-18
func TestASearchTellsWhatIsStillBeingRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, other := b.newContext(t, b.viewer), b.newContext(t, b.viewer)
	set := func(contextID, path string, status knowledge.DocumentStatus, chunks int) string {
		d := b.put(t, contextID, path, "x")
		d.Status, d.Chunks, d.Error = status, chunks, "It is "+string(status)+"."
		if err := b.SetDocument(t.Context(), b.viewer, d); err != nil {
			t.Fatal(err)
		}
		return d.ID
	}
	rules := b.put(t, c, "rules.md", "# House rules\n\n"+longText(30))
	if _, err := b.ingest(t, rules.ID); err != nil {
		t.Fatal(err)
	}
	half, broken := set(c, "half.md", knowledge.Reading, 8), set(c, "broken.md", knowledge.Failed, 0)
	set(c, "skipped.md", knowledge.Skipped, 0)
	elsewhere := set(other, "elsewhere.md", knowledge.Waiting, 0)
	var chunks []knowledge.Chunk
	for i := range 2 {
		chunks = append(chunks, knowledge.Chunk{ID: fmt.Sprint("half ", i), DocumentID: half, ContextID: c, Index: i, Content: "half a rule"})
	}
	if err := b.Upsert(t.Context(), b.viewer, chunks); err != nil {
		t.Fatal(err)
	}
	search := func(q knowledge.Question) string {
		f, err := b.Library.Search(t.Context(), b.viewer, q)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(f.Unread)
	}
	progress := func(ids ...string) []knowledge.Unread {
		list, err := b.Progress(t.Context(), b.viewer, ids)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	reading := fmt.Sprint([]knowledge.Unread{{ID: half, Title: "half.md", Status: knowledge.Reading, Percent: 25}})
	for name, c := range map[string]struct{ got, want string }{
		"a question":                   {search(knowledge.Question{Text: "What does the rule of section 3 concern?", ContextIDs: []string{c}}), reading},
		"a vague question":             {search(knowledge.Question{Text: "What is it?", ContextIDs: []string{c}}), reading},
		"a question to the document":   {search(knowledge.Question{Text: "rule", ContextIDs: []string{c}, DocumentIDs: []string{half}}), reading},
		"a question to one that is":    {search(knowledge.Question{Text: "rule", ContextIDs: []string{c}, DocumentIDs: []string{rules.ID}}), "[]"},
		"a question to other contexts": {search(knowledge.Question{Text: "rule", ContextIDs: []string{other}}), fmt.Sprint([]knowledge.Unread{{ID: elsewhere, Title: "elsewhere.md", Status: knowledge.Waiting}})},
		"progress":                     {fmt.Sprint(progress(half, rules.ID, "gone")), reading},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
	if failed := progress(broken); len(failed) != 1 || failed[0].Coming() || failed[0].Error != "It is failed." {
		t.Errorf("one that failed: %+v", failed)
	}
}

package knowledge_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
)

// counting is the hash embedder that counts what it embeds, and fails where it
// is told to.
type counting struct {
	embed.Hash
	mu    sync.Mutex
	texts map[string]int
	after int // calls that succeed; negative: all
	err   error
}

func counted() *counting { return &counting{texts: map[string]int{}, after: -1} }

func (c *counting) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.after == 0 {
		return nil, c.err
	}
	c.after--
	vectors, err := c.Hash.Embed(ctx, texts)
	if err == nil {
		for _, t := range texts {
			c.texts[t]++
		}
	}
	return vectors, err
}

// steps are the nodes of the graph "ingest" after the first.
func (b *bundle) steps(t *testing.T, id string) (knowledge.Document, error) {
	t.Helper()
	if _, err := b.Clean(t.Context(), b.viewer, id); err != nil {
		return knowledge.Document{}, err
	}
	d, err := b.Cut(t.Context(), b.viewer, id)
	if err != nil {
		return knowledge.Document{}, err
	}
	for _, s := range b.Spans(d.Chunks) {
		p, err := b.Embed(t.Context(), b.viewer, id, s)
		if err != nil {
			return knowledge.Document{}, err
		}
		if _, _, err := b.IndexBatch(t.Context(), b.viewer, id, p); err != nil {
			return knowledge.Document{}, err
		}
	}
	return b.Finish(t.Context(), b.viewer, id)
}

func (b *bundle) extract(t *testing.T, id, run string) knowledge.Outcome {
	t.Helper()
	_, outcome, err := b.Extract(t.Context(), b.viewer, id, run, b.open)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// The encoder goes away in the middle. The document says so, and how far it
// is; when it is read in again, nothing is embedded twice.
//
// Requirements: RAG-19, RAG-04
func TestABrokenIntakeGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	e := counted()
	e.after, e.err = 2, errors.New("connection refused")
	b := setup(t, func(o *knowledge.Options) { o.Embedder = e })
	d := b.put(t, b.newContext(t, b.viewer), "rules.md", longText(30))
	if got := b.extract(t, d.ID, "run-1"); got != knowledge.Extracted {
		t.Fatalf("the file was %s", got)
	}
	_, cause := b.steps(t, d.ID)
	if fault.Reason(cause) != fault.Upstream || !strings.Contains(fault.From(cause).Message, "does not answer") {
		t.Fatalf("without its encoder: %v", cause)
	}
	var err error
	if d, err = b.Document(t.Context(), b.viewer, d.ID); err != nil || d.Status != knowledge.Reading || d.Indexed != 8 || d.Chunks < 30 {
		t.Errorf("%s, %d of %d chunks, %v", d.Status, d.Indexed, d.Chunks, err)
	}
	if d, err = b.Fail(t.Context(), b.viewer, d.ID, cause); err != nil || d.Status != knowledge.Failed {
		t.Errorf("%s, %v", d.Status, err)
	}
	e.after = -1
	if got := b.extract(t, d.ID, "run-2"); got != knowledge.Extracted {
		t.Fatalf("the file was %s", got)
	}
	if d, err = b.steps(t, d.ID); err != nil || d.Status != knowledge.Ready || d.Error != "" {
		t.Fatalf("%s %q, %v", d.Status, d.Error, err)
	}
	for text, times := range e.texts {
		if times != 1 {
			t.Errorf("embedded %d times: %.60q", times, text)
		}
	}
	if chunks := b.chunksOf(t, d.ContextID); len(chunks) != d.Chunks || len(e.texts) != d.Chunks {
		t.Errorf("%d chunks of %d, %d embedded", len(chunks), d.Chunks, len(e.texts))
	}
	if got := b.extract(t, d.ID, "run-3"); got != knowledge.Unchanged {
		t.Errorf("afterwards the file is %s", got)
	}
}

// A worker that was given up may come with a batch of the file as it was, when
// the document is read in from another one already: no passage may keep the
// vector of what stood there before.
//
// Requirements: RAG-19
func TestABatchOfAFormerTextIsEmbeddedAnew(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.put(t, b.newContext(t, b.viewer), "rules.md", longText(6))
	b.extract(t, d.ID, "run-1")
	late, err := b.Embed(t.Context(), b.viewer, d.ID, knowledge.Span{From: 0, To: 4})
	if err != nil {
		t.Fatal(err)
	}
	b.put(t, d.ContextID, "rules.md", strings.ReplaceAll(longText(6), "nothing else", "the weather of tomorrow"))
	b.extract(t, d.ID, "run-2")
	if _, _, err := b.IndexBatch(t.Context(), b.viewer, d.ID, late); err != nil {
		t.Fatal(err)
	}
	if d, err = b.steps(t, d.ID); err != nil {
		t.Fatal(err)
	}
	for _, c := range b.chunksOf(t, d.ContextID) {
		want, _ := (embed.Hash{}).Embed(t.Context(), []string{d.Title + "\n" + c.Heading + "\n" + c.Content})
		if embed.Cosine(want[0], c.Vector) < 0.99 {
			t.Errorf("chunk %d has the vector of a former text", c.Index)
		}
	}
}

// reading counts how often texts are read, each of which is then cut.
type reading struct {
	knowledge.Documents
	texts int
}

func (r *reading) Text(ctx context.Context, v identity.Viewer, id string) (extract.Document, error) {
	r.texts++
	return r.Documents.Text(ctx, v, id)
}

// A folder of books comes in batch by batch, one of this and one of that: none
// is cut anew for each.
//
// Requirements: RAG-19
func TestManyDocumentsAtOnceAreEachCutOnce(t *testing.T) {
	t.Parallel()
	r := &reading{}
	b := setup(t, func(o *knowledge.Options) { r.Documents, o.Documents = o.Documents, r })
	c := b.newContext(t, b.viewer)
	ids := make([]string, 12)
	for i := range ids {
		ids[i] = b.put(t, c, string(rune('a'+i))+".md", longText(20)).ID
		b.extract(t, ids[i], "run")
		if _, err := b.Cut(t.Context(), b.viewer, ids[i]); err != nil {
			t.Fatal(err)
		}
	}
	r.texts = 0
	for from := 0; from < 20; from += 4 {
		for _, id := range ids {
			p, err := b.Embed(t.Context(), b.viewer, id, knowledge.Span{From: from, To: from + 4})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := b.IndexBatch(t.Context(), b.viewer, id, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r.texts > 0 {
		t.Errorf("texts that were cut already were read again %d times", r.texts)
	}
}

// Requirements: RAG-19
func TestABatchOfAnotherEncoderIsEmbeddedAnew(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := b.put(t, b.newContext(t, b.viewer), "rules.md", longText(3))
	b.extract(t, d.ID, "run")
	if _, err := b.Cut(t.Context(), b.viewer, d.ID); err != nil {
		t.Fatal(err)
	}
	p, err := b.Embed(t.Context(), b.viewer, d.ID, knowledge.Span{From: 0, To: 2})
	if err != nil {
		t.Fatal(err)
	}
	p.Encoder, p.Vectors = "another-v1", [][]float32{{1}, {1}} // the worker was started anew with another one
	if done, total, err := b.IndexBatch(t.Context(), b.viewer, d.ID, p); err != nil || done != 2 || total < 3 {
		t.Fatalf("%d of %d, %v", done, total, err)
	}
	d, _ = b.Document(t.Context(), b.viewer, d.ID) // by the title it was given
	for _, c := range b.chunksOf(t, d.ContextID) {
		if got, _ := (embed.Hash{}).Embed(t.Context(), []string{d.Title + "\n" + c.Heading + "\n" + c.Content}); embed.Cosine(got[0], c.Vector) < 0.99 {
			t.Errorf("chunk %d has a vector of another encoder", c.Index)
		}
	}
	for _, s := range []knowledge.Span{{From: 2, To: 99}, {From: -1, To: 1}, {From: 2, To: 1}} {
		if _, err := b.Embed(t.Context(), b.viewer, d.ID, s); !errors.Is(err, fault.Invalid) {
			t.Errorf("a batch there is not: %v", err)
		}
		wrong := knowledge.VectorBatch{Span: s, Encoder: (embed.Hash{}).Version(), Indices: []int{7_000}, Vectors: [][]float32{{1}}}
		if _, _, err := b.IndexBatch(t.Context(), b.viewer, d.ID, wrong); !errors.Is(err, fault.Invalid) {
			t.Errorf("a parcel of such a batch: %v", err)
		}
	}
}

// Requirements: RAG-05
func TestAFileAboveThePlanIsPassedOver(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *knowledge.Options) {
		o.FileBytes = func(v identity.Viewer) int64 { return map[string]int64{"free": 100, "pro": 1 << 20}[v.Plan] }
	})
	b.viewer.Plan = "free"
	d := b.put(t, b.newContext(t, b.viewer), "rules.md", longText(10))
	_, _, cause := b.Extract(t.Context(), b.viewer, d.ID, "run", b.open)
	if !errors.Is(cause, fault.Invalid) {
		t.Errorf("a large file: %v", cause)
	}
	d, err := b.Fail(t.Context(), b.viewer, d.ID, cause)
	if err != nil || d.Status != knowledge.Skipped || !strings.Contains(d.Error, "your plan") {
		t.Errorf("%s: %q, %v", d.Status, d.Error, err)
	}
	b.viewer.Plan = "pro"
	if got := b.extract(t, d.ID, "run"); got != knowledge.Extracted {
		t.Errorf("with a larger plan it is %s", got)
	}
}

// Requirements: RAG-02 (further parsers as tool.spec), RAG-05
func TestAForeignFileIsTakenFromWhoCanReadIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	contextID := b.newContext(t, b.viewer)
	d := b.put(t, contextID, "melody.mid", "MThd\x00\x00\x00\x06")
	if got := b.extract(t, d.ID, "run"); got != knowledge.Foreign {
		t.Fatalf("the file was %s", got)
	}
	if _, err := b.Accept(t.Context(), b.viewer, d.ID, "", " \n", false); !errors.Is(err, fault.Invalid) {
		t.Errorf("a text of nothing: %v", err)
	}
	if _, err := b.Accept(t.Context(), b.viewer, d.ID, "A song", "# Verse\r\n\r\nThe moon has risen, Mu\u0308nchen sleeps.\x00\n", true); err != nil {
		t.Fatal(err)
	}
	d, err := b.steps(t, d.ID)
	if err != nil || d.Status != knowledge.Ready || d.Title != "melody.mid" && d.Title != "A song" {
		t.Fatalf("%+v, %v", d, err)
	}
	chunks := b.chunksOf(t, contextID)
	if len(chunks) != 1 || chunks[0].Heading != "Verse" || !strings.Contains(chunks[0].Content, "has risen, München sleeps.") {
		t.Errorf("%+v", chunks)
	}
	if got := b.extract(t, d.ID, "run"); got != knowledge.Unchanged {
		t.Errorf("afterwards the file is %s", got)
	}
	other := b.put(t, contextID, "other.mid", "MThd\x00\x00\x00\x06")
	_, err = b.Pass(t.Context(), b.viewer, other.ID)
	if stored, _ := b.Document(t.Context(), b.viewer, other.ID); !errors.Is(err, fault.Invalid) || stored.Status != knowledge.Skipped || !strings.Contains(stored.Error, "other.mid") {
		t.Errorf("nobody reads it: %v, %+v", err, stored)
	}
}

// Requirements: RAG-02 (text), RAG-19
func TestCleaningKeepsPlacesExactAndWhatIsIndexed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	text := "# Keys\n\n\n\n\nThe key hangs here.\n\n" + strings.Repeat("QUJD", 200) + "\n\n\n## Doors\n\nThe door is blue.\n"
	d := b.put(t, b.newContext(t, b.viewer), "a.md", text)
	for _, run := range []string{"run-1", "run-2"} {
		writes := b.Writes
		if got := b.extract(t, d.ID, run); got != knowledge.Extracted {
			t.Fatalf("the file was %s", got)
		}
		done, err := b.steps(t, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		x, err := b.Text(t.Context(), b.viewer, d.ID)
		if err != nil || x.Text != "# Keys\n\nThe key hangs here.\n\n[…]\n\n## Doors\n\nThe door is blue.\n" {
			t.Errorf("cleaned %q, %v", x.Text, err)
		}
		for _, c := range b.chunksOf(t, d.ContextID) {
			if x.Text[c.Start:c.End] != c.Content {
				t.Errorf("chunk %d is not what stands there", c.Index)
			}
		}
		if run == "run-2" && b.Writes != writes {
			t.Errorf("%d chunks were written again", b.Writes-writes)
		}
		done.Version, done.Status = "read/"+done.SHA256, knowledge.Failed // as if the run had ended before its last step
		if err := b.SetDocument(t.Context(), b.viewer, done); err != nil {
			t.Fatal(err)
		}
	}
}

func TestManyChunksAreFewBatches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for chunks, want := range map[int]int{0: 0, 1: 1, 4: 1, 5: 2, 3200: 800, 100_000: 800} {
		spans := b.Spans(chunks)
		covered := 0
		for _, s := range spans {
			if s.From != covered || s.To <= s.From {
				t.Errorf("%d chunks: a batch from %d to %d after %d", chunks, s.From, s.To, covered)
			}
			covered = s.To
		}
		if covered != chunks || len(spans) != want {
			t.Errorf("%d chunks: %d batches up to %d, want %d", chunks, len(spans), covered, want)
		}
	}
}

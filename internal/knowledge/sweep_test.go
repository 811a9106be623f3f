package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

// newer is the hash embedder as a later version would be: the same numbers,
// the other way round, so that its vectors fit no older ones.
type newer struct {
	embed.Hash
	fail map[string]bool // texts it cannot embed now
}

func (newer) Version() string { return "hash-v2" }

func (n newer) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	for _, text := range texts {
		for word := range n.fail {
			if strings.Contains(text, word) {
				return nil, errors.New("the embedder is away")
			}
		}
	}
	vecs, err := n.Hash.Embed(ctx, texts)
	for _, v := range vecs {
		slices.Reverse(v)
	}
	return vecs, err
}

// rolling is a library whose program was updated to another encoder.
func rolling(t *testing.T, documents int, fail map[string]bool) (before, after *bundle, contextID string, sweep *knowledge.Sweep) {
	t.Helper()
	before = setup(t)
	c, err := knowledge.Recording(before.MemStore, embed.Hash{}).CreateContext(t.Context(), before.viewer, knowledge.Context{Name: "papers"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range documents {
		d := before.put(t, c.ID, fmt.Sprintf("files/%d.md", i), fmt.Sprintf("# Part %d\n\nThe lighthouse number%d is painted red and white.", i, i))
		if _, err := before.ingest(t, d.ID); err != nil {
			t.Fatal(err)
		}
	}
	o := knowledge.Options{
		Contexts: before.MemStore, Documents: before.MemStore, Index: before.MemStore, Parsers: parsers(),
		Embedder: newer{fail: fail}, Former: []embed.Embedder{embed.Hash{}},
	}
	after = &bundle{MemStore: before.MemStore, Library: knowledge.NewLibrary(o), viewer: before.viewer, files: before.files}
	sweep = knowledge.NewSweep(knowledge.SweepOptions{
		Library: after.Library, Store: before.MemStore,
		Viewer: func(context.Context, string) (identity.Viewer, error) { return before.viewer, nil },
	})
	return before, after, c.ID, sweep
}

func (b *bundle) encoderOf(t *testing.T, contextID string) string {
	t.Helper()
	c, err := b.Context(t.Context(), b.viewer, contextID)
	if err != nil {
		t.Fatal(err)
	}
	return c.Encoder
}

func (b *bundle) encodersOfChunks(t *testing.T, contextID string) map[string]int {
	t.Helper()
	chunks, err := b.Chunks(t.Context(), b.viewer, contextID, 1000)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, c := range chunks {
		counts[c.Encoder]++
	}
	return counts
}

// finds asks for each document by what only it says.
func (b *bundle) finds(t *testing.T, contextID string, documents int) {
	t.Helper()
	for i := range documents {
		found, err := b.Library.Search(t.Context(), b.viewer, knowledge.Question{
			Text: fmt.Sprintf("What is painted on lighthouse number%d?", i), ContextIDs: []string{contextID},
		})
		if err != nil || len(found.Passages) == 0 || !strings.Contains(found.Passages[0].Text, fmt.Sprintf("number%d ", i)) {
			t.Errorf("document %d is not found: %+v, %v", i, found.Passages, err)
		}
	}
}

// Requirements: RAG-08
func TestAContextIsReadWithItsOldEncoderUntilEnoughIsEmbeddedAnew(t *testing.T) {
	t.Parallel()
	const documents = 40
	fail := map[string]bool{"number7 ": true, "number8 ": true, "number9 ": true} // 37 of 40 is 92.5 %
	_, b, contextID, sweep := rolling(t, documents, fail)
	n, err := sweep.Encoders(t.Context(), nil)
	if err != nil || n != documents-3 {
		t.Fatalf("%d embedded, %v", n, err)
	}
	if got := b.encoderOf(t, contextID); got != "hash-v1" {
		t.Errorf("with 92.5 %% ready the context is read with %s", got)
	}
	if got := b.encodersOfChunks(t, contextID); got["hash-v1"] != documents || got["hash-v2"] != documents-3 {
		t.Errorf("during the roll there are %v", got)
	}
	b.finds(t, contextID, documents)

	delete(fail, "number7 ") // 38 of 40 is 95 %
	if n, err = sweep.Encoders(t.Context(), nil); err != nil || n != 1 {
		t.Fatalf("%d embedded, %v", n, err)
	}
	if got := b.encoderOf(t, contextID); got != "hash-v2" {
		t.Errorf("with 95 %% ready the context is read with %s", got)
	}
	if got := b.encodersOfChunks(t, contextID); got["hash-v2"] != 38 || got["hash-v1"] != 2 {
		t.Errorf("after the switch there are %v", got)
	}
	clear(fail)
	if n, err = sweep.Encoders(t.Context(), nil); err != nil || n != 2 {
		t.Fatalf("%d embedded, %v", n, err)
	}
	if got := b.encodersOfChunks(t, contextID); got["hash-v2"] != documents || got["hash-v1"] != 0 {
		t.Errorf("in the end there are %v", got)
	}
	b.finds(t, contextID, documents)
	if n, err = sweep.Encoders(t.Context(), nil); err != nil || n != 0 {
		t.Errorf("a sweep with nothing to do embedded %d, %v", n, err)
	}
}

// Requirements: RAG-08
func TestASweepThatIsCutOffIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	_, b, contextID, sweep := rolling(t, 10, nil)
	for total := 0; total < 10; {
		ctx, cancel := context.WithCancel(t.Context())
		n, err := sweep.Encoders(ctx, func(done int) {
			if done == 3 {
				cancel()
			}
		})
		cancel()
		if n == 0 {
			t.Fatalf("no progress after %d: %v", total, err)
		}
		total += n
		b.finds(t, contextID, 10)
	}
	if _, err := sweep.Encoders(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := b.encodersOfChunks(t, contextID); got["hash-v1"] != 0 || got["hash-v2"] != 10 {
		t.Errorf("in the end there are %v", got)
	}
}

// watched is a source with files that lie in a folder.
type watched struct {
	*bundle
	contextID string
	entries   []knowledge.Entry
	started   []string
	busy      bool
	adopt     func(path string) error
	sweep     *knowledge.Sweep
}

func watch(t *testing.T) *watched {
	t.Helper()
	w := &watched{bundle: setup(t)}
	w.contextID = w.newContext(t, w.viewer)
	if err := w.AddSource(t.Context(), w.viewer, knowledge.Source{ContextID: w.contextID, Path: "files/in", Recursive: true}); err != nil {
		t.Fatal(err)
	}
	w.sweep = knowledge.NewSweep(knowledge.SweepOptions{
		Library: w.Library, Store: w.MemStore,
		Viewer:  func(context.Context, string) (identity.Viewer, error) { return w.viewer, nil },
		Entries: func(context.Context, identity.Viewer, string, bool) ([]knowledge.Entry, error) { return w.entries, nil },
		Adopt: func(_ context.Context, _ identity.Viewer, path string) error {
			if w.adopt == nil {
				return nil
			}
			return w.adopt(path)
		},
		Start: func(_ context.Context, _ identity.Viewer, id string) error {
			if w.busy {
				return fault.New(fault.Conflict, "It is on its way.")
			}
			w.started = append(w.started, id)
			return nil
		},
	})
	return w
}

func (w *watched) pass(t *testing.T, want int) {
	t.Helper()
	if n, err := w.sweep.Sources(t.Context()); err != nil || n != want {
		t.Errorf("%d started, %v, want %d", n, err, want)
	}
}

// settle marks every started document as read in at a time.
func (w *watched) settle(t *testing.T, at time.Time) {
	t.Helper()
	for _, id := range w.started {
		d, err := w.Document(t.Context(), w.viewer, id)
		if err != nil {
			t.Fatal(err)
		}
		d.Status, d.Size, d.UpdatedAt = knowledge.Ready, w.entries[0].Size, at
		if err := w.SetDocument(t.Context(), w.viewer, d); err != nil {
			t.Fatal(err)
		}
	}
	w.started = nil
}

// Requirements: RAG-07
func TestAFileThatChangesInAWatchedSourceIsTakenInAgain(t *testing.T) {
	t.Parallel()
	w, now := watch(t), time.Now()
	w.pass(t, 0)
	w.entries = []knowledge.Entry{{Path: "files/in/a.md", Size: 10, Changed: now}}
	w.pass(t, 1)
	w.settle(t, now.Add(time.Second))
	w.pass(t, 0)
	w.entries[0].Changed = now.Add(time.Minute)
	w.pass(t, 1)
	w.settle(t, now.Add(2*time.Minute))
	w.entries[0].Size = 11
	w.busy = true
	w.pass(t, 0)
	w.busy = false
	w.pass(t, 1)
	d, err := w.Document(t.Context(), w.viewer, w.started[0])
	if err != nil || d.Path != "files/in/a.md" || d.ContextID != w.contextID {
		t.Errorf("started %+v, %v", d, err)
	}
}

// Requirements: RAG-07
func TestAFileThatChangesWhileItIsTakenInIsTakenInAgain(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.entries = []knowledge.Entry{{Path: "files/in/a.md", Size: 10, Changed: time.Now().Add(-time.Minute)}}
	w.pass(t, 1)
	d, err := w.Document(t.Context(), w.viewer, w.started[0])
	if err != nil {
		t.Fatal(err)
	}
	d.RunID = id.New() // the run begins,
	w.entries[0].Changed = time.Now().Add(time.Second)
	d.Status, d.UpdatedAt = knowledge.Ready, time.Now().Add(time.Minute) // and ends after the file has changed
	if err := w.SetDocument(t.Context(), w.viewer, d); err != nil {
		t.Fatal(err)
	}
	w.pass(t, 1)
}

// Requirements: RAG-05, RAG-07
func TestAFileThereIsNoRoomForHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.adopt = func(path string) error {
		if path == "files/in/big.pdf" {
			return fault.New(fault.Invalid, "The file has 900 MB; 25 are allowed.")
		}
		return nil
	}
	w.entries = []knowledge.Entry{
		{Path: "files/in/big.pdf", Size: 900 << 20, Changed: time.Now().Add(-time.Hour)},
		{Path: "files/in/a.md", Size: 10, Changed: time.Now().Add(-time.Hour)},
	}
	w.pass(t, 1)
	list, _, err := w.ListDocuments(t.Context(), w.viewer, w.contextID, "", 10)
	if err != nil || len(list) != 2 || list[0].Status != knowledge.Skipped || !strings.Contains(list[0].Error, "25 are allowed") {
		t.Errorf("%+v, %v", list, err)
	}
}

// What comes in while a context still waits for its new encoder is found by
// the old one, where that is at hand.
//
// Requirements: RAG-08
func TestADocumentThatComesInDuringARollIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	_, b, contextID, sweep := rolling(t, 5, nil)
	b.Library = knowledge.NewLibrary(knowledge.Options{
		Contexts: b.MemStore, Documents: b.MemStore, Index: b.MemStore, Embedder: renamed{}, Former: []embed.Embedder{embed.Hash{}}, Parsers: parsers(), Batch: 4,
	})
	d := b.put(t, contextID, "new.txt", "The newcomer number77 rests beside the seventh lamp.")
	b.extract(t, d.ID, "run")
	if _, err := b.steps(t, d.ID); err != nil {
		t.Fatal(err)
	}
	if got := b.encoderOf(t, contextID); got != "hash-v1" {
		t.Fatalf("the context is read with %s already", got)
	}
	found := func(when string) {
		f, err := b.search(t, b.viewer, knowledge.Question{Text: "Where does the newcomer number77 rest?", ContextIDs: []string{contextID}})
		if err != nil || len(f.Passages) == 0 || f.Passages[0].DocumentID != d.ID {
			t.Errorf("%s: %+v, %v", when, f.Passages, err)
		}
	}
	found("during the roll")
	if _, err := sweep.Encoders(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	found("after it")
	if got := b.encodersOfChunks(t, contextID); got["hash-v1"] != 0 || got["hash-v2"] != 6 {
		t.Errorf("in the end there are %v", got)
	}
}

package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge/extract"
)

// Span is the chunks of a document from From to before To.
type Span struct {
	From, To int
}

// maxSpans bounds the batches of one document: each is two steps of a run.
const maxSpans = 800

// Spans divides chunks into batches.
func (l *Library) Spans(chunks int) []Span {
	size := max(l.o.Batch, (chunks+maxSpans-1)/maxSpans)
	var out []Span
	for from := 0; from < chunks; from += size {
		out = append(out, Span{from, min(from+size, chunks)})
	}
	return out
}

// VectorBatch is a batch on its way from the encoder to the index: the vectors of
// those of its chunks that were not in the index yet.
type VectorBatch struct {
	Span
	Total   int    // chunks of the whole document
	Encoder string // whose vectors these are
	Source  string // the checksum of the file the text was read from
	Indices []int  // of the chunks the vectors belong to
	Vectors [][]float32
}

// Cut counts the chunks the document's text will have and stores the number,
// so that progress can be told before the work begins.
func (l *Library) Cut(ctx context.Context, v identity.Viewer, documentID string) (Document, error) {
	d, chunks, err := l.cut(ctx, v, documentID)
	if err != nil || l.Current(d) {
		return d, err
	}
	if len(chunks) == 0 {
		return Document{}, extract.NoText(d.Path)
	}
	d.Chunks = len(chunks)
	return d, l.o.Documents.SetDocument(ctx, v, d)
}

// cut is the document with its chunks, which the caller must not change.
func (l *Library) cut(ctx context.Context, v identity.Viewer, documentID string) (Document, []Chunk, error) {
	d, err := l.o.Documents.Document(ctx, v, documentID)
	if err != nil {
		return Document{}, nil, err
	}
	key, coming := cutKey(d, l.chunkSize(d), l.version()), d.Status == Reading
	d = asRead(d)
	if chunks, known := l.cuts.find(d.ID, key); known && coming {
		return d, chunks, nil
	}
	x, err := l.o.Documents.Text(ctx, v, documentID)
	if err != nil {
		return Document{}, nil, err
	}
	chunks := Cut(x, l.chunkSize(d))
	if crowded(len(chunks), x.Text) {
		return Document{}, nil, fault.New(fault.Invalid, "%q: %s", d.Title, extract.TooManyPieces().Message)
	}
	for i := range chunks {
		chunks[i] = belonging(chunks[i], d, l.version())
	}
	if coming {
		l.cuts.remember(d.ID, key, chunks)
	}
	return d, chunks, nil
}

// belonging makes a chunk the document's.
func belonging(c Chunk, d Document, version string) Chunk {
	c.ID, c.DocumentID, c.ContextID, c.Encoder = ChunkID(d.ID, c.Index, version), d.ID, d.ContextID, version
	return c
}

// Embed computes the vectors of a batch. What is in the index already is left
// out: it was embedded before a run was broken off (RAG-19). An encoder that
// does not answer is a failure that may pass.
func (l *Library) Embed(ctx context.Context, v identity.Viewer, documentID string, s Span) (VectorBatch, error) {
	d, chunks, err := l.cut(ctx, v, documentID)
	if err != nil {
		return VectorBatch{}, err
	}
	batch, err := spanOf(chunks, s)
	if err != nil {
		return VectorBatch{}, err
	}
	if batch, err = l.missing(ctx, v, d, batch); err != nil {
		return VectorBatch{}, err
	}
	if err := l.embed(ctx, d, batch); err != nil {
		return VectorBatch{}, err
	}
	p := VectorBatch{Span: s, Total: len(chunks), Encoder: l.version(), Source: d.SHA256}
	for _, c := range batch {
		p.Indices, p.Vectors = append(p.Indices, c.Index), append(p.Vectors, c.Vector)
	}
	return p, nil
}

// spanOf is a copy of the chunks of a span.
func spanOf(chunks []Chunk, s Span) ([]Chunk, error) {
	if s.From < 0 || s.To > len(chunks) || s.From >= s.To {
		return nil, fault.New(fault.Invalid, "The document has %d passages; there is no batch from %d to %d. Read it in again.", len(chunks), s.From, s.To)
	}
	return slices.Clone(chunks[s.From:s.To]), nil
}

// missing are those of the chunks that the index does not hold as they are.
func (l *Library) missing(ctx context.Context, v identity.Viewer, d Document, batch []Chunk) ([]Chunk, error) {
	if d.Status == Reading && d.Indexed == 0 {
		return batch, nil
	}
	lacks := batch[:0]
	for _, c := range batch {
		have, err := l.o.Index.Chunk(ctx, v, c.ID)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return nil, err
		}
		if err != nil || !sameChunk(have, c) {
			lacks = append(lacks, c)
		}
	}
	return lacks, nil
}

// sameChunk compares all but the vector, which follows from the rest.
func sameChunk(a, b Chunk) bool {
	return a.ID == b.ID && a.Content == b.Content && a.Heading == b.Heading && a.Page == b.Page && a.Start == b.Start && a.End == b.End
}

// IndexBatch puts a batch into the index, and returns how many chunks of the
// document are there, of how many. Vectors of another encoder than today's, or
// of another text than the one that is stored by now, are computed anew.
func (l *Library) IndexBatch(ctx context.Context, v identity.Viewer, documentID string, p VectorBatch) (done, total int, err error) {
	d, chunks, err := l.cut(ctx, v, documentID)
	if err != nil {
		return 0, 0, err
	}
	if p.Encoder != l.version() || p.Source != d.SHA256 {
		if p, err = l.Embed(ctx, v, documentID, p.Span); err != nil {
			return 0, 0, err
		}
	}
	whole, err := spanOf(chunks, p.Span)
	if err != nil {
		return 0, 0, err
	}
	if len(p.Indices) != len(p.Vectors) {
		return 0, 0, fault.New(fault.Invalid, "The batch has %d passages and %d vectors.", len(p.Indices), len(p.Vectors))
	}
	batch := make([]Chunk, 0, len(p.Indices))
	for i, at := range p.Indices {
		one, err := spanOf(chunks, Span{at, at + 1})
		if err != nil {
			return 0, 0, err
		}
		one[0].Vector = embed.Fit(p.Vectors[i], l.o.Embedder.Dim())
		batch = append(batch, one[0])
	}
	if err := l.o.Index.Upsert(ctx, v, batch); err != nil {
		return 0, 0, err
	}
	if d, err = l.o.Documents.Document(ctx, v, documentID); err != nil {
		return 0, 0, err
	}
	if err := l.indexFormer(ctx, v, d, whole); err != nil {
		return 0, 0, err
	}
	return min(d.Indexed, len(chunks)), len(chunks), err
}

// indexFormer puts chunks into the index for the encoder their context is
// still read with as well, until the sweep has rolled it over: a document that
// comes in meanwhile is found at once (RAG-08). Where that encoder is not at
// hand the document waits for the switch.
func (l *Library) indexFormer(ctx context.Context, v identity.Viewer, d Document, chunks []Chunk) error {
	c, err := l.o.Contexts.Context(ctx, v, d.ContextID)
	if err != nil || c.Encoder == "" || c.Encoder == l.version() {
		return err
	}
	at := slices.IndexFunc(l.o.Former, func(e embed.Embedder) bool { return e.Version() == c.Encoder })
	if at < 0 {
		return nil
	}
	batch := make([]Chunk, len(chunks))
	for i, chunk := range chunks {
		batch[i] = belonging(chunk, d, c.Encoder)
	}
	if batch, err = l.missing(ctx, v, Document{Status: Ready}, batch); err != nil || len(batch) == 0 {
		return err
	}
	if err := l.embedWith(ctx, l.o.Former[at], d, batch); err != nil {
		l.o.Logger.WarnContext(ctx, "a document waits for its context's new encoder", "document", d.ID, "encoder", c.Encoder, "error", err)
		return ctx.Err()
	}
	return l.o.Index.Upsert(ctx, v, batch)
}

// Finish makes sure that every chunk is in the index, removes those the
// document no longer has, and marks it ready.
func (l *Library) Finish(ctx context.Context, v identity.Viewer, documentID string) (Document, error) {
	return l.Store(ctx, v, documentID, nil)
}

// Store embeds and stores what is not there yet of the document's chunks, in
// batches, removes those it no longer has, and marks it ready. progress (may
// be nil) is told after each batch how many chunks are stored, of how many; it
// is where a heartbeat belongs.
func (l *Library) Store(ctx context.Context, v identity.Viewer, documentID string, progress func(done, total int)) (Document, error) {
	d, chunks, err := l.cut(ctx, v, documentID)
	if err != nil {
		return Document{}, err
	}
	if l.Current(d) {
		return l.finish(ctx, v, d)
	}
	if len(chunks) == 0 {
		return Document{}, extract.NoText(d.Path)
	}
	for whole := range slices.Chunk(chunks, l.o.Batch) {
		batch, last := slices.Clone(whole), whole[len(whole)-1].Index
		if batch, err = l.missing(ctx, v, d, batch); err != nil {
			return Document{}, err
		}
		if err := l.embed(ctx, d, batch); err != nil {
			return Document{}, err
		}
		if err := l.o.Index.Upsert(ctx, v, batch); err != nil {
			return Document{}, err
		}
		if err := l.indexFormer(ctx, v, d, whole); err != nil {
			return Document{}, err
		}
		if progress != nil {
			progress(last+1, len(chunks))
		}
	}
	if err := l.retain(ctx, v, d, chunks); err != nil {
		return Document{}, err
	}
	l.cuts.forget(d.ID)
	d.Chunks, d.Version = len(chunks), l.fingerprint(d)
	return l.finish(ctx, v, d)
}

// retain removes the document's chunks but these, and but those of the encoder
// its context is read with: until the context is, they are what a search finds
// (RAG-08).
func (l *Library) retain(ctx context.Context, v identity.Viewer, d Document, chunks []Chunk) error {
	c, err := l.o.Contexts.Context(ctx, v, d.ContextID)
	if err != nil {
		return err
	}
	keep := make([]string, 0, len(chunks))
	for _, chunk := range chunks {
		keep = append(keep, chunk.ID)
		if c.Encoder != "" && c.Encoder != l.version() {
			keep = append(keep, ChunkID(d.ID, chunk.Index, c.Encoder))
		}
	}
	return l.o.Index.Prune(ctx, v, d.ID, keep)
}

// prune removes the document's chunks of other encoders.
func (l *Library) prune(ctx context.Context, v identity.Viewer, documentID string) error {
	_, chunks, err := l.cut(ctx, v, documentID)
	if err != nil {
		return err
	}
	keep := make([]string, 0, len(chunks))
	for _, c := range chunks {
		keep = append(keep, c.ID)
	}
	return l.o.Index.Prune(ctx, v, documentID, keep)
}

// embed gives every chunk its vector of today's encoder.
func (l *Library) embed(ctx context.Context, d Document, batch []Chunk) error {
	return l.embedWith(ctx, l.o.Embedder, d, batch)
}

// embedWith gives every chunk its vector; where it stands in the document is
// part of what it says. Failures are as a person may read them on the document.
func (l *Library) embedWith(ctx context.Context, e embed.Embedder, d Document, batch []Chunk) error {
	if len(batch) == 0 {
		return nil
	}
	texts := make([]string, len(batch))
	for i, c := range batch {
		texts[i] = d.Title + "\n" + c.Heading + "\n" + c.Content
	}
	vecs, err := e.Embed(ctx, texts)
	if err == nil && len(vecs) != len(batch) {
		err = fmt.Errorf("the embedder %s gave %d vectors for %d texts", e.Version(), len(vecs), len(batch))
	}
	if err != nil {
		if _, told := errors.AsType[*fault.Error](err); told || ctx.Err() != nil {
			return err
		}
		return fault.Wrap(fault.Internal, err, "The encoder %s does not answer, so the passages could not be embedded. What is indexed stays; read the document in again when it is back.", e.Version()).
			With(map[string]any{"reason": fault.Upstream})
	}
	for i := range batch {
		batch[i].Vector = embed.Fit(vecs[i], e.Dim())
	}
	return nil
}

func (l *Library) finish(ctx context.Context, v identity.Viewer, d Document) (Document, error) {
	d.Status, d.Error = Ready, ""
	if err := l.o.Documents.SetDocument(ctx, v, d); err != nil {
		return d, err
	}
	return d, l.replace(ctx, v, d.ID)
}

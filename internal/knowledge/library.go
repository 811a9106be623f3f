package knowledge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strconv"
	"strings"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

// Options is what a Library works with. The first four are required.
type Options struct {
	Contexts  Contexts
	Documents Documents
	Index     Index
	Embedder  embed.Embedder
	// Former are encoders of earlier versions, for questions to contexts that
	// are still read with them; without one such a context is searched by words.
	Former    []embed.Embedder
	Parsers   *Parsers     // nil: its own
	K         int          // passages a search returns; 0: 8 (C-60)
	High      float64      // confidence is high from here; 0: 0.75 (C-60)
	Medium    float64      // and medium from here; below it nothing fits; 0: 0.5 (RAG-16)
	ChunkSize int          // tokens, for documents without a size of their own; 0: DefaultChunk
	Batch     int          // chunks embedded and stored at once; 0: 64
	Logger    *slog.Logger // nil: discarded
}

func (o Options) withDefaults() Options {
	o.K = cmp.Or(o.K, 8)
	o.High = cmp.Or(o.High, 0.75)
	o.Medium = cmp.Or(o.Medium, 0.5)
	o.ChunkSize = cmp.Or(o.ChunkSize, DefaultChunk)
	o.Batch = cmp.Or(o.Batch, 64)
	if o.Parsers == nil {
		o.Parsers = NewParsers()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Library takes documents in and finds passages in them. It is safe for
// concurrent use. Taking a document in is three steps, Read, Cut and Store;
// each may be stopped anywhere and run again, and writes nothing twice
// (RAG-19).
type Library struct{ o Options }

// NewLibrary returns a Library over the ports of o.
func NewLibrary(o Options) *Library { return &Library{o.withDefaults()} }

// Close releases the parsers.
func (l *Library) Close() error { return l.o.Parsers.Close() }

// File is an opened file.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Opener opens a document's file by its path, within the viewer's own root.
type Opener func(ctx context.Context, v identity.Viewer, path string) (File, error)

// version names the encoder whose chunks are current (RAG-09).
func (l *Library) version() string { return l.o.Embedder.Version() }

func (l *Library) chunkSize(d Document) int { return cmp.Or(d.ChunkSize, l.o.ChunkSize) }

// fingerprint is what a finished document bears as its Version: when it is
// unchanged, nothing about its chunks would be (RAG-04).
func (l *Library) fingerprint(d Document) string {
	return l.version() + "/" + strconv.Itoa(l.chunkSize(d)) + "/" + d.SHA256
}

// beingRead begins the Version of a document that is on its way; the checksum
// of the file it is read from follows, as in a fingerprint.
const beingRead = "read/"

// asRead is d with the checksum of the file its text was read from: by now
// another may lie there.
func asRead(d Document) Document {
	if at := strings.LastIndexByte(d.Version, '/'); at >= 0 {
		d.SHA256 = d.Version[at+1:]
	}
	return d
}

// Current reports whether the document's chunks are already those of its
// file, encoder and chunk size, so that taking it in again changes nothing.
func (l *Library) Current(d Document) bool {
	return d.SHA256 != "" && d.Version == l.fingerprint(d)
}

// Read reads the document's file and stores its text. A file that did not
// change since it was taken in is left alone (RAG-04). The document's own
// title, pages and length are stored with it. What a person must know about
// a file that cannot be read comes as fault.Invalid.
func (l *Library) Read(ctx context.Context, v identity.Viewer, documentID, runID string, open Opener) (Document, error) {
	d, err := l.o.Documents.Document(ctx, v, documentID)
	if err != nil {
		return Document{}, err
	}
	d.RunID = runID
	f, err := open(ctx, v, d.Path)
	if err != nil {
		return Document{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if d.SHA256, err = checksum(ctx, f); err != nil {
		return Document{}, fmt.Errorf("read %q: %w", d.Path, err)
	}
	d.Size = f.Size()
	if l.Current(d) {
		return l.finish(ctx, v, d)
	}
	if err := CheckChunkSize(d.ChunkSize); err != nil {
		return Document{}, err
	}
	d.Status, d.Error, d.Version = Reading, "", beingRead+d.SHA256
	if err := l.o.Documents.SetDocument(ctx, v, d); err != nil {
		return Document{}, err
	}
	x, err := l.o.Parsers.Parse(ctx, d.Path, d.MIME, f, f.Size())
	if errors.Is(err, errUnaccepted) {
		return Document{}, errors.Join(err, l.skip(ctx, v, d, err))
	}
	if err != nil {
		return Document{}, err
	}
	return l.keep(ctx, v, d, x)
}

// PIIScrub is the key of a context's meta that, when true, takes what is
// personal out of texts before they are stored (RAG-06).
const PIIScrub = "pii_scrub"

// skip reports a file of a type nobody reads: passed over, not broken (RAG-05).
func (l *Library) skip(ctx context.Context, v identity.Viewer, d Document, cause error) error {
	d.Status, d.Error = Skipped, fault.From(cause).Message
	return l.o.Documents.SetDocument(ctx, v, d)
}

// keep stores a text that was read. Chunks of an older text go first, so that
// no chunk ever quotes a text that is no longer there.
func (l *Library) keep(ctx context.Context, v identity.Viewer, d Document, x Extract) (Document, error) {
	c, err := l.o.Contexts.Context(ctx, v, d.ContextID)
	if err != nil {
		return Document{}, err
	}
	if scrub, _ := c.Meta[PIIScrub].(bool); scrub {
		x = scrubbed(x)
	}
	if old, err := l.o.Documents.Text(ctx, v, d.ID); err != nil || old.Text != x.Text {
		if err := l.o.Index.Prune(ctx, v, d.ID, nil); err != nil {
			return Document{}, err
		}
		if err := l.o.Documents.PutText(ctx, v, d.ID, x); err != nil {
			return Document{}, err
		}
	}
	if x.Title != "" && (d.Title == "" || d.Title == fileName(d.Path)) {
		d.Title = x.Title
	}
	d.Pages, d.Length = x.Pages, len(x.Text)
	return d, l.o.Documents.SetDocument(ctx, v, d)
}

func fileName(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

// checksum is the SHA-256 of a file, in hex.
func checksum(ctx context.Context, f File) (string, error) {
	h := sha256.New()
	src := io.NewSectionReader(f, 0, f.Size())
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := io.CopyN(h, src, 4<<20)
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// Cut counts the chunks the document's text will have and stores the number,
// so that progress can be told before the work begins.
func (l *Library) Cut(ctx context.Context, v identity.Viewer, documentID string) (Document, error) {
	d, chunks, err := l.cut(ctx, v, documentID)
	if err != nil || l.Current(d) {
		return d, err
	}
	d.Chunks = len(chunks)
	return d, l.o.Documents.SetDocument(ctx, v, d)
}

func (l *Library) cut(ctx context.Context, v identity.Viewer, documentID string) (Document, []Chunk, error) {
	d, err := l.o.Documents.Document(ctx, v, documentID)
	if err != nil {
		return Document{}, nil, err
	}
	x, err := l.o.Documents.Text(ctx, v, documentID)
	if err != nil {
		return Document{}, nil, err
	}
	d = asRead(d)
	chunks := Cut(x, l.chunkSize(d))
	if crowded(len(chunks), x.Text) {
		return Document{}, nil, fault.New(fault.Invalid, "%q: %s", d.Title, tooManyPieces().Message)
	}
	for i := range chunks {
		chunks[i] = belonging(chunks[i], d, l.version())
	}
	return d, chunks, nil
}

// belonging makes a chunk the document's.
func belonging(c Chunk, d Document, version string) Chunk {
	c.ID, c.DocumentID, c.ContextID, c.Encoder = ChunkID(d.ID, c.Index, version), d.ID, d.ContextID, version
	return c
}

// Store embeds and stores the document's chunks in batches, removes those it
// no longer has, and marks it ready. progress (may be nil) is told after each
// batch how many chunks are stored, of how many; it is where a heartbeat
// belongs.
func (l *Library) Store(ctx context.Context, v identity.Viewer, documentID string, progress func(done, total int)) (Document, error) {
	d, chunks, err := l.cut(ctx, v, documentID)
	if err != nil {
		return Document{}, err
	}
	if l.Current(d) {
		return l.finish(ctx, v, d)
	}
	if len(chunks) == 0 {
		return Document{}, fault.New(fault.Invalid, "%q holds no text: there is nothing to search in it.", d.Title)
	}
	for from := 0; from < len(chunks); from += l.o.Batch {
		batch := chunks[from:min(from+l.o.Batch, len(chunks))]
		if err := l.embed(ctx, d, batch); err != nil {
			return Document{}, err
		}
		if err := l.o.Index.Upsert(ctx, v, batch); err != nil {
			return Document{}, err
		}
		if progress != nil {
			progress(from+len(batch), len(chunks))
		}
	}
	if err := l.retain(ctx, v, d, chunks); err != nil {
		return Document{}, err
	}
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

// embed gives every chunk its vector; where it stands in the document is part
// of what it says.
func (l *Library) embed(ctx context.Context, d Document, batch []Chunk) error {
	texts := make([]string, len(batch))
	for i, c := range batch {
		texts[i] = d.Title + "\n" + c.Heading + "\n" + c.Content
	}
	vecs, err := l.o.Embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	if len(vecs) != len(batch) {
		return fmt.Errorf("the embedder %s gave %d vectors for %d texts", l.version(), len(vecs), len(batch))
	}
	for i := range batch {
		batch[i].Vector = embed.Fit(vecs[i], l.o.Embedder.Dim())
	}
	return nil
}

func (l *Library) finish(ctx context.Context, v identity.Viewer, d Document) (Document, error) {
	d.Status, d.Error = Ready, ""
	return d, l.o.Documents.SetDocument(ctx, v, d)
}

// Fail marks a document that cannot be taken in, with the sentence a person
// sees. A document Read has skipped stays skipped (RAG-05).
func (l *Library) Fail(ctx context.Context, v identity.Viewer, documentID string, cause error) (Document, error) {
	d, err := l.o.Documents.Document(ctx, v, documentID)
	if err != nil {
		return Document{}, err
	}
	if d.Status == Skipped {
		return d, nil
	}
	f := fault.From(cause)
	d.Status, d.Error = Failed, f.Message
	l.o.Logger.WarnContext(ctx, "document not taken in", "document", d.ID, "code", string(f.Code), "cause", cause)
	return d, l.o.Documents.SetDocument(ctx, v, d)
}

// Recording returns contexts that note, on the creation of each, which encoder
// its chunks are embedded with, as its encoder and in meta.embedding_model
// (RAG-08, RAG-09).
func Recording(c Contexts, e embed.Embedder) Contexts { return recording{c, e.Version()} }

type recording struct {
	Contexts
	version string
}

func (r recording) CreateContext(ctx context.Context, v identity.Viewer, c Context) (Context, error) {
	meta := map[string]any{"embedding_model": r.version}
	maps.Copy(meta, c.Meta)
	c.Meta, c.Encoder = meta, r.version
	return r.Contexts.CreateContext(ctx, v, c)
}

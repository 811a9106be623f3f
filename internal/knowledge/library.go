package knowledge

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"maps"
	"strconv"
	"strings"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge/extract"
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
	Parsers   *extract.Parsers // nil: its own
	K         int              // passages a search returns; 0: 8 (C-60)
	High      float64          // confidence is high from here; 0: 0.75 (C-60)
	Medium    float64          // and medium from here; below it nothing fits; 0: 0.5 (RAG-16)
	ChunkSize int              // tokens, for documents without a size of their own; 0: SizeFor their type
	Batch     int              // chunks embedded and stored at once; 0: 64
	// FileBytes is how large a file of a viewer may be that is read in, by their
	// plan; nil or 0: any size (RAG-05).
	FileBytes func(v identity.Viewer) int64
	Logger    *slog.Logger // nil: discarded
}

func (o Options) withDefaults() Options {
	o.K = cmp.Or(o.K, 8)
	o.High = cmp.Or(o.High, 0.75)
	o.Medium = cmp.Or(o.Medium, 0.5)
	o.Batch = cmp.Or(o.Batch, 64)
	if o.Parsers == nil {
		o.Parsers = extract.New()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Library takes documents in and finds passages in them. It is safe for
// concurrent use. Taking a document in is Extract, Clean, Cut, then Embed and
// IndexBatch for each batch, and Finish; each may be stopped anywhere and run
// again, and writes nothing twice (RAG-19).
type Library struct {
	o      Options
	cuts   cuts
	gauges gauges
}

// NewLibrary returns a Library over the ports of o.
func NewLibrary(o Options) *Library { return &Library{o: o.withDefaults()} }

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

func (l *Library) chunkSize(d Document) int {
	return cmp.Or(d.ChunkSize, l.o.ChunkSize, formerSize(d), SizeFor(d.Path, d.MIME))
}

// formerSize is DefaultChunk for a document that was taken in when every type
// was cut by it: its chunks stay as they are until its file changes. For every
// other one it is 0.
func formerSize(d Document) int {
	if at := strings.LastIndexByte(d.Version, '/'); at > 0 && strings.HasSuffix(d.Version[:at], "/"+strconv.Itoa(DefaultChunk)) {
		return DefaultChunk
	}
	return 0
}

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
	l.cuts.forget(d.ID)
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

// Package knowledge is contexts, documents and their chunks: taking files in,
// cutting their texts, and finding the passages that answer a question.
//
// It may import fault, id, identity, words, redact, embed, model and extract.
// It knows no database and no file format: Index, Contexts and Documents are
// its ports, and extract reads files. A file becomes an extract.Document, is
// cut into Chunks, and is found again by Library.Search as Passages, from which
// Quotes picks sentences; every offset on that way counts bytes of the stored
// text.
package knowledge

import (
	"context"
	"time"

	"liminal/internal/identity"
	"liminal/internal/knowledge/extract"
)

// Context is a named set of documents.
type Context struct {
	ID          string
	UserID      string // owner; empty for a global context
	Name        string
	Description string
	Visibility  string         // private, shared, global
	Opened      bool           // the viewer may add documents to another person's
	Meta        map[string]any // embedding_model, pii_scrub
	Encoder     string         // whose chunks a search reads; empty: all (RAG-08)
	Documents   int
	Unread      int // of them on their way in
	Chunks      int
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// DocumentStatus is where a document stands on its way in.
type DocumentStatus string

// The states of a document.
const (
	Waiting DocumentStatus = "waiting"
	Reading DocumentStatus = "reading"
	Ready   DocumentStatus = "ready"
	Failed  DocumentStatus = "failed"
	Skipped DocumentStatus = "skipped" // unchanged, or of no declared type (RAG-05)
)

// Document is one file in one context; (ContextID, Path) is unique.
type Document struct {
	ID        string
	ContextID string
	UserID    string
	Path      string // relative to the user's root: "files/report.pdf"
	Title     string
	MIME      string
	Size      int64  // bytes of the file
	SHA256    string // of the file, hex (RAG-04)
	Status    DocumentStatus
	Error     string // a sentence a person understands
	Pages     int    // 0 when the format has none
	Length    int    // bytes of the stored text
	Chunks    int    // all there are, as soon as the text is cut
	Indexed   int    // of them in the index; counted while the document is read in
	ChunkSize int    // tokens; 0: the default
	RunID     string
	Version   string // encoder, chunk size and file its chunks were made of; empty until they are complete
	CreatedAt time.Time
	UpdatedAt time.Time

	// Of the versions of a document, each of which is a document (see versions.go).
	Origin       string    // where its person had the file: its name, or its path in the folder it came in; may be empty
	Lineage      string    // what its versions have in common; empty: it is the only one
	SupersededAt time.Time // when a newer version replaced it; zero: it is the one that is searched
	CurrentID    string    // of one that was replaced: the version in its place
	Former       int       // how many versions it has replaced that are still there
}

// Superseded reports whether a newer version has taken the document's place:
// it can be looked at, and is neither searched nor quoted.
func (d Document) Superseded() bool { return !d.SupersededAt.IsZero() }

// Chunk is a piece of a document's stored text: Content == text[Start:End],
// in bytes of UTF-8.
type Chunk struct {
	ID         string // derived from document, index and encoder version
	DocumentID string
	ContextID  string
	Index      int
	Content    string
	Heading    string // path of headings above it, joined by extract.HeadingSeparator
	Page       int
	Start, End int
	Encoder    string // version of what made Vector; empty when nobody asks
	Vector     []float32
}

// Query asks the index. Access is decided before: ContextIDs are ones the
// viewer may see, and the index never looks outside them (RAG-18).
type Query struct {
	ContextIDs  []string
	DocumentIDs []string // not empty: only these
	Text        string   // plain words; the index stems and quotes them itself
	Begins      string   // in place of Text: how a word begins, in small letters
	Vector      []float32
	Limit       int // of each list, text and vector
}

// Hit is a chunk that was found. Ranks are 1-based; 0 means not in that list.
type Hit struct {
	Chunk      Chunk
	TextRank   int
	TextScore  float64 // BM25, larger is better
	VectorRank int
	Cosine     float64 // -1 to 1
}

// Contexts keeps contexts.
type Contexts interface {
	CreateContext(ctx context.Context, v identity.Viewer, c Context) (Context, error)
	Context(ctx context.Context, v identity.Viewer, id string) (Context, error)
	// ListContexts lists what v may see; owner is "", "me", "shared" (others'
	// with v) or "global".
	ListContexts(ctx context.Context, v identity.Viewer, owner, cursor string, limit int) ([]Context, string, error)
	// UpdateContext changes what a context is called; NotFound for one that v
	// may not change.
	UpdateContext(ctx context.Context, v identity.Viewer, id string, c ContextChange) (Context, error)
	DeleteContext(ctx context.Context, v identity.Viewer, id string) error
}

// ContextChange names what to change of a context; nil leaves a field as it is.
type ContextChange struct {
	Name        *string
	Description *string
}

// Documents keeps documents and their texts.
type Documents interface {
	// PutDocument creates the document of (ContextID, Path) or returns the one
	// there is, with its file facts brought up to date. One that was replaced
	// stays as it is.
	PutDocument(ctx context.Context, v identity.Viewer, d Document) (Document, error)
	Document(ctx context.Context, v identity.Viewer, id string) (Document, error)
	// ListDocuments lists a context's documents, the newest first, without those
	// that were replaced.
	ListDocuments(ctx context.Context, v identity.Viewer, contextID, cursor string, limit int) ([]Document, string, error)
	// Unread lists the documents of contexts that are waiting or being read, the
	// oldest first; contexts v may not see have none.
	Unread(ctx context.Context, v identity.Viewer, contextIDs []string, limit int) ([]Document, error)
	// DeleteDocument removes the document, its text and its chunks (RAG-20), and
	// the versions it has replaced. Of one that was replaced it removes that
	// version only.
	DeleteDocument(ctx context.Context, v identity.Viewer, id string) error
	// SetDocument stores progress: status, error, pages, length, chunks, run,
	// and the size and checksum of the file that was read, if they are there.
	SetDocument(ctx context.Context, v identity.Viewer, d Document) error
	PutText(ctx context.Context, v identity.Viewer, id string, t extract.Document) error
	Text(ctx context.Context, v identity.Viewer, id string) (extract.Document, error)
	Versions
}

// Index finds chunks. Upsert is idempotent by chunk id (RAG-19).
type Index interface {
	Upsert(ctx context.Context, v identity.Viewer, chunks []Chunk) error
	// Prune removes the document's chunks whose id is not in keep; nil removes
	// them all.
	Prune(ctx context.Context, v identity.Viewer, documentID string, keep []string) error
	Search(ctx context.Context, v identity.Viewer, q Query) ([]Hit, error)
	// Chunks lists a context's chunks, newest first (API-15).
	Chunks(ctx context.Context, v identity.Viewer, contextID string, limit int) ([]Chunk, error)
	Chunk(ctx context.Context, v identity.Viewer, id string) (Chunk, error)
}

package api

import (
	"context"
	"time"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
)

func (s *server) documentRoutes() {
	add(s, route("GET /v1/documents", "listOwnDocuments", "My documents across all contexts, newest first"), s.listOwnDocuments)
	add(s, route("GET /v1/documents/{id}", "document", "One document and how far its reading is"), s.document)
	add(s, route("PATCH /v1/documents/{id}", "renameDocument", "Give a document a title"), s.renameDocument)
	add(s, route("DELETE /v1/documents/{id}", "deleteDocument", "Take a document out of its context; the file stays"), s.deleteDocument)
	add(s, route("GET /v1/documents/{id}/text", "passage", "A passage of the stored text with what stands around it"), s.passage)
}

// Document is one file in one context.
type Document struct {
	ID        string    `json:"id" format:"uuid"`
	ContextID string    `json:"context_id" format:"uuid"`
	Title     string    `json:"title"`
	Path      string    `json:"path"`
	MIME      string    `json:"mime"`
	Size      int64     `json:"size"`
	Status    string    `json:"status" enum:"waiting,reading,ready,failed,skipped"`
	Error     string    `json:"error,omitempty"`
	Pages     int       `json:"pages"`
	Length    int       `json:"length" doc:"bytes of the stored text"`
	Chunks    int       `json:"chunks" doc:"passages of the whole text, known as soon as it is cut"`
	Done      int       `json:"chunks_done" doc:"of them, how many are indexed"`
	ChunkSize int       `json:"chunk_size,omitempty"`
	RunID     string    `json:"run_id,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func documentView(d knowledge.Document) Document {
	return Document{
		ID: d.ID, ContextID: d.ContextID, Title: d.Title, Path: d.Path, MIME: d.MIME, Size: d.Size, Status: string(d.Status),
		Error: d.Error, Pages: d.Pages, Length: d.Length, Chunks: d.Chunks, Done: d.Indexed, ChunkSize: d.ChunkSize, RunID: d.RunID,
		CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(),
	}
}

func (s *server) document(ctx context.Context, in *ByID) (Document, error) {
	d, err := s.Documents.Document(ctx, viewerOf(ctx), in.ID)
	return documentView(d), err
}

// DocumentTitle is a document by its name, for mentions.
type DocumentTitle struct {
	ID        string    `json:"id" format:"uuid"`
	Title     string    `json:"title"`
	ContextID string    `json:"context_id" format:"uuid"`
	Path      string    `json:"path"`
	Status    string    `json:"status" enum:"waiting,reading,ready,failed,skipped"`
	UpdatedAt time.Time `json:"updated_at"`
}

func titleView(t knowledge.Titled) DocumentTitle {
	return DocumentTitle{ID: t.ID, Title: t.Title, ContextID: t.ContextID, Path: t.Path, Status: string(t.Status), UpdatedAt: t.UpdatedAt.UTC()}
}

type listOwnDocumentsInput struct {
	Paged
	Q string `query:"q" maxLength:"200" doc:"words the title holds, in any case"`
}

func (s *server) listOwnDocuments(ctx context.Context, in *listOwnDocumentsInput) (Page[DocumentTitle], error) {
	list, next, err := s.Titles.FindDocuments(ctx, viewerOf(ctx), in.Q, in.Cursor, in.Limit)
	return page(list, next, titleView), err
}

type renameDocumentInput struct {
	ByID
	Body struct {
		Title string `json:"title" doc:"1 to 200 characters on one line; reading the file again keeps it"`
	}
}

func (s *server) renameDocument(ctx context.Context, in *renameDocumentInput) (Document, error) {
	d, err := s.Titles.RenameDocument(ctx, viewerOf(ctx), in.ID, in.Body.Title)
	return documentView(d), err
}

func (s *server) deleteDocument(ctx context.Context, in *ByID) (Nothing, error) {
	v := viewerOf(ctx)
	d, err := s.Documents.Document(ctx, v, in.ID)
	if err != nil {
		return Nothing{}, err
	}
	if _, err := s.ownContext(ctx, v, d.ContextID); err != nil {
		return Nothing{}, err
	}
	return Nothing{}, s.Documents.DeleteDocument(ctx, v, in.ID)
}

type passageInput struct {
	ByID
	Start  int `query:"start" minimum:"0" doc:"byte offset into the stored text"`
	End    int `query:"end" minimum:"0" doc:"0: the end of the text, at most 64 KB on"`
	Margin int `query:"margin" minimum:"0" maximum:"20000" default:"300" doc:"bytes before and after"`
}

// Passage is text[start:end] in bytes, with its surroundings cut at
// characters.
type Passage struct {
	Title   string `json:"title"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Before  string `json:"before"`
	Quote   string `json:"quote"`
	After   string `json:"after"`
	Heading string `json:"heading"`
	Page    int    `json:"page"`
	Length  int    `json:"length" doc:"bytes of the whole text"`
}

const maxPassage = 64 << 10 // bytes

func (s *server) passage(ctx context.Context, in *passageInput) (Passage, error) {
	v := viewerOf(ctx)
	d, err := s.Documents.Document(ctx, v, in.ID)
	if err != nil {
		return Passage{}, err
	}
	t, err := s.Documents.Text(ctx, v, in.ID)
	if err != nil {
		return Passage{}, err
	}
	if in.End == 0 {
		in.End = min(len(t.Text), in.Start+maxPassage)
	}
	if in.Start > in.End || in.End > len(t.Text) || in.End-in.Start > maxPassage {
		return Passage{}, fault.New(fault.Invalid, "The text has %d bytes; bytes %d to %d are not a passage of it.", len(t.Text), in.Start, in.End)
	}
	return cutPassage(d.Title, t, in.Start, in.End, in.Margin), nil
}

func cutPassage(title string, t extract.Document, start, end, margin int) Passage {
	start, end = runeAt(t.Text, start), runeAt(t.Text, end)
	from, to := runeAt(t.Text, max(0, start-margin)), runeAt(t.Text, min(len(t.Text), end+margin))
	p := Passage{Title: title, Start: start, End: end, Before: t.Text[from:start], Quote: t.Text[start:end], After: t.Text[end:to], Length: len(t.Text)}
	for _, b := range t.Blocks {
		if b.Start > start {
			break
		}
		p.Heading, p.Page = b.Heading, b.Page
	}
	return p
}

// runeAt moves an offset forward to where a character begins.
func runeAt(s string, at int) int {
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return at
}

package api

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/files"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
	"liminal/internal/quota"
)

func (s *server) documentRoutes() {
	add(s, route("GET /v1/documents", "listOwnDocuments", "My documents across all contexts, newest first", scopeRead), s.listOwnDocuments)
	add(s, route("GET /v1/documents/{id}", "document", "One document and how far its reading is", scopeRead), s.document)
	add(s, route("PATCH /v1/documents/{id}", "renameDocument", "Give a document a title", scopeWrite), s.renameDocument)
	add(s, route("DELETE /v1/documents/{id}", "deleteDocument", "Take a document, with the versions it has replaced, out of its context; the files stay", scopeWrite), s.deleteDocument)
	add(s, route("GET /v1/documents/{id}/text", "passage", "A passage of the stored text with what stands around it", scopeRead), s.passage)
	add(s, route("POST /v1/documents/{id}/link", "linkDocument", "A signed link to download a document's file, for ten minutes and no longer than the session", scopeRead), s.linkDocument)
	add(s, route("GET /v1/documents/{id}/versions", "documentVersions", "A document and the versions it has replaced, the latest first", scopeRead), s.documentVersions)
	add(s, route("POST /v1/documents/{id}/restore", "restoreDocument", "Put a version that was replaced back in use; it is read anew", scopeWrite), s.restoreDocument)
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

	Former       int        `json:"former_versions,omitempty" doc:"how many versions it has replaced that can be looked at"`
	SupersededAt *time.Time `json:"superseded_at,omitempty" doc:"when a newer version replaced it: it is searched and quoted no more"`
	CurrentID    string     `json:"current_id,omitempty" doc:"of one that was replaced, the version in its place"`
}

func documentView(d knowledge.Document) Document {
	out := documentFacts(d)
	if d.Superseded() {
		at := d.SupersededAt.UTC()
		out.SupersededAt = &at
	}
	return out
}

func documentFacts(d knowledge.Document) Document {
	return Document{
		ID: d.ID, ContextID: d.ContextID, Title: d.Title, Path: d.Path, MIME: d.MIME, Size: d.Size, Status: string(d.Status),
		Error: d.Error, Pages: d.Pages, Length: d.Length, Chunks: d.Chunks, Done: d.Indexed, ChunkSize: d.ChunkSize, RunID: d.RunID,
		CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(), Former: d.Former, CurrentID: d.CurrentID,
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
	Error     string    `json:"error,omitempty" doc:"why it could not be read, or was left out"`
	UpdatedAt time.Time `json:"updated_at"`
}

func titleView(t knowledge.Titled) DocumentTitle {
	return DocumentTitle{ID: t.ID, Title: t.Title, ContextID: t.ContextID, Path: t.Path, Status: string(t.Status), Error: t.Error, UpdatedAt: t.UpdatedAt.UTC()}
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
	if _, err := s.changeableDocument(ctx, v, in.ID); err != nil {
		return Nothing{}, err
	}
	return Nothing{}, s.Documents.DeleteDocument(ctx, v, in.ID)
}

type passageInput struct {
	ByID
	Start  int    `query:"start" minimum:"0" doc:"byte offset into the stored text"`
	End    int    `query:"end" minimum:"0" doc:"0: the end of the text, at most 64 KB on"`
	Margin int    `query:"margin" minimum:"0" maximum:"20000" default:"300" doc:"bytes before and after"`
	Around string `query:"around" enum:"margin,page" default:"margin" doc:"page: what stands on the same pages instead, at most 20000 bytes each way; of a format without pages, the margin"`
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
	Pages   int    `json:"pages" doc:"of the whole document; 0: its format has none"`
	Length  int    `json:"length" doc:"bytes of the whole text"`

	SupersededAt *time.Time `json:"superseded_at,omitempty" doc:"when a newer version replaced this document"`
	CurrentID    string     `json:"current_id,omitempty" doc:"of one that was replaced, the version in its place"`
}

const (
	maxPassage = 64 << 10 // bytes
	maxMargin  = 20_000   // bytes, as passageInput says
)

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
	from, to := in.Start-in.Margin, in.End+in.Margin
	if a, z, paged := pagesAround(t, in.Start, in.End); paged && in.Around == "page" {
		from, to = max(a, in.Start-maxMargin), min(z, in.End+maxMargin)
	}
	p := cutPassage(t, in.Start, in.End, from, to)
	view := documentView(d)
	p.Title, p.SupersededAt, p.CurrentID = d.Title, view.SupersededAt, view.CurrentID
	return p, nil
}

// pagesAround is where the page on which start stands begins, and where the one
// that end stands on ends; paged is false where the text has no pages.
func pagesAround(t extract.Document, start, end int) (from, to int, paged bool) {
	first, last := pageAt(t, start), pageAt(t, max(start, end-1))
	from, to = start, end
	for _, b := range t.Blocks {
		if b.Page < first || b.Page > last {
			continue
		}
		from, to = min(from, b.Start), max(to, b.End)
	}
	return from, to, first > 0
}

// pageAt is the page a byte of the text stands on; 0: it has none.
func pageAt(t extract.Document, at int) (page int) {
	for _, b := range t.Blocks {
		if b.Start > at {
			break
		}
		page = b.Page
	}
	return page
}

// cutPassage is text[start:end] with what stands around it in text[from:to],
// which may reach beyond the text.
func cutPassage(t extract.Document, start, end, from, to int) Passage {
	start, end = runeAt(t.Text, start), runeAt(t.Text, end)
	from, to = runeAt(t.Text, max(0, from)), runeAt(t.Text, min(len(t.Text), to))
	p := Passage{Start: start, End: end, Before: t.Text[from:start], Quote: t.Text[start:end], After: t.Text[end:to], Pages: t.Pages, Length: len(t.Text)}
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

type linkDocumentInput struct {
	ByID
	Body struct {
		Inline bool `json:"inline,omitempty" doc:"for the browser to show; of a PDF only"`
	}
}

// linkDocument signs a download of what a document was read from, for whoever
// may read the document.
func (s *server) linkDocument(ctx context.Context, in *linkDocumentInput) (Link, error) {
	v := viewerOf(ctx)
	d, err := s.Documents.Document(ctx, v, in.ID)
	if err != nil {
		return Link{}, err
	}
	mark, err := s.Devices.Mark(ctx, v)
	if err != nil {
		return Link{}, err
	}
	q, expires, err := s.Files.LinkShared(ctx, v, files.Shared{UserID: d.UserID, Path: d.Path, Name: downloadName(d)}, mark, s.Now())
	if errors.Is(err, fault.NotFound) {
		return Link{}, fault.Wrap(fault.NotFound, err, "The file of this document is not there any more. Its text is.")
	}
	if in.Body.Inline && err == nil {
		q.Set("inline", "1")
	}
	return Link{URL: downloadURL(q), ExpiresAt: expires.UTC()}, err
}

// downloadName is what a document's file was called where it came from: the one
// it has here may be numbered.
func downloadName(d knowledge.Document) string {
	name := cmp.Or(d.Origin, d.Path)
	return name[strings.LastIndexByte(name, '/')+1:]
}

func (s *server) documentVersions(ctx context.Context, in *ByID) (Page[Document], error) {
	list, err := s.Documents.DocumentVersions(ctx, viewerOf(ctx), in.ID)
	return page(list, "", documentView), err
}

// restoreDocument makes a version that was replaced the latest one again. It
// replaces the one in its place when it has been read.
func (s *server) restoreDocument(ctx context.Context, in *ByID) (Document, error) {
	v := viewerOf(ctx)
	d, err := s.changeableDocument(ctx, v, in.ID)
	if err != nil {
		return Document{}, err
	}
	if !d.Superseded() {
		return documentView(d), nil
	}
	if d.UserID != v.UserID {
		return Document{}, fault.New(fault.Forbidden, "Only the person who uploaded this version can put it back in use.")
	}
	if _, err := s.Files.File(ctx, v, d.Path); err != nil {
		return Document{}, fault.Wrap(fault.CodeOf(err), err, "The file of this version is not there any more, so it cannot be read again. Upload it.")
	}
	if err := s.Limits.Spend(ctx, quota.PlanOf(v.Plan).Chat, v.UserID); err != nil { // it is a run
		return Document{}, err
	}
	d.ID = "" // of its path there is one already
	d, _, err = s.Documents.PutVersion(ctx, v, d, false)
	if err != nil {
		return Document{}, err
	}
	return s.ingest(ctx, v, d)
}

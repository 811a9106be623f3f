package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/fault"
	"liminal/internal/files"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/quota"
)

const (
	maxUploads   = 4        // of one person at once
	uploadSpare  = 64 << 10 // bytes around the file in its request
	minChunkSize = 64       // tokens (FILE-10)
	maxChunkSize = 4000
)

func (s *server) fileRoutes() {
	op := route("POST /v1/files/upload", "uploadFile", "Store a file; with context_id it is read into that context", scopeWrite)
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
		Type: "object", Required: []string{"file"}, Properties: map[string]*huma.Schema{
			"file": {Type: "string", Format: "binary"}, "context_id": {Type: "string", Format: "uuid"},
			"chunk_size": {Type: "integer", Description: "tokens, 64 to 4000"},
			"origin":     {Type: "string", Description: "where the file lies with its person, as notes/2026/may.md; without it, its name"},
			"keep_both":  {Type: "boolean", Description: "true: beside a document of the context that came from the same place, not instead of it"},
		},
	}}}}
	s.handleHTTP(op, s.upload)
	s.answers(op, 200, "application/json", "The file; with a context also its document and the run that reads it", s.schemaOf(Envelope[Uploaded]{}))
	add(s, route("GET /v1/files", "listFiles", "My files, latest first", scopeRead), s.listFiles)
	add(s, route("DELETE /v1/files", "deleteFile", "Delete a file and what was read from it", scopeWrite), s.deleteFile)
	add(s, route("GET /v1/files/limits", "fileLimits", "What may be uploaded", scopeRead, scopeWrite), s.fileLimits)
	add(s, route("POST /v1/files/link", "linkFile", "A signed link to download a file, for ten minutes and no longer than the session", scopeRead), s.linkFile)
	op = public(route("GET /v1/files/download", "downloadFile", "Download by a signed link"))
	op.Parameters = []*huma.Param{}
	for _, name := range []string{"user", "path", "session", "expires", "signature"} {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "query", Required: true, Schema: &huma.Schema{Type: "string"}})
	}
	for _, name := range []string{"owner", "name"} {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "query", Description: "of a link to a document", Schema: &huma.Schema{Type: "string"}})
	}
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: "inline", In: "query", Description: "shown by the browser, not saved; of a PDF only", Schema: &huma.Schema{Type: "boolean"},
	})
	s.handleHTTP(op, s.download)
	s.answers(op, 200, "application/octet-stream", "The file, as an attachment", &huma.Schema{Type: "string", Format: "binary"})
}

// File is a stored file.
type File struct {
	Path      string    `json:"path" doc:"what other calls take"`
	FSPath    string    `json:"fs_path" doc:"where it lies below the data folder"`
	Name      string    `json:"name"`
	Size      int64     `json:"size"`
	MIME      string    `json:"mime"`
	SHA256    string    `json:"sha256"`
	CreatedAt time.Time `json:"created_at"`
}

func (s *server) fileView(f files.File) File {
	return File{Path: f.Path, FSPath: s.Files.FSPath(f), Name: f.Name, Size: f.Size, MIME: f.MIME, SHA256: f.SHA256, CreatedAt: f.CreatedAt.UTC()}
}

// Uploaded is what became of an upload.
type Uploaded struct {
	File     File      `json:"file"`
	Document *Document `json:"document,omitempty"`
	RunID    string    `json:"run_id,omitempty" doc:"the run that reads it"`
	Replaces *Replaced `json:"replaces,omitempty" doc:"the version it takes the place of, once it is read"`
}

// Replaced is a version of a document that a newer one takes the place of.
type Replaced struct {
	DocumentID string    `json:"document_id" format:"uuid"`
	Title      string    `json:"title"`
	CreatedAt  time.Time `json:"created_at"`
}

// upload receives one file a request, straight to disk.
func (s *server) upload(w http.ResponseWriter, r *http.Request) {
	ctx, v := r.Context(), viewerOf(r.Context())
	release, err := s.Limits.Hold(ctx, "uploads", v.UserID, maxUploads)
	if errors.Is(err, fault.Conflict) { // no error of theirs, which would count against them, but a matter of a moment
		err = fault.New(fault.RateLimited, "%d files of yours are being received, the most at once. Try again in a second.", maxUploads).
			With(quota.Exceeded{Rule: "files.at_once", RetryAfter: 1})
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer release()
	bounds := boundsOf(s.Plans.Of(v))
	r.Body = http.MaxBytesReader(w, s.deadlines.body(w, r.Body), bounds.File+uploadSpare)
	err = s.roomFor(ctx, v, r.ContentLength)
	var got Uploaded
	if err == nil {
		got, err = s.receive(ctx, v, r, bounds)
	}
	if err != nil {
		// Browsers show a broken connection instead of the reason unless the
		// rest of the file, which is bounded, has been taken off their hands.
		_, _ = io.Copy(io.Discard, r.Body)
		s.refuse(w, r, uploadFault(err, bounds.File))
		return
	}
	requestOf(ctx).liftReadDeadline()
	writeJSON(w, http.StatusOK, envelope(ctx, got))
}

// roomFor refuses a file while too much of its person's is under way, or too
// many have come, before anything of it is read. length is that of the request,
// in bytes; below zero it is not known. Those that come at the same moment do not
// see each other, so it may be exceeded by as many as one person sends at once.
func (s *server) roomFor(ctx context.Context, v identity.Viewer, length int64) error {
	plan := s.Plans.Of(v)
	intake := plan.IntakeOf(s.Intake)
	if err := s.Limits.Spend(ctx, intake.Rule(), v.UserID); err != nil { // first, so that those who come again and again cost the database nothing
		return err
	}
	underWay, err := s.Documents.UnderWay(ctx, v)
	if err != nil {
		return err
	}
	if length < 0 {
		length = plan.MaxFileBytes
	}
	return intake.Room(underWay, length)
}

// uploadFault says in terms of the file what the request broke.
func uploadFault(err error, limit int64) error {
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return fault.New(fault.Invalid, "The file is larger than %d MB, the most one file may have.", limit>>20).
			With(map[string]any{"field": "file", "max_bytes": limit})
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fault.Wrap(fault.Invalid, err, "The upload came to a halt and was cut off. Try again.").
			With(map[string]any{"field": "file", "reason": "stalled"})
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Wrap(fault.Invalid, err, "The upload broke off before its end. Try again.")
	}
	return err
}

// form is an upload's fields; staged is its file, complete but without a name.
type form struct {
	contextID string
	chunkSize int
	origin    string // "": the file's name
	keepBoth  bool
	staged    *files.Staged
}

func (s *server) receive(ctx context.Context, v identity.Viewer, r *http.Request, b files.Bounds) (Uploaded, error) {
	reader, err := r.MultipartReader()
	if err != nil {
		return Uploaded{}, fault.Wrap(fault.Invalid, err, "Send the file as multipart/form-data, in a field named file.")
	}
	var in form
	defer func() {
		if in.staged != nil {
			in.staged.Discard()
		}
	}()
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Uploaded{}, malformed(err)
		}
		if err := s.field(ctx, v, &in, part, b); err != nil {
			return Uploaded{}, err
		}
	}
	if in.staged == nil {
		return Uploaded{}, fault.New(fault.Invalid, "There is no file in the field named file.")
	}
	return s.keep(ctx, v, in)
}

// field reads one part. The context and the chunk size are checked as they
// come, so that a wrong one is refused before a large file is received.
func (s *server) field(ctx context.Context, v identity.Viewer, in *form, part *multipart.Part, b files.Bounds) (err error) {
	switch part.FormName() {
	case "file":
		if in.staged != nil {
			return fault.New(fault.Invalid, "Send one file at a time.")
		}
		in.staged, err = s.Files.Stage(ctx, v, fileName(part), formed{part}, b)
		return err
	case "context_id":
		if in.contextID, err = text(part); err == nil && in.contextID != "" {
			_, err = s.openContext(ctx, v, in.contextID)
		}
		return err
	case "chunk_size":
		in.chunkSize, err = chunkSize(part)
		return err
	case "origin":
		in.origin, err = text(part)
		in.origin = files.CleanOrigin(in.origin)
		return err
	case "keep_both":
		in.keepBoth, err = boolean("keep_both", part)
		return err
	}
	return nil
}

func boolean(field string, part io.Reader) (bool, error) {
	said, err := text(part)
	if err != nil || said == "" {
		return false, err
	}
	yes, err := strconv.ParseBool(said)
	if err != nil {
		return false, invalidField(field, "%s is true or false, not %q.", field, said)
	}
	return yes, nil
}

// fileName is the name the browser sent, with what multipart.FileName would
// have dropped: cleaning is for files to do.
func fileName(part *multipart.Part) string {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return params["filename"]
}

func text(part io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(formed{part}, 1024))
	return string(b), err
}

// formed reads a part, whose errors are of the request and not ours.
type formed struct{ io.Reader }

func (f formed) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if err != nil && err != io.EOF { //nolint:errorlint // a reader's own end
		err = malformed(err)
	}
	return n, err
}

// malformed is what broke while an upload was read, of which uploadFault may
// know more.
func malformed(err error) error {
	return fault.Wrap(fault.Invalid, err, "The upload is not well-formed multipart/form-data. Send the file in a field named file, and percent-encode what a header cannot hold.")
}

func chunkSize(part io.Reader) (int, error) {
	field, err := text(part)
	if err != nil || field == "" {
		return 0, err
	}
	n, err := strconv.Atoi(field)
	if err != nil || n < minChunkSize || n > maxChunkSize {
		return 0, fault.New(fault.Invalid, "chunk_size must be a number of tokens from %d to %d.", minChunkSize, maxChunkSize).
			With(map[string]any{"field": "chunk_size", "minimum": minChunkSize, "maximum": maxChunkSize})
	}
	return n, nil
}

// keep gives the file its place and has it read into its context, where it
// replaces what came from the same place before.
func (s *server) keep(ctx context.Context, v identity.Viewer, in form) (Uploaded, error) {
	name := in.staged.File().Name // as it came; a file of the same name makes Keep number it
	f, err := in.staged.Keep(ctx)
	if err != nil {
		return Uploaded{}, err
	}
	out := Uploaded{File: s.fileView(f)}
	if in.contextID == "" {
		return out, nil
	}
	d := fileDocument(in.contextID, f, in.chunkSize)
	d.Title, d.Origin = name, cmp.Or(in.origin, name)
	if in.keepBoth {
		d.Title, d.Origin = f.Name, f.Name
	}
	d, replaced, err := s.Documents.PutVersion(ctx, v, d, in.keepBoth)
	if err != nil {
		return out, err
	}
	if replaced != nil {
		out.Replaces = &Replaced{replaced.ID, knowledge.TitleOf(replaced.Title, replaced.Path), replaced.CreatedAt.UTC()}
	}
	read, err := s.ingest(ctx, v, d)
	out.Document, out.RunID = &read, read.RunID
	return out, err
}

// attach makes a file a document of a context and starts reading it.
func (s *server) attach(ctx context.Context, v identity.Viewer, contextID string, f files.File, chunkSize int) (Document, error) {
	d, err := s.Documents.PutDocument(ctx, v, fileDocument(contextID, f, chunkSize))
	if err != nil {
		return Document{}, err
	}
	return s.ingest(ctx, v, d)
}

// fileDocument is what a file becomes in a context.
func fileDocument(contextID string, f files.File, chunkSize int) knowledge.Document {
	return knowledge.Document{
		ContextID: contextID, UserID: f.UserID, Path: f.Path, Title: f.Name,
		MIME: f.MIME, Size: f.Size, SHA256: f.SHA256, Status: knowledge.Waiting, ChunkSize: chunkSize,
	}
}

// ingest starts reading a document, unless that is under way.
func (s *server) ingest(ctx context.Context, v identity.Viewer, d knowledge.Document) (Document, error) {
	r, err := s.Engine.Ingest(ctx, v, d.ID)
	switch {
	case fault.CodeOf(err) == fault.Conflict: // it is being read already
		return documentView(d), nil
	case err != nil:
		return Document{}, fmt.Errorf("start reading %s: %w", d.ID, err)
	}
	d.RunID = r.ID
	return documentView(d), nil
}

func (s *server) listFiles(ctx context.Context, in *Paged) (Page[File], error) {
	list, next, err := s.Files.List(ctx, viewerOf(ctx), in.Cursor, in.Limit)
	return page(list, next, s.fileView), err
}

type fileInput struct {
	Path string `query:"path" required:"true" minLength:"1"`
}

// deleteFile removes the file and the documents read from it (RAG-20).
func (s *server) deleteFile(ctx context.Context, in *fileInput) (Nothing, error) {
	v := viewerOf(ctx)
	f, err := s.Files.File(ctx, v, in.Path)
	if err != nil {
		return Nothing{}, err
	}
	err = s.eachContext(ctx, v, func(contextID string) error { return s.detach(ctx, v, contextID, f.Path) })
	if err != nil {
		return Nothing{}, err
	}
	return Nothing{}, s.Files.Delete(ctx, v, f.Path)
}

// FileLimits is what may be uploaded (API-13).
type FileLimits struct {
	MaxBytes   int64    `json:"max_bytes"`
	Extensions []string `json:"extensions"`
}

// Allowance is what the viewer may upload, and how much room there is.
type Allowance struct {
	FileLimits
	Storage Storage `json:"storage"`
}

// Storage is how much a person keeps, of how much they may.
type Storage struct {
	UsedBytes int64 `json:"used_bytes"`
	MaxBytes  int64 `json:"max_bytes"`
	Files     int   `json:"files"`
	MaxFiles  int   `json:"max_files"`
}

// boundsOf is what a plan says of files.
func boundsOf(p quota.Plan) files.Bounds {
	return files.Bounds{File: p.MaxFileBytes, Total: p.MaxStorageBytes, Count: p.MaxFiles}
}

func limitsOf(p quota.Plan) FileLimits {
	return FileLimits{MaxBytes: p.MaxFileBytes, Extensions: files.Extensions()}
}

func (s *server) fileLimits(ctx context.Context, _ *struct{}) (Allowance, error) {
	v := viewerOf(ctx)
	used, err := s.Files.Usage(ctx, v)
	if err != nil {
		return Allowance{}, err
	}
	b, limits := boundsOf(s.Plans.Of(v)), limitsOf(s.Plans.Of(v))
	limits.Extensions, err = s.Files.Extensions(ctx, v)
	return Allowance{
		FileLimits: limits,
		Storage:    Storage{UsedBytes: used.Bytes, MaxBytes: b.Total, Files: used.Files, MaxFiles: b.Count},
	}, err
}

type linkInput struct {
	Body struct {
		Path string `json:"path" minLength:"1"`
	}
}

// Link is a signed download (FILE-05).
type Link struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

func (s *server) linkFile(ctx context.Context, in *linkInput) (Link, error) {
	mark, err := s.Devices.Mark(ctx, viewerOf(ctx))
	if err != nil {
		return Link{}, err
	}
	q, expires, err := s.Files.Link(ctx, viewerOf(ctx), in.Body.Path, mark, s.Now())
	return Link{URL: downloadURL(q), ExpiresAt: expires.UTC()}, err
}

func downloadURL(q url.Values) string { return "/v1/files/download?" + q.Encode() }

// download serves a signed link, as an attachment and never sniffed (FILE-05). A
// PDF may be shown instead, in a tab of its own and never in a frame.
func (s *server) download(w http.ResponseWriter, r *http.Request) {
	f, body, err := s.Files.Follow(r.Context(), r.URL.Query(), s.Devices.Marked, s.Now())
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer func() { _ = body.Close() }() // it was only read
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	disposition := "attachment"
	if shown, _ := strconv.ParseBool(r.URL.Query().Get("inline")); shown && isPDF(f, body) {
		// Browsers show a PDF in a reader of their own, which runs nothing as a
		// page of ours; for that the policy may not sandbox it.
		disposition = "inline"
		h.Set("Content-Type", "application/pdf")
		h.Set("Content-Security-Policy", "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	}
	h.Set("Content-Disposition", disposition+"; filename*=UTF-8''"+url.PathEscape(f.Name))
	http.ServeContent(w, r, "", f.CreatedAt, body)
}

// isPDF reports whether a file is a PDF by its name and begins as one.
func isPDF(f files.File, body io.ReaderAt) bool {
	head := make([]byte, 5)
	_, err := body.ReadAt(head, 0)
	return err == nil && f.MIME == "application/pdf" && string(head) == "%PDF-"
}

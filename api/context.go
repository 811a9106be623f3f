package api

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/files"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

func (s *server) contextRoutes() {
	add(s, route("POST /v1/contexts", "createContext", "A new set of documents, of files there are", scopeWrite), s.createContext)
	add(s, route("GET /v1/contexts", "listContexts", "The contexts I may use", scopeRead), s.listContexts)
	add(s, route("GET /v1/contexts/{id}", "context", "One context", scopeRead), s.context)
	add(s, route("PATCH /v1/contexts/{id}", "changeContext", "Give a context another name or description", scopeWrite), s.changeContext)
	add(s, route("DELETE /v1/contexts/{id}", "deleteContext", "Delete a context with its documents; files stay", scopeWrite), s.deleteContext)
	add(s, route("GET /v1/contexts/{id}/documents", "listDocuments", "A context's documents", scopeRead), s.listDocuments)
	add(s, route("GET /v1/contexts/{id}/chunks", "listChunks", "The chunks indexed last", scopeRead), s.listChunks)
}

// Context is a named set of documents.
type Context struct {
	ID          string         `json:"id" format:"uuid"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Visibility  string         `json:"visibility" enum:"private,shared,global"`
	Mine        bool           `json:"mine"`
	Writable    bool           `json:"writable" doc:"I may add documents"`
	Documents   int            `json:"documents"`
	Chunks      int            `json:"chunks"`
	Meta        map[string]any `json:"meta"`
	CreatedAt   time.Time      `json:"created_at"`
	UpdatedAt   time.Time      `json:"updated_at"`
}

func contextView(v identity.Viewer) func(knowledge.Context) Context {
	return func(c knowledge.Context) Context {
		out := Context{
			ID: c.ID, Name: c.Name, Description: c.Description, Visibility: c.Visibility, Mine: c.UserID == v.UserID, Writable: mayAdd(v, c),
			Documents: c.Documents, Chunks: c.Chunks, Meta: c.Meta, CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(),
		}
		if out.Meta == nil {
			out.Meta = map[string]any{}
		}
		return out
	}
}

// ownContext returns a context the viewer may change; one they may only see
// is Forbidden.
func (s *server) ownContext(ctx context.Context, v identity.Viewer, contextID string) (knowledge.Context, error) {
	if !id.Valid(contextID) {
		return knowledge.Context{}, errNoContext()
	}
	c, err := s.Contexts.Context(ctx, v, contextID)
	if err == nil && !mayChange(v, c) {
		err = fault.New(fault.Forbidden, "You may use this context, but not change it.")
	}
	return c, err
}

// mayChange reports whether a context is the viewer's, or everybody's and the
// viewer administers.
func mayChange(v identity.Viewer, c knowledge.Context) bool {
	return c.UserID == v.UserID || c.UserID == "" && v.IsAdmin()
}

// mayAdd reports whether the viewer may add documents to a context.
func mayAdd(v identity.Viewer, c knowledge.Context) bool { return mayChange(v, c) || c.Opened }

// openContext returns a context the viewer may add documents to; one they may
// only read is Forbidden.
func (s *server) openContext(ctx context.Context, v identity.Viewer, contextID string) (knowledge.Context, error) {
	if !id.Valid(contextID) {
		return knowledge.Context{}, errNoContext()
	}
	c, err := s.Contexts.Context(ctx, v, contextID)
	if err == nil && !mayAdd(v, c) {
		err = fault.New(fault.Forbidden, "You may use this context, but not change it.")
	}
	return c, err
}

// changeableDocument returns a document that the viewer may take away or put back:
// with its context, or their own where they may add.
func (s *server) changeableDocument(ctx context.Context, v identity.Viewer, documentID string) (knowledge.Document, error) {
	d, err := s.Documents.Document(ctx, v, documentID)
	if err != nil {
		return d, err
	}
	c, err := s.Contexts.Context(ctx, v, d.ContextID)
	if errors.Is(err, fault.NotFound) || err == nil && !mayChange(v, c) && (!c.Opened || d.UserID != v.UserID) { // by a set it may be read
		err = fault.New(fault.Forbidden, "You may read this document, but not change it.")
	}
	return d, err
}

// errNoContext is what the store says of an id that is nobody's.
func errNoContext() error {
	return fault.New(fault.NotFound, "There is no such context, or it is not yours.")
}

type createContextInput struct {
	Body struct {
		Name        string   `json:"name" minLength:"1" maxLength:"200"`
		Description string   `json:"description,omitempty" maxLength:"2000"`
		Paths       []string `json:"paths,omitempty" nullable:"true" maxItems:"200" doc:"of files, or of folders with all that is below them"`
		Recursive   *bool    `json:"recursive,omitempty" doc:"false takes only the files directly in a folder; true by default"`
		PIIScrub    bool     `json:"pii_scrub,omitempty" doc:"take addresses, phone, card and account numbers out of texts before they are stored"`
	}
}

func (s *server) createContext(ctx context.Context, in *createContextInput) (Context, error) {
	v, b := viewerOf(ctx), in.Body
	name := strings.TrimSpace(b.Name)
	if name == "" {
		return Context{}, fault.New(fault.Invalid, "A context needs a name.")
	}
	if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil { // each file of it is a run
		return Context{}, err
	}
	sources, err := s.sources(ctx, v, b.Paths, b.Recursive == nil || *b.Recursive) // all are there, before anything is made
	if err != nil {
		return Context{}, err
	}
	c, err := s.Contexts.CreateContext(ctx, v, knowledge.Context{
		Name: name, Description: b.Description, UserID: v.UserID, Visibility: "private", Meta: metaOf(b.PIIScrub),
	})
	if err != nil {
		return Context{}, err
	}
	if err := s.watch(ctx, v, c.ID, b.Paths, b.Recursive == nil || *b.Recursive); err != nil {
		return Context{}, err
	}
	for _, f := range sources {
		if _, err := s.attach(ctx, v, c.ID, f, 0); err != nil {
			return Context{}, err
		}
		c.Documents++
	}
	return contextView(v)(c), nil
}

func metaOf(scrub bool) map[string]any {
	if !scrub {
		return nil
	}
	return map[string]any{knowledge.PIIScrub: true}
}

// watch notes the paths a context was made of: what changes there is taken in
// again (RAG-07).
func (s *server) watch(ctx context.Context, v identity.Viewer, contextID string, paths []string, recursive bool) error {
	if s.Sources == nil {
		return nil
	}
	for _, p := range paths {
		err := s.Sources.AddSource(ctx, v, knowledge.Source{ContextID: contextID, Path: strings.TrimSuffix(p, "/"), Recursive: recursive})
		if err != nil {
			return err
		}
	}
	return nil
}

// sources are the files of paths, each once: the file of a path, or the files of
// the folder it names, all that are below it unless recursive is false (RAG-15).
func (s *server) sources(ctx context.Context, v identity.Viewer, paths []string, recursive bool) (list []files.File, err error) {
	all := sync.OnceValues(func() ([]files.File, error) { return s.everyFile(ctx, v) })
	have := map[string]bool{}
	for _, p := range paths {
		found, err := s.source(ctx, v, p, recursive, all)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !have[f.Path] {
				list = append(list, f)
			}
			have[f.Path] = true
		}
	}
	return list, nil
}

func (s *server) source(ctx context.Context, v identity.Viewer, path string, recursive bool, all func() ([]files.File, error)) ([]files.File, error) {
	f, missing := s.Files.File(ctx, v, path)
	if missing == nil {
		return []files.File{f}, nil
	}
	list, err := all()
	if err != nil {
		return nil, err
	}
	var below []files.File
	folder := strings.TrimSuffix(path, "/") + "/"
	for _, f := range list {
		rest, inside := strings.CutPrefix(f.Path, folder)
		if inside && (recursive || !strings.Contains(rest, "/")) {
			below = append(below, f)
		}
	}
	if len(below) == 0 {
		return nil, fault.Wrap(fault.NotFound, missing, "There is no file or folder %q.", path)
	}
	return below, nil
}

// everyFile is all that the viewer keeps.
func (s *server) everyFile(ctx context.Context, v identity.Viewer) (list []files.File, err error) {
	for cursor := ""; ; {
		page, next, err := s.Files.List(ctx, v, cursor, 100)
		if err != nil {
			return nil, err
		}
		list = append(list, page...)
		if cursor = next; cursor == "" {
			return list, nil
		}
	}
}

type listContextsInput struct {
	Paged
	Owner string `query:"owner" enum:"me,shared,global" doc:"shared: others', with me"`
	Q     string `query:"q" maxLength:"200" doc:"words the name holds, in any case; in place of owner"`
}

func (s *server) listContexts(ctx context.Context, in *listContextsInput) (Page[Context], error) {
	v := viewerOf(ctx)
	if in.Q != "" {
		list, next, err := s.Finder.FindContexts(ctx, v, in.Q, in.Cursor, in.Limit)
		return page(list, next, contextView(v)), err
	}
	list, next, err := s.Contexts.ListContexts(ctx, v, in.Owner, in.Cursor, in.Limit)
	return page(list, next, contextView(v)), err
}

// OneContext is a context with where its files are taken from.
type OneContext struct {
	Context
	Sources []ContextSource `json:"sources" doc:"what changes there is taken in again; told to those only who may change the context"`
}

// ContextSource is a file or a folder that a context was made of.
type ContextSource struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive" doc:"with all that is below the folder"`
}

func (s *server) oneContext(ctx context.Context, v identity.Viewer, c knowledge.Context) (OneContext, error) {
	out := OneContext{contextView(v)(c), []ContextSource{}}
	if s.Sources == nil {
		return out, nil
	}
	list, err := s.Sources.SourcesOf(ctx, v, c.ID)
	for _, one := range list {
		out.Sources = append(out.Sources, ContextSource{Path: one.Path, Recursive: one.Recursive})
	}
	return out, err
}

func (s *server) context(ctx context.Context, in *ByID) (OneContext, error) {
	v := viewerOf(ctx)
	c, err := s.Contexts.Context(ctx, v, in.ID)
	if err != nil {
		return OneContext{}, err
	}
	return s.oneContext(ctx, v, c)
}

type changeContextInput struct {
	ByID
	Body struct {
		Name        *string `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Description *string `json:"description,omitempty" maxLength:"2000"`
	}
}

func (s *server) changeContext(ctx context.Context, in *changeContextInput) (OneContext, error) {
	v, change := viewerOf(ctx), knowledge.ContextChange{Name: in.Body.Name, Description: in.Body.Description}
	if change.Name != nil {
		name := strings.TrimSpace(*change.Name)
		if name == "" {
			return OneContext{}, fault.New(fault.Invalid, "A context needs a name.").With(map[string]any{"field": "name"})
		}
		change.Name = &name
	}
	if _, err := s.ownContext(ctx, v, in.ID); err != nil {
		return OneContext{}, err
	}
	c, err := s.Contexts.UpdateContext(ctx, v, in.ID, change)
	if err != nil {
		return OneContext{}, err
	}
	return s.oneContext(ctx, v, c)
}

func (s *server) deleteContext(ctx context.Context, in *ByID) (Nothing, error) {
	if _, err := s.ownContext(ctx, viewerOf(ctx), in.ID); err != nil {
		return Nothing{}, err
	}
	return Nothing{}, s.Contexts.DeleteContext(ctx, viewerOf(ctx), in.ID)
}

type ofContextInput struct {
	ByID
	Paged
}

func (s *server) listDocuments(ctx context.Context, in *ofContextInput) (Page[Document], error) {
	v := viewerOf(ctx)
	if _, err := s.Contexts.Context(ctx, v, in.ID); err != nil {
		return Page[Document]{}, err
	}
	list, next, err := s.Documents.ListDocuments(ctx, v, in.ID, in.Cursor, in.Limit)
	return page(list, next, documentView), err
}

// Chunk is a piece of a document's text as it is indexed.
type Chunk struct {
	ID         string `json:"id"`
	DocumentID string `json:"document_id"`
	Index      int    `json:"index"`
	Content    string `json:"content"`
	Heading    string `json:"heading"`
	Page       int    `json:"page"`
	Start      int    `json:"start"`
	End        int    `json:"end"`
}

type listChunksInput struct {
	ByID
	Limit int `query:"limit" minimum:"1" maximum:"100" default:"20"`
}

func (s *server) listChunks(ctx context.Context, in *listChunksInput) (Page[Chunk], error) {
	v := viewerOf(ctx)
	if _, err := s.Contexts.Context(ctx, v, in.ID); err != nil {
		return Page[Chunk]{}, err
	}
	list, err := s.Chunks.Chunks(ctx, v, in.ID, in.Limit)
	return page(list, "", func(c knowledge.Chunk) Chunk {
		return Chunk{ID: c.ID, DocumentID: c.DocumentID, Index: c.Index, Content: c.Content, Heading: c.Heading, Page: c.Page, Start: c.Start, End: c.End}
	}), err
}

// eachContext calls f with every context of the viewer's own.
func (s *server) eachContext(ctx context.Context, v identity.Viewer, f func(id string) error) error {
	for cursor := ""; ; {
		list, next, err := s.Contexts.ListContexts(ctx, v, "me", cursor, 100)
		if err != nil {
			return err
		}
		for _, c := range list {
			if err := f(c.ID); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}

// detach deletes the documents of a context that were read from a path, also
// those that were replaced.
func (s *server) detach(ctx context.Context, v identity.Viewer, contextID, path string) error {
	for cursor := ""; ; {
		list, next, err := s.Documents.ListDocuments(ctx, v, contextID, cursor, 100)
		if err != nil {
			return err
		}
		for _, d := range list {
			versions := []knowledge.Document{d}
			if d.Former > 0 {
				if versions, err = s.Documents.DocumentVersions(ctx, v, d.ID); err != nil {
					return err
				}
			}
			for _, one := range versions {
				if one.Path != path || one.UserID != v.UserID {
					continue
				}
				if err := s.Documents.DeleteDocument(ctx, v, one.ID); err != nil && !errors.Is(err, fault.NotFound) {
					return err
				}
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}

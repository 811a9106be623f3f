// Package knowledgetest keeps documents in memory for tests: the ports of
// knowledge without a database.
//
// Its index is the in-process BM25 and exact cosine of RAG_MODE=local_hybrid
// in their simplest form. It may import knowledge and what that imports; only
// tests import it.
package knowledgetest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
)

// MemStore implements knowledge.Contexts, Documents and Index in memory. A
// viewer sees what they own and what is global. The zero value is not usable.
type MemStore struct {
	mu        sync.Mutex
	contexts  []knowledge.Context
	documents []knowledge.Document
	texts     map[string]extract.Document
	chunks    map[string]knowledge.Chunk
	sources   []knowledge.Source
	Writes    int // chunks upserted so far
	Searches  int // of the index so far
}

var (
	_ knowledge.Contexts  = (*MemStore)(nil)
	_ knowledge.Documents = (*MemStore)(nil)
	_ knowledge.Index     = (*MemStore)(nil)
)

// New returns an empty store.
func New() *MemStore {
	return &MemStore{texts: map[string]extract.Document{}, chunks: map[string]knowledge.Chunk{}}
}

// CreateContext stores a context of the viewer.
func (s *MemStore) CreateContext(_ context.Context, v identity.Viewer, c knowledge.Context) (knowledge.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ID, c.UserID = id.New(), v.UserID
	if c.Visibility == "global" {
		c.UserID = ""
	}
	s.contexts = append(s.contexts, c)
	return c, nil
}

// Context returns a context the viewer may see.
func (s *MemStore) Context(_ context.Context, v identity.Viewer, id string) (knowledge.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.contexts {
		if c.ID == id && (c.UserID == v.UserID || c.UserID == "") {
			return s.tallied(c), nil
		}
	}
	return knowledge.Context{}, fault.New(fault.NotFound, "There is no such context.")
}

// ListContexts lists all contexts of the viewer on one page.
func (s *MemStore) ListContexts(_ context.Context, v identity.Viewer, _, _ string, _ int) ([]knowledge.Context, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []knowledge.Context
	for _, c := range s.contexts {
		if c.UserID == v.UserID {
			out = append(out, s.tallied(c))
		}
	}
	return out, "", nil
}

// UpdateContext changes what a context is called.
func (s *MemStore) UpdateContext(_ context.Context, v identity.Viewer, id string, change knowledge.ContextChange) (knowledge.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.contexts {
		if c.ID != id || c.UserID != v.UserID {
			continue
		}
		if change.Name != nil {
			s.contexts[i].Name = *change.Name
		}
		if change.Description != nil {
			s.contexts[i].Description = *change.Description
		}
		return s.contexts[i], nil
	}
	return knowledge.Context{}, fault.New(fault.NotFound, "There is no such context.")
}

// DeleteContext removes a context with its documents and chunks.
func (s *MemStore) DeleteContext(ctx context.Context, v identity.Viewer, id string) error {
	if _, err := s.Context(ctx, v, id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.contexts = slices.DeleteFunc(s.contexts, func(c knowledge.Context) bool { return c.ID == id })
	s.documents = slices.DeleteFunc(s.documents, func(d knowledge.Document) bool { return d.ContextID == id })
	for k, c := range s.chunks {
		if c.ContextID == id {
			delete(s.chunks, k)
		}
	}
	return nil
}

// PutDocument creates the document of (ContextID, Path) or updates its file.
func (s *MemStore) PutDocument(_ context.Context, v identity.Viewer, d knowledge.Document) (knowledge.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, have := range s.documents {
		if have.ContextID == d.ContextID && have.Path == d.Path {
			if have.Superseded() {
				return have, nil
			}
			s.documents[i].SHA256, s.documents[i].Size, s.documents[i].MIME = d.SHA256, d.Size, d.MIME
			s.documents[i].ChunkSize = d.ChunkSize
			return s.documents[i], nil
		}
	}
	d.ID, d.UserID = id.New(), v.UserID
	s.documents = append(s.documents, d)
	return d, nil
}

func (s *MemStore) find(v identity.Viewer, id string) (int, error) {
	for i, d := range s.documents {
		if d.ID == id && d.UserID == v.UserID {
			return i, nil
		}
	}
	return 0, fault.New(fault.NotFound, "There is no such document.")
}

// Document returns a document of the viewer.
func (s *MemStore) Document(_ context.Context, v identity.Viewer, id string) (knowledge.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.find(v, id)
	if err != nil {
		return knowledge.Document{}, err
	}
	d := s.counted(s.documents[i])
	if d.Superseded() {
		d.CurrentID = s.inUse(d.Lineage)
	}
	return d, nil
}

// counted is a document with the chunks of it that are in the index.
func (s *MemStore) counted(d knowledge.Document) knowledge.Document {
	if d.Indexed = d.Chunks; d.Status != knowledge.Ready {
		d.Indexed = 0
		for _, c := range s.chunks {
			if c.DocumentID == d.ID {
				d.Indexed++
			}
		}
	}
	return d
}

// tallied is a context with the counts of its documents, of those on their way
// in, and of their chunks.
func (s *MemStore) tallied(c knowledge.Context) knowledge.Context {
	c.Documents, c.Unread, c.Chunks = 0, 0, 0
	for _, d := range s.documents {
		if d.ContextID != c.ID || d.Superseded() {
			continue
		}
		c.Documents++
		c.Chunks += d.Chunks
		if d.Status == knowledge.Waiting || d.Status == knowledge.Reading {
			c.Unread++
		}
	}
	return c
}

// ListDocuments lists a context's documents on one page.
func (s *MemStore) ListDocuments(_ context.Context, v identity.Viewer, contextID, _ string, _ int) ([]knowledge.Document, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []knowledge.Document
	for _, d := range s.documents {
		if d.ContextID == contextID && d.UserID == v.UserID && !d.Superseded() {
			out = append(out, d)
		}
	}
	return out, "", nil
}

// Unread lists the documents of contexts that are on their way in.
func (s *MemStore) Unread(_ context.Context, v identity.Viewer, contextIDs []string, limit int) ([]knowledge.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []knowledge.Document
	for _, id := range contextIDs {
		for _, d := range s.documents {
			if d.ContextID == id && d.UserID == v.UserID && !d.Superseded() && (d.Status == knowledge.Waiting || d.Status == knowledge.Reading) && len(out) < limit {
				out = append(out, s.counted(d))
			}
		}
	}
	return out, nil
}

// DeleteDocument removes a document, its text and its chunks.
func (s *MemStore) DeleteDocument(_ context.Context, v identity.Viewer, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.find(v, id)
	if err != nil {
		return err
	}
	s.documents = slices.Delete(s.documents, i, i+1)
	delete(s.texts, id)
	for k, c := range s.chunks {
		if c.DocumentID == id {
			delete(s.chunks, k)
		}
	}
	return nil
}

// SetDocument stores progress, and of the file's facts those that are there.
func (s *MemStore) SetDocument(_ context.Context, v identity.Viewer, d knowledge.Document) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.find(v, d.ID)
	if err != nil {
		return err
	}
	was := s.documents[i]
	d.ContextID, d.UserID, d.Path, d.MIME, d.ChunkSize = was.ContextID, was.UserID, was.Path, was.MIME, was.ChunkSize
	d.Origin, d.Lineage, d.SupersededAt = was.Origin, was.Lineage, was.SupersededAt
	d.RunID, d.Version, d.Title = cmp.Or(d.RunID, was.RunID), cmp.Or(d.Version, was.Version), cmp.Or(d.Title, was.Title)
	if d.SHA256 == "" {
		d.Size, d.SHA256 = was.Size, was.SHA256
	}
	s.documents[i] = d
	return nil
}

// PutText stores a document's text.
func (s *MemStore) PutText(_ context.Context, v identity.Viewer, id string, t extract.Document) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.find(v, id); err != nil {
		return err
	}
	s.texts[id] = t
	return nil
}

// Text returns a document's text; NotFound before it was read.
func (s *MemStore) Text(_ context.Context, v identity.Viewer, id string) (extract.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.find(v, id); err != nil {
		return extract.Document{}, err
	}
	t, ok := s.texts[id]
	if !ok {
		return extract.Document{}, fault.New(fault.NotFound, "The document has no text yet.")
	}
	return t, nil
}

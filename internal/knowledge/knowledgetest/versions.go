package knowledgetest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

// PutVersion stores a document as the latest version of those that came from
// the same place. Versions come in the order they are stored.
func (s *MemStore) PutVersion(ctx context.Context, v identity.Viewer, d knowledge.Document, apart bool) (knowledge.Document, *knowledge.Document, error) {
	stored, err := s.PutDocument(ctx, v, d)
	if err != nil || apart {
		return stored, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var replaced *knowledge.Document
	for i, o := range s.documents {
		if o.ID == stored.ID || o.ContextID != d.ContextID || o.UserID != v.UserID || o.Origin != d.Origin || d.Origin == "" || o.Superseded() {
			continue
		}
		stored.Lineage = cmp.Or(o.Lineage, o.ID)
		s.documents[i].Lineage = stored.Lineage
		replaced = &o
	}
	at, err := s.find(v, stored.ID)
	if err != nil {
		return stored, nil, err
	}
	if stored.Superseded() {
		stored.SupersededAt, stored.Status = time.Time{}, knowledge.Waiting
	}
	s.documents = append(slices.Delete(s.documents, at, at+1), stored)
	return stored, replaced, nil
}

// DocumentVersions lists the versions of a document, the latest first.
func (s *MemStore) DocumentVersions(ctx context.Context, v identity.Viewer, id string) ([]knowledge.Document, error) {
	d, err := s.Document(ctx, v, id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []knowledge.Document
	for _, o := range slices.Backward(s.documents) {
		if o.ID == id || d.Lineage != "" && o.Lineage == d.Lineage {
			list = append(list, o)
		}
	}
	return list, nil
}

// Supersede takes the versions before a document out of use.
func (s *MemStore) Supersede(_ context.Context, v identity.Viewer, id string) (gone []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, err := s.find(v, id)
	if err != nil || s.documents[at].Lineage == "" {
		return nil, err
	}
	lineage := s.documents[at].Lineage
	latest := slices.IndexFunc(s.documents, func(d knowledge.Document) bool { return d.ID == s.inUse(lineage) })
	for i := range s.documents {
		d := &s.documents[i]
		if d.Lineage == lineage && i < latest && !d.Superseded() {
			d.SupersededAt = time.Now()
		}
		if d.Lineage == lineage && d.Superseded() {
			d.Chunks, d.Version = 0, ""
			gone = append(gone, d.ID)
		}
	}
	return gone, nil
}

// inUse is the latest version of a lineage that has been read, or else the latest.
func (s *MemStore) inUse(lineage string) (id string) {
	ready := false
	for _, d := range slices.Backward(s.documents) {
		if d.Lineage == lineage && !d.Superseded() && (id == "" || d.Status == knowledge.Ready && !ready) {
			id, ready = d.ID, d.Status == knowledge.Ready
		}
	}
	return id
}

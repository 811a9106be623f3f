package knowledgetest

import (
	"cmp"
	"context"
	"slices"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

var _ knowledge.SweepStore = (*MemStore)(nil)

// AddSource notes a source of a context.
func (s *MemStore) AddSource(_ context.Context, v identity.Viewer, src knowledge.Source) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	src.UserID = v.UserID
	if !slices.Contains(s.sources, src) {
		s.sources = append(s.sources, src)
	}
	return nil
}

// Sources lists all sources.
func (s *MemStore) Sources(context.Context, identity.Viewer) ([]knowledge.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sources), nil
}

// SourcesOf lists the sources of a context of the viewer.
func (s *MemStore) SourcesOf(_ context.Context, v identity.Viewer, contextID string) ([]knowledge.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.sources), func(one knowledge.Source) bool {
		return one.ContextID != contextID || one.UserID != v.UserID
	}), nil
}

// ContextsAfter lists everybody's contexts by id.
func (s *MemStore) ContextsAfter(_ context.Context, _ identity.Viewer, after string, limit int) ([]knowledge.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(s.contexts), func(c knowledge.Context) bool { return c.ID <= after })
	slices.SortFunc(list, func(a, b knowledge.Context) int { return cmp.Compare(a.ID, b.ID) })
	return list[:min(limit, len(list))], nil
}

// Holdings lists a context's ready documents.
func (s *MemStore) Holdings(_ context.Context, _ identity.Viewer, contextID, encoder string) ([]knowledge.Holding, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []knowledge.Holding
	for _, d := range s.documents {
		if d.ContextID != contextID || d.Status != knowledge.Ready || d.Superseded() {
			continue
		}
		h := knowledge.Holding{DocumentID: d.ID, UserID: d.UserID, Version: d.Version}
		for _, c := range s.chunks {
			h.Leftover = h.Leftover || c.DocumentID == d.ID && c.Encoder != encoder
		}
		list = append(list, h)
	}
	return list, nil
}

// SetEncoder changes what a search of the context reads.
func (s *MemStore) SetEncoder(_ context.Context, _ identity.Viewer, contextID, encoder string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.contexts {
		if s.contexts[i].ID == contextID {
			s.contexts[i].Encoder = encoder
		}
	}
	return nil
}

package knowledgetest

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/words"
)

// Upsert stores chunks by id.
func (s *MemStore) Upsert(_ context.Context, _ identity.Viewer, chunks []knowledge.Chunk) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range chunks {
		s.chunks[c.ID] = c
		s.Writes++
	}
	return nil
}

// Prune removes the document's chunks that are not in keep.
func (s *MemStore) Prune(_ context.Context, _ identity.Viewer, documentID string, keep []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.chunks, func(id string, c knowledge.Chunk) bool {
		return c.DocumentID == documentID && !slices.Contains(keep, id)
	})
	return nil
}

// Chunks lists a context's chunks in no special order.
func (s *MemStore) Chunks(_ context.Context, _ identity.Viewer, contextID string, limit int) ([]knowledge.Chunk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []knowledge.Chunk
	for _, c := range s.chunks {
		if c.ContextID == contextID && len(out) < limit {
			out = append(out, c)
		}
	}
	return out, nil
}

// Chunk returns one chunk.
func (s *MemStore) Chunk(_ context.Context, _ identity.Viewer, id string) (knowledge.Chunk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.chunks[id]
	if !ok {
		return c, fault.New(fault.NotFound, "There is no such chunk.")
	}
	return c, nil
}

// Search ranks the chunks in scope by BM25 and by cosine.
func (s *MemStore) Search(_ context.Context, _ identity.Viewer, q knowledge.Query) ([]knowledge.Hit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Searches++
	var hits []knowledge.Hit
	for _, id := range slices.Sorted(maps.Keys(s.chunks)) {
		c := s.chunks[id]
		if slices.Contains(q.ContextIDs, c.ContextID) && s.reads(c) && (len(q.DocumentIDs) == 0 || slices.Contains(q.DocumentIDs, c.DocumentID)) {
			hits = append(hits, knowledge.Hit{Chunk: c, Cosine: embed.Cosine(q.Vector, c.Vector)})
		}
	}
	if bm25(hits, q.Text); q.Begins != "" {
		for i, h := range hits {
			if slices.ContainsFunc(words.Split(h.Chunk.Heading+" "+h.Chunk.Content), func(w words.Word) bool { return strings.HasPrefix(w.Text, q.Begins) }) {
				hits[i].TextScore = 1
			}
		}
	}
	rank(hits, q.Limit, func(h knowledge.Hit) float64 { return h.TextScore }, func(h *knowledge.Hit, r int) { h.TextRank = r })
	rank(hits, q.Limit, func(h knowledge.Hit) float64 { return h.Cosine }, func(h *knowledge.Hit, r int) { h.VectorRank = r })
	return slices.DeleteFunc(hits, func(h knowledge.Hit) bool { return h.TextRank == 0 && h.VectorRank == 0 }), nil
}

// reads reports whether the chunk is of the encoder its context is read with.
func (s *MemStore) reads(c knowledge.Chunk) bool {
	return slices.ContainsFunc(s.contexts, func(x knowledge.Context) bool {
		return x.ID == c.ContextID && (x.Encoder == "" || x.Encoder == c.Encoder)
	})
}

// rank numbers the best hits whose score is positive.
func rank(hits []knowledge.Hit, limit int, score func(knowledge.Hit) float64, set func(*knowledge.Hit, int)) {
	order := make([]int, len(hits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score(hits[b]), score(hits[a])) })
	for r, i := range order[:min(limit, len(order))] {
		if score(hits[i]) > 0 {
			set(&hits[i], r+1)
		}
	}
}

// bm25 scores every hit with the usual k1 = 1.2 and b = 0.75.
func bm25(hits []knowledge.Hit, text string) {
	counts := make([]map[string]int, len(hits))
	lengths, total := make([]int, len(hits)), 0
	for i, h := range hits {
		stems := words.Stems(words.Detect(h.Chunk.Content), h.Chunk.Heading+" "+h.Chunk.Content)
		counts[i] = map[string]int{}
		for _, s := range stems {
			counts[i][s]++
		}
		lengths[i] = len(stems)
		total += len(stems)
	}
	mean := float64(total) / float64(max(len(hits), 1))
	for _, stem := range words.Stems(words.Detect(text), text) {
		df := 0
		for _, c := range counts {
			if c[stem] > 0 {
				df++
			}
		}
		idf := math.Log(1 + (float64(len(hits)-df)+0.5)/(float64(df)+0.5))
		for i, c := range counts {
			if tf := float64(c[stem]); tf > 0 {
				hits[i].TextScore += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(lengths[i])/mean))
			}
		}
	}
}

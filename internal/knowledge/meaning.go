package knowledge

import (
	"context"
	"sync"

	"liminal/internal/embed"
)

const (
	rankOffset = 60 // of reciprocal rank fusion
	// wordingShare is what the list of vectors counts in fusion where the
	// encoder knows nothing of meaning, as the hashing one: it forgives typing
	// errors, and as much of it as of words would push the words' finds out.
	wordingShare = 0.1
	// likenessShare is how much of what words leave open to a score a perfect
	// encoder may add.
	likenessShare = 0.6
	// tooShort is the bytes of a sentence below which an encoder says nothing
	// of it that can be relied on: a heading, a label.
	tooShort = 20
)

// meaning is a question as an encoder sees it.
type meaning struct {
	encoder embed.Embedder // nil where the program no longer has it, and the words must do
	vector  []float32
	scale   embed.Scale
}

// meaning embeds a question for the contexts that are read with an encoder. A
// server that does not answer costs its opinion, not the search.
func (l *Library) meaning(ctx context.Context, encoder, text string) (*meaning, error) {
	m := &meaning{encoder: l.encoder(encoder)}
	if m.encoder == nil {
		return m, nil
	}
	vecs, err := m.encoder.Embed(ctx, []string{text})
	if err == nil {
		m.scale, err = l.gauges.of(ctx, m.encoder)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || len(vecs) != 1 {
		l.o.Logger.WarnContext(ctx, "searching by words alone: the encoder fails", "encoder", m.encoder.Version(), "cause", err)
		return &meaning{}, nil
	}
	m.vector = embed.Fit(vecs[0], m.encoder.Dim())
	return m, nil
}

// encoder is the encoder of a version, the current one for "".
func (l *Library) encoder(version string) embed.Embedder {
	for _, e := range append([]embed.Embedder{l.o.Embedder}, l.o.Former...) {
		if version == "" || version == e.Version() {
			return e
		}
	}
	return nil
}

// fused is how good a hit's two ranks are together.
func (m *meaning) fused(h Hit) float64 {
	s := 0.0
	if h.TextRank > 0 {
		s = 1 / float64(rankOffset+h.TextRank)
	}
	if h.VectorRank > 0 {
		share := wordingShare + (1-wordingShare)*m.scale.Power*m.scale.Power
		s += share / float64(rankOffset+h.VectorRank)
	}
	return s
}

// likeness is what a reading's meaning adds to its rating, 0 to likenessShare:
// that of its best sentence where sentences are cheap to embed, else that of
// the chunk, which the index has told.
func (m *meaning) likeness(ctx context.Context, r *reading, h Hit) (float64, error) {
	share := likenessShare * m.scale.Power
	switch {
	case share == 0 || r.contents:
		return 0, nil
	case !embed.IsLocal(m.encoder):
		return share * m.scale.Similarity(h.Cosine), nil
	}
	var texts []string
	for i := range r.sentences {
		if text := r.text(i); len(text) >= tooShort {
			texts = append(texts, text)
		}
	}
	vectors, err := m.encoder.Embed(ctx, texts)
	if err != nil {
		return 0, err
	}
	best := -1.0
	for _, v := range vectors {
		best = max(best, embed.Cosine(m.vector, embed.Fit(v, m.encoder.Dim())))
	}
	return share * m.scale.Similarity(best), nil
}

// gauges remembers what each encoder's cosines are worth. The zero value is
// ready.
type gauges struct {
	mu    sync.Mutex
	known map[string]embed.Scale
}

// of gauges an encoder on its first question. Two at once may both gauge it;
// what fails is tried again with the next question.
func (g *gauges) of(ctx context.Context, e embed.Embedder) (embed.Scale, error) {
	g.mu.Lock()
	s, ok := g.known[e.Version()]
	g.mu.Unlock()
	if ok {
		return s, nil
	}
	s, err := embed.Gauge(ctx, e)
	if err != nil {
		return s, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil {
		g.known = map[string]embed.Scale{}
	}
	g.known[e.Version()] = s
	return s, nil
}

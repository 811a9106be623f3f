package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"liminal/internal/embed"
	"liminal/internal/knowledge"
)

// deep is how far down a list is looked.
const deep = 10

// The ways of searching that are measured.
const (
	Words   = "words"   // BM25 alone
	Vectors = "vectors" // cosine alone
	Fused   = "fused"   // both, by reciprocal rank
	Search  = "search"  // fused, rated sentence by sentence, neighbours merged: what a person gets
)

// Options of a run. Sets and Encoders are required.
type Options struct {
	Sets     []Set
	Encoders []embed.Embedder
	Scratch  string    // folder for scratch databases; "": the system's
	Progress io.Writer // told what is being done, a line each; nil: nobody
}

// Run measures every set with every encoder. Ranking by words alone does not
// depend on the encoder and is measured once.
func Run(ctx context.Context, o Options) (Report, error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	var r Report
	for _, s := range o.Sets {
		r.Sets = append(r.Sets, SetReport{Name: s.Name, Title: s.Title, Questions: len(s.Questions), Apart: apart(s.Questions)})
		for i, e := range o.Encoders {
			if _, err := fmt.Fprintf(o.Progress, "%s with %s\n", s.Name, e.Version()); err != nil {
				return r, err
			}
			m, err := o.measure(ctx, s, e)
			if err != nil {
				return r, fmt.Errorf("%s with %s: %w", s.Name, e.Version(), err)
			}
			r.add(s, e.Version(), m, i == 0)
		}
	}
	r.conclude()
	return r, nil
}

func apart(list []Question) int {
	n := 0
	for _, q := range list {
		if q.Apart {
			n++
		}
	}
	return n
}

// try is what came of one question: the rank of its passage a way of
// searching, 0 where it was not found.
type try struct {
	ranks      map[string]int
	clarity    knowledge.Clarity
	similarity float64
}

// measured is what came of a set's questions, and of how many of the other
// sets' questions, which its documents do not answer, they seemed to.
type measured struct {
	tries             []try
	strangers, misled int
}

func (o Options) measure(ctx context.Context, s Set, e embed.Embedder) (m measured, err error) {
	dir, err := os.MkdirTemp(o.Scratch, "liminal-eval-")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	h, err := openCollection(ctx, dir, s, e, deep)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	for i, q := range s.Questions {
		t, err := h.try(ctx, q.Text, h.answers[i])
		if err != nil {
			return m, fmt.Errorf("%q: %w", q.Text, err)
		}
		m.tries = append(m.tries, t)
	}
	for _, other := range o.Sets {
		if other.Name == s.Name {
			continue
		}
		if err := h.mislead(ctx, other.Questions, &m); err != nil {
			return m, err
		}
	}
	return m, nil
}

// mislead asks what the documents do not answer.
func (h *collection) mislead(ctx context.Context, strangers []Question, m *measured) error {
	for _, q := range strangers {
		found, err := h.library.Search(ctx, h.viewer, knowledge.Question{Text: q.Text, ContextIDs: []string{h.context}})
		if err != nil {
			return fmt.Errorf("%q: %w", q.Text, err)
		}
		m.strangers++
		if answerable(found.Clarity) {
			m.misled++
		}
	}
	return nil
}

// answerable reports whether a search holds a question to be answered by what
// it found.
func answerable(c knowledge.Clarity) bool { return c == knowledge.Clear || c == knowledge.Several }

func (h *collection) try(ctx context.Context, question string, a answer) (try, error) {
	vectors, err := h.encoder.Embed(ctx, []string{question})
	if err != nil {
		return try{}, err
	}
	t := try{ranks: map[string]int{}}
	for way, q := range map[string]knowledge.Query{Words: {Text: question}, Vectors: {Vector: vectors[0]}} {
		q.ContextIDs, q.Limit = []string{h.context}, deep
		hits, err := h.index.Search(ctx, h.viewer, q)
		if err != nil {
			return try{}, err
		}
		t.ranks[way] = a.rank(hits)
	}
	asked := knowledge.Question{Text: question, ContextIDs: []string{h.context}}
	hits, err := h.library.Ranked(ctx, h.viewer, asked)
	if err != nil {
		return try{}, err
	}
	t.ranks[Fused] = a.rank(hits)
	found, err := h.library.Search(ctx, h.viewer, asked)
	if err != nil {
		return try{}, err
	}
	t.clarity, t.similarity = found.Clarity, found.AverageSimilarity
	for i, p := range found.Passages {
		if i < deep && a.found(p.DocumentID, p.Start, p.End) {
			t.ranks[Search] = i + 1
			break
		}
	}
	return t, nil
}

// rank is the place of the first hit that answers, from 1; 0 for none.
func (a answer) rank(hits []knowledge.Hit) int {
	for i, h := range hits[:min(len(hits), deep)] {
		if a.found(h.Chunk.DocumentID, h.Chunk.Start, h.Chunk.End) {
			return i + 1
		}
	}
	return 0
}

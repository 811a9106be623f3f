package knowledge

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model"
)

// Clarity is how clearly a question can be answered from the documents.
type Clarity string

// The clarities.
const (
	Clear   Clarity = "clear"   // answer it
	Several Clarity = "several" // several documents answer it about equally well: ask which
	Vague   Clarity = "vague"   // it names nothing to look for: ask for more
	Nothing Clarity = "none"    // nothing fits
)

// Confidence is how well the best passage fits (RAG-16).
type Confidence string

// The confidences.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// Question asks a Library. An empty ContextIDs means every context the viewer
// owns; DocumentIDs restricts the search to these documents; K is how many
// passages to return, 0 for the default.
type Question struct {
	Text        string
	ContextIDs  []string
	DocumentIDs []string
	K           int
}

// Candidate is a document that may hold the answer.
type Candidate struct {
	ID    string  `json:"id"`
	Title string  `json:"title"`
	Score float64 `json:"score"` // of its best passage, 0 to 1
}

// Found is what a search returns, best first.
type Found struct {
	Passages          []Passage   `json:"passages"`
	Confidence        Confidence  `json:"confidence"`
	AverageSimilarity float64     `json:"average_similarity"` // 0 to 1, over the passages that support the best one
	Clarity           Clarity     `json:"clarity"`
	Documents         []Candidate `json:"documents"`
}

const (
	listLimit  = 60 // hits asked of each of the index's lists
	pool       = 48 // chunks rated after fusion
	rankOffset = 60 // of reciprocal rank fusion
	runs       = 3  // neighbouring chunks joined into one passage, at most
	tieMargin  = 0.06
	supporting = 3    // passages the average is taken over
	rare       = 1.05 // weight, relative to its base, of a word few passages hold
)

// Search finds the passages that answer a question: BM25 and cosine, fused by
// reciprocal rank, then rated sentence by sentence (RAG-10, RAG-13). Access
// comes first: a context or document the viewer may not see is NotFound, and
// nothing outside the resolved contexts is searched (RAG-18).
func (l *Library) Search(ctx context.Context, v identity.Viewer, q Question) (Found, error) {
	scope, err := l.scope(ctx, v, q)
	if err != nil {
		return Found{}, err
	}
	in := inquire(q.Text)
	if in.vague() {
		return l.vague(ctx, v, scope)
	}
	if len(scope.contexts) == 0 {
		return nothing(), nil
	}
	hits, err := l.hits(ctx, v, q.Text, scope)
	if err != nil {
		return Found{}, err
	}
	rated, err := l.rate(ctx, v, in, hits)
	if err != nil {
		return Found{}, err
	}
	return l.judge(in, rated, cmp.Or(q.K, l.o.K)), nil
}

func nothing() Found {
	return Found{Passages: []Passage{}, Confidence: Low, Clarity: Nothing, Documents: []Candidate{}}
}

// scope is where a viewer's question may look.
type scope struct {
	contexts  []string
	documents []string
}

func (l *Library) scope(ctx context.Context, v identity.Viewer, q Question) (scope, error) {
	s := scope{contexts: slices.Clone(q.ContextIDs)}
	for _, id := range s.contexts {
		if _, err := l.o.Contexts.Context(ctx, v, id); err != nil {
			return scope{}, err
		}
	}
	for _, id := range q.DocumentIDs {
		d, err := l.o.Documents.Document(ctx, v, id)
		if err != nil {
			return scope{}, err
		}
		if len(q.ContextIDs) > 0 && !slices.Contains(q.ContextIDs, d.ContextID) {
			return scope{}, fault.New(fault.NotFound, "There is no such document in the chosen contexts.")
		}
		s.documents = append(s.documents, d.ID)
		if !slices.Contains(s.contexts, d.ContextID) {
			s.contexts = append(s.contexts, d.ContextID)
		}
	}
	if len(s.contexts) > 0 {
		return s, nil
	}
	own, err := l.own(ctx, v)
	s.contexts = own
	return s, err
}

// own lists every context the viewer owns.
func (l *Library) own(ctx context.Context, v identity.Viewer) ([]string, error) {
	var out []string
	for cursor := ""; ; {
		page, next, err := l.o.Contexts.ListContexts(ctx, v, "me", cursor, 100)
		if err != nil {
			return nil, err
		}
		for _, c := range page {
			out = append(out, c.ID)
		}
		if next == "" {
			return out, nil
		}
		cursor = next
	}
}

// hits asks the index and fuses its two lists by reciprocal rank.
func (l *Library) hits(ctx context.Context, v identity.Viewer, text string, s scope) ([]Hit, error) {
	vecs, err := l.o.Embedder.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	hits, err := l.o.Index.Search(ctx, v, Query{
		ContextIDs: s.contexts, DocumentIDs: s.documents, Text: text,
		Vector: embed.Fit(vecs[0], l.o.Embedder.Dim()), Limit: listLimit,
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(fused(b), fused(a)), cmp.Compare(a.Chunk.ID, b.Chunk.ID))
	})
	return varied(hits), nil
}

// varied takes the best hits for rating, but from no document more than a
// third as long as others have any: a long document that mentions the words
// everywhere must not hide the short one that is about them.
func varied(hits []Hit) []Hit {
	taken := map[string]int{}
	var first, rest []Hit
	for _, h := range hits {
		if taken[h.Chunk.DocumentID]++; taken[h.Chunk.DocumentID] <= pool/3 {
			first = append(first, h)
		} else {
			rest = append(rest, h)
		}
	}
	all := append(first, rest...)
	return all[:min(len(all), pool)]
}

func fused(h Hit) float64 {
	s := 0.0
	for _, rank := range []int{h.TextRank, h.VectorRank} {
		if rank > 0 {
			s += 1 / float64(rankOffset+rank)
		}
	}
	return s
}

// rate reads every hit and rates its best sentence.
func (l *Library) rate(ctx context.Context, v identity.Viewer, in *inquiry, hits []Hit) ([]Passage, error) {
	docs := map[string]Document{}
	readings := make([]*reading, 0, len(hits))
	passages := make([]Passage, len(hits))
	for i, h := range hits {
		d, known := docs[h.Chunk.DocumentID]
		if !known {
			var err error
			if d, err = l.o.Documents.Document(ctx, v, h.Chunk.DocumentID); err != nil && !errors.Is(err, fault.NotFound) {
				return nil, err
			}
			docs[h.Chunk.DocumentID] = d
		}
		if d.ID == "" {
			continue // deleted since the index answered
		}
		passages[i] = passageOf(h.Chunk, d)
		readings = append(readings, in.read(&passages[i]))
	}
	in.weigh(len(readings), func(t, i int) bool { return readings[i].holds(t) })
	out := make([]Passage, 0, len(readings))
	for _, r := range readings {
		_, r.passage.Score = in.best(r)
		out = append(out, *r.passage)
	}
	slices.SortStableFunc(out, byScore)
	return out, nil
}

func byScore(a, b Passage) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.DocumentID, b.DocumentID), cmp.Compare(a.Start, b.Start))
}

func passageOf(c Chunk, d Document) Passage {
	return Passage{Text: c.Content, Source: model.Source{
		DocumentID: c.DocumentID, ContextID: c.ContextID, ChunkID: c.ID, Title: cmp.Or(d.Title, baseName(d.Path)), Path: d.Path,
		Heading: c.Heading, Page: c.Page, Start: c.Start, End: c.End,
	}}
}

// judge makes a verdict of the rated passages.
func (l *Library) judge(in *inquiry, rated []Passage, k int) Found {
	if len(rated) == 0 {
		return nothing()
	}
	top := rated[0].Score
	docs := candidates(rated)
	if id := l.named(in, docs); id != "" {
		rated = slices.DeleteFunc(rated, func(p Passage) bool { return p.DocumentID != id })
		top, docs = rated[0].Score, candidates(rated)
	}
	f := Found{Clarity: Clear, Confidence: l.confidence(top)}
	kept := rated[:min(len(rated), k)]
	if at := slices.IndexFunc(kept, func(p Passage) bool { return p.Score < top/2 }); at > 0 {
		kept = kept[:at]
	}
	f.AverageSimilarity = average(kept[:min(len(kept), supporting)])
	f.Documents, f.Passages = candidates(kept), joined(kept)
	switch tied := l.tied(in, docs); {
	case top < l.o.Medium:
		f.Clarity = Nothing
	case len(tied) > 1:
		f.Clarity, f.Documents = Several, tied
	}
	return f
}

func (l *Library) confidence(score float64) Confidence {
	switch {
	case score >= l.o.High:
		return High
	case score >= l.o.Medium:
		return Medium
	}
	return Low
}

func average(list []Passage) float64 {
	sum := 0.0
	for _, p := range list {
		sum += p.Score
	}
	return sum / float64(max(len(list), 1))
}

// candidates lists the documents of passages by their best passage.
func candidates(list []Passage) []Candidate {
	out := []Candidate{}
	for _, p := range list {
		if !slices.ContainsFunc(out, func(c Candidate) bool { return c.ID == p.DocumentID }) {
			out = append(out, Candidate{ID: p.DocumentID, Title: p.Title, Score: p.Score})
		}
	}
	return out
}

// tied lists the documents that answer well, and about as well as the best. A
// question of one word says less about which is meant than its score tells.
func (l *Library) tied(in *inquiry, docs []Candidate) []Candidate {
	margin := tieMargin
	if in.strong() == 1 {
		margin = 2 * tieMargin
	}
	var out []Candidate
	for _, d := range docs {
		if d.Score >= docs[0].Score-margin && d.Score >= l.o.High {
			out = append(out, d)
		}
	}
	return out
}

// named is the document the question names by its title, or "": one whose
// title holds a rare word of the question, or two, that no other title holds.
func (l *Library) named(in *inquiry, docs []Candidate) string {
	id, most, times := "", 1, 0
	for _, d := range docs {
		if d.Score < l.o.Medium {
			continue
		}
		switch n := in.names(d.Title, docs); {
		case n > most:
			id, most, times = d.ID, n, 1
		case n == most:
			times++
		}
	}
	if times > 1 {
		return ""
	}
	return id
}

// names counts the words of the question that stand in this title and in no
// other: two for a rare word, one for another.
func (in *inquiry) names(title string, others []Candidate) int {
	n := 0
	for _, t := range in.terms {
		if t.weak || !in.within(t, title) {
			continue
		}
		shared := 0
		for _, o := range others {
			if in.within(t, o.Title) {
				shared++
			}
		}
		switch {
		case shared > 1:
		case t.weight >= rare*t.base:
			n += 2
		default:
			n++
		}
	}
	return n
}

func (in *inquiry) within(t term, title string) bool {
	return in.match(t, in.bag(in.stems.lang, title)) > 0
}

// joined merges neighbouring chunks of one document that overlap or touch
// into one passage, and keeps the order by score.
func joined(list []Passage) []Passage {
	byPlace := slices.Clone(list)
	slices.SortStableFunc(byPlace, func(a, b Passage) int {
		return cmp.Or(cmp.Compare(a.DocumentID, b.DocumentID), cmp.Compare(a.Start, b.Start))
	})
	out := []Passage{}
	run := 0
	for _, p := range byPlace {
		if last := len(out) - 1; last >= 0 && run < runs && touches(out[last], p) {
			out[last] = join(out[last], p)
			run++
			continue
		}
		out = append(out, p)
		run = 1
	}
	slices.SortStableFunc(out, byScore)
	return out
}

func touches(a, b Passage) bool {
	return a.DocumentID == b.DocumentID && a.Heading == b.Heading && b.Start <= a.End && b.End > a.End
}

func join(a, b Passage) Passage {
	text := a.Text + b.Text[a.End-b.Start:]
	if b.Score > a.Score {
		a.ChunkID, a.Score = b.ChunkID, b.Score
	}
	a.End, a.Text = b.End, text
	return a
}

// vague answers a question that names nothing. Where only one document can
// be meant, its beginning is shown; else a person is asked.
func (l *Library) vague(ctx context.Context, v identity.Viewer, s scope) (Found, error) {
	f := Found{Passages: []Passage{}, Confidence: Low, Clarity: Vague, Documents: []Candidate{}}
	if len(s.documents) != 1 {
		return f, nil
	}
	d, err := l.o.Documents.Document(ctx, v, s.documents[0])
	if err != nil {
		return Found{}, err
	}
	x, err := l.o.Documents.Text(ctx, v, d.ID)
	if err != nil {
		return Found{}, err
	}
	chunks := Cut(x, d.ChunkSize)
	if len(chunks) == 0 {
		return f, nil
	}
	first := belonging(chunks[0], d, l.version())
	p := passageOf(first, d)
	p.Score = l.o.Medium
	f.Passages, f.Documents = []Passage{p}, []Candidate{{d.ID, p.Title, p.Score}}
	f.Confidence, f.AverageSimilarity, f.Clarity = Medium, p.Score, Clear
	return f, nil
}

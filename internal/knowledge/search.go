package knowledge

import (
	"cmp"
	"context"
	"errors"
	"slices"

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
	Vague   Clarity = "vague"   // it names nothing that was found: ask for more
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
// passages to return, 0 for the default. Wide is for who orders the passages
// again: it returns three times as many, weak ones too (RAG-12).
type Question struct {
	Text        string
	ContextIDs  []string
	DocumentIDs []string
	K           int
	Wide        bool
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
	Unread            []Unread    `json:"unread,omitempty"` // of where it looked; what they say was not searched, or not all of it
	Asked             int         `json:"-"`                // how many passages were asked for
	Question          string      `json:"question"`         // as it was searched for: with its mistyped words as the documents spell them
	ReadAs            []ReadAs    `json:"read_as,omitempty"`
	strange           []string    // words of the question that stand in nothing that was read
}

const (
	listLimit = 60 // hits asked of each of the index's lists
	pool      = 48 // chunks rated after fusion
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
	f, err := l.spelled(ctx, v, q, scope)
	if err != nil {
		return Found{}, err
	}
	f.Question = cmp.Or(f.Question, q.Text)
	f.Unread, err = l.unread(ctx, v, scope)
	return f, err
}

// search is Search where the question may look.
func (l *Library) search(ctx context.Context, v identity.Viewer, q Question, scope scope) (Found, error) {
	in := inquire(q.Text)
	if len(scope.contexts) == 0 || in.vague() && scope.empty() {
		return nothing(), nil
	}
	if in.vague() {
		return l.vague(ctx, v, scope)
	}
	hits, err := l.hits(ctx, v, in, scope)
	if err != nil {
		return Found{}, err
	}
	rated, err := l.rate(ctx, v, in, hits)
	if err != nil {
		return Found{}, err
	}
	found := make(map[string]int, len(hits))
	for i, h := range hits {
		found[h.Chunk.ID] = i + 1
	}
	f := l.judge(in, rated, found, cmp.Or(q.K, l.o.K))
	f.strange = in.strange()
	if q.Wide && len(f.Passages) > 0 {
		f.Passages = l.wide(in, rated, f.Asked)
	}
	return f, l.name(ctx, v, f.Passages)
}

// Ranked lists the chunks a search rates, in the order of their fused ranks:
// what Search makes its verdict of, for those who measure it. It knows no
// vague question.
func (l *Library) Ranked(ctx context.Context, v identity.Viewer, q Question) ([]Hit, error) {
	scope, err := l.scope(ctx, v, q)
	if err != nil || len(scope.contexts) == 0 {
		return nil, err
	}
	list, err := l.hits(ctx, v, inquire(q.Text), scope)
	hits := make([]Hit, len(list))
	for i, f := range list {
		hits[i] = f.Hit
	}
	return hits, err
}

func nothing() Found {
	return Found{Passages: []Passage{}, Confidence: Low, Clarity: Nothing, Documents: []Candidate{}}
}

// scope is where a viewer's question may look.
type scope struct {
	contexts  []Context
	documents []string
}

// empty reports whether there is no document, or none that has been read whole.
// Who asks is told that, or asked to wait, and not what they may have meant. A
// chosen document is judged by itself.
func (s scope) empty() bool {
	read := func(c Context) bool { return c.Chunks > 0 && c.Documents > c.Unread }
	return len(s.documents) == 0 && !slices.ContainsFunc(s.contexts, read)
}

func (s scope) holds(contextID string) bool {
	return slices.ContainsFunc(s.contexts, func(c Context) bool { return c.ID == contextID })
}

// encoders groups the contexts by the encoder they are read with.
func (s scope) encoders() map[string][]string {
	groups := map[string][]string{}
	for _, c := range s.contexts {
		groups[c.Encoder] = append(groups[c.Encoder], c.ID)
	}
	return groups
}

func (l *Library) scope(ctx context.Context, v identity.Viewer, q Question) (scope, error) {
	var s scope
	for _, id := range q.ContextIDs {
		c, err := l.o.Contexts.Context(ctx, v, id)
		if err != nil {
			return scope{}, err
		}
		s.contexts = append(s.contexts, c)
	}
	for _, id := range q.DocumentIDs {
		d, err := l.inUse(ctx, v, id)
		if err != nil {
			return scope{}, err
		}
		if len(q.ContextIDs) > 0 && !slices.Contains(q.ContextIDs, d.ContextID) {
			return scope{}, fault.New(fault.NotFound, "There is no such document in the chosen contexts.")
		}
		s.documents = append(s.documents, d.ID)
		if !s.holds(d.ContextID) {
			c, err := l.o.Contexts.Context(ctx, v, d.ContextID)
			if errors.Is(err, fault.NotFound) { // a set shows the document, and not what it lies in
				c, err = Context{ID: d.ContextID}, nil
			}
			if err != nil {
				return scope{}, err
			}
			s.contexts = append(s.contexts, c)
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
func (l *Library) own(ctx context.Context, v identity.Viewer) ([]Context, error) {
	var out []Context
	for cursor := ""; ; {
		page, next, err := l.o.Contexts.ListContexts(ctx, v, "me", cursor, 100)
		if err != nil {
			return nil, err
		}
		out = append(out, page...)
		if next == "" {
			return out, nil
		}
		cursor = next
	}
}

// hits asks the index and fuses its two lists by reciprocal rank; the list of
// vectors counts as much as its encoder knows of meaning.
func (l *Library) hits(ctx context.Context, v identity.Viewer, in *inquiry, s scope) ([]sighting, error) {
	var hits []sighting
	text := in.bothLanguages()
	for encoder, contexts := range s.encoders() {
		m, err := l.meaning(ctx, encoder, in.text)
		if err != nil {
			return nil, err
		}
		list, err := l.o.Index.Search(ctx, v, Query{
			ContextIDs: contexts, DocumentIDs: s.documents, Text: text, Vector: m.vector, Limit: listLimit,
		})
		if err != nil {
			return nil, err
		}
		for _, h := range list {
			hits = append(hits, sighting{h, m, m.fused(h)})
		}
	}
	slices.SortStableFunc(hits, func(a, b sighting) int {
		return cmp.Or(cmp.Compare(b.fused, a.fused), cmp.Compare(a.Chunk.ID, b.Chunk.ID))
	})
	return varied(hits), nil
}

// sighting is a hit, how it looks to the encoder it was found with, and how good
// its ranks are together.
type sighting struct {
	Hit
	meaning *meaning
	fused   float64
}

// varied takes the best hits for rating, but from no document more than a
// third as long as others have any: a long document that mentions the words
// everywhere must not hide the short one that is about them.
func varied(hits []sighting) []sighting {
	taken := map[string]int{}
	var first, rest []sighting
	for _, h := range hits {
		if taken[h.Chunk.DocumentID]++; taken[h.Chunk.DocumentID] <= pool/3 {
			first = append(first, h)
		} else {
			rest = append(rest, h)
		}
	}
	first = append(first, rest...)
	return first[:min(len(first), pool)]
}

// rate reads every hit and rates its best sentence by its words, and by what
// it means where the encoder knows.
func (l *Library) rate(ctx context.Context, v identity.Viewer, in *inquiry, hits []sighting) ([]Passage, error) {
	readings, seen, err := l.readings(ctx, v, in, hits)
	if err != nil {
		return nil, err
	}
	in.weigh(len(readings), func(t, i int) bool { return readings[i].holds(t) })
	in.see(readings)
	out := make([]Passage, 0, len(readings))
	for i, r := range readings {
		_, words := in.best(r)
		likeness, err := seen[i].meaning.likeness(ctx, r, seen[i].Hit)
		if err != nil {
			return nil, err
		}
		r.passage.Score = words + (1-words)*likeness
		out = append(out, *r.passage)
	}
	slices.SortStableFunc(out, byScore)
	return out, nil
}

// readings reads the hits whose documents are still there, and returns those
// beside them.
func (l *Library) readings(ctx context.Context, v identity.Viewer, in *inquiry, hits []sighting) ([]*reading, []sighting, error) {
	docs := map[string]Document{}
	readings := make([]*reading, 0, len(hits))
	seen := make([]sighting, 0, len(hits))
	for _, h := range hits {
		d, known := docs[h.Chunk.DocumentID]
		if !known {
			var err error
			if d, err = l.o.Documents.Document(ctx, v, h.Chunk.DocumentID); err != nil && !errors.Is(err, fault.NotFound) {
				return nil, nil, err
			}
			docs[h.Chunk.DocumentID] = d
		}
		if d.ID == "" || d.Superseded() {
			continue // deleted or replaced since the index answered
		}
		p := passageOf(h.Chunk, d)
		readings, seen = append(readings, in.read(&p)), append(seen, h)
	}
	return readings, seen, nil
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
	chunks := Cut(x, l.chunkSize(d))
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

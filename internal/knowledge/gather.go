package knowledge

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/words"
)

// Need says what to gather of documents a person has named. Tokens bounds all
// passages together, as words.Tokens counts; 0: DefaultGather.
type Need struct {
	DocumentIDs []string
	Question    string   // empty, or one that names nothing: what is salient
	Text        string   // not empty: what speaks of the same as its sentences; Question is then not read
	Ignore      []string // words of the question that say what to do, not what to look for
	Tokens      int
}

// DefaultGather is how many tokens of passages Gather gives without a bound.
const DefaultGather = 6000

// MaxGather is how many documents one Gather reads.
const MaxGather = 50

// Gathered is what documents have to say, in the order they were named; within
// one the best first where something was asked, otherwise from its beginning
// to its end. Missing are ids that are not there, or not the viewer's to see.
type Gathered struct {
	Found
	Missing []string
}

// Gather reads named documents, so that each contributes its fair share: with
// a question its best passages, however well another document's fit; with a
// text what comes closest to each of its sentences; without either its salient
// passages, over its whole length (RAG-16, LG-22). A document
// the viewer may not see is missing, as one that is not there (RAG-18).
func (l *Library) Gather(ctx context.Context, v identity.Viewer, n Need) (Gathered, error) {
	docs, missing, err := l.present(ctx, v, n.DocumentIDs)
	if err != nil {
		return Gathered{}, err
	}
	g := Gathered{Found: nothing(), Missing: missing}
	if len(docs) == 0 {
		return g, nil
	}
	tokens := cmp.Or(n.Tokens, DefaultGather)
	if n.Text != "" {
		g.Found, err = l.against(ctx, v, n.Text, docs, tokens)
		return g, err
	}
	if question := sought(n, docs); !inquire(question).vague() {
		g.Found, err = l.best(ctx, v, question, docs, tokens)
		return g, err
	}
	fit := 1.0 // the person named the document and nothing else
	if strings.TrimSpace(n.Question) != "" {
		fit = l.o.Medium
	}
	g.Found, err = l.salient(ctx, v, docs, tokens, fit)
	return g, err
}

// present is the documents of ids that are there, each once.
func (l *Library) present(ctx context.Context, v identity.Viewer, ids []string) (docs []Document, missing []string, err error) {
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] || len(docs) == MaxGather {
			continue
		}
		seen[id] = true
		d, err := l.inUse(ctx, v, id)
		switch {
		case errors.Is(err, fault.NotFound):
			missing = append(missing, id)
		case err != nil:
			return nil, nil, err
		case d.ID != id && seen[d.ID]: // a version of it was named as well
		default:
			seen[d.ID] = true
			docs = append(docs, d)
		}
	}
	return docs, missing, nil
}

// sought is the question without the titles of the documents, which every
// passage of theirs would match, and without the words to ignore.
func sought(n Need, docs []Document) string {
	q := n.Question
	for _, d := range docs {
		for _, name := range []string{d.Title, fileName(d.Path), baseName(d.Path)} {
			q = Without(q, name)
		}
	}
	for _, w := range n.Ignore {
		q = Without(q, w)
	}
	return q
}

// Without takes a name or word, whole and whatever its case, out of a text.
func Without(text, name string) string {
	if name = strings.TrimSpace(name); name == "" {
		return text
	}
	re, err := regexp.Compile(`(?i)(^|[^\pL\pN])@?` + regexp.QuoteMeta(name) + `($|[^\pL\pN])`)
	if err != nil {
		return text
	}
	return re.ReplaceAllString(text, "$1 $2")
}

// The passages asked of one document.
const (
	fewest = 2
	most   = 12
)

// best is the best passages of each document. How well a question is answered
// is how well the best document answers it.
func (l *Library) best(ctx context.Context, v identity.Viewer, question string, docs []Document, tokens int) (Found, error) {
	out := nothing()
	share := tokens / len(docs)
	for _, d := range docs {
		k := min(max(share/l.chunkSize(d), fewest), most)
		f, err := l.Search(ctx, v, Question{Text: question, DocumentIDs: []string{d.ID}, K: k})
		if err != nil {
			return Found{}, err
		}
		l.raise(inquire(question), &f)
		score := topOf(f.Passages)
		if score > topScore(out.Documents) {
			out.Confidence, out.AverageSimilarity = f.Confidence, f.AverageSimilarity
		}
		out.Documents = append(out.Documents, Candidate{ID: d.ID, Title: title(d), Score: score})
		out.Passages = append(out.Passages, within(f.Passages, share)...)
	}
	if out.Confidence != Low {
		out.Clarity = Clear
	}
	return out, nil
}

// raise rates what a named document says by its headings: where one holds a
// word of the question, and the passage at least half of them, it is about the
// question, whatever other words it uses.
func (l *Library) raise(in *inquiry, f *Found) {
	raised := false
	for i := range f.Passages {
		p := &f.Passages[i]
		r := in.read(p)
		held, headed := 0, false
		for t, term := range in.terms {
			if term.weak {
				continue
			}
			headed = headed || r.heading[t] > 0
			if r.holds(t) {
				held++
			}
		}
		if headed && 2*held >= in.strong() && p.Score < l.o.Medium {
			p.Score, raised = l.o.Medium, true
		}
	}
	if raised {
		slices.SortStableFunc(f.Passages, byScore)
		top := topOf(f.Passages)
		f.Confidence, f.AverageSimilarity = l.confidence(top), max(f.AverageSimilarity, top)
	}
}

func title(d Document) string { return cmp.Or(d.Title, baseName(d.Path)) }

func topScore(docs []Candidate) float64 {
	top := 0.0
	for _, d := range docs {
		top = max(top, d.Score)
	}
	return top
}

func topOf(list []Passage) float64 {
	if len(list) == 0 {
		return 0
	}
	return list[0].Score
}

// maxClaims bounds how many sentences of a text are looked up.
const maxClaims = 24

// claims are the sentences of a text that name something to look for.
func claims(text string) []string {
	var out []string
	for _, s := range words.Sentences(text) {
		claim := text[s.Start:s.End]
		if s.Form != words.Heading && s.Form != words.Fence && states(claim) && len(out) < maxClaims {
			out = append(out, claim)
		}
	}
	return out
}

// states reports whether a sentence says something to look for: "There is no
// warranty." does, "Best regards" does not.
func states(claim string) bool {
	strong := inquire(claim).strong()
	return strong > 1 || strong == 1 && len(strings.Fields(claim)) > 3
}

// against is, for each document, the passages that come closest to the
// sentences of a text. How well they fit is told by the half of the sentences
// that fit best, or by those alone that fit at all: a text says more than
// documents speak of.
func (l *Library) against(ctx context.Context, v identity.Viewer, text string, docs []Document, tokens int) (Found, error) {
	out := nothing()
	sentences := claims(text)
	if len(sentences) == 0 {
		return l.salient(ctx, v, docs, tokens, l.o.Medium)
	}
	fits := make([]float64, len(sentences))
	for _, d := range docs {
		var firsts, seconds []Passage
		for i, s := range sentences {
			f, err := l.Search(ctx, v, Question{Text: s, DocumentIDs: []string{d.ID}, K: fewest})
			if err != nil {
				return Found{}, err
			}
			fits[i] = max(fits[i], topOf(f.Passages))
			firsts = append(firsts, f.Passages[:min(len(f.Passages), 1)]...)
			seconds = append(seconds, f.Passages[min(len(f.Passages), 1):]...)
		}
		l.near(sentences, append(slices.Clone(firsts), seconds...), fits)
		slices.SortStableFunc(firsts, byScore)
		slices.SortStableFunc(seconds, byScore)
		out.Documents = append(out.Documents, Candidate{ID: d.ID, Title: title(d), Score: topOf(firsts)})
		out.Passages = append(out.Passages, within(uncovered(append(firsts, seconds...)), tokens/len(docs))...)
	}
	slices.SortFunc(fits, func(a, b float64) int { return cmp.Compare(b, a) })
	best := fits[:(len(fits)+1)/2]
	if at := slices.IndexFunc(fits, func(f float64) bool { return f < l.o.Medium }); at > 0 {
		best = fits[:min(at, len(best))] // one that is spoken of is reason enough to go on
	}
	for _, f := range best {
		out.AverageSimilarity += f / float64(len(best))
	}
	if out.Confidence = l.confidence(out.AverageSimilarity); out.Confidence != Low {
		out.Clarity = Clear
	}
	return out, nil
}

// near rates the sentences that speak of what a passage speaks of: a claim
// need not hold the words of the rule it breaks.
func (l *Library) near(sentences []string, passages []Passage, fits []float64) {
	m := MatterOf(passages)
	for i, s := range sentences {
		if quotes := m.Closest(s, 1); len(quotes) > 0 && quotes[0].Rating >= Near {
			fits[i] = max(fits[i], l.o.Medium)
		}
	}
}

// uncovered leaves out passages that stand whole in an earlier one.
func uncovered(list []Passage) []Passage {
	var out []Passage
	for _, p := range list {
		if !slices.ContainsFunc(out, func(o Passage) bool { return o.DocumentID == p.DocumentID && o.Start <= p.Start && p.End <= o.End }) {
			out = append(out, p)
		}
	}
	return out
}

// within keeps as many of a list's first passages as fit; the first is cut to
// fit.
func within(list []Passage, tokens int) []Passage {
	for i := range list {
		if i == 0 {
			list[0] = shortened(list[0], tokens)
		}
		if tokens -= words.Tokens(list[i].Text); tokens < 0 && i > 0 {
			return list[:i]
		}
	}
	return list
}

// shortened keeps as many of a passage's first sentences as fit, at least one.
func shortened(p Passage, tokens int) Passage {
	if words.Tokens(p.Text) <= tokens {
		return p
	}
	sentences := words.Sentences(p.Text)
	if len(sentences) == 0 {
		return p
	}
	end := sentences[0].End
	for _, s := range sentences[1:] {
		if words.Tokens(p.Text[:s.End]) > tokens {
			break
		}
		end = s.End
	}
	columns := p.Columns
	p.Source, p.Text = p.Part(0, end), p.Text[:end]
	p.Columns = columns // it begins where it began
	return p
}

// salient is the salient passages of each document; fit is how well they may
// be said to fit what was asked.
func (l *Library) salient(ctx context.Context, v identity.Viewer, docs []Document, tokens int, fit float64) (Found, error) {
	out := nothing()
	all := make([][]Passage, len(docs))
	sizes := make([]int, len(docs))
	for i, d := range docs {
		list, err := l.passages(ctx, v, d)
		if err != nil {
			return Found{}, err
		}
		for _, p := range list {
			sizes[i] += words.Tokens(p.Text)
		}
		all[i] = list
	}
	for i, share := range shares(tokens, sizes) {
		score := 0.0
		for _, p := range joined(spread(all[i], share)) {
			p.Score, score = fit, fit
			out.Passages = append(out.Passages, p)
		}
		out.Documents = append(out.Documents, Candidate{ID: docs[i].ID, Title: title(docs[i]), Score: score})
	}
	slices.SortStableFunc(out.Passages, func(a, b Passage) int {
		if a.DocumentID != b.DocumentID {
			return 0 // they come document by document
		}
		return cmp.Compare(a.Start, b.Start)
	})
	if len(out.Passages) > 0 {
		out.Confidence, out.AverageSimilarity, out.Clarity = l.confidence(fit), fit, Clear
	}
	return out, nil
}

// passages is all of a document; none while it is not read yet.
func (l *Library) passages(ctx context.Context, v identity.Viewer, d Document) ([]Passage, error) {
	x, err := l.o.Documents.Text(ctx, v, d.ID)
	if errors.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Passage
	for _, c := range Cut(x, l.chunkSize(d)) {
		p := passageOf(belonging(c, d, l.version()), d)
		p.nameIn(x.Text)
		out = append(out, p)
	}
	return out, nil
}

// shares divides a budget fairly: who wants less than an equal part leaves the
// rest to the others.
func shares(budget int, wants []int) []int {
	out := make([]int, len(wants))
	order := make([]int, len(wants))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(wants[a], wants[b]) })
	for at, i := range order {
		out[i] = min(wants[i], budget/(len(order)-at))
		budget -= out[i]
	}
	return out
}

// spread picks passages that fit into tokens: the most salient of each of as
// many equal stretches of the document as fit, in its order.
func spread(all []Passage, tokens int) []Passage {
	total := 0
	for _, p := range all {
		total += words.Tokens(p.Text)
	}
	if total <= tokens || len(all) < 2 {
		return slices.Clone(all)
	}
	n := min(max(tokens*len(all)/total, 1), len(all))
	weights := salience(all)
	out := make([]Passage, 0, n)
	for i := range n {
		from, to := i*len(all)/n, (i+1)*len(all)/n
		best := from
		for at := from; at < to; at++ {
			if weights[at] > weights[best] {
				best = at
			}
		}
		out = append(out, all[best])
	}
	return within(out, tokens)
}

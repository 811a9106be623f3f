package extractive

import (
	"cmp"
	"context"
	"math"
	"path"
	"slices"
	"strings"

	"liminal/internal/embed"
	"liminal/internal/knowledge"
)

// What is compared with a question: the quotes that are rated best by their words,
// and of every passage its best ones, which may answer in other words.
const (
	foremost   = 8
	ofEach     = 2
	considered = 200 // quotes these are chosen from
)

// wholeQuote is how long a quote becomes with the sentences next to it, in bytes:
// the sentence that answers often stands beside the one that means the question.
const wholeQuote = 400

// weights are what the signs of an answer count for.
type weights struct{ base, rating, score, held, kind, row, begins, whole, parts, ahead float64 }

// The weights were fitted with all-MiniLM-L6-v2 (eval/README.md says how well they do
// on the kept halves): those of the order to the tuned half of seed 1 of eval/manuals,
// by which quote of a question answers it; those of the likelihood to that and to
// eval/pages, by whether the first one does.
var (
	ordering   = weights{rating: 4.4, score: 2.3, held: 3, kind: 1, row: 3, begins: 1.6, whole: 7, parts: 12}
	likelihood = weights{base: -4.35, held: 0.4, whole: 0.3, parts: 4.9, ahead: 0.445}
)

const (
	// A quote is called an answer from this likelihood on: chosen so that of 100
	// questions of the tuned half 8 at most are answered wrong.
	certainEnough = 0.38
	// Where the words of the question fit nothing, it must be more likely one than not:
	// it may be about something that no document speaks of.
	unfound = 0.5
	// Quotes that come after the first by no more than this in the order are shown
	// beside it, where it is called an answer and where it may be one.
	besideAnswer  = 3
	besideClosest = 4
)

// view is a quote with what its words and its meaning say of it.
type view struct {
	quote knowledge.Quote
	embed.Likeness
	score float64 // comparable within one question
	ahead float64 // of the first: how far it is before the next
}

// byMeaning is choose with a comparer. Where that fails the words decide.
func (t turn) byMeaning(ctx context.Context, from []passage) (Form, []knowledge.Quote, error) {
	quotes := candidates(t.question, from)
	found := answers(quotes, from)
	views, err := compared(ctx, t.meaning, t.question, quotes)
	switch {
	case ctx.Err() != nil:
		return Nothing, nil, ctx.Err()
	case err != nil:
		t.meaning = nil
		return t.choose(ctx, from)
	case len(views) == 0:
		return Nothing, nil, nil
	}
	views[0].ahead = ahead(views, from)
	form, margin := Closest, float64(besideClosest)
	threshold := unfound
	if found {
		threshold = certainEnough
	}
	switch likely := 1 / (1 + math.Exp(-views[0].weighed(likelihood))); {
	case likely >= threshold:
		form, margin = Answer, besideAnswer
	case !found:
		form, margin = Nothing, math.Inf(1)
	}
	var out []knowledge.Quote
	for _, v := range views {
		if v.score < views[0].score-margin || len(out) == t.manner.quotes {
			break
		}
		q := knowledge.Around(v.quote, from, wholeQuote)
		if !slices.ContainsFunc(out, func(o knowledge.Quote) bool { return o.Overlaps(q) }) {
			out = append(out, q)
		}
	}
	return form, out, nil
}

// candidates are the quotes that are compared, best first by their words.
func candidates(question string, from []passage) []knowledge.Quote {
	var out []knowledge.Quote
	of := map[string]int{}
	for _, q := range rank(question, knowledge.Quotes(question, from, considered)) {
		if len(out) >= foremost && of[q.ChunkID] >= ofEach {
			continue
		}
		of[q.ChunkID]++
		out = append(out, q)
	}
	return out
}

// compared orders quotes by their words and their meaning together, best first.
func compared(ctx context.Context, m embed.Comparer, question string, quotes []knowledge.Quote) ([]view, error) {
	texts := make([]string, len(quotes))
	for i, q := range quotes {
		texts[i] = inPlace(q)
	}
	alike, err := m.Compare(ctx, question, texts)
	if err != nil {
		return nil, err
	}
	out := make([]view, len(quotes))
	for i, q := range quotes {
		out[i] = view{quote: q, Likeness: alike[i]}
		out[i].score = out[i].weighed(ordering)
	}
	slices.SortStableFunc(out, func(a, b view) int { return cmp.Compare(b.score, a.score) })
	return out, nil
}

// inPlace is a quote as it is compared: under the title and the headings that say
// what it is about.
func inPlace(q knowledge.Quote) string {
	title := strings.TrimSuffix(q.Title, path.Ext(q.Title))
	return knowledge.Fold(title + ": " + q.Heading + ". " + q.Text)
}

// weighed is the sum of the signs.
func (v view) weighed(w weights) float64 {
	q := v.quote
	return w.base + w.rating*q.Rating + w.score*q.Score + w.held*q.Held + w.kind*one(q.Kind) +
		w.row*one(q.Row) + w.begins*one(q.Begins) + w.whole*v.Whole + w.parts*v.Parts + w.ahead*v.ahead
}

// ahead is how far the first view is before the best of another place: where two
// say as much for themselves, one of them is wrong. What stands around the first is
// shown with it, and speaks for it.
func ahead(views []view, from []passage) float64 {
	first := knowledge.Around(views[0].quote, from, wholeQuote)
	for _, v := range views[1:] {
		if !first.Overlaps(knowledge.Around(v.quote, from, wholeQuote)) {
			return min(views[0].score-v.score, farAhead)
		}
	}
	return farAhead
}

// farAhead is the most that being ahead says: a quote that has no rival must still
// mean the question.
const farAhead = 5

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

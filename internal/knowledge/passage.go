package knowledge

import (
	"regexp"
	"slices"
	"strings"

	"liminal/internal/knowledge/extract"
	"liminal/internal/model"
	"liminal/internal/words"
)

// Passage is a piece of a document's stored text that may answer a question:
// Text == text[Start:End].
type Passage struct {
	model.Source
	Text string `json:"text"`
}

// reading is a passage with its sentences understood, for one inquiry. The
// lists of matches have one number a term of the inquiry.
type reading struct {
	passage   *Passage
	sentences []words.Sentence
	bags      []bag
	matches   [][]float64 // of each sentence
	columns   [][]float64 // of the names above each row of a table; nil elsewhere
	heading   []float64
	title     []float64
	anywhere  []float64
	contents  bool // most of it is lines that lead to page numbers
	bare      bool // headings stand in it that look like sentences
	asked     bool // it is of the section whose number is asked for
	// fits are the rows of a table that hold what is asked for in the column it is
	// asked of, by their sentence; nil where none does.
	fits map[int]bool
	lang words.Language
	ends int // where the end of a letter begins: the regards, and who writes
}

func (q *inquiry) read(p *Passage) *reading {
	l := words.Detect(p.Text)
	r := &reading{passage: p, lang: l, sentences: words.Sentences(p.Text), contents: extract.CountLeaders(p.Text, 3) == 3 || len(numberedLines.FindAllStringIndex(p.Text, listed)) == listed}
	r.heading = q.matches(q.bag(l, p.Heading), p.Heading)
	r.title = q.matches(q.bag(l, p.Title+" "+baseName(p.Path)), p.Title)
	r.anywhere = make([]float64, len(q.terms))
	r.asked = q.part != "" && p.numbered(q.part)
	r.columns = make([][]float64, len(r.sentences))
	names, above := "", []float64(nil)
	for i, s := range r.sentences {
		if s.Form == words.Prose || s.Form == words.Item {
			if p.calls(p.Text[s.Start:s.End]) {
				r.sentences[i].Form, r.bare = words.Heading, true
			}
		}
		b := q.bag(l, p.Text[s.Start:s.End])
		m := q.matches(b, p.Text[s.Start:s.End])
		r.bags, r.matches = append(r.bags, b), append(r.matches, m)
		if s.Form == words.Row {
			if of := p.ColumnsOf(s.Start, s.End); of != names {
				names, above = of, q.labels(q.bag(l, of), of)
			}
			if names != "" {
				r.columns[i] = above
			}
		}
		for t, x := range m {
			r.anywhere[t] = max(r.anywhere[t], x)
		}
	}
	for i := range r.sentences {
		if r.columns[i] != nil && q.fits(l, p.ColumnsOf(r.sentences[i].Start, r.sentences[i].End), r.text(i)) {
			if r.fits == nil {
				r.fits = map[int]bool{}
			}
			r.fits[i] = true
		}
	}
	r.ends = signature(r.passage.Text)
	for t, x := range r.framed() {
		r.title[t] = max(r.title[t], x)
	}
	return r
}

// numberedLines are lines that begin with the number of a section; a passage
// with so many as listed is a table of contents.
var numberedLines = regexp.MustCompile(`(?m)^[ \t\x{a0}]*\d{1,2}(?:\.\d{1,2}){1,3}\.?[ \t]+\pL`)

const listed = 5

// labels is matches of the names of columns: a label is one word for what the
// cells say, and another word for it is as good. In sentences such words mislead
// more often than they help.
func (q *inquiry) labels(b bag, names string) []float64 {
	out := q.matches(b, names)
	for i, t := range q.terms {
		if b.lang == q.lang && slices.ContainsFunc(t.like, func(stem string) bool { return b.at[stem] > 0 }) {
			out[i] = max(out[i], synonym)
		}
	}
	return out
}

// holds reports whether term t stands in the passage or its heading.
func (r *reading) holds(t int) bool { return r.anywhere[t] > 0 || r.heading[t] > 0 }

// baseName is the last element of a path without its extension.
func baseName(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		path = path[i+1:]
	}
	if i := strings.LastIndexByte(path, '.'); i > 0 {
		path = path[:i]
	}
	return path
}

// How much finding a word counts, by where it stands relative to the
// sentence that is being rated.
const (
	inSentence  = 1.0
	inNeighbour = 0.7 // the sentence before or after
	inHeading   = 0.85
	inTitle     = 0.7
	inPassage   = 0.3 // anywhere else in the passage
)

// Small additions that decide between passages that hold the same words.
const (
	pairBonus   = 0.1  // question words stand together
	denseBonus  = 0.04 // it says little else
	answerBonus = 0.15 // the sentence holds what the question asks for
	headBonus   = 0.06 // the headings above it hold the question
	crossBonus  = 0.2  // it is the row, and has the column, the question names
)

// What is left of the rating of what is not an answer.
const (
	beside  = 0.75 // a row beside one that has in the asked column what is asked for
	framing = 0.6  // the head or the end of a letter, where nobody is asked for
)

// rate is how well sentence i of a reading answers the inquiry, 0 to 1.
func (q *inquiry) rate(r *reading, i int) float64 {
	got, total, headed, direct := 0.0, 0.0, 0.0, false
	for t, term := range q.terms {
		weight := q.weight(term, r)
		total += weight
		headed += weight * r.heading[t]
		direct = direct || r.matches[i][t] > 0 && !term.weak
		got += weight * r.place(i, t)
	}
	if total == 0 {
		return 0
	}
	score := got / total
	if !direct && r.sentences[i].Form != words.Prose {
		score *= 0.9
	}
	extra := pairBonus*q.pairs(r.bags[i]) + denseBonus*q.density(r.bags[i])
	if q.answer == nil || q.answer.MatchString(r.meant(i)) {
		extra += answerBonus
	}
	// What decides between sentences that hold the words must not make up for
	// words that are missing.
	score = min(1, score*(1-pairBonus-answerBonus-denseBonus+extra)*r.shape(i))
	if score > 0 {
		score = min(1, score+headBonus*headed/total*r.shape(i))
	}
	if r.crosses(q, i) {
		score = min(1, score+crossBonus)
	}
	if len(r.fits) > 0 && !r.fits[i] && r.sentences[i].Form == words.Row {
		score *= beside
	}
	if r.frames(i) && !asksPerson.MatchString(q.text) {
		score *= framing
	}
	if r.asked {
		score = max(score, ofPart*r.shape(i))
	}
	if r.sentences[i].Form != words.Heading && q.repeatedIn(r.text(i)) {
		score *= 0.5
	}
	return score
}

// crosses reports whether a row of a table names one thing the question asks for
// and stands under a column that is called like another: the cell where they
// meet is what is asked, whatever sentences mention both.
func (r *reading) crosses(q *inquiry, i int) bool {
	if r.columns[i] == nil || len(r.fits) > 0 {
		return r.fits[i]
	}
	column, row := false, false
	for t, term := range q.terms {
		if term.weak {
			continue
		}
		column = column || r.columns[i][t] > r.matches[i][t]
		row = row || r.matches[i][t] > 0
	}
	return column && row
}

// repeatedIn reports whether a text asks the question itself, word for word,
// as examples and lists of questions do: that holds all of its words and
// answers nothing.
func (q *inquiry) repeatedIn(text string) bool {
	asked := strings.TrimRight(strings.ToLower(Fold(q.text)), "?!. ")
	return strings.Contains(asked, " ") && strings.Contains(strings.ToLower(Fold(text)), asked+"?")
}

// place is how much term t counts for sentence i, by where it stands. What the
// columns of a row are called says what it is about; its neighbours are about
// something else.
func (r *reading) place(i, t int) float64 {
	best := max(r.matches[i][t]*inSentence, r.heading[t]*inHeading, r.title[t]*inTitle, r.anywhere[t]*inPassage)
	if r.columns[i] != nil {
		return max(best, r.columns[i][t]*inHeading)
	}
	if i > 0 && (!r.frames(i-1) || r.frames(i)) {
		best = max(best, r.matches[i-1][t]*inNeighbour)
	}
	if i+1 < len(r.matches) && (!r.frames(i+1) || r.frames(i)) {
		best = max(best, r.matches[i+1][t]*inNeighbour)
	}
	return best
}

// meant is the text a rating of sentence i is about: its own, and for a
// heading also the beginning of what follows.
func (r *reading) meant(i int) string {
	start, end := r.sentences[i].Start, r.sentences[i].End
	if r.sentences[i].Form == words.Heading {
		end = r.sentences[r.follow(i)].End
	}
	return r.passage.Text[start:end]
}

// shape makes what is no statement count less. A heading stands for what
// follows it, and for nothing when nothing does.
func (r *reading) shape(i int) float64 {
	s := r.sentences[i]
	switch s.Form {
	case words.Fence:
		return 0
	case words.Heading:
		if r.bare {
			return 0 // what it says counts for each sentence under it
		}
		if r.contents || i+1 == len(r.sentences) {
			return 0.6
		}
		return 1
	case words.Code:
		return 0.9
	default:
	}
	if s.End-s.Start < 12 {
		return 0.8
	}
	if r.contents || extract.HasLeaders(r.text(i)) {
		return 0.5 // a line of a table of contents
	}
	if s.End-s.Start < shortPointer && pointer.MatchString(r.text(i)) {
		return pointing
	}
	return 1
}

// pointer is a sentence that says where something stands, and not what.
var pointer = regexp.MustCompile(`^(?i)(?:for (?:details|more \pL+),? )?(?:refer to|see|siehe|vgl\.|cf\.|vergleichen sie)\s`)

// shortPointer is how long such a sentence is at most, in bytes, that says nothing
// else, and pointing what it counts.
const (
	shortPointer = 100
	pointing     = 0.6
)

// best is the best sentence of a reading and its rating.
func (q *inquiry) best(r *reading) (int, float64) {
	at, top := 0, 0.0
	for i := range r.sentences {
		if s := q.rate(r, i); s > top {
			at, top = i, s
		}
	}
	return at, top
}

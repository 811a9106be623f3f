package knowledge

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"liminal/internal/knowledge/extract"
	"liminal/internal/words"
)

// Quote is a verbatim piece of a passage: Text == text[Start:End] of the
// document's stored text.
type Quote struct {
	Passage
	Rating float64 // 0 to 1, how well it answers
	// Held is how much of what is asked stands in the quote itself, in the
	// headings and the title above it and in the names of its columns, 0 to 1 by
	// the weight of the words.
	Held float64
	Kind bool // it holds what such a question asks for, a number for "how many"
	// Begins says that only headings stand before it in its passage: what a section
	// is about is said there. Row says that it was picked for a row of a table.
	Begins, Row bool
}

// Bounds of a quote, in bytes.
const (
	shortQuote = 60  // shorter ones take in a neighbour
	listQuote  = 360 // items of a list are added up to here
	wholeEntry = 640 // what is said of a term is quoted whole up to here
	longQuote  = 700 // what a heading introduces is added up to here
)

// firstRows is how many rows are quoted with the line that names their columns.
const firstRows = 5

// Quotes picks at most n verbatim quotes that answer question best, best
// first, from passages of any order. Each is one to three sentences, or a
// sentence with the list it introduces; no two overlap. Ratings lie between
// 0 and 1 and are comparable within one call; what to make of low ones is the
// caller's decision.
func Quotes(question string, passages []Passage, n int) []Quote {
	q := inquire(question)
	readings := make([]*reading, len(passages))
	for i := range passages {
		readings[i] = q.read(&passages[i])
	}
	q.weighReadings(readings)
	var all []Quote
	for _, r := range readings {
		for i := range r.sentences {
			if rating := q.rate(r, i); rating > 0 {
				quote := r.quote(i, rating)
				quote.Held, quote.Kind = q.held(r, i), q.answer == nil || q.answer.MatchString(quote.Text)
				quote.Begins, quote.Row = r.begins(i), r.sentences[i].Form == words.Row
				all = append(all, quote)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Quote) int {
		if a.Rating == b.Rating && isRow(a.Text) != isRow(b.Text) {
			if isRow(a.Text) { // of two that hold as much, the fact before a sentence about it
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Rating, a.Rating)
	})
	return distinct(all, n)
}

// held is the share of the question that a quote of sentence i holds.
func (q *inquiry) held(r *reading, i int) float64 {
	from, to := r.span(i)
	got, total := 0.0, 0.0
	for t, term := range q.terms {
		if term.weak {
			continue
		}
		best := max(r.heading[t], r.title[t])
		if r.columns[i] != nil {
			best = max(best, r.columns[i][t])
		}
		for j := from; j <= to; j++ {
			best = max(best, r.matches[j][t])
		}
		weight := q.weight(term, r)
		total += weight
		got += weight * best
	}
	if total == 0 {
		return 0
	}
	return got / total
}

// weighReadings weighs words by how many of the sentences hold them.
func (q *inquiry) weighReadings(readings []*reading) {
	var matches [][]float64
	for _, r := range readings {
		matches = append(matches, r.matches...)
	}
	q.weigh(len(matches), func(t, i int) bool { return matches[i][t] > 0 })
}

// distinct keeps the first n quotes that do not overlap a better one nor
// repeat its words.
func distinct(all []Quote, n int) []Quote {
	var out []Quote
	for _, c := range all {
		if len(out) == n {
			break
		}
		if !slices.ContainsFunc(out, func(o Quote) bool { return o.Overlaps(c) || Fold(o.Text) == Fold(c.Text) }) {
			out = append(out, c)
		}
	}
	return out
}

// Overlaps reports whether two quotes have a part of a document in common.
func (a Quote) Overlaps(b Quote) bool {
	return a.DocumentID == b.DocumentID && a.Start < b.End && b.Start < a.End
}

// quote widens sentence i to what can be understood by itself.
func (r *reading) quote(i int, rating float64) Quote {
	from, to := r.span(i)
	p := *r.passage
	start, end := r.sentences[from].Start, r.sentences[to].End
	p.Source, p.Text = r.passage.Part(start, end), r.passage.Text[start:end]
	p.Columns = r.passage.ColumnsOf(start, end)
	return Quote{Passage: p, Rating: rating}
}

// span is the run of sentences around i that belong together.
func (r *reading) span(i int) (from, to int) {
	s, text := r.sentences[i], r.text(i)
	if r.isEntry() {
		return 0, len(r.sentences) - 1
	}
	switch {
	case s.Form == words.Heading:
		to = r.follow(i)
		for from = i; from < to && r.sentences[from].Form == words.Heading; from++ {
		}
		return from, to
	case strings.HasSuffix(text, ":"):
		return i, r.follow(i)
	case s.Form == words.Code:
		return r.around(i, 1, 2)
	case s.Form == words.Row:
		return i, r.under(i)
	case s.Form == words.Item && len(text) < 3*shortQuote:
		return r.list(i)
	case leans(text) || len(text) < shortQuote:
		return r.paired(i)
	}
	return i, i
}

// begins reports whether the quote of sentence i has only headings before it.
func (r *reading) begins(i int) bool {
	from, _ := r.span(i)
	for _, s := range r.sentences[:from] {
		if s.Form != words.Heading {
			return false
		}
	}
	return true
}

// isEntry reports whether the passage is all that is said of a term, and short:
// its first sentence begins with the name, and the rest is read best with it.
func (r *reading) isEntry() bool {
	p := r.passage
	if p.Heading == "" || len(p.Text) > wholeEntry || len(r.sentences) == 0 || r.sentences[0].Form != words.Prose {
		return false
	}
	name := alnum(p.Heading[strings.LastIndex(p.Heading, extract.HeadingSeparator)+1:])
	name = strings.TrimPrefix(name, alnum(extract.HeadingSeparator))
	first := alnum(r.text(0))
	return name != "" && len(first) > len(name) && strings.HasPrefix(first, name)
}

// paired adds the sentence before, or else the one after, of the same
// paragraph.
func (r *reading) paired(i int) (from, to int) {
	same := func(j int) bool {
		return j >= 0 && j < len(r.sentences) && r.sentences[j].Paragraph == r.sentences[i].Paragraph
	}
	switch {
	case same(i - 1):
		return i - 1, i
	case same(i + 1):
		return i, i + 1
	}
	return i, i
}

// around adds up to some lines of the same code before and after.
func (r *reading) around(i, before, after int) (from, to int) {
	from, to = i, i
	for ; before > 0 && from > 0 && r.sentences[from-1].Form == words.Code; before-- {
		from--
	}
	for ; after > 0 && to+1 < len(r.sentences) && r.sentences[to+1].Form == words.Code; after-- {
		to++
	}
	return from, to
}

// list adds the neighbouring items of a short list, nearest first; items of
// another depth are another list.
func (r *reading) list(i int) (from, to int) {
	from, to = i, i
	fits := func(a, b int) bool {
		return a >= 0 && b < len(r.sentences) && r.sibling(a, i) && r.sibling(b, i) &&
			r.sentences[b].End-r.sentences[a].Start <= listQuote
	}
	for grown := true; grown; {
		grown = false
		if fits(from, to+1) {
			to, grown = to+1, true
		}
		if fits(from-1, to) {
			from, grown = from-1, true
		}
	}
	return from, to
}

// sibling reports whether sentence j is part of an item as deep as that of i.
func (r *reading) sibling(j, i int) bool {
	same := r.sentences[j].Paragraph == r.sentences[i].Paragraph
	return same || r.sentences[j].Form == words.Item && r.indent(j) == r.indent(i)
}

// indent is how far an item is set in; -1 for a sentence inside of one.
func (r *reading) indent(i int) int {
	start := r.sentences[i].Start
	line := r.passage.Text[strings.LastIndexByte(r.passage.Text[:start], '\n')+1 : start]
	if strings.TrimSpace(line) != "" {
		return -1
	}
	return len(line)
}

// under is i for a row of a table. For the line that names the columns it is
// the last of the first rows below it: names alone say nothing.
func (r *reading) under(i int) int {
	text, start := r.passage.Text, r.sentences[i].Start
	line, _ := lineAt(text, start)
	if tableStart(text, line) != line || r.text(i) != r.passage.named(line) {
		return i
	}
	to := i
	for rows := 0; to+1 < len(r.sentences) && rows < firstRows; to++ {
		next := r.sentences[to+1]
		line, _ = lineAt(text, next.Start)
		if next.Form != words.Row || tableStart(text, line) == line || next.End-start > listQuote {
			break
		}
		if !isRule(r.text(to + 1)) {
			rows++
		}
	}
	return to
}

// follow is the last sentence of what a heading or a "…:" introduces: the
// first paragraph, more of them while they are short, and a list whole.
func (r *reading) follow(i int) int {
	to := i
	for to+1 < len(r.sentences) {
		next := r.sentences[to+1]
		size := next.End - r.sentences[i].Start
		prose := next.Form == words.Prose
		introduced := r.sentences[to].Form == words.Heading || strings.HasSuffix(r.text(to), ":")
		switch {
		case size > longQuote,
			next.Form == words.Heading && r.sentences[to].Form != words.Heading,
			prose && !introduced && size > listQuote:
			return to
		}
		to++
	}
	return to
}

func (r *reading) text(i int) string {
	return r.passage.Text[r.sentences[i].Start:r.sentences[i].End]
}

// leans reports whether a sentence needs the one before it: it begins with a
// pronoun or a connective.
func leans(text string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(text, "*_ "), " ")
	switch strings.ToLower(strings.Trim(first, ",")) {
	case "it", "this", "these", "they", "that", "those", "he", "she", "its", "their", "however", "otherwise", "then", "but", "so",
		"es", "dies", "diese", "dieser", "dieses", "sie", "er", "jedoch", "sonst", "dann", "aber":
		return true
	}
	return false
}

// Fold is text as it is shown on one line: white space folded.
func Fold(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if !utf8.ValidString(text) {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return text
}

package knowledge

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/words"
)

// A statement is one sentence of a reading, weighed among all others by what
// the texts as a whole speak of.
type statement struct {
	reading *reading
	at      int // of its sentences
	order   int // of all statements
	stems   map[string]bool
	opens   bool // a document or a section
	first   bool // of its document
	rating  float64
}

// matter is what texts speak of: the stems of their content words, heavier the
// more sentences hold them.
type matter struct {
	statements []*statement
	weight     map[string]float64
}

// inNames is how much heavier a word is that stands in a title or heading.
const inNames = 1.4

func matterOf(passages []Passage) *matter {
	m := &matter{weight: map[string]float64{}}
	q := inquire("")
	counts, named := map[string]int{}, map[string]bool{}
	seen := map[[2]any]bool{}
	heading, document := "", ""
	for i := range passages {
		r := q.read(&passages[i])
		l := words.Detect(passages[i].Text)
		for stem := range q.bag(l, passages[i].Heading+" "+passages[i].Title).at {
			named[stem] = true
		}
		for at, s := range r.sentences {
			place := [2]any{passages[i].DocumentID, passages[i].Start + s.Start}
			if seen[place] || s.Form == words.Fence {
				continue // neighbouring chunks overlap
			}
			seen[place] = true
			st := &statement{reading: r, at: at, order: len(m.statements), stems: content(l, r.bags[at])}
			st.first = passages[i].DocumentID != document
			st.opens = s.Form != words.Heading && (st.first || passages[i].Heading != heading)
			if s.Form != words.Heading {
				heading, document = passages[i].Heading, passages[i].DocumentID
			}
			for stem := range st.stems {
				counts[stem]++
			}
			m.statements = append(m.statements, st)
		}
	}
	for stem, n := range counts {
		m.weight[stem] = math.Log1p(float64(n - 1))
		if named[stem] {
			m.weight[stem] = inNames * (m.weight[stem] + 0.3)
		}
	}
	return m
}

// content is the stems of a sentence that say something.
func content(l words.Language, b bag) map[string]bool {
	out := map[string]bool{}
	for _, stem := range b.order {
		if len(stem) > 1 && !words.Weak(stem) && !words.Stop(l, stem) {
			out[stem] = true
		}
	}
	return out
}

// telling is what makes a sentence a rule, an amount or a date.
var telling = regexp.MustCompile(`(?i)\d|[€$£%]|\b(?:must|shall|may not|required|prohibited|entitled|liable|muss|müssen|darf|dürfen|verpflichtet|berechtigt|haftet|untersagt|in summary|in conclusion|overall|insgesamt|zusammenfassend)\b`)

// rate is how much of what the texts speak of a statement says, in few words.
func (m *matter) rate(s *statement) float64 {
	sentence := s.reading.sentences[s.at]
	text := s.reading.text(s.at)
	if sentence.Form == words.Heading || s.reading.contents || leaders.MatchString(text) {
		return 0
	}
	sum := 0.0
	for stem := range s.stems {
		sum += m.weight[stem]
	}
	score := sum / (3 + math.Sqrt(float64(len(s.stems)*8)))
	switch {
	case s.first && s.opens:
		score *= 1.4
	case s.opens:
		score *= 1.2
	}
	if telling.MatchString(text) {
		score *= 1.25
	}
	if strings.HasSuffix(text, "?") || leans(text) {
		score *= 0.6
	}
	if n := len(s.stems); n < 4 {
		score *= 0.5 + 0.1*float64(n)
	}
	if sentence.Form == words.Code || sentence.Form == words.Row {
		score *= 0.6
	}
	return score * s.reading.shape(s.at)
}

// said makes what a statement says weigh less from now on.
func (m *matter) said(s *statement) {
	for stem := range s.stems {
		m.weight[stem] *= 0.45
	}
}

// alike is from when two statements say the same.
const alike = 0.6

// repeats reports whether a statement says what one of others says. The same
// sentence with other numbers says something else.
func (s *statement) repeats(others []*statement) bool {
	return slices.ContainsFunc(others, func(o *statement) bool {
		if figures(s.stems) != figures(o.stems) {
			return false
		}
		both := 0
		for stem := range s.stems {
			if o.stems[stem] {
				both++
			}
		}
		return float64(both) >= alike*float64(max(len(s.stems)+len(o.stems)-both, 1))
	})
}

// figures is the numbers among stems.
func figures(stems map[string]bool) string {
	var out []string
	for stem := range stems {
		if strings.ContainsAny(stem, "0123456789") {
			out = append(out, stem)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Salient picks at most n verbatim quotes that together say most of what
// passages say, in the order of the passages: sentences full of the words the
// whole comes back to, those that open a section first, none that repeats
// another, and of no section more than its part. Ratings say how much each
// adds; they are comparable within one call.
func Salient(passages []Passage, n int) []Quote {
	m := matterOf(passages)
	sections := map[string]int{}
	for _, s := range m.statements {
		sections[section(s)]++
	}
	bound := max(1, (n+len(sections)-1)/max(len(sections), 1))
	taken := map[string]int{}
	var chosen []*statement
	for len(chosen) < n {
		best := m.next(chosen, func(s *statement) bool { return taken[section(s)] < bound })
		if best == nil && bound <= n {
			bound++
			continue
		}
		if best == nil {
			break
		}
		taken[section(best)]++
		chosen = append(chosen, best)
		m.said(best)
	}
	slices.SortFunc(chosen, func(a, b *statement) int { return cmp.Compare(a.order, b.order) })
	return quotesOf(chosen)
}

// section is where a statement stands.
func section(s *statement) string {
	return s.reading.passage.DocumentID + "\x00" + s.reading.passage.Heading
}

// next is the statement that adds most.
func (m *matter) next(chosen []*statement, open func(*statement) bool) *statement {
	var best *statement
	for _, s := range m.statements {
		if !open(s) || slices.Contains(chosen, s) {
			continue
		}
		if s.rating = m.rate(s); s.rating <= 0 || best != nil && s.rating <= best.rating || s.repeats(chosen) {
			continue
		}
		best = s
	}
	return best
}

// quotesOf widens statements to what can be understood by itself; what
// overlaps is quoted once.
func quotesOf(chosen []*statement) []Quote {
	var out []Quote
	for _, s := range chosen {
		q := s.reading.quote(s.at, s.rating)
		if !slices.ContainsFunc(out, func(o Quote) bool { return overlaps(o, q) || Fold(o.Text) == Fold(q.Text) }) {
			out = append(out, q)
		}
	}
	return out
}

// salience is how much each passage says of what all of them speak of: that of
// its best sentences.
func salience(passages []Passage) []float64 {
	const counted = 3
	m := matterOf(passages)
	ratings := map[*Passage][]float64{}
	for _, s := range m.statements {
		ratings[s.reading.passage] = append(ratings[s.reading.passage], m.rate(s))
	}
	out := make([]float64, len(passages))
	for i := range passages {
		list := ratings[&passages[i]]
		slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
		for _, r := range list[:min(len(list), counted)] {
			out[i] += r / counted
		}
	}
	return out
}

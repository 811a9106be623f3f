package knowledge

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/knowledge/extract"
	"liminal/internal/words"
)

// A statement is one sentence of a reading, weighed among all others by what
// the texts as a whole speak of.
type statement struct {
	reading *reading
	at      int // of its sentences
	order   int // of all statements
	stems   map[string]bool
	heading map[string]bool // stems of the heading it stands under
	opens   bool            // a document or a section
	first   bool            // of its document
}

// Matter is what passages speak of: their sentences, and the stems of their
// content words, heavier the more sentences come back to them. It only reads
// and may be used by several at once.
type Matter struct {
	statements []*statement
	weight     map[string]float64 // how much the whole is about a stem
	rarity     map[string]float64 // how much sharing it says of two sentences
}

// inNames is how much heavier a word is that stands in a title or heading.
const inNames = 1.4

// once is the weight of a word that stands in one sentence alone.
const once = 0.2

// MatterOf reads passages; a sentence two of them share is read once.
func MatterOf(passages []Passage) *Matter {
	m := &Matter{}
	q := inquire("")
	named := map[string]bool{}
	seen := map[[2]any]bool{}
	heading, document := "", ""
	for i := range passages {
		r := q.read(&passages[i])
		l := words.Detect(passages[i].Text)
		above := content(l, q.bag(l, passages[i].Heading))
		for stem := range q.bag(l, passages[i].Heading+" "+passages[i].Title).at {
			named[stem] = true
		}
		for at, s := range r.sentences {
			place := [2]any{passages[i].DocumentID, passages[i].Start + s.Start}
			if seen[place] || s.Form == words.Fence {
				continue // neighbouring chunks overlap
			}
			seen[place] = true
			st := &statement{reading: r, at: at, order: len(m.statements), stems: content(l, r.bags[at]), heading: above}
			st.first = passages[i].DocumentID != document
			st.opens = s.Form != words.Heading && (st.first || passages[i].Heading != heading)
			if s.Form != words.Heading {
				heading, document = passages[i].Heading, passages[i].DocumentID
			}
			m.statements = append(m.statements, st)
		}
	}
	m.weigh(named)
	return m
}

// weigh counts in how many sentences each stem stands.
func (m *Matter) weigh(named map[string]bool) {
	counts := map[string]int{}
	for _, s := range m.statements {
		for stem := range s.stems {
			counts[stem]++
		}
	}
	m.weight, m.rarity = make(map[string]float64, len(counts)), make(map[string]float64, len(counts))
	for stem, n := range counts {
		m.weight[stem] = once + math.Log1p(float64(n-1))
		if named[stem] {
			m.weight[stem] = inNames * (m.weight[stem] + once)
		}
		m.rarity[stem] = math.Log1p(float64(len(m.statements)) / float64(n))
	}
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
func (m *Matter) rate(s *statement, weight map[string]float64) float64 {
	sentence := s.reading.sentences[s.at]
	text := s.reading.text(s.at)
	if s.names() || extract.HasLeaders(text) {
		return 0
	}
	sum := 0.0
	for stem := range s.stems {
		sum += weight[stem]
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
	return score * readable(text) * s.reading.shape(s.at)
}

// easy is how long a sentence may be, in bytes, before it counts less.
const easy = 260

// readable makes what nobody would quote count less: sentences that go on and
// on, as tables and listings do that lost their lines, and those made of signs.
func readable(text string) float64 {
	signs := 0
	for _, r := range text {
		if strings.ContainsRune("{}[]()<>_/|=;:*#\\→•·`\"", r) {
			signs++
		}
	}
	out := min(1, easy/float64(len(text)))
	if signs*14 > len(text) {
		out *= 0.4
	}
	return out
}

// names reports whether a statement states nothing: a heading, the title, a
// line of a table of contents.
func (s *statement) names() bool {
	if s.reading.contents || s.reading.sentences[s.at].Form == words.Heading {
		return true
	}
	return s.reading.passage.calls(s.reading.text(s.at))
}

// said is how much is left of a stem's weight once a sentence with it stands.
const said = 0.45

// alike is from when two statements say the same.
const alike = 0.6

// repeats reports whether a statement says what one of others says. The same
// sentence with other numbers says something else.
func (s *statement) repeats(others []choice) bool {
	return slices.ContainsFunc(others, func(o choice) bool {
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

// Salient picks at most n verbatim quotes that together say most of what the
// passages say, in their order: sentences full of the words the whole comes
// back to, those that open a section first, none that repeats another, and of
// no section more than its part. Ratings say how much each adds; they are
// comparable within one call.
func (m *Matter) Salient(n int) []Quote {
	sections := map[string]int{}
	for _, s := range m.statements {
		sections[section(s)] = 0
	}
	bound := (n + len(sections) - 1) / max(len(sections), 1)
	weight := maps.Clone(m.weight)
	var chosen []choice
	for len(chosen) < n && bound <= n {
		best := m.next(chosen, weight, func(s *statement) bool { return sections[section(s)] < bound })
		if best.statement == nil {
			bound++
			continue
		}
		sections[section(best.statement)]++
		chosen = append(chosen, best)
		for stem := range best.stems {
			weight[stem] *= said
		}
	}
	slices.SortFunc(chosen, func(a, b choice) int { return cmp.Compare(a.order, b.order) })
	return quotesOf(chosen)
}

// choice is a statement that was picked, and why.
type choice struct {
	*statement
	rating float64
}

// section is where a statement stands.
func section(s *statement) string {
	return s.reading.passage.DocumentID + "\x00" + s.reading.passage.Heading
}

// next is the statement that adds most; none when nothing adds anything.
func (m *Matter) next(chosen []choice, weight map[string]float64, open func(*statement) bool) choice {
	var best choice
	for _, s := range m.statements {
		if !open(s) || slices.ContainsFunc(chosen, func(c choice) bool { return c.statement == s }) {
			continue
		}
		if rating := m.rate(s, weight); rating > best.rating && !s.repeats(chosen) {
			best = choice{s, rating}
		}
	}
	return best
}

// quotesOf widens statements to what can be understood by itself; what
// overlaps is quoted once.
func quotesOf(chosen []choice) []Quote {
	var out []Quote
	for _, s := range chosen {
		q := s.reading.quote(s.at, s.rating)
		if !slices.ContainsFunc(out, func(o Quote) bool { return o.Overlaps(q) || Fold(o.Text) == Fold(q.Text) }) {
			out = append(out, q)
		}
	}
	return out
}

// salience is how much each passage says of what all of them speak of: that of
// its best sentences.
func salience(passages []Passage) []float64 {
	const counted = 3
	m := MatterOf(passages)
	ratings := map[*Passage][]float64{}
	for _, s := range m.statements {
		ratings[s.reading.passage] = append(ratings[s.reading.passage], m.rate(s, m.weight))
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

package grounding

import (
	"slices"
	"strings"
)

// sentence is a sentence on its way.
type sentence struct {
	*Evidence
	text     string
	blank    string // the same without markers
	markers  []marker
	claims   []claim
	clauses  []clause
	whole    clause
	lenient  bool // it says which is which by order
	window   bool // it speaks of a time from today
	topic    topic
	meant    map[span][]string // what its parts mean, once it is asked for
	lowered  []string          // its tokens in small letters, once they are asked for
	parts    []span            // between its commas and such
	marks    []int32           // the records its markers name
	owned    []bool            // rows of these and around them; nil: no marker names one
	ownText  string            // their texts, once they are asked for
	filtered map[filterKey]filtering
	windowed map[span][]window
}

// clause is a part of a sentence that says something of something.
type clause struct {
	start, end int
	says       int               // claims
	mentions   map[int32][]int32 // values, by field
	seen       []seenAt          // the same, by the words
	rows       []int32           // of the markers that close it; nil: none do
	marked     bool
	known      []int8 // 1 a row that fits, -1 one that does not, 0 nobody asked
	goesOn     bool   // it names nothing: the rows are what was spoken of before
}

// read takes a sentence in, after those that topic is of.
func (e *Evidence) read(text string, before topic) *sentence {
	s := &sentence{Evidence: e, text: text, markers: e.markers(text), topic: before}
	s.blank = text
	if len(s.markers) > 0 {
		b := []byte(text)
		for _, m := range s.markers {
			for i := m.start; i < m.end; i++ {
				b[i] = ' '
			}
			if m.kind == links { // its words are the sentence's
				copy(b[m.start+1:], m.text)
			}
		}
		s.blank = string(b)
	}
	s.claims = append([]claim(nil), e.scanner.scan(s.blank)...)
	s.localise()
	s.ours()
	s.cut(s.blank)
	return s
}

// localise drops the reading of 1,234 as a fraction in English, and of 1.234 in
// German.
func (s *sentence) localise() {
	sep := byte('.')
	switch english, german := s.languages(); {
	case english > german:
		sep = ','
	case german == english:
		return
	}
	for i := range s.claims {
		c := &s.claims[i]
		if c.sort == sortNumber && len(c.keys) > 1 && c.value >= 1000 && c.scale <= 1 && strings.IndexByte(s.blank[c.start:c.end], sep) > 0 {
			c.keys = slices.DeleteFunc(slices.Clone(c.keys), func(k key) bool { return k.form == aNumber && k.value() == c.value/1000 })
		}
	}
}

func (s *sentence) unsupported() (list []string) {
	say := func(written string) {
		if written = strings.TrimSpace(written); written != "" && !slices.Contains(list, written) {
			list = append(list, written)
		}
	}
	checks := s.options.Checks
	if checks.Dates {
		s.together(say)
	}
	if checks.Refs {
		s.strangers(s.blank, say)
		for i := range s.clauses {
			s.unrelated(&s.clauses[i], say)
		}
		if s.owned != nil {
			s.foreign(say)
			s.idle(say)
		}
		s.denied(say)
	}
	for _, m := range s.markers {
		switch m.kind {
		case cites:
			if checks.IDs && s.find(m.entity, m.value) < 0 {
				say(m.value)
			}
		case names:
			if checks.Refs && s.named(m.entity, m.value) < 0 && !held(s.haystack(), claim{name: fold(m.value)}) {
				say(m.value)
			}
		}
	}
	for i := range s.claims {
		c := &s.claims[i]
		if s.checked(c.sort) && !s.inName(c) && !s.supported(c) {
			say(s.text[c.start:c.end])
		}
	}
	if checks.Refs && s.owned == nil {
		for i := range s.clauses {
			c := &s.clauses[i]
			if c.marked && len(c.rows) > 0 && !slices.ContainsFunc(c.rows, func(r int32) bool { return s.agrees(r, c) }) {
				say(s.text[c.start:c.end])
			}
		}
	}
	return list
}

// inName reports whether a claim is part of a name that evidence holds: the two of
// "Two Sisters".
func (s *sentence) inName(c *claim) bool {
	if c.sort == sortName {
		return false
	}
	return slices.ContainsFunc(s.whole.seen, func(m seenAt) bool { return m.at <= c.start && c.end <= m.end && m.words > 1 }) || slices.ContainsFunc(s.claims, func(x claim) bool {
		return x.sort == sortName && x.start <= c.start && c.end <= x.end && x.end-x.start > c.end-c.start && held(s.haystack(), x)
	})
}

func (s *sentence) checked(what sort) bool {
	switch what {
	case sortID:
		return s.options.Checks.IDs
	case sortDate:
		return s.options.Checks.Dates
	case sortNumber:
		return s.options.Checks.Numbers
	case sortName:
		return s.options.Checks.Refs
	}
	return false
}

// agrees reports whether a row is of what a clause mentions: where the clause
// mentions values of a field the row has, its own must be one of them. The same
// words may mention values of several fields; one of these is then enough.
func (s *sentence) agrees(r int32, c *clause) bool {
	if r == given {
		return true
	}
	if r == now { // what a sentence says of a record is not so because it is today
		return !c.marked && len(c.mentions) == 0 || s.saysToday()
	}
	ok := func(at int32) bool {
		for _, m := range s.Evidence.rows[at].has {
			in, values := c, c.mentions[m.field]
			for at := s.place(c) - 1; values == nil && at >= 0; at-- { // what was named before goes on
				in, values = &s.clauses[at], s.clauses[at].mentions[m.field]
			}
			if values != nil && !slices.Contains(values, m.value) && !s.otherwise(at, m.field, in) {
				return false
			}
		}
		return true
	}
	if !ok(r) {
		return false
	}
	if rec := s.Evidence.rows[r].record; rec != nil { // what other calls say of it
		for _, twin := range s.records[strings.ToLower(rec.ID)] {
			if s.Evidence.rows[twin].record.Entity == rec.Entity && !ok(twin) {
				return false
			}
		}
	}
	return !s.context(r, func(at int32) bool { return !ok(at) }) && s.related(r, c)
}

// saysToday reports whether a sentence says that something is of today.
func (s *sentence) saysToday() bool {
	lower := strings.ToLower(s.text)
	return strings.Contains(lower, "heut") || strings.Contains(lower, "today") || strings.Contains(lower, "stand ") || strings.Contains(lower, "as of")
}

// otherwise reports whether the words that mention values of a field mention one
// of another field which the row has.
func (s *sentence) otherwise(r int32, of int32, c *clause) bool {
	for _, m := range c.seen {
		if m.field != of {
			continue
		}
		for _, o := range c.seen {
			if o.field != of && o.at == m.at && slices.ContainsFunc(s.Evidence.rows[r].has, func(h mention) bool {
				return h.field == o.field && slices.Contains(o.values, h.value)
			}) {
				return true
			}
		}
	}
	return false
}

// belongs reports whether a row is one of those a clause's markers name, or is
// around one, or in it.
func (s *sentence) belongs(r int32, c *clause) bool {
	if r == given || r == now || !c.marked {
		return true
	}
	rows := s.Evidence.rows
	if c.goesOn && rows[r].record == nil && rows[r].list < 0 {
		return true // a sum of all of it
	}
	for _, m := range c.rows {
		if r == m || rows[r].record != nil && rows[m].record != nil && rows[r].record.ID == rows[m].record.ID && rows[r].record.Entity == rows[m].record.Entity {
			return true
		}
		for up := rows[r].parent; up >= 0; up = rows[up].parent {
			if up == m || slices.Contains(rows[up].objects, m) {
				return true
			}
		}
		for up := rows[m].parent; up >= 0; up = rows[up].parent {
			if up == r || slices.Contains(rows[up].objects, r) {
				return true
			}
		}
		if rows[m].record != nil && slices.Contains(s.index[tokenKey(rows[m].record.ID)], r) {
			return true // it names the record
		}
	}
	return false
}

// fits reports whether a row is of what a clause is about. It is asked again and
// again, and remembered.
func (s *sentence) fits(r int32, c *clause) bool {
	if s.owned != nil {
		return r == given || r == now && s.saysToday() || s.owned[r]
	}
	if c.known == nil {
		c.known = make([]int8, len(s.Evidence.rows))
	}
	if c.known[r] == 0 {
		c.known[r] = -1
		if s.belongs(r, c) && s.agrees(r, c) {
			c.known[r] = 1
		}
	}
	return c.known[r] > 0
}

// means are the meanings of the words of a part that name something in a result.
func (s *sentence) means(part span) []string {
	if list, ok := s.meant[part]; ok {
		return list
	}
	list := s.meaningsIn(part)
	if s.meant == nil {
		s.meant = map[span][]string{}
	}
	s.meant[part] = list
	return list
}

func (s *sentence) meaningsIn(part span) (list []string) {
	before := ""
	for _, t := range s.scanner.tokens {
		if t.t != 'w' || t.start < part.start || t.end > part.end {
			continue
		}
		w := strings.ToLower(s.blank[t.start:t.end])
		if c := conceptOf(before + w); before != "" && c > 0 && s.called[conceptNames[c]] != nil {
			list = append(list, conceptNames[c]) // checked in
		}
		if m := meaning(w); s.called[m] != nil {
			list = append(list, m)
		}
		before = w
	}
	return list
}

func (s *sentence) hasWordIn(part span, list map[string]bool) bool {
	for i, w := range s.lowers() {
		if t := s.scanner.tokens[i]; list[w] && t.start >= part.start && t.end <= part.end {
			return true
		}
	}
	return false
}

// partOf is the part of a sentence, between commas and such, that holds a claim.
func (s *sentence) partOf(c *claim) span {
	for _, p := range s.parts {
		if c.start >= p.start && c.start < p.end {
			return p
		}
	}
	return span{0, len(s.text)}
}

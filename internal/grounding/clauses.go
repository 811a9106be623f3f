package grounding

import (
	"slices"
	"strings"
)

// cut finds what a sentence mentions, and divides it where it says two things
// of two.
func (s *sentence) cut(blank string) {
	tokens := s.scanner.tokens
	s.whole = clause{end: len(s.text), says: len(s.claims)}
	var parts []clause
	cur := clause{}
	closeAt := func(at, next int) {
		cur.end = at
		parts = append(parts, cur)
		cur = clause{start: next}
	}
	depth := 0
	for i, t := range tokens {
		w := blank[t.start:t.end]
		switch {
		case t.t == 'p' && (w == "(" || w == "["):
			depth++
		case t.t == 'p' && (w == ")" || w == "]"):
			depth--
		case depth > 0:
		case t.t == 'p' && (w == "," || w == ";" || w == ":" || w == "–" || w == "—" || w == "|"):
			if !s.within(t.start) {
				closeAt(t.start, t.end)
			}
		case t.t == 'w' && i > 0:
			switch w {
			case "und", "and", "sowie", "während", "while", "but", "aber":
				if !s.within(t.start) {
					closeAt(t.start, t.end)
				}
			case "jeweils", "respectively", "bzw":
				s.lenient = true
			case "Woche", "Wochen", "week", "weeks", "Monat", "month", "Tage", "Tagen", "days", "bis", "until", "zwischen", "between", "from", "vom", "ab", "since", "seit":
				s.window = true
			}
		}
		if w == "|" {
			s.lenient = true // a row of a table is one thing
		}
	}
	closeAt(len(s.text), len(s.text))
	for _, m := range s.markers { // a marker closes what is before it
		for i := range parts {
			if p := parts[i]; s.owned == nil && m.kind <= opens && m.start > p.start && m.start < p.end && strings.TrimSpace(blank[m.end:p.end]) != "" && p.start < p.end {
				if s.saysBetween(p.start, m.start) && s.saysBetween(m.end, p.end) {
					after := clause{start: m.end, end: p.end}
					parts[i].end = m.end
					parts = slices.Insert(parts, i+1, after)
				}
				break
			}
		}
	}
	seen := s.mentions(blank)
	for i := range parts {
		s.fill(&parts[i], seen)
	}
	s.fill(&s.whole, seen)
	for _, p := range parts {
		s.parts = append(s.parts, span{p.start, p.end})
	}
	s.clauses = s.grouped(parts)
	s.mark()
	s.goesOn()
	for i := range s.clauses { // as they are now
		s.clauses[i].known = nil
	}
}

// within reports whether a place is inside a claim.
func (s *sentence) within(at int) bool {
	for i := range s.claims {
		if c := &s.claims[i]; c.start <= at && at < c.end {
			return true
		}
	}
	return false
}

func (s *sentence) saysBetween(from, to int) bool {
	for i := range s.claims {
		if c := &s.claims[i]; c.start >= from && c.end <= to {
			return true
		}
	}
	return false
}

// fill counts what a clause says and mentions.
func (s *sentence) fill(c *clause, seen []seenAt) {
	c.says, c.mentions = 0, nil
	for i := range s.claims {
		if x := &s.claims[i]; x.start >= c.start && x.start < c.end && x.sort != sortName {
			c.says++
		}
	}
	for _, m := range seen {
		if m.at >= c.start && m.at < c.end {
			if c.mentions == nil {
				c.mentions = map[int32][]int32{}
			}
			c.mentions[m.field] = append(c.mentions[m.field], m.values...)
			c.seen = append(c.seen, m)
		}
	}
}

// grouped joins parts until each says something of something it mentions.
func (s *sentence) grouped(parts []clause) []clause {
	if s.lenient {
		return []clause{s.whole}
	}
	var out []clause
	for i, p := range parts {
		says, mentions := 0, false
		for _, rest := range parts[i:] {
			says += rest.says
			mentions = mentions || len(rest.mentions) > 0
		}
		last := len(out) - 1
		if last == 0 && p.says > 0 && len(p.mentions) > 0 && len(out[0].mentions) == 0 && s.introduces(out[0]) {
			out[0].end, out[0].says, out[0].seen, out[0].mentions = p.end, out[0].says+p.says, p.seen, p.mentions
			continue
		}
		if last < 0 || p.says > 0 && len(p.mentions) > 0 && out[last].says > 0 || out[last].says > 0 && len(out[last].mentions) > 0 && says > 0 && mentions {
			out = append(out, p)
			continue
		}
		out[last].end = p.end
		out[last].says += p.says
		out[last].seen = append(out[last].seen, p.seen...)
		for f, v := range p.mentions {
			if out[last].mentions == nil {
				out[last].mentions = map[int32][]int32{}
			}
			out[last].mentions[f] = append(out[last].mentions[f], v...)
		}
	}
	return out
}

// introduces reports whether a part is a phrase that hangs on what follows: at 8 €
// a dose, the ...
func (s *sentence) introduces(c clause) bool {
	list := strings.Fields(strings.ToLower(s.blank[c.start:c.end]))
	return len(list) > 0 && len(list) < 7 && beforePhrase[list[0]] && !slices.ContainsFunc(list, func(w string) bool { return toBe[w] || w == "ist" || w == "sind" })
}

var beforePhrase = words("at for with mit bei für zu")

// mark gives each clause the rows of its markers: those in it, else those that
// come next, else those before.
func (s *sentence) mark() {
	if s.owned != nil { // all of it is of the records that it marks
		for i := range s.clauses {
			s.clauses[i].marked, s.clauses[i].rows = true, s.marks
		}
		return
	}
	for i := range s.clauses {
		c := &s.clauses[i]
		for _, m := range s.markers {
			if m.start >= c.start && m.start < c.end {
				s.rowsOf(m, c)
			}
		}
	}
	for i := range s.clauses {
		c := &s.clauses[i]
		if c.marked || s.refersToAll() {
			continue
		}
		for j := range s.claims { // a number of a file names its record as well
			x := &s.claims[j]
			if x.sort != sortID || s.clauseOf(x) != c {
				continue
			}
			for _, k := range x.keys {
				for _, r := range s.index[k] {
					if r != given {
						c.marked, c.rows = true, append(c.rows, r)
					}
				}
			}
		}
	}
	for i := 1; i < len(s.clauses); i++ { // the parts of a line that begins with a record
		c, before := &s.clauses[i], &s.clauses[i-1]
		if !c.marked && before.marked && len(before.rows) == 1 && len(c.mentions) > 0 && s.agrees(before.rows[0], c) && s.names(before.rows[0], c) {
			c.marked, c.rows = true, before.rows
		}
	}
	for i := len(s.clauses) - 2; i >= 0; i-- {
		if c, next := &s.clauses[i], &s.clauses[i+1]; !c.marked && next.marked && len(c.mentions) == 0 {
			c.marked, c.rows = true, next.rows
		}
	}
}

// names reports whether a clause mentions a value of a row.
func (s *sentence) names(r int32, c *clause) bool {
	return slices.ContainsFunc(s.Evidence.rows[r].has, func(m mention) bool { return slices.Contains(c.mentions[m.field], m.value) })
}

func (s *sentence) rowsOf(m marker, c *clause) {
	switch m.kind {
	case cites, opens:
		for _, r := range s.records[strings.ToLower(m.value)] {
			if s.Evidence.rows[r].record.Entity == m.entity {
				c.marked, c.rows = true, append(c.rows, r)
			}
		}
	case names:
		if r := s.named(m.entity, m.value); r >= 0 {
			c.marked, c.rows = true, append(c.rows, r)
		}
	}
}

func (s *sentence) clauseOf(c *claim) *clause {
	for i := range s.clauses {
		if x := &s.clauses[i]; c.start >= x.start && c.start < x.end {
			return x
		}
	}
	return &s.whole
}

// place is where a clause stands among those of its sentence.
func (s *sentence) place(c *clause) int {
	for i := range s.clauses {
		if &s.clauses[i] == c {
			return i
		}
	}
	return 0
}

package grounding

import (
	"slices"
	"strings"
)

// doubts are words of what is not so, not yet so, or only may be: of these, what a
// result says is not is no contradiction.
var doubts = words(`nicht not no ohne without noch kein keine keinen keiner keinem keines never nie none nobody niemand nothing nichts yet missing fehlt fehlen
	soll sollte sollten should must muss müssen need needs will wird werden would würde could könnte kann can may might if wenn ob whether when until bis before bevor
	half hälfte third quarter drittel viertel part partly teil teilweise teils percent prozent zwar first erst neither nor weder unknown unbekannt empty leer only nur`)

// denied finds what a sentence says of one thing that a result says the thing is
// not, or has not: a member of it that is false or null.
func (s *sentence) denied(say func(string)) {
	if strings.HasSuffix(strings.TrimSpace(s.text), "?") {
		return
	}
	for i := range s.clauses {
		c := &s.clauses[i]
		things := s.thingsOf(c)
		if len(things) == 0 {
			continue
		}
		for _, t := range s.scanner.tokens {
			if t.t != 'w' || t.start < c.start || t.end > c.end || t.end-t.start < 4 || s.isNamed(t, c) {
				continue
			}
			w := strings.ToLower(s.blank[t.start:t.end])
			if before := s.wordBefore(t.start); before != "with" && before != "mit" && s.lacked(things, w) && !s.hasWordIn(s.partOf(&claim{start: t.start}), doubts) {
				say(s.text[t.start:t.end])
			}
		}
	}
}

// isNamed reports whether a word is part of what a clause mentions.
func (s *sentence) isNamed(t token, c *clause) bool {
	return slices.ContainsFunc(c.seen, func(m seenAt) bool { return m.at <= t.start && t.end <= m.end })
}

// thingsOf are the records a clause is about; nil: it is about none, or many.
func (s *sentence) thingsOf(c *clause) (list []int32) {
	rows := c.rows
	if !c.marked {
		for f, values := range c.mentions {
			if len(values) == 1 {
				rows = append(rows, s.allWith(s.Evidence.values[f].texts[values[0]])...)
			}
		}
	}
	for _, r := range rows {
		if r > now && s.fits(r, c) {
			if r = s.wholeOf(r); s.Evidence.rows[r].list >= 0 {
				add(&list, r)
			}
		}
	}
	if len(list) > 4 {
		return nil
	}
	return list
}

// allWith are the rows that have a text as one of their values.
func (e *Evidence) allWith(text string) (rows []int32) {
	folded := fold(text)
	for f := range e.values {
		if v, ok := e.values[f].folded[folded]; ok {
			rows = append(rows, e.has[mention{int32(f), v}]...)
		}
	}
	return rows
}

// saysAll reports whether a sentence says all that a name of several words does:
// staff is not staff_name.
func (s *sentence) saysAll(name string) bool {
	list := strings.Split(name, "_")
	if len(list) < 2 {
		return true
	}
	lower, meanings := strings.ToLower(s.blank), s.means(span{0, len(s.blank)})
	return !slices.ContainsFunc(list, func(w string) bool {
		return len(w) > 2 && !strings.Contains(lower, w) && !slices.Contains(meanings, meaning(w))
	})
}

// lacked reports whether one of things has a member that a word may name which is
// false or null there, and none has it otherwise.
func (s *sentence) lacked(things []int32, w string) (lacks bool) {
	m := meaning(w)
	names := func(name string) bool {
		return s.saysAll(name) && slices.ContainsFunc(s.Evidence.means(name), func(of string) bool {
			return of == m || len(of) > 3 && of[0] != '=' && strings.HasPrefix(w, of)
		})
	}
	for _, r := range things {
		for _, at := range append([]int32{r}, s.Evidence.rows[r].objects...) {
			row := &s.Evidence.rows[at]
			if slices.ContainsFunc(row.members, names) {
				return false
			}
			lacks = lacks || slices.ContainsFunc(row.lacking, names)
		}
	}
	return lacks
}

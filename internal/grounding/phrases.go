package grounding

import (
	"slices"
	"strings"
)

// phrase is a value that a record is told by and which has small words, so that
// it is mentioned by all of them in a row only.
type phrase struct {
	mention
	words []string
}

// line notes a value that its record is told by.
func (e *Evidence) line(r int32, m mention, text, folded string) {
	rec := e.rows[r].record
	if rec == nil || text != rec.Line && text != rec.Title {
		return
	}
	e.holders[m] = append(e.holders[m], r)
	if e.lines[m] {
		return
	}
	e.lines[m] = true
	list := strings.Fields(folded)
	switch {
	case len(list) > 1:
		e.phrases[list[0]] = append(e.phrases[list[0]], phrase{m, list})
	case len(list) == 1 && len(list[0]) >= 4:
		e.lower[list[0]] = append(e.lower[list[0]], m)
	}
}

// pairs notes which word follows which in a name.
func (e *Evidence) pairs(f int32, text string, tokens []token) {
	if len(tokens) > 2 {
		if a := nameWord(text, tokens[0]); a != "" {
			e.firsts[a] = append(e.firsts[a], f)
		}
	}
	for i := 0; i+2 < len(tokens); i++ {
		if sep := text[tokens[i+1].start:tokens[i+1].end]; tokens[i+1].t != 's' && sep != "-" {
			continue
		}
		if a, b := nameWord(text, tokens[i]), surname(text, tokens[i+2]); a != "" && b != "" && !slices.Contains(e.follow[a], b) {
			e.follow[a] = append(e.follow[a], b)
			if weekdayWords[b] > 0 {
				e.scanner.surnames[a+" "+b] = true
			}
			if i+3 >= len(tokens) {
				e.lasts[b] = append(e.lasts[b], f)
			}
		}
	}
}

// surname is the second word of a name; it may be one that else is a day's.
func surname(text string, t token) string {
	if w := nameWord(text, t); w != "" || t.t != 'w' || small(text[t.start:t.end]) {
		return w
	}
	if w := fold(text[t.start:t.end]); weekdayWords[w] > 0 || len(w) > 3 && monthWords[w] > 0 {
		return w
	}
	return ""
}

// figureName notes the name of a figure, and the numbers in it: uptime_30d.
func (e *Evidence) figureName(name string) {
	e.put(given, tokenKey(name))
	for _, part := range strings.Split(name, "_") { // yesterday, april
		if m := monthWords[part]; m > 0 && len(part) > 3 {
			e.put(given, key{form: aMonthOf, n: int64(m)})
		}
		if n := relativeDays[part]; n != 0 {
			e.hold(given, key{form: aDay, n: int64(e.today) + int64(n)})
		}
	}
	if !strings.ContainsAny(name, "0123456789") {
		return
	}
	for _, part := range strings.Split(name, "_") {
		e.put(given, tokenKey(part))
		digits := strings.Trim(part, "abcdefghijklmnopqrstuvwxyz")
		if v, ok := atoi(digits); ok {
			e.put(given, number(float64(v)))
		}
	}
}

// phrased finds the values of several words that begin at a token.
func (s *sentence) phrased(blank string, i int) (out []seenAt) {
	tokens := s.scanner.tokens
	for _, p := range s.phrases[fold(blank[tokens[i].start:tokens[i].end])] {
		j, end := i, 0
		for n, w := range p.words {
			for n > 0 && j < len(tokens) && (tokens[j].t == 's' || tokens[j].t == 'p') {
				j++
			}
			if j >= len(tokens) || fold(blank[tokens[j].start:tokens[j].end]) != w {
				end = 0
				break
			}
			end = tokens[j].end
			j++
		}
		if end > 0 {
			out = append(out, seenAt{tokens[i].start, end, s.Evidence.values[p.field].words[p.value], p.field, []int32{p.value}})
		}
	}
	return out
}

// plainName is a word without a capital which is all that a record is named by: a
// service called search, or the thermostat. Empty: it is none.
func (s *sentence) plainName(blank string, t token) string {
	if w := fold(blank[t.start:t.end]); len(s.lower[w]) > 0 && !begins[w] {
		return w
	}
	return ""
}

// related reports whether a record of one entity may support what is said of a
// record of another: it is around it, in it, names it or is named by it, or is
// mentioned as well.
func (s *sentence) related(r int32, c *clause) bool {
	rec, entity := s.Evidence.rows[r].record, ""
	if rec != nil {
		entity = rec.Entity
	}
	if rec == nil && s.Evidence.rows[r].list < 0 || r <= now || c.marked {
		return true
	}
	named := false
	for f, values := range c.mentions {
		for _, v := range values {
			m := mention{f, v}
			if !s.lines[m] {
				continue
			}
			for _, h := range s.holders[m] {
				if s.Evidence.rows[h].record.Entity == entity || s.context(h, func(at int32) bool { return at == r }) {
					return true
				}
			}
			named = true
		}
	}
	if !named {
		return true
	}
	mentions := func(at int32) bool {
		return slices.ContainsFunc(s.Evidence.rows[at].has, func(m mention) bool { return s.mentionsText(m) })
	}
	return mentions(r) || s.context(r, mentions)
}

// mentionsText reports whether a sentence mentions a value, or one of the same
// words in another field.
func (s *sentence) mentionsText(m mention) bool {
	if slices.Contains(s.whole.mentions[m.field], m.value) {
		return true
	}
	text := s.Evidence.values[m.field].texts[m.value]
	for f, values := range s.whole.mentions {
		if slices.ContainsFunc(values, func(v int32) bool { return s.Evidence.values[f].texts[v] == text }) {
			return true
		}
	}
	return false
}

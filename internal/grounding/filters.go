package grounding

import (
	"slices"
	"strings"
)

// filter is what a sentence says of some rows of a list; what it says may mean
// several things.
type filter struct {
	named bool // the sentence mentions a value
	any   []func(int32) bool
}

// place is words of a sentence that mention values, of whichever fields.
type place struct {
	at, end int
	by      map[int32][]int32
	spans   []span
}

// places are what a part of a sentence mentions, one after another.
func (s *sentence) places(part span) (list []place) {
	for i := range s.whole.seen {
		m := &s.whole.seen[i]
		if m.at < part.start || m.at >= part.end || slices.ContainsFunc(s.claims, func(c claim) bool { return c.sort == sortNumber && c.start == m.at && m.words == 1 }) {
			continue
		}
		at := slices.IndexFunc(list, func(p place) bool { return m.at < p.end && p.at < m.end })
		if at < 0 {
			at = len(list)
			list = append(list, place{m.at, m.end, map[int32][]int32{}, nil})
		}
		p := &list[at]
		p.at, p.end = min(p.at, m.at), max(p.end, m.end)
		p.spans = append(p.spans, span{m.at, m.end})
		p.by[m.field] = append(p.by[m.field], m.values...)
	}
	return list
}

// filters are what a part of a sentence says of the rows of a list: values that it
// mentions, and what its words mean. What all rows are says nothing, and what none is,
// is said of something else.
func (s *sentence) filters(part span, l *list, counted []string) ([]filter, bool) {
	at := filterKey{part, l, strings.Join(counted, " ")}
	if known, ok := s.filtered[at]; ok {
		return known.list, known.unlike
	}
	list, unlike := s.findFilters(part, l, counted)
	if s.filtered == nil {
		s.filtered = map[filterKey]filtering{}
	}
	s.filtered[at] = filtering{list, unlike}
	return list, unlike
}

// filterKey is of what filters were found already.
type filterKey struct {
	part    span
	list    *list
	counted string
}

type filtering struct {
	list   []filter
	unlike bool
}

// textRows are the rows that have a text, or one that begins with the word.
func (e *Evidence) textRows(text string) []int32 {
	if e.byText == nil {
		e.byText = map[string][]int32{}
		note := func(t string, r int32) {
			if rows := e.byText[t]; len(rows) == 0 || rows[len(rows)-1] != r {
				e.byText[t] = append(rows, r)
			}
		}
		for r := range e.rows {
			for _, t := range e.rows[r].folded {
				note(t, int32(r))
				if first, _, more := strings.Cut(t, " "); more && len(first) > 4 {
					note(first, int32(r))
				}
			}
		}
	}
	return e.byText[text]
}

func (s *sentence) findFilters(part span, l *list, counted []string) (list []filter, unlike bool) {
	some := func(is func(int32) bool) bool {
		n := 0
		for _, r := range l.rows {
			if is(r) {
				n++
			}
		}
		return n > 0 && n < len(l.rows)
	}
	var used []place
	for _, p := range s.places(part) {
		// Of one field, several are all of those: Berghoff, Novak and Pfau.
		at := slices.IndexFunc(used, func(u place) bool {
			for f := range p.by {
				if u.by[f] != nil {
					return true
				}
			}
			return false
		})
		if at >= 0 {
			for f, v := range p.by {
				used[at].by[f] = append(used[at].by[f], v...)
			}
			used[at].spans = append(used[at].spans, p.spans...)
			continue
		}
		used = append(used, p)
	}
	var by []place // that tell some of the rows from others
	for _, p := range used {
		is := func(r int32) bool {
			return s.hasOf(r, func(m mention) bool { return slices.Contains(p.by[m.field], m.value) })
		}
		if some(is) {
			list = append(list, filter{true, []func(int32) bool{is}})
			by = append(by, p)
		}
	}
	exact := map[string]bool{}
	for i, t := range s.scanner.tokens {
		if t.t != 'w' || t.start < part.start || t.end > part.end || slices.ContainsFunc(by, func(p place) bool {
			return slices.ContainsFunc(p.spans, func(m span) bool { return m.start <= t.start && t.end <= m.end })
		}) {
			continue
		}
		w := s.scanner.lower(i)
		two := w + " " + s.scanner.lower(i+2)
		for _, text := range []string{two, w} {
			rows := s.textRows(text)
			is := func(r int32) bool { _, ok := slices.BinarySearch(rows, r); return ok }
			if len(text) > 2 && rows != nil && !exact[text] && !counters[text] && some(is) {
				exact[text] = true
				exact[meaning(w)] = true
				if text == two {
					exact[meaning(s.scanner.lower(i+2))] = true
				}
				list = append(list, filter{false, []func(int32) bool{is}})
				break
			}
		}
	}
	for _, m := range s.means(part) {
		of := s.called[m]
		if exact[m] || timeMeanings[m] || slices.ContainsFunc(of.lists, func(n int32) bool { return s.lists[n].name == l.name }) || slices.ContainsFunc(of.values, func(v mention) bool {
			return slices.ContainsFunc(used, func(p place) bool { return slices.Contains(p.by[v.field], v.value) })
		}) {
			continue
		}
		var any []func(int32) bool
		as := func(r int32) bool { return valued(&s.Evidence.rows[r], of) }
		if some(as) {
			any = append(any, as)
			for _, v := range of.values {
				one := func(r int32) bool { return slices.Contains(s.Evidence.rows[r].has, v) }
				if some(one) {
					any = append(any, one)
				}
			}
		} else if as = func(r int32) bool { return having(&s.Evidence.rows[r], of) }; some(as) {
			any = append(any, as)
		}
		if any != nil {
			list = append(list, filter{false, any})
		}
	}
	return list, s.hasWordIn(part, negations) || s.saysUn(part) || strings.Contains(s.blank[part.start:part.end], "n't") || strings.Contains(s.blank[part.start:part.end], "n’t")
}

// timeMeanings are of words for a time, which say nothing of what is so called.
var timeMeanings = words("=day =week =month =year =hour =minute")

// hasOf reports whether a row, or an object in it, has a value.
func (e *Evidence) hasOf(r int32, is func(mention) bool) bool {
	return slices.ContainsFunc(e.rows[r].has, is) || slices.ContainsFunc(e.rows[r].objects, func(o int32) bool { return slices.ContainsFunc(e.rows[o].has, is) })
}

// saying is a filter of the rows of a list that give a figure which the part says beside
// a number: with contracts of 38.5 hours.
func (s *sentence) saying(c *claim, l *list, part span) (list []filter) {
	for i := range s.claims {
		x := &s.claims[i]
		if x == c || x.sort != sortNumber || x.start < part.start || x.start >= part.end || x.unit == noUnit && x.value <= mostSmall || x.unit != noUnit && x.unit != hours && x.unit != percent || len(x.keys) == 0 || x.value >= 1990 && x.value < 2100 {
			continue
		}
		rows := s.index[key{form: aFigure, n: number(x.value).n}]
		n := 0
		for _, r := range l.rows {
			if slices.Contains(rows, r) {
				n++
			}
		}
		if n > 0 && n < len(l.rows) {
			list = append(list, filter{false, []func(int32) bool{func(r int32) bool { return slices.Contains(rows, r) }}})
		}
	}
	return list
}

// saysUn reports whether a word of a part turns round what another means: unsigned.
func (s *sentence) saysUn(part span) bool {
	for i, t := range s.scanner.tokens {
		if w := s.scanner.lower(i); t.start >= part.start && t.end <= part.end && len(w) > 5 && strings.HasPrefix(w, "un") && s.called[meaning(w[2:])] != nil {
			return true
		}
	}
	return false
}

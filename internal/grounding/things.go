package grounding

import (
	"slices"
	"strings"
)

// called is what words with one meaning name in results.
type called struct {
	lists   []int32   // lists of such things: tasks
	values  []mention // values that say it: done
	members []string  // members named so, which a row has or has not: signed
	figures []string  // numbers named so: seats
}

// calls notes what a name or a value of a result means.
func (e *Evidence) calls(name string, note func(*called)) {
	for _, m := range e.means(name) {
		c := e.called[m]
		if c == nil {
			c = &called{}
			e.called[m] = c
		}
		note(c)
	}
}

func add[T comparable](list *[]T, v T) {
	if !slices.Contains(*list, v) {
		*list = append(*list, v)
	}
}

// things are the meanings of the words after a number that name something in a
// result: what it counts.
func (s *sentence) things(c *claim) (of []string) {
	tokens, words := s.scanner.tokens, 0
	i, _ := slices.BinarySearchFunc(tokens, c.end, func(t token, at int) int { return t.start - at })
	for ; i < len(tokens) && words < 4; i++ {
		switch t := tokens[i]; t.t {
		case 's':
			if strings.Contains(s.blank[t.start:t.end], "\n") {
				return of
			}
		case 'p':
			if p := s.blank[t.start:t.end]; p != "-" && p != "*" && p != "_" {
				return of
			}
		case 'w', 'a', 'n':
			w := strings.ToLower(s.blank[t.start:t.end])
			if joins[w] {
				return of
			}
			words++
			if m := meaning(w); (s.called[m] != nil || m == "=debit") && !begins[w] {
				of = append(of, m)
			}
		}
	}
	return of
}

// joins are words where what a number counts is over.
var joins = words("und and oder or aber but sowie während while bis until für for in im on at mit with")

// many reports whether there is such a number of things.
func (s *sentence) many(c *claim, in *clause, of []string) bool {
	want := int(c.value)
	if slices.Contains(s.index[number(c.value)], int32(given)) {
		return true
	}
	for _, m := range of {
		named := s.called[m]
		if named == nil {
			continue
		}
		for _, l := range named.lists {
			if s.sizes(c, &s.lists[l], in)[want] {
				return true
			}
		}
		if s.figured(c, in, m) || s.said(c, in, m) {
			return true
		}
		for i := range s.lists {
			l := &s.lists[i]
			if s.among(c, l, in, named)[want] {
				return true
			}
		}
	}
	if slices.Contains(of, "=debit") {
		for i := range s.lists {
			debits := map[int]bool{}
			s.debits(s.lists[i].rows, debits)
			if debits[want] {
				return true
			}
		}
	}
	return s.outOf(c) && slices.ContainsFunc(s.index[key{form: aFigure, n: number(c.value).n}], func(r int32) bool { return s.fits(r, in) })
}

// namedSo reports whether a row that is in no list gives the number under a name
// that the part says: seven fewer in the backlog.
func (s *sentence) namedSo(c *claim, in *clause) bool {
	meanings := s.means(s.partOf(c))
	for _, n := range []float64{c.value, -c.value} {
		for _, r := range s.index[key{form: aFigure, n: number(n).n}] {
			row := &s.Evidence.rows[r]
			if row.list >= 0 || !s.fits(r, in) {
				continue
			}
			for _, f := range row.figures {
				if f.value == n && slices.ContainsFunc(s.Evidence.means(f.name), func(m string) bool { return m != "=total" && slices.Contains(meanings, m) }) {
					return true
				}
			}
		}
	}
	return false
}

// figuredOf reports whether a result gives a number of the records it counts under
// their name.
func (s *sentence) figuredOf(c *claim, in *clause) bool {
	return slices.ContainsFunc(s.things(c), func(m string) bool { return s.figured(c, in, m) })
}

// listed tells a number of things that are named right after it, behind a colon:
// 1 where there are so many, -1 where there are not, 0 where none are.
func (s *sentence) listed(c *claim) int {
	if c.unit != noUnit || c.value > 12 || s.outOf(c) && s.numbersOf(noUnit, c) > 0 || c.value != float64(int(c.value)) {
		return 0
	}
	at := strings.Index(s.blank[c.end:], ": ")
	if at < 0 || strings.ContainsAny(s.blank[c.end:c.end+at], ".;:0123456789(") {
		return 0
	}
	from := c.end + at + 2
	text := strings.TrimRight(s.blank[from:], " .!\n")
	if strings.ContainsAny(text, ".;:(") {
		return 0
	}
	n := 0
	for _, part := range strings.Split(strings.NewReplacer(", and ", ",", ", und ", ",", " and ", ",", " und ", ",", " sowie ", ",").Replace(text), ",") {
		if part = strings.TrimSpace(part); part == "" || len(strings.Fields(part)) > 4 {
			return 0
		}
		n++
	}
	for i := range s.whole.seen {
		if s.whole.seen[i].at < from {
			continue
		}
		if n == int(c.value) {
			return 1
		}
		return -1
	}
	return 0
}

// among are how many rows of a list, which is not called so, are as a number says
// or have what it counts: two containers are at sea.
func (s *sentence) among(c *claim, l *list, in *clause, of *called) map[int]bool {
	if !slices.ContainsFunc(l.rows, func(r int32) bool { return valued(&s.Evidence.rows[r], of) || having(&s.Evidence.rows[r], of) }) {
		return nil
	}
	things, out := s.things(c), map[int]bool{}
	other := func(m string) bool { return !slices.Contains(things, m) }
	from, to, timed := s.time(s.partOf(c))
	if s.outOf(c) {
		free := *in
		free.known = nil
		free.mentions = nil
		in = &free
	}
	var fit []int32
	for _, r := range l.rows {
		if s.fits(r, in) && (timed == "" || len(s.Evidence.rows[r].days) == 0 || slices.ContainsFunc(s.Evidence.rows[r].days, func(d day) bool { return d >= from && d <= to })) {
			fit = append(fit, r)
		}
	}
	if !s.countedByWords(s.partOf(c), l, fit, out, other) || s.outOf(c) {
		s.countedByWords(s.partOf(c), l, fit, out, func(m string) bool { return !other(m) })
		if timed != "" || len(out) == 0 && !slices.ContainsFunc(fit, func(r int32) bool { return !valued(&s.Evidence.rows[r], of) }) {
			out[len(fit)] = true
		}
	}
	return out
}

// figured reports whether a row gives such a number of things of a meaning: by its
// name, by that of the object it is in, or by what the row says it is of; or all
// rows of a list give it together.
func (s *sentence) figured(c *claim, in *clause, m string) bool {
	of := s.called[m]
	if of == nil {
		return false
	}
	for r := range s.Evidence.rows {
		row := &s.Evidence.rows[r]
		for _, f := range row.figures {
			if f.value != c.value || !s.fits(int32(r), in) {
				continue
			}
			if slices.Contains(of.figures, f.name) || row.list < 0 && slices.Contains(s.Evidence.means(last(row.path)), m) || slices.Contains(row.members, "unit") && valued(row, of) {
				return true
			}
		}
	}
	for i := range s.lists {
		sum := map[string]float64{}
		for _, r := range s.lists[i].rows {
			for _, f := range s.Evidence.rows[r].figures {
				if slices.Contains(of.figures, f.name) && s.fits(r, in) {
					sum[f.name] += f.value
				}
			}
		}
		for _, v := range sum {
			if v == c.value {
				return true
			}
		}
	}
	return false
}

// last is the last part of a path.
func last(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// said reports whether a text of a row that the clause is about says the number of
// such things.
func (s *sentence) said(c *claim, in *clause, of string) bool {
	for _, form := range []form{aNumber, aLabel} {
		for _, r := range s.index[key{form: form, n: number(c.value).n}] {
			if r > now && s.fits(r, in) && (s.Evidence.rows[r].long || form == aLabel && c.label || slices.ContainsFunc(s.Evidence.rows[r].names, func(text string) bool {
				return slices.Contains(s.Evidence.means(text), of) && strings.ContainsAny(text, "0123456789")
			})) {
				return true
			}
		}
	}
	return false
}

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
			if joins[w] && words > 0 {
				return of
			}
			words++
			if m := meaning(w); s.called[m] != nil && !begins[w] {
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
		for _, l := range named.lists {
			if s.sizes(c, &s.lists[l], in)[want] {
				return true
			}
		}
		if s.figured(c, in, named) || s.said(c, in, m) {
			return true
		}
		for i := range s.lists {
			if s.sizes(c, &s.lists[i], in)[want] && s.holds(&s.lists[i], named) {
				return true
			}
		}
	}
	return false
}

// figured reports whether a row gives such a number under one of these names, or
// all rows of a list give it together.
func (s *sentence) figured(c *claim, in *clause, of *called) bool {
	for r := range s.Evidence.rows {
		row := &s.Evidence.rows[r]
		for _, f := range row.figures {
			if f.value == c.value && slices.Contains(of.figures, f.name) && s.fits(int32(r), in) {
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

// holds reports whether rows of a list have such values or members.
func (s *sentence) holds(l *list, of *called) bool {
	return slices.ContainsFunc(l.rows, func(r int32) bool { return valued(&s.Evidence.rows[r], of) || having(&s.Evidence.rows[r], of) })
}

// valued and having report whether a row has one of such values, or members.
func valued(r *row, of *called) bool {
	return slices.ContainsFunc(r.has, func(m mention) bool { return slices.Contains(of.values, m) })
}

func having(r *row, of *called) bool {
	return slices.ContainsFunc(r.members, func(name string) bool { return slices.Contains(of.members, name) })
}

// negations turn round what a sentence says of some: two have not signed.
var negations = words("nicht not no ohne without noch kein keine keinen never nie un unsigned unpaid")

// totals are words that say a number is of all.
var totals = words("insgesamt total gesamt overall altogether zusammen all alle allen aller")

// outOf reports whether a number is what others are a part of: of the three tasks.
func (s *sentence) outOf(c *claim) bool {
	before := strings.Fields(strings.ToLower(s.blank[max(0, c.start-16):c.start]))
	n := len(before)
	return n > 0 && (before[n-1] == "of" || before[n-1] == "von" || before[n-1] == "all" || before[n-1] == "alle" || before[n-1] == "der" || before[n-1] == "den") ||
		n > 1 && before[n-2] == "of" && (before[n-1] == "the" || before[n-1] == "your" || before[n-1] == "our")
}

// sizes are how many rows of a list there are of what a sentence says: those it
// names, of the time it names, and of these the ones that are as one of its words
// says, or are not. Where no word of it says anything of some, they are the
// groups of any field.
func (s *sentence) sizes(c *claim, l *list, in *clause) map[int]bool {
	part := s.partOf(c)
	from, to, timed := s.time(part)
	whole := s.outOf(c) || s.hasWordIn(part, totals)
	if whole && !slices.ContainsFunc(in.seen, func(m seenAt) bool { return m.at >= part.start && m.at < part.end }) {
		free := *in // it is not of what was named before
		free.mentions = nil
		in = &free
	}
	var all, fit []int32
	for _, r := range l.rows {
		if !s.fits(r, in) {
			continue
		}
		all = append(all, r)
		if timed == "" || slices.ContainsFunc(s.Evidence.rows[r].days, func(d day) bool { return d >= from && d <= to }) {
			fit = append(fit, r)
		}
	}
	out, things := map[int]bool{}, s.things(c)
	told := s.told(part, l, fit, out, func(m string) bool { return !slices.Contains(things, m) }) ||
		s.told(part, l, fit, out, func(m string) bool { return slices.Contains(things, m) })
	if whole {
		out[len(all)] = true
	}
	if !told || whole {
		out[len(fit)] = true
		if timed == "" && len(in.mentions) == 0 {
			out[len(l.rows)] = true
		}
	}
	if !told && timed == "" {
		s.groups(fit, out)
	}
	return out
}

// told adds how many rows are as words of a part say, or are not, one by one and
// all together. false: no word says anything of some of them.
func (s *sentence) told(part span, l *list, fit []int32, out map[int]bool, which func(string) bool) (told bool) {
	both, not := fit, s.hasWordIn(part, negations)
	for _, m := range s.means(part) {
		of := s.called[m]
		if !which(m) || slices.ContainsFunc(of.lists, func(n int32) bool { return s.lists[n].name == l.name }) {
			continue // it is what all of them are
		}
		for _, is := range []func(*row, *called) bool{valued, having} {
			as := slices.DeleteFunc(slices.Clone(fit), func(r int32) bool { return !is(&s.Evidence.rows[r], of) })
			if len(as) == 0 || len(as) == len(fit) {
				continue
			}
			told = true
			out[len(as)] = true
			if not {
				out[len(fit)-len(as)] = true
			}
			if inBoth := slices.DeleteFunc(slices.Clone(both), func(r int32) bool { return !slices.Contains(as, r) }); len(inBoth) > 0 {
				both = inBoth
				out[len(both)] = true
			}
		}
	}
	return told
}

// means are the meanings of the words of a part that name something in a result.
func (s *sentence) means(part span) (list []string) {
	for _, t := range s.scanner.tokens {
		if t.t == 'w' && t.end-t.start > 2 && t.start >= part.start && t.end <= part.end {
			if m := meaning(strings.ToLower(s.blank[t.start:t.end])); s.called[m] != nil {
				list = append(list, m)
			}
		}
	}
	return list
}

func (s *sentence) hasWordIn(part span, list map[string]bool) bool {
	for i, t := range s.scanner.tokens {
		if t.start >= part.start && t.end <= part.end && list[s.scanner.lower(i)] {
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

// groups adds how many rows have one value of a field with few, and how many have
// a member or have it not.
func (s *sentence) groups(rows []int32, out map[int]bool) {
	values, present := map[mention]int{}, map[string]int{}
	for _, r := range rows {
		for _, name := range s.Evidence.rows[r].members {
			present[name]++
		}
		for _, m := range s.Evidence.rows[r].has {
			if len(s.Evidence.values[m.field].texts) <= mostGroups {
				values[m]++
			}
		}
	}
	for _, n := range values {
		if n > 1 {
			out[n] = true
		}
	}
	for _, n := range present {
		if n < len(rows) {
			out[n], out[len(rows)-n] = true, true
		}
	}
}

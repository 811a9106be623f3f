package grounding

import (
	"slices"
	"strings"
)

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
		free.known = nil
		free.mentions = nil
		in = &free
	}
	var all, fit []int32
	for _, r := range l.rows {
		if !s.fits(r, in) {
			continue
		}
		all = append(all, r)
		if timed == "" || len(s.Evidence.rows[r].days) == 0 || slices.ContainsFunc(s.Evidence.rows[r].days, func(d day) bool { return d >= from && d <= to }) {
			fit = append(fit, r)
		}
	}
	out, things := map[int]bool{}, s.things(c)
	told := s.countedByWords(part, l, fit, out, func(m string) bool { return !slices.Contains(things, m) }) ||
		s.countedByWords(part, l, fit, out, func(m string) bool { return slices.Contains(things, m) })
	if whole {
		out[len(all)] = true
		s.countedByWords(part, l, all, out, func(m string) bool { return slices.Contains(things, m) })
	}
	if s.hasWordIn(part, below) {
		s.compared(fit, out)
	}
	if !told || whole {
		out[len(fit)] = true
		if timed == "" && len(in.mentions) == 0 {
			out[len(l.rows)] = true
		}
	}
	if !told && !s.strange(c) {
		s.groups(fit, out)
	}
	return out
}

// below are words that set one figure of a row against another.
var below = words("below under unter unterhalb less weniger above over über oberhalb more mehr exceed exceeds short knapp")

// compared adds how many rows have one figure below another.
func (s *sentence) compared(rows []int32, out map[int]bool) {
	type pair struct{ a, b string }
	n := map[pair]int{}
	for _, r := range rows {
		list := s.Evidence.rows[r].figures
		for _, a := range list {
			for _, b := range list {
				if a.value < b.value && ofOneKind(a, b) {
					n[pair{a.name, b.name}]++
				}
			}
		}
	}
	for _, k := range n {
		out[k] = true
	}
}

// countedByWords adds how many rows are as words of a part say, or are not, one by one and
// all together. false: no word says anything of some of them.
func (s *sentence) countedByWords(part span, l *list, fit []int32, out map[int]bool, which func(string) bool) (told bool) {
	both, not := fit, s.hasWordIn(part, negations) || strings.Contains(strings.ToLower(s.blank[part.start:part.end]), " un")
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

// debits adds how many rows give a sum of money below zero.
func (s *sentence) debits(rows []int32, out map[int]bool) {
	n := 0
	for _, r := range rows {
		if slices.ContainsFunc(s.Evidence.rows[r].figures, func(f figure) bool { return f.value < 0 && f.of.kind == "money" }) {
			n++
		}
	}
	if n > 0 {
		out[n] = true
	}
}

// strange reports whether a number is of something that no result names: no list
// of a result is of these.
func (s *sentence) strange(c *claim) bool {
	n := c.nouns[0]
	if n.end == 0 || len(s.things(c)) > 0 || s.counted(c) {
		return false
	}
	w := strings.ToLower(s.text[n.start:n.end])
	return conceptOf(w) > 0
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
	s.debits(rows, out)
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

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

// figuredOf reports whether a result gives a number of the records it counts under
// their name.
func (s *sentence) figuredOf(c *claim, in *clause) bool {
	return slices.ContainsFunc(s.things(c), func(m string) bool { return s.figured(c, in, m) })
}

// listed tells a number of things that are named right after it, behind a colon:
// 1 where there are so many, -1 where there are not, 0 where none are.
func (s *sentence) listed(c *claim) int {
	if c.unit != noUnit || c.value > 12 || c.value != float64(int(c.value)) {
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
		free.mentions = nil
		in = &free
	}
	var fit []int32
	for _, r := range l.rows {
		if s.fits(r, in) && (timed == "" || slices.ContainsFunc(s.Evidence.rows[r].days, func(d day) bool { return d >= from && d <= to })) {
			fit = append(fit, r)
		}
	}
	if !s.told(s.partOf(c), l, fit, out, other) || s.outOf(c) {
		s.told(s.partOf(c), l, fit, out, func(m string) bool { return !other(m) })
		if timed != "" {
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
		s.told(part, l, all, out, func(m string) bool { return slices.Contains(things, m) })
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
	if !told {
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

// told adds how many rows are as words of a part say, or are not, one by one and
// all together. false: no word says anything of some of them.
func (s *sentence) told(part span, l *list, fit []int32, out map[int]bool, which func(string) bool) (told bool) {
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

// means are the meanings of the words of a part that name something in a result.
func (s *sentence) means(part span) (list []string) {
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

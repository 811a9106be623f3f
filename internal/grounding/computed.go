package grounding

import (
	"math"
	"slices"
	"strings"
)

// computed reports whether a number follows from those that results hold, by one
// of a few computations: in another measure; the difference between two of a row,
// or of one between two rows; a sum over rows that have something in common; a sum,
// a difference or a product of numbers that the sentence says. A small number
// would nearly always follow from something, and must be said to.
func (s *sentence) computed(c *claim, in *clause) bool {
	m := s.measuredBy(c)
	if s.numbers(c) || c.unit == weeks || c.unit == months || c.unit == years {
		return false
	}
	precise := c.value != math.Trunc(c.value) || c.value >= 1000
	own := s.owned != nil && c.value > mostSmall
	sets := own || s.hasWord(comparing) || s.hasWord(remaining) || s.hasWord(unsettled) || s.hasWord(negations) || s.hasWord(fallsShort)
	// What is left of something need not be said, unless two numbers are that it is of.
	left := (s.hasWord(remaining) || s.hasWord(fallsShort) || s.hasWord(unsettled) || s.hasWord(negations) && c.value > mostSmall) && s.numbersOf(noUnit, c) < 2
	adds := precise || c.value >= 100 || s.hasWord(adding)
	is := func(v float64, of measure) bool { return s.amounts(c, m, math.Abs(v), of) }
	if s.ofSaid(c, in, is) {
		return true
	}
	saying, meanings := s.sayingRows(c), s.means(span{0, len(s.text)})
	rate := (s.hasWord(averages) || s.hasWord(per)) && m.kind != "time" && (m.kind != "" || s.hasWord(averages) || c.value > mostSmall || c.value != math.Trunc(c.value))
	for r := range s.Evidence.rows {
		row := &s.Evidence.rows[r]
		if r <= now || len(row.figures) == 0 || !s.fits(int32(r), in) {
			continue
		}
		list := row.figures
		for _, inner := range row.objects {
			if s.fits(inner, in) {
				list = append(slices.Clip(list), s.Evidence.rows[inner].figures...)
			}
		}
		for i, a := range list {
			if m.kind != "" && is(a.value, a.of) {
				return true
			}
			for _, b := range list[i+1:] {
				if rate && a.value > 0 && b.value > 0 && (s.says(a, meanings) || s.says(b, meanings)) && (s.closeTo(c, a.value/b.value) || s.closeTo(c, b.value/a.value)) {
					return true
				}
				if sets && (precise || own || left && (slices.Contains(saying, int32(r)) || slices.Contains(s.topic.rows, int32(r))) || left && (row.list < 0 && c.value > mostSmall || s.mentioned(int32(r), in)) || s.saysNumber(c, a.value) || s.saysNumber(c, b.value)) && ofOneKind(a, b) && is(a.value-b.value, a.of) {
					return true
				}
			}
		}
	}
	return s.betweenRows(c, in, s.hasWord(comparing), is) || adds && s.sumOfSome(c, in, is)
}

// quotient reports whether a number is one that the sentence says before by another:
// 57 for three days, so 19 a day.
func (s *sentence) quotient(c *claim) bool {
	for i := range s.claims {
		for j := range s.claims {
			a, b := &s.claims[i], &s.claims[j]
			if i != j && a.end <= c.start && b.end <= c.start && a.sort == sortNumber && b.sort == sortNumber && b.value > 0 && s.closeTo(c, a.value/b.value) {
				return true
			}
		}
	}
	return false
}

// saysNumber reports whether a sentence, or the one before, says a number beside c.
func (s *sentence) saysNumber(c *claim, v float64) bool {
	return slices.Contains(s.topic.numbers, v) || slices.ContainsFunc(s.claims, func(x claim) bool {
		return x.start != c.start && x.sort == sortNumber && len(x.keys) > 0 && x.value == v
	})
}

// numbersOf counts the numbers of a unit that a sentence says before one.
func (s *sentence) numbersOf(u unit, c *claim) (n int) {
	for i := range s.claims {
		if x := &s.claims[i]; x.start < c.start && x.sort == sortNumber && x.unit == u {
			n++
		}
	}
	return n
}

// sayingRows are the rows that hold what else a sentence says.
func (s *sentence) sayingRows(c *claim) (rows []int32) {
	for i := range s.claims {
		x := &s.claims[i]
		if x.start == c.start || x.sort == sortName {
			continue
		}
		for _, k := range x.keys {
			if k.form == aWeekday {
				continue // too many have one
			}
			for _, r := range s.index[k.resolve(s.today)] {
				if r > now && s.fits(r, s.clauseOf(x)) {
					add(&rows, r)
				}
			}
		}
	}
	return rows
}

// fallsShort are words of how far something is from what it should be.
var fallsShort = words("over über short below above unter unterhalb oberhalb")

// per are words of a rate.
var per = words("per each je pro apiece jeweils")

// unsettled are words of what is not paid yet.
var unsettled = words("offen open outstanding")

// adding are words of a sum.
var adding = words("up together total insgesamt zusammen gesamt between altogether overall sum summe add adds combined both macht machen ergibt ergeben all alle")

// ofOneKind figures may be set against one another: they are of one measure.
func ofOneKind(a, b figure) bool { return a.of.kind == b.of.kind }

// amounts reports whether a value of a measure is a number as it is written.
func (s *sentence) amounts(c *claim, m measure, v float64, of measure) bool {
	want := c.value
	if c.unit == percent && of.kind == "" {
		return false
	}
	if of.kind == "money" && m.kind == "" && v == math.Trunc(v) {
		return false // nobody says a sum of money without what it is of
	}
	if m.kind != "" && of.kind != "" {
		if m.kind != of.kind {
			return false
		}
		v *= of.times / m.times
	}
	if m.kind == "time" && of.kind != "time" {
		return false
	}
	step := c.step(s.text)
	if c.about {
		return s.near(c, v)
	}
	if m.kind == "" || m.kind == of.kind && m.times == of.times {
		return math.Abs(v-want) < 1e-6*max(1, want) || c.scale > 1 && math.Abs(v-want) <= step/2
	}
	return math.Abs(v-want) <= step/2+1e-9
}

// step is the last place of a number as it is written.
func (c *claim) step(text string) float64 {
	step, written := max(1, c.scale), text[c.start:c.end]
	i := strings.LastIndexAny(written, ".,")
	if i < 0 {
		return step
	}
	n := 0
	for i+1+n < len(written) && written[i+1+n] >= '0' && written[i+1+n] <= '9' {
		n++
	}
	if n == 3 && c.value >= 1000 && c.scale <= 1 {
		return step // it groups
	}
	for range n {
		step /= 10
	}
	return step
}

// ofSaid: of numbers that the sentence says, and results hold, or the sentence
// before said.
func (s *sentence) ofSaid(c *claim, in *clause, is func(float64, measure) bool) bool {
	var list []float64
	if shared := strings.ToLower(s.blank[c.end:min(len(s.blank), c.end+12)]); c.unit == noUnit && (s.hasWord(per) || strings.Contains(shared, " a ") || strings.Contains(shared, " am ")) && s.quotient(c) {
		return true
	}
	for i := range s.claims {
		x := &s.claims[i]
		if x != c && x.sort == sortNumber && x.unit != percent && (c.unit == percent || x.unit == c.unit) && len(x.keys) > 0 && x.value > 0 {
			list = append(list, x.value)
		}
	}
	partOfSaid := slices.ContainsFunc(s.claims, func(x claim) bool { return x.sort == sortNumber && x.start > c.end && s.outOf(&x) })
	said := len(list)
	named := len(in.mentions) > 0 && !s.hasWord(that) && !s.hasWord(comparing) && !s.hasWord(remaining) // it is of this, and not of what was said
	if !named && (c.unit == noUnit && c.value > mostSmall || c.unit == percent) || s.hasWord(remaining) && c.unit == noUnit && said < 2 {
		list = append(list, s.topic.numbers...)
	}
	m := s.measuredBy(c)
	for i, a := range list {
		for _, b := range list[i+1:] {
			if c.unit == percent {
				if i >= said && !s.hasWord(that) {
					break
				}
				if lo, hi := min(a, b), max(a, b); hi > 0 && s.near(c, 100*lo/hi) {
					return true
				}
				continue
			}
			if (c.value > mostSmall || s.hasWord(comparing) || s.hasWord(remaining) || said == 2 && i == 0) && is(a-b, m) || c.value > mostSmall && (is(a+b, m) || is(a*b, m)) {
				return true
			}
		}
	}
	for _, a := range list {
		if c.unit == percent || c.value <= mostSmall || !s.hasWord(comparing) && !s.hasWord(remaining) && !partOfSaid {
			break
		}
		for r := range s.Evidence.rows { // what it leaves of another that the sentence names
			if row := &s.Evidence.rows[r]; r > now && row.record != nil && s.fits(int32(r), in) && s.mentioned(int32(r), in) &&
				slices.ContainsFunc(row.figures, func(f figure) bool { return f.value > a && f.of.kind == m.kind && is(f.value-a, f.of) }) {
				return true
			}
		}
		// The rest of one that is said, to another of its row.
		for _, r := range s.index[number(a)] {
			if r <= now {
				continue
			}
			for _, f := range s.Evidence.rows[r].figures {
				if f.value != a && is(a-f.value, f.of) {
					return true
				}
			}
		}
	}
	return false
}

// betweenRows: the difference between one figure of two rows of a list.
func (s *sentence) betweenRows(c *claim, in *clause, sets bool, is func(float64, measure) bool) bool {
	free := !in.marked && len(in.mentions) == 0
	saying := s.sayingRows(c)
	others := slices.ContainsFunc(s.claims, func(x claim) bool { return x.start != c.start && x.sort == sortNumber && x.unit == c.unit })
	for _, l := range s.lists {
		if len(l.rows) > 60 {
			continue
		}
		for i, a := range l.rows {
			fits := s.fits(a, in)
			for _, b := range l.rows[i+1:] {
				if !fits && !s.fits(b, in) || !s.ofOneThing(a, b) && (!sets || free && !slices.Contains(saying, a) && !slices.Contains(saying, b) || !free && !s.mentioned(a, in) && !s.mentioned(b, in)) {
					continue
				}
				for _, f := range s.figuresOf(a) {
					if slices.ContainsFunc(s.figuresOf(b), func(g figure) bool {
						return g.name == f.name && is(f.value-g.value, f.of) && (!others || s.saysNumber(c, f.value) || s.saysNumber(c, g.value) || c.value != math.Trunc(c.value))
					}) {
						return true
					}
				}
			}
		}
	}
	return false
}

// figuresOf are the figures of a row and of the objects it holds.
func (e *Evidence) figuresOf(r int32) []figure {
	list := e.rows[r].figures
	for _, o := range e.rows[r].objects {
		list = append(slices.Clip(list), e.rows[o].figures...)
	}
	return list
}

// ofOneThing reports whether two rows are parts of one thing: readings of one animal.
func (s *sentence) ofOneThing(a, b int32) bool {
	return s.wholeOf(a) != a && s.wholeOf(a) == s.wholeOf(b)
}

// sumOfSome: one figure of all rows of a list that the clause is about, or of those
// that have one value, one day or one sign in common, are of the time the sentence
// names, or are as it says.
func (s *sentence) sumOfSome(c *claim, in *clause, is func(float64, measure) bool) bool {
	average := s.hasWord(averages)
	if part := s.partOf(c); s.hasWordIn(part, adding) && !slices.ContainsFunc(in.seen, func(m seenAt) bool { return m.at >= part.start && m.at < part.end }) {
		free := *in // it is of all, whatever is said of one of them then
		free.known, free.mentions = nil, nil
		in = &free
	}
	from, to, timed := s.time(s.partOf(c))
	var as []*called
	for _, m := range s.means(s.partOf(c)) {
		as = append(as, s.called[m])
	}
	holds := func(all sums) bool {
		for _, v := range all {
			if v.n > 1 && (is(v.sum, v.of) || average && s.closeTo(c, v.sum/float64(v.n))) {
				return true
			}
		}
		return false
	}
	for i := range s.lists {
		l := &s.lists[i]
		if len(l.rows) < 2 || len(l.rows) > 200 {
			continue
		}
		var fit []int32
		for _, r := range l.rows {
			if s.fits(r, in) {
				fit = append(fit, r)
			}
		}
		if len(fit) == len(l.rows) {
			if l.sums == nil {
				l.sums = s.sumsOf(fit)
			}
			if holds(l.sums) {
				return true
			}
		} else if holds(s.sumsOf(fit)) {
			return true
		}
		some := sums{}
		for _, r := range fit {
			row := &s.Evidence.rows[r]
			if timed != "" && slices.ContainsFunc(row.days, func(d day) bool { return d >= from && d <= to }) {
				some.add(row, group{by: 't'})
			}
			if slices.ContainsFunc(as, func(of *called) bool { return valued(row, of) }) {
				some.add(row, group{by: 's'})
			}
		}
		if holds(some) {
			return true
		}
	}
	return false
}

// group is what rows whose figures are added have in common.
type group struct {
	figure string
	by     byte // v a value, m a member that is there, d a day, + and - the sign; 0: nothing
	of     mention
	name   string
}

// sums are the sums of figures of rows, by what these have in common.
type sums map[group]sum

type sum struct {
	sum float64
	n   int
	of  measure
}

func (l sums) add(row *row, g group) {
	for _, f := range row.figures {
		g.figure = f.name
		v := l[g]
		l[g] = sum{v.sum + f.value, v.n + 1, f.of}
	}
}

func (e *Evidence) sumsOf(rows []int32) sums {
	all := sums{}
	for _, r := range rows {
		row := &e.rows[r]
		if len(row.figures) == 0 {
			continue
		}
		all.add(row, group{})
		for _, m := range row.has {
			all.add(row, group{by: 'v', of: m})
		}
		for _, name := range row.members {
			all.add(row, group{by: 'm', name: name})
		}
		for i, d := range row.days {
			if !slices.Contains(row.days[:i], d) {
				all.add(row, group{by: 'd', of: mention{int32(d), 0}})
			}
		}
		for _, f := range row.figures {
			g := group{figure: f.name, by: '+'}
			if f.value < 0 {
				g.by = '-'
			}
			v := all[g]
			all[g] = sum{v.sum + f.value, v.n + 1, f.of}
		}
	}
	for g, v := range all {
		if v.n < 2 {
			delete(all, g)
		}
	}
	return all
}

// averages are words of a mean.
var averages = words("average averages averaged mean durchschnitt durchschnittlich durchschnittliche mittel schnitt")

// closeTo reports whether a number as it is written is a value rounded.
func (s *sentence) closeTo(c *claim, v float64) bool {
	step, written := 1.0, s.text[c.start:c.end]
	if i := strings.LastIndexAny(written, ".,"); i > 0 && len(written)-i-1 < 3 {
		for range len(written) - i - 1 {
			step /= 10
		}
	}
	return math.Abs(v-c.value) <= step/2+1e-9
}

// comparing are words of a sentence that sets one number against another.
var comparing = words(`above below beyond fewer up more less than als mehr weniger teurer billiger günstiger cheaper dearer differenz difference unterschied higher lower höher niedriger
	lowest highest range spanne sparen sparst spart save saves saving größer kleiner larger smaller longer shorter short shy länger kürzer before under darunter darüber`)

// remaining are words of what is left of something.
var remaining = words("leaves leave rest restbetrag restsumme remainder balance still owe owes owed missing fehlen fehlt left remaining remain remains more free noch übrig frei verbleiben verbleibt bleiben bleibt weitere weiteren outstanding")

func (s *sentence) hasWord(list map[string]bool) bool {
	return slices.ContainsFunc(s.lowers(), func(w string) bool { return list[w] })
}

// lowers are the tokens of a sentence in small letters; of what is no short word, "".
func (s *sentence) lowers() []string {
	if s.lowered == nil {
		s.lowered = make([]string, len(s.scanner.tokens))
		for i := range s.lowered {
			s.lowered[i] = s.scanner.lower(i)
		}
	}
	return s.lowered
}

// leftOf: what a number that the sentence says leaves when a list is taken from it.
func (s *sentence) leftOf(c *claim) bool {
	if !s.hasWord(remaining) {
		return false
	}
	for i := range s.claims {
		x := &s.claims[i]
		if x == c || x.sort != sortNumber || !s.plain[number(x.value).n] {
			continue
		}
		if slices.ContainsFunc(s.means(span{0, len(s.text)}), func(m string) bool {
			return slices.ContainsFunc(s.called[m].lists, func(n int32) bool { return x.value-float64(len(s.lists[n].rows)) == c.value })
		}) {
			return true
		}
	}
	return false
}

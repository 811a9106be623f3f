package grounding

import (
	"math"
	"slices"
	"strings"
)

// near reports whether a number that is written so may stand for a value: where a
// word says that it is rounded, or where it is a share.
func (s *sentence) near(c *claim, v float64) bool {
	if !c.about && c.unit != percent {
		return false
	}
	if c.within > 0 {
		return math.Abs(v-c.value) <= c.within
	}
	step := 1.0
	if c.value == math.Trunc(c.value) {
		for step < c.value && math.Mod(c.value, step*10) == 0 {
			step *= 10
		}
	} else {
		for step > 1e-4 && math.Abs(math.Mod(c.value/step+0.5, 1)-0.5) > 1e-6 {
			step /= 10
		}
	}
	step = min(step, c.value/5)
	switch d := v - c.value; {
	case c.way > 0:
		return d >= 0 && d < step
	case c.way < 0:
		return d <= 0 && -d < step
	default:
		return math.Abs(d) <= step/2+1e-9
	}
}

// approximate: a number that is said to be rounded, or a rounded share.
func (s *sentence) approximate(c *claim, in *clause) bool {
	if !c.about && c.unit != percent {
		return false
	}
	for bits := range s.plain {
		k := key{form: aNumber, n: bits}
		v := k.value()
		if c.within > 0 && v > 1 { // a fraction is of a share
			continue
		}
		if !s.near(c, v) && (c.unit != percent || !s.near(c, v*100)) && (!c.thousand || !s.near(c, v/1000)) {
			continue
		}
		if slices.ContainsFunc(s.index[k], func(r int32) bool { return s.fits(r, in) && s.sameUnit(r, k, c) && s.sameMeasure(r, k, c) }) {
			return true
		}
	}
	return c.unit == percent && s.share(c, in)
}

// share: a number of a row in percent of another, or how far it is above or below
// it, where the sentence, or the one before, says one of them or calls one by its
// name.
func (s *sentence) share(c *claim, in *clause) bool {
	part := s.means(span{0, len(s.text)})
	for r := range s.Evidence.rows {
		list := s.Evidence.rows[r].figures
		if len(list) < 2 || len(list) > 24 || !s.fits(int32(r), in) {
			continue
		}
		for i, a := range list {
			for j, b := range list {
				if i == j || a.value < 0 || b.value <= 0 || a.of != b.of || a.of.kind == "" && !alike(a.name, b.name) {
					continue
				}
				of := 100 * a.value / b.value
				if !s.near(c, math.Abs(100-of)) && (of > 100 || !s.near(c, of)) {
					continue
				}
				if s.says(a, part) || s.says(b, part) {
					return true
				}
			}
		}
	}
	return s.shareOfCounts(c, in)
}

// shareOfCounts: how many of a list are as the sentence says, in percent of all.
func (s *sentence) shareOfCounts(c *claim, in *clause) bool {
	things := s.things(c)
	for i := range s.lists {
		l := &s.lists[i]
		if len(l.rows) < 2 || !slices.ContainsFunc(things, func(m string) bool { return slices.Contains(s.called[m].lists, int32(i)) }) {
			continue
		}
		for n := range s.sizes(c, l, in) {
			if n > 0 && n < len(l.rows) && s.near(c, 100*float64(n)/float64(len(l.rows))) {
				return true
			}
		}
	}
	return false
}

// alike reports whether two figures may be of one kind: their names say no two
// things that are counted.
func alike(a, b string) bool {
	of := func(name string) string {
		list := strings.Split(strings.ToLower(name), "_")
		for _, w := range slices.Backward(list) {
			if countingNames[w] {
				return w
			}
		}
		return ""
	}
	x, y := of(a), of(b)
	return x == "" || y == "" || x == y
}

// that stands for a number that was said before.
var that = words("that this it das dies es these they")

// says reports whether a sentence, or the one before, says a figure, or calls it by
// its name.
func (s *sentence) says(f figure, meanings []string) bool {
	k := number(f.value)
	for i := range s.claims {
		if x := &s.claims[i]; x.sort == sortNumber && slices.Contains(x.keys, k) {
			return true
		}
	}
	return s.hasWord(that) && slices.Contains(s.topic.numbers, f.value) || slices.ContainsFunc(s.Evidence.means(f.name), func(m string) bool { return m != "=total" && slices.Contains(meanings, m) })
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
	größer kleiner larger smaller longer shorter länger kürzer before under darunter darüber`)

// remaining are words of what is left of something.
var remaining = words("leaves leave still owe owes owed missing fehlen fehlt left remaining remain remains more free noch übrig frei verbleiben verbleibt bleiben bleibt weitere weiteren outstanding")

func (s *sentence) hasWord(list map[string]bool) bool {
	for i := range s.scanner.tokens {
		if list[s.scanner.lower(i)] {
			return true
		}
	}
	return false
}

// apartBy: the difference between the same figure of two records, both named, or
// one of them said.
func (s *sentence) apartBy(c *claim) bool {
	if !s.hasWord(comparing) {
		return false
	}
	rows := s.Evidence.rows
	for i := range s.claims {
		x := &s.claims[i]
		if x == c || x.sort != sortNumber || len(x.keys) == 0 {
			continue
		}
		for _, r := range s.index[number(x.value)] {
			for _, f := range rows[r].figures {
				if f.value != x.value || rows[r].list < 0 {
					continue
				}
				for _, o := range s.lists[rows[r].list].rows {
					if slices.ContainsFunc(rows[o].figures, func(g figure) bool {
						return o != r && g.name == f.name && slices.Contains(c.keys, number(math.Abs(g.value-f.value)))
					}) {
						return true
					}
				}
			}
		}
	}
	var named []int32
	for i := range s.clauses {
		named = append(named, s.clauses[i].rows...)
	}
	for i := range s.claims {
		for _, k := range s.claims[i].keys {
			if k.form == aToken {
				named = append(named, s.index[k]...)
			}
		}
	}
	if len(named) > 8 {
		return false
	}
	for i, a := range named {
		for _, b := range named[i+1:] {
			for _, f := range rows[a].figures {
				if rows[a].list >= 0 && rows[a].list == rows[b].list && slices.ContainsFunc(rows[b].figures, func(g figure) bool {
					return g.name == f.name && slices.Contains(c.keys, number(math.Abs(g.value-f.value)))
				}) {
					return true
				}
			}
		}
	}
	return false
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
		if slices.ContainsFunc(s.lists, func(l list) bool { return x.value-float64(len(l.rows)) == c.value }) {
			return true
		}
	}
	return false
}

// position: an ordinal is the number of something, or the place in a list.
func (s *sentence) position(c *claim, in *clause) bool {
	if slices.ContainsFunc(s.index[number(c.value)], func(r int32) bool { return s.fits(r, in) }) {
		return true
	}
	return slices.ContainsFunc(s.lists, func(l list) bool { return len(l.rows) >= int(c.value) && len(in.mentions) == 0 })
}

// holding counts the rows of a list that hold what else the sentence says; 0: it
// says nothing else that one holds.
func (s *sentence) holding(l list, c *claim) (n int) {
	for i := range s.claims {
		x := &s.claims[i]
		if x == c || x.sort != sortDate && x.sort != sortNumber || x.sort == sortNumber && (s.counted(x) || x.value < 10) {
			continue
		}
		here := 0
		for _, r := range l.rows {
			if slices.ContainsFunc(x.keys, func(k key) bool { return slices.Contains(s.index[k.resolve(s.today)], r) }) {
				here++
			}
		}
		n = max(n, here)
	}
	return n
}

// apposed reports whether what stands between two days makes them one.
func apposed(gap string) bool {
	switch strings.Trim(gap, " ,(–-") {
	case "", "am", "on", "den", "dem", "der", "the":
		return len(gap) < 8 && strings.ContainsAny(gap, ",(–-")
	}
	return false
}

// together: a day and a time of day that are said in one breath are of one row.
func (s *sentence) together(say func(string)) {
	for i := 0; i+1 < len(s.claims); i++ {
		a, b := &s.claims[i], &s.claims[i+1]
		if a.sort == sortDate && b.sort == sortDate && len(a.keys) > 0 && len(b.keys) > 0 && a.keys[0].s == "today" && (b.keys[0].form == aDay || b.keys[0].form == aMonthDay) && apposed(s.text[a.end:b.start]) {
			d := a.keys[0].resolve(s.today)
			if !slices.ContainsFunc(b.keys, func(k key) bool { return k.n == d.n && k.form == aDay || slices.Contains(expand(d), k) }) {
				say(s.text[a.start:b.end]) // tomorrow, on the 21st
			}
			continue
		}
		if a.sort == sortDate && b.sort == sortDate && len(a.keys) > 0 && len(b.keys) > 0 && b.keys[0].form == aWeekday && a.keys[0].form == aDay && b.start > a.end && b.start-a.end < 8 {
			if apposed(s.text[a.end:b.start]) && int64(day(a.keys[0].resolve(s.today).n).weekday()) != b.keys[0].n {
				say(s.text[a.start:b.end])
			}
			continue
		}
		if a.sort != sortDate || b.sort != sortDate || len(a.keys) == 0 || len(b.keys) == 0 || b.keys[0].form != aTime || b.start < a.end || b.start-a.end > 6 {
			continue
		}
		if f := a.keys[0].form; f != aDay && f != aMonthDay && f != aWeekday {
			continue
		}
		gap := strings.Trim(s.text[a.end:b.start], " ,.–-:")
		if gap != "" && gap != "um" && gap != "at" && gap != "ab" && gap != "from" && gap != "von" {
			continue
		}
		held, both := false, false
		for _, k := range b.keys {
			for _, r := range s.index[k] {
				held = held || r != given
				for _, d := range a.keys {
					both = both || slices.Contains(s.index[d.resolve(s.today)], r)
				}
			}
		}
		if held && !both && !slices.ContainsFunc(b.keys, func(k key) bool { return slices.Contains(s.index[k], int32(given)) }) {
			say(s.text[a.start:b.end])
		}
	}
}

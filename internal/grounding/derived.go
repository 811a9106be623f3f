package grounding

import (
	"math"
	"slices"
	"strings"
)

// summed: a figure of all rows of a list that are as the sentence says, together; of
// two figures, the difference of both sums; or such a sum in percent of that of all
// rows.
func (s *sentence) summed(c *claim) bool {
	if c.within > 0 || (c.about || c.unit != noUnit) && c.unit != percent && !s.hasWord(adding) && !s.hasWord(averages) {
		return false
	}
	m, part := s.measuredBy(c), s.partOf(c)
	things := s.things(c)
	if s.ofThem(c) {
		for i := range s.claims {
			if x := &s.claims[i]; x.sort == sortNumber && x.end < c.start {
				things = append(things, s.things(x)...)
			}
		}
	}
	counts := m.kind == "" && c.unit == noUnit
	is := func(v float64, of measure) bool { return s.amounts(c, m, math.Abs(v), of) }
	parts := []span{part, {0, len(s.text)}}
	if s.ofThem(c) {
		parts = append(parts, span{0, part.end})
	}
	for i := range s.lists {
		l := &s.lists[i]
		if len(l.rows) < 2 || len(l.rows) > 200 {
			continue
		}
		total := s.figureSums(l.rows)
		for _, in := range parts {
			filters, unlike := s.filters(in, l, things)
			sets, _ := s.left(l, filters, in)
			if unlike && len(filters) > 0 {
				sets = append(sets, slices.DeleteFunc(slices.Clone(l.rows), func(r int32) bool {
					return !slices.ContainsFunc(filters, func(f filter) bool { return !f.named && !f.any[0](r) })
				}))
			}
			for _, rows := range sets {
				sums := s.figureSums(rows)
				for name, a := range sums {
					if counts && !slices.ContainsFunc(things, func(m string) bool {
						return s.called[m] != nil && slices.Contains(s.called[m].figures, name)
					}) {
						continue // it is of something else
					}
					if c.unit == percent {
						if all := total[name]; all.sum > 0 && len(rows) < len(l.rows) && s.near(c, 100*a.sum/all.sum) {
							return true
						}
						continue
					}
					if mean := a.sum / float64(len(rows)); len(rows) > 1 && s.hasWord(averages) && (s.closeTo(c, mean) || c.unit != noUnit && a.of.kind == "time" && m.times > 0 && s.closeTo(c, mean*a.of.times/m.times)) {
						return true
					}
					if len(rows) > 1 && (m.kind == "" || m.kind == "money" || a.of.kind != "") && is(a.sum, a.of) {
						return true
					}
					for other, b := range sums {
						if name < other && a.of == b.of && (a.of.kind == m.kind || a.of.kind == "") && is(a.sum-b.sum, a.of) {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

func (s *sentence) figureSums(rows []int32) map[string]sum {
	sums := map[string]sum{}
	for _, r := range rows {
		for _, f := range s.Evidence.rows[r].figures {
			v := sums[f.name]
			sums[f.name] = sum{v.sum + f.value, v.n + 1, f.of}
		}
	}
	return sums
}

// yearly are words of what a month's sum is in a year.
var yearly = words("jahr jahres jährlich year yearly annual annually")

// equal are words of what something is the same as.
var equal = words("entspricht entsprechen equals equal corresponds amounts")

// perShare are parts of names of figures that are percent of something.
var perShare = words("pct percent discount rate share prozent rabatt")

// rated: a part of a sum, in percent that the sentence or a result says; or for each
// of some; or of a year.
func (s *sentence) rated(c *claim, in *clause) bool {
	if c.unit != noUnit && (c.unit != days || !c.about) || c.value <= 0 {
		return false
	}
	var bases, shares []float64
	for i := range s.claims {
		if x := &s.claims[i]; x.start != c.start && x.sort == sortNumber && len(x.keys) > 0 {
			if x.unit == percent {
				shares = append(shares, x.value)
			} else if x.unit == noUnit {
				bases = append(bases, x.value)
			}
		}
	}
	bases = append(append(bases, s.topic.numbers...), s.topic.earlier...)
	if s.hasWord(halves) {
		shares = append(shares, 50)
	}
	rows := s.subject(in)
	for _, t := range s.topic.rows {
		rows = append(rows, s.partsOf(t)...)
	}
	for _, r := range rows {
		for _, f := range s.Evidence.rows[r].figures {
			if slices.ContainsFunc(strings.Split(f.name, "_"), func(w string) bool { return perShare[w] }) && f.value > 0 && f.value < 100 {
				shares = append(shares, f.value)
			} else if f.value > 0 && (f.of.kind == "money" || f.of.kind == "") {
				bases = append(bases, f.value)
			}
		}
	}
	shares = append(shares, s.topic.shares...)
	if s.hasWord(remaining) || s.hasWord(comparing) {
		m := s.measuredBy(c)
		if m.kind == "money" && s.owned != nil {
			var of []figure
			for r, own := range s.owned {
				if own && !s.isOfNone(int32(r)) && len(of) < mostFigures {
					of = append(of, s.Evidence.rows[r].figures...)
				}
			}
			for i, a := range of {
				if slices.ContainsFunc(of[i+1:], func(b figure) bool {
					return a.value != b.value && s.amounts(c, m, math.Abs(a.value-b.value), measures["eur"])
				}) {
					return true
				}
			}
		}
		for _, x := range s.topic.numbers {
			if m.kind == "money" && slices.ContainsFunc(bases, func(y float64) bool { return x != y && s.amounts(c, m, math.Abs(x-y), measures["eur"]) }) {
				return true
			}
		}
	}
	precise := c.value != math.Trunc(c.value) || s.measuredBy(c).kind == "money"
	if c.about && c.value > 2 && slices.ContainsFunc(bases, func(x float64) bool { // so many words at so many a day
		return slices.ContainsFunc(bases, func(y float64) bool { return y >= 100 && x > y && math.Abs(x/y-c.value) <= 0.5 })
	}) {
		return true
	}
	exact := c.value != math.Trunc(c.value) || c.value >= 1000
	for _, r := range rows { // so many of so much each
		list := s.Evidence.rows[r].figures
		for i, a := range list {
			if exact && slices.ContainsFunc(list[i+1:], func(b figure) bool { return a.value > 1 && b.value > 0 && math.Abs(a.value*b.value-c.value) < 0.005 }) {
				return true
			}
		}
	}
	is := func(v float64) bool { return math.Abs(v-c.value) <= c.step(s.text)/2+1e-9 }
	for _, x := range bases {
		if precise && slices.ContainsFunc(shares, func(p float64) bool { return is(x*p/100) || is(x-x*p/100) }) {
			return true
		}
		if s.hasWord(yearly) && (math.Abs(x*12-c.value) < 1e-6*c.value || math.Abs(x-12*c.value) < 1e-6*x) {
			return true
		}
		if precise && s.hasWord(per) {
			for n := 2.0; n <= mostSmall; n++ {
				if is(x/n) && (slices.Contains(bases, n) || slices.Contains(s.index[number(n)], int32(given))) {
					return true
				}
			}
		}
		if s.hasWord(equal) && slices.ContainsFunc(bases, func(y float64) bool { return y > 1 && math.Abs(x/y-c.value) < 1e-9*c.value }) {
			return true
		}
	}
	return false
}

// mostFigures is of how many figures two are set against one another.
const mostFigures = 80

var halves = words("half hälfte halb halben halbe")

// pointing are words before a number of what was just spoken of, or of a place in it.
var pointing = words("first last other these those ersten letzten anderen diese diesen first letzte")

// pointed: the first two, these four.
func (s *sentence) pointed(c *claim) bool {
	return c.value <= mostSmall && pointing[s.wordBefore(c.start)] && slices.ContainsFunc(s.lists, func(l list) bool { return float64(len(l.rows)) >= c.value })
}

// ofMarked: the lowest of the three, of a list that a record of the sentence is in.
func (s *sentence) ofMarked(c *claim) bool {
	if w := s.wordBefore(c.start); !s.ofThose(c) && w != "all" && w != "allen" && w != "alle" {
		return false
	}
	return slices.ContainsFunc(s.marks, func(m int32) bool {
		l := s.Evidence.rows[m].list
		return l >= 0 && (float64(len(s.lists[l].rows)) == c.value || float64(len(s.lists[l].rows)) > c.value && c.nouns[0].end > 0 && !s.counted(c))
	})
}

// perMarker: a number of the records that the sentence marks.
func (s *sentence) perMarker(c *claim) bool {
	n := map[string]float64{}
	for _, r := range s.marks {
		n[s.Evidence.rows[r].record.Entity]++
	}
	for _, of := range n {
		if of > 1 && of == c.value {
			return true
		}
	}
	return false
}

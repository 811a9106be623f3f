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
		if slices.ContainsFunc(s.index[k], func(r int32) bool {
			return s.fits(r, in) && s.sameUnit(r, k, c) && s.sameMeasure(r, k, c) && s.sameShare(r, k, c)
		}) {
			return true
		}
	}
	return c.unit == percent && s.share(c, in)
}

// share: a number of a row in percent of another, or how far it is above or below
// it, where the sentence, or the one before, says one of them or calls one by its
// name.
func (s *sentence) share(c *claim, in *clause) bool {
	part, moved := s.means(span{0, len(s.text)}), s.hasWord(comparing) || s.hasWord(moving)
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
				if of > 100 && !moved || !s.near(c, math.Abs(100-of)) && (of > 100 || !s.near(c, of)) {
					continue
				}
				if s.owned != nil && c.within > 0 || s.says(a, part) || s.says(b, part) {
					return true
				}
			}
		}
	}
	return s.shareOfCounts(c, in)
}

// moving are words of what is more or less than it was, or was to be.
var moving = words(`rose risen fell fallen grew grown growth gain up down increase increased decrease decreased rise beat exceed exceeded over plus minus zu
	gestiegen gesunken gewachsen wachstum zuwachs anstieg rückgang übertroffen überschritten zugelegt zugenommen abgenommen`)

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
var that = words("that this it das dies es these they er sie damit davon dazu he she")

// says reports whether a sentence, or the one before, says a figure, or calls it by
// its name.
func (s *sentence) says(f figure, meanings []string) bool {
	k := number(f.value)
	for i := range s.claims {
		if x := &s.claims[i]; x.sort == sortNumber && slices.Contains(x.keys, k) {
			return true
		}
	}
	return s.hasWord(that) && (slices.Contains(s.topic.numbers, f.value) || slices.Contains(s.topic.earlier, f.value)) || slices.ContainsFunc(s.Evidence.means(f.name), func(m string) bool { return m != "=total" && slices.Contains(meanings, m) })
}

// rounded: a number in thousands or millions may be rounded to the last digit
// written.
func (s *sentence) rounded(c *claim, in *clause) bool {
	if c.scale <= 1 {
		return false
	}
	written := s.text[c.start:c.end]
	step := c.scale
	if i := strings.IndexAny(written, ".,"); i >= 0 {
		for _, d := range written[i+1:] {
			if d < '0' || d > '9' {
				break
			}
			step /= 10
		}
	}
	for bits := range s.plain {
		k := key{form: aNumber, n: bits}
		if v := k.value(); v-c.value <= step/2 && c.value-v <= step/2 {
			if slices.ContainsFunc(s.index[k], func(r int32) bool { return s.fits(r, in) }) {
				return true
			}
		}
	}
	return false
}

// countingNames are parts of names of figures that are no shares.
var countingNames = words("eur usd gbp chf price cost amount minutes hours days seats pages sold quota id year count number members people")

// shareNamed reports whether a number that a row gives may be one of percent: it is
// between 0 and 1 there, or is not named for something that is counted.
func (s *sentence) shareNamed(r int32, k key, c *claim) bool {
	if k != number(c.value) || c.value == 0 {
		return true
	}
	known := false
	for _, f := range s.Evidence.rows[r].figures {
		if number(f.value) != k {
			continue
		}
		known = true
		if !slices.ContainsFunc(strings.Split(strings.ToLower(f.name), "_"), func(w string) bool { return countingNames[w] }) {
			return true
		}
	}
	return !known
}

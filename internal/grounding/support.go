package grounding

import (
	"iter"
	"math"
	"slices"
	"strings"
)

// mostSmall is up to what number so many of something are nearly always there, so
// that it must be the number of what the sentence says.
const mostSmall = 20

// supported reports whether a claim stands in a row that the clause is about.
func (s *sentence) supported(c *claim) bool {
	if c.sort == sortName {
		return held(s.haystack(), *c)
	}
	in := s.clauseOf(c)
	if c.sort == sortNumber && c.unit == noUnit && s.hour(c, in) {
		return true
	}
	if in.goesOn && c.sort == sortNumber && c.unit == noUnit && c.value <= mostSmall && c.scale == 0 {
		free := *in // a number of things may be of other things: two of them
		free.marked, free.rows = false, nil
		in = &free
	}
	if c.ordinal {
		return s.position(c, in)
	}
	if c.sort == sortNumber && s.listed(c) != 0 {
		return s.listed(c) > 0
	}
	if c.sort == sortNumber && s.counted(c) {
		found, named := s.counter(c, in, s.counts(c))
		if found || s.own(c, in) || s.leftOf(c) || !named && (s.count(c, in, s.counts(c)) || s.computed(c, in) || s.figuredOf(c, in)) {
			return true
		}
		if c.value <= mostSmall {
			return false
		}
	}
	if c.sort == sortNumber && c.unit == noUnit && c.scale == 0 && c.value <= mostSmall && c.value == float64(int(c.value)) && !s.numbers(c) && !s.joined(c) && !s.times(c) {
		if of := s.things(c); len(of) > 0 {
			return s.many(c, in, of) || s.computed(c, in) || s.apartBy(c) || s.leftOf(c)
		}
	}
	if c.sort == sortNumber && c.label && !s.labels(c, in) {
		return false
	}
	if c.sort == sortDate && s.lasting(c, in) || c.sort == sortNumber && s.turns(c, in) {
		return true
	}
	keys := c.keys
	if c.label && c.unit == noUnit {
		for _, k := range c.keys {
			if k.form == aNumber {
				keys = append(keys, key{form: aLabel, n: k.n})
			}
		}
	}
	for _, k := range keys {
		k = k.resolve(s.today)
		if c.weekday > 0 && !s.onWeekday(k, c.weekday, in) {
			continue
		}
		for _, r := range s.index[k] {
			if s.fits(r, in) && (c.unit == noUnit || s.sameUnit(r, k, c)) && s.sameMeasure(r, k, c) && s.sameThings(r, k, c, in) {
				return true
			}
		}
	}
	if smaller, times := parts(c.unit); times > 0 && c.sort == sortNumber { // three years of 36 months
		part := *c
		part.unit, part.value, part.keys = smaller, c.value*times, []key{number(c.value * times)}
		for _, r := range s.index[part.keys[0]] {
			if r > now && s.fits(r, in) && s.sameUnit(r, part.keys[0], &part) {
				return true
			}
		}
	}
	switch {
	case c.sort == sortDate:
		return s.derivedDay(c, in)
	case c.sort == sortNumber:
		return s.difference(c, in) || s.rounded(c, in) || s.approximate(c, in) || s.computed(c, in) || s.apartBy(c) || c.unit == noUnit && s.leftOf(c) || c.unit == noUnit && !s.numbers(c) && s.count(c, in, "")
	}
	return false
}

// parts is the unit that one is given in as well, and how many of it make one.
func parts(u unit) (smaller unit, times float64) {
	switch u {
	case years:
		return months, 12
	case weeks:
		return days, 7
	case hours:
		return minutes, 60
	}
	return noUnit, 0
}

// sameUnit: three months support no three weeks, where a row says what the
// number counts.
func (s *sentence) sameUnit(r int32, k key, c *claim) bool {
	if k.form != aNumber {
		return true
	}
	if c.unit == percent {
		return s.shareNamed(r, k, c)
	}
	if slices.ContainsFunc(s.Evidence.rows[r].figures, func(f figure) bool {
		return number(f.value) == k && (slices.ContainsFunc(strings.Split(f.name, "_"), func(w string) bool { return unitOf(w) == c.unit }) || f.of.kind == "" && s.mentioned(r, s.clauseOf(c)))
	}) {
		return true
	}
	if r == given {
		u, ok := s.spans[k.n]
		return !ok || u == c.unit
	}
	return slices.ContainsFunc(s.Evidence.rows[r].nums, func(n claim) bool {
		return n.unit == c.unit && slices.Contains(n.keys, k)
	})
}

// sameMeasure: 3.4 degrees support no 3.4 percent, where the row's number says what
// it is of.
func (s *sentence) sameMeasure(r int32, k key, c *claim) bool {
	if k.form != aNumber || c.sort != sortNumber || r <= now {
		return true
	}
	m, found := s.measuredBy(c), false
	if m.kind == "" || m.kind == "time" {
		return true
	}
	for _, f := range s.Evidence.rows[r].figures {
		if number(math.Abs(f.value)) != k {
			continue
		}
		if f.of.kind == "" || f.of.kind == m.kind {
			return true
		}
		found = true
	}
	return !found
}

// sameThings: where results have numbers of what a number counts, one of another
// name supports it only in a row that the sentence is about.
func (s *sentence) sameThings(r int32, k key, c *claim, in *clause) bool {
	if k.form != aNumber || c.sort != sortNumber || r <= now || c.unit != noUnit {
		return true
	}
	var of []string
	for _, m := range s.things(c) {
		if named := s.called[m]; named != nil {
			of = append(of, named.figures...)
		}
	}
	if len(of) == 0 || s.outOf(c) || slices.Contains(s.sayingRows(c), r) {
		return true
	}
	meanings, figures := s.means(s.partOf(c)), false
	if s.Evidence.rows[r].list < 0 || s.mentioned(r, in) {
		// Of one thing, what it counts is what the thing has so many of.
		whole := s.wholeOf(r)
		if r == whole || !slices.ContainsFunc(s.Evidence.rows[whole].figures, func(f figure) bool { return slices.Contains(of, f.name) }) {
			return true
		}
	}
	for _, f := range s.Evidence.rows[r].figures {
		if number(f.value) != k {
			continue
		}
		if figures = true; slices.Contains(of, f.name) || slices.ContainsFunc(s.Evidence.means(f.name), func(m string) bool { return slices.Contains(meanings, m) }) {
			return true
		}
	}
	return !figures
}

// onWeekday reports whether the day of a key, or one of a clause's days that it
// may be, is on a weekday.
func (s *sentence) onWeekday(k key, weekday int, in *clause) bool {
	switch k.form {
	case aDay:
		return int(day(k.n).weekday()) == weekday-1
	case aMonthDay:
		for _, r := range s.index[k] {
			if !s.fits(r, in) {
				continue
			}
			for _, d := range s.Evidence.rows[r].days {
				t := d.time()
				if int(t.Month())*100+t.Day() == int(k.n) && int(t.Weekday()) == weekday-1 {
					return true
				}
			}
		}
		return false
	}
	return true
}

// derivedDay: the ends of weeks and months, and of a time that the person named.
func (s *sentence) derivedDay(c *claim, in *clause) bool {
	if !s.window || in.marked || len(in.mentions) > 0 {
		return false
	}
	today := s.today
	ends := []day{
		monday(today), monday(today) + 4, monday(today) + 6, monday(today) + 7, monday(today) + 11, monday(today) + 13,
		endOfMonth(today), endOfMonth(today) + 1, today - day(today.time().Day()) + 1, today + 1, today + 7, today + 14, today + 30,
	}
	for bits, u := range s.spans {
		n := day(key{n: bits}.value())
		switch u {
		case days:
			ends = append(ends, today+n, today-n)
		case weeks:
			ends = append(ends, today+7*n, today-7*n)
		case months:
			ends = append(ends, dayOf(today.time().AddDate(0, int(n), 0)), dayOf(today.time().AddDate(0, -int(n), 0)))
		}
	}
	for _, d := range ends {
		k := key{form: aDay, n: int64(d)}
		if slices.Contains(c.keys, k) && (c.weekday == 0 || int(d.weekday()) == c.weekday-1) {
			return true
		}
		for _, more := range expand(k) {
			if more.form != aNumber && more.form != aWeekday && slices.Contains(c.keys, more) && (c.weekday == 0 || int(d.weekday()) == c.weekday-1) {
				return true
			}
		}
	}
	return false
}

// difference: the time from today to a day the sentence is about, or between
// two of its days.
func (s *sentence) difference(c *claim, in *clause) bool {
	switch c.unit {
	case days, weeks, months, years:
	case hours, minutes:
		return s.duration(c, in)
	default:
		return false
	}
	near := func(a, b day) bool { return between(max(a, b)-min(a, b), c) }
	if c.unit == years && s.hasWord(aged) {
		return false // that is from a day of birth
	}
	var said, all []day
	for i := range s.claims {
		x := &s.claims[i]
		if x.sort != sortDate {
			continue
		}
		for r, d := range s.daysOf(x) {
			if x.keys[0].s == "today" && x.keys[0].n == 0 {
				continue // from today
			}
			if all = append(all, d); s.clauseOf(x) != in {
				continue
			}
			if s.partOf(x) == s.partOf(c) || s.apposition(x) {
				said = append(said, d)
			}
			if near(d, s.today) {
				return true
			}
			if r > now && slices.ContainsFunc(s.Evidence.rows[r].days, func(b day) bool { return b != d && between(max(b, d)-min(b, d), c) }) {
				return true // to another day of the same row
			}
		}
	}
	for i, a := range all {
		if slices.ContainsFunc(all[i+1:], func(b day) bool { return near(a, b) }) {
			return true
		}
	}
	if len(said) > 0 {
		return false // it is said of this day
	}
	if (!in.marked || in.goesOn) && len(in.mentions) == 0 && len(s.whole.mentions) == 0 {
		return s.sinceThen(c)
	}
	for r := range s.Evidence.rows {
		row := &s.Evidence.rows[r]
		if r <= now || len(row.days) == 0 || !s.fits(int32(r), in) || !s.mentioned(int32(r), in) {
			continue
		}
		for i, a := range row.days {
			if near(a, s.today) {
				return true
			}
			for _, b := range row.days[i+1:] {
				if near(a, b) {
					return true
				}
			}
		}
	}
	return false
}

// apposition reports whether a part of a sentence says a day and hardly more.
func (s *sentence) apposition(c *claim) bool {
	p := s.partOf(c)
	return len(strings.TrimSpace(s.blank[p.start:p.end]))-(c.end-c.start) < 16
}

// daysOf are the days that a claim is of, in the rows that hold them.
func (s *sentence) daysOf(c *claim) iter.Seq2[int32, day] {
	return func(yield func(int32, day) bool) {
		of := s.clauseOf(c)
		for _, k := range c.keys {
			k = k.resolve(s.today)
			for _, r := range s.index[k] {
				if !s.fits(r, of) {
					continue
				}
				for _, d := range s.Evidence.rows[r].days {
					if (k.form == aDay && int64(d) == k.n || slices.Contains(expand(key{form: aDay, n: int64(d)}), k)) && !yield(r, d) {
						return
					}
				}
			}
		}
	}
}

// mentioned reports whether a clause mentions or marks something of a row.
func (s *sentence) mentioned(r int32, c *clause) bool {
	if c.marked {
		return true
	}
	mentions := func(at int32) bool {
		for _, m := range s.Evidence.rows[at].has {
			if slices.Contains(s.whole.mentions[m.field], m.value) {
				return true
			}
		}
		return false
	}
	return mentions(r) || s.context(r, mentions)
}

// between reports whether so many days are what a claim says.
func between(d day, c *claim) bool {
	n := c.value
	switch c.unit {
	case days:
		return float64(d) == n
	case weeks:
		return float64(d) >= 7*n-3 && float64(d) <= 7*n+3
	case months:
		return float64(d) > 30.44*(n-0.5) && float64(d) < 30.44*(n+0.5)
	case years:
		return float64(d) > 365.25*(n-0.5) && float64(d) < 365.25*(n+0.5)
	}
	return false
}

// duration: the time between two times of day of one row.
func (s *sentence) duration(c *claim, in *clause) bool {
	want := int64(c.value)
	if c.unit == hours {
		want = int64(c.value * 60)
	}
	at := map[int32][]int64{}
	for k, rows := range s.index {
		if k.form == aTime {
			for _, r := range rows {
				at[r] = append(at[r], k.n)
			}
		}
	}
	for r, times := range at {
		for i, a := range times {
			for _, b := range times[i+1:] {
				if (a-b == want || b-a == want) && s.fits(r, in) {
					return true
				}
			}
		}
	}
	return false
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

// times reports whether a number says how often: zweimal, twice.
func (s *sentence) times(c *claim) bool {
	w := strings.ToLower(s.text[c.start:c.end])
	return strings.HasSuffix(w, "mal") || w == "twice"
}

// joined reports whether a number is the rest of a longer one: 110538-6.
func (s *sentence) joined(c *claim) bool {
	return c.start > 1 && strings.IndexByte("-/.", s.text[c.start-1]) >= 0 && s.text[c.start-2] >= '0' && s.text[c.start-2] <= '9'
}

// labels are words that a number behind them names one of.
var labels = words("room rule page article section no nr art abs rn ziff saal raum regel seite artikel absatz nummer number step schritt floor stock line zeile")

// numbers reports whether a number is the name of something, as in room 4, and
// counts nothing.
func (s *sentence) numbers(c *claim) bool {
	before := strings.TrimRight(s.text[:c.start], " .")
	i := strings.LastIndexAny(before, " \n(") + 1
	return labels[strings.ToLower(before[i:])]
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

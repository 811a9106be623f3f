package grounding

import (
	"math"
	"slices"
)

// elapsed: a time between two days, or two times of day, of what a sentence is about:
// of the records it marks, or names, or goes on with. Where the sentence says one of
// them, it is from that.
func (s *sentence) elapsed(c *claim, in *clause) bool {
	rows := s.subject(in)
	if len(rows) == 0 {
		return false
	}
	switch c.unit {
	case days, weeks, months, years:
		return s.daysApart(c, rows)
	case hours, minutes:
		return s.timesApart(c, rows)
	}
	return false
}

// daysOfAsked: the two days of which the person asked.
func (s *sentence) daysOfAsked(c *claim) bool {
	var asked []day
	for _, d := range s.Evidence.rows[given].days {
		add(&asked, d)
	}
	return c.unit == days && len(asked) > 1 && float64(len(asked)) == c.value
}

// subject are the rows of what a clause is about: those its markers own, else those
// around what it mentions, else around what was spoken of.
func (s *sentence) subject(in *clause) (rows []int32) {
	if s.owned != nil {
		for _, m := range s.marks {
			for _, r := range s.partsOf(m) {
				if !s.isOfNone(r) {
					add(&rows, r)
				}
			}
		}
		return rows
	}
	wholes := s.thingsWith(in.seen)
	if len(wholes) == 0 {
		wholes = s.thingsWith(s.whole.seen)
	}
	if len(wholes) == 0 {
		wholes = s.topic.rows
	}
	for _, w := range wholes {
		for _, r := range s.around(w) {
			if !s.isOfNone(r) {
				add(&rows, r)
			}
		}
	}
	return rows
}

// mostSubjects is how many things a sentence may name for a time to be one of theirs.
const mostSubjects = 4

// thingsWith are the things that have what is mentioned; nil where they are many.
func (s *sentence) thingsWith(seen []seenAt) (wholes []int32) {
	for i := range seen {
		for _, v := range seen[i].values {
			for _, r := range s.has[mention{seen[i].field, v}] {
				add(&wholes, s.wholeOf(r))
			}
		}
	}
	if len(wholes) > mostSubjects {
		return nil
	}
	return wholes
}

func (s *sentence) daysApart(c *claim, rows []int32) bool {
	part := s.partOf(c)
	var said []day
	for i := range s.claims {
		x := &s.claims[i]
		if x.sort != sortDate || len(x.keys) == 0 || x.keys[0].form != aDay && x.keys[0].form != aMonthDay || x.start < part.start || x.start >= part.end || x.keys[0].s == "today" && x.keys[0].n == 0 {
			continue
		}
		for _, k := range x.keys {
			if k = k.resolve(s.today); k.form == aDay {
				add(&said, day(k.n))
			}
		}
		for _, r := range rows {
			for _, d := range s.Evidence.rows[r].days {
				if slices.ContainsFunc(x.keys, func(k key) bool {
					return k.form == aMonthDay && slices.Contains(expand(key{form: aDay, n: int64(d)}), k)
				}) {
					add(&said, d)
				}
			}
		}
	}
	apart := func(a, b day) bool { return exactly(max(a, b)-min(a, b), c) }
	both := func(a, b day) bool {
		return apart(a, b) || c.unit == days && float64(max(a, b)-min(a, b)+1) == c.value || c.unit == weeks && float64(max(a, b)-min(a, b)+1) == 7*c.value
	}
	for i, a := range said {
		if len(said) == 1 && apart(a, s.today) || slices.ContainsFunc(said[i+1:], func(b day) bool { return both(a, b) }) {
			return true
		}
	}
	if len(said) > 1 {
		return false
	}
	for _, r := range rows {
		list := s.Evidence.rows[r].days
		for i, a := range list {
			if len(said) > 0 && !slices.Contains(said, a) {
				continue
			}
			if apart(a, s.today) || slices.ContainsFunc(list, func(b day) bool { return a != b && both(a, b) }) {
				return true
			}
			if i < len(list) && slices.ContainsFunc(rows, func(o int32) bool {
				return o != r && s.isMarked(r) && s.isMarked(o) && slices.ContainsFunc(s.Evidence.rows[o].days, func(b day) bool { return apart(a, b) })
			}) {
				return true
			}
		}
	}
	return false
}

// isMarked reports whether a row is of a record that the sentence marks.
func (s *sentence) isMarked(r int32) bool { return slices.Contains(s.marks, s.wholeOf(r)) }

// exactly reports whether so many days are what a claim says, to a few days.
func exactly(d day, c *claim) bool {
	if c.about {
		return between(d, c)
	}
	n, x := c.value, float64(d)
	switch c.unit {
	case months:
		return x >= 30.44*n-5 && x <= 30.44*n+11
	case years:
		return x >= 365.25*n-60 && x < 365.25*n+330
	}
	return between(d, c)
}

func (s *sentence) timesApart(c *claim, rows []int32) bool {
	const whole = 24 * 60
	want := int64(math.Round(c.value))
	if c.unit == hours {
		want = int64(math.Round(c.value * 60))
	}
	var all, said, anywhere []int64
	part := s.partOf(c)
	for i := range s.claims {
		here := s.claims[i].start >= part.start && s.claims[i].start < part.end
		for _, k := range s.claims[i].keys {
			if k.form != aTime {
				continue
			}
			if add(&anywhere, k.n); here {
				add(&said, k.n)
			}
		}
	}
	for _, r := range rows {
		for _, f := range s.Evidence.rows[r].figures { // in minutes, and said in hours
			if f.of.kind == "time" && f.of.times <= 60 && int64(math.Round(f.value*f.of.times)) == want {
				return true
			}
		}
		for _, t := range s.Evidence.rows[r].times {
			add(&all, t)
		}
	}
	from := all
	if common := slices.DeleteFunc(slices.Clone(all), func(t int64) bool { return !slices.Contains(said, t) }); len(common) > 0 {
		from = common
	}
	step := int64(0)
	if c.about && c.unit == hours {
		step = 15
	}
	apart := func(from, to []int64) bool {
		return slices.ContainsFunc(from, func(a int64) bool {
			return slices.ContainsFunc(to, func(b int64) bool {
				d, e := ((a-b)%whole+whole)%whole, ((b-a)%whole+whole)%whole
				return a != b && (d-want <= step && want-d <= step || e-want <= step && want-e <= step)
			})
		})
	}
	return apart(from, all) || apart(anywhere, anywhere)
}

package grounding

import (
	"slices"
	"strings"
)

// ago and ahead are words of a time that is over, and of one to come.
var (
	ago   = words("ago late overdue since seit überfällig verspätet verspätung vor her past already bereits schon")
	ahead = words("in noch left until bis remaining remain remains from now ahead verbleiben bleiben nur")
)

// sinceThen: the time from today to a day, or between two, of what was spoken of;
// where nothing was, of any thing, if the sentence says whether it is to come.
func (s *sentence) sinceThen(c *claim) bool {
	past, future := s.hasWord(ago), s.hasWord(ahead)
	toToday := func(d day) bool {
		return between(max(d, s.today)-min(d, s.today), c) && (d >= s.today || past || !future) && (d <= s.today || future || !past)
	}
	apart := func(list []day) bool {
		for i, a := range list {
			if slices.ContainsFunc(list[i+1:], func(b day) bool {
				d := max(a, b) - min(a, b)
				return between(d, c) || c.unit == days && between(d+1, c) // both are counted
			}) {
				return true
			}
		}
		return false
	}
	if days := s.topic.days; slices.ContainsFunc(days, toToday) || apart(days) {
		return true
	}
	for r := range s.Evidence.rows {
		row := &s.Evidence.rows[r]
		if r <= now || len(row.days) == 0 {
			continue
		}
		spoken := slices.Contains(s.topic.rows, int32(r))
		if (spoken || row.list < 0) && (slices.ContainsFunc(row.days, toToday) || apart(row.days)) {
			return true
		}
		if len(s.topic.rows) == 0 && len(s.topic.days) == 0 && past != future && slices.ContainsFunc(row.days, toToday) {
			return true
		}
	}
	return false
}

// over are words of an end.
var over = words("bis until till done finished finish ends ende endet end over fertig belegt zurück back")

// lasting: a time of day, or a day, that is as far after one of a row as the row says
// it lasts.
func (s *sentence) lasting(c *claim, in *clause) bool {
	if !s.hasWord(over) {
		return false
	}
	for _, k := range c.keys {
		if k.form != aTime {
			continue
		}
		for r := range s.Evidence.rows {
			row := &s.Evidence.rows[r]
			if r <= now || len(row.times) == 0 || !s.fits(int32(r), in) {
				continue
			}
			for _, f := range row.figures {
				if f.of.kind == "time" && f.of.times <= 60 && slices.ContainsFunc(row.times, func(at int64) bool { return at+int64(f.value*f.of.times) == k.n }) {
					return true
				}
			}
		}
	}
	return false
}

// atHours are words after which a number alone may be an hour.
var atHours = words("at from to until till between and um von bis ab zwischen und")

// hour: from 10 to 2.
func (s *sentence) hour(c *claim, in *clause) bool {
	if c.value < 1 || c.value > 24 || c.value != float64(int64(c.value)) || !atHours[s.wordBefore(c.start)] {
		return false
	}
	h := int64(c.value)
	for _, at := range []int64{h * 60, (h + 12) * 60} {
		if slices.ContainsFunc(s.index[key{form: aTime, n: at}], func(r int32) bool { return s.fits(r, in) }) {
			return true
		}
	}
	return false
}

func (s *sentence) wordBefore(at int) string {
	list := strings.Fields(strings.ToLower(s.blank[max(0, at-24):at]))
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// birth are words in the names of days from which an age is counted.
var birth = words("born birth birthday geboren founded opened since")

// aged are words of an age.
var aged = words("alt old age alter aged")

// turns: how many years it is, or will be this year, since a day of birth.
func (s *sentence) turns(c *claim, in *clause) bool {
	if c.unit != years && c.unit != noUnit || c.value < 1 {
		return false
	}
	for r := range s.Evidence.rows {
		row := &s.Evidence.rows[r]
		if r <= now || !slices.ContainsFunc(row.members, func(name string) bool { return birth[name] }) || !s.fits(int32(r), in) || !s.mentioned(int32(r), in) {
			continue
		}
		for _, d := range row.days {
			from, to := d.time(), s.today.time()
			age := to.Year() - from.Year()
			if to.YearDay() < from.YearDay() {
				age--
			}
			if int(c.value) == age || c.unit == noUnit && int(c.value) == age+1 {
				return true
			}
		}
	}
	return false
}

// labels: a number that has a word before it which results give numbers by that name:
// level 3. True where none does.
func (s *sentence) labels(c *claim, in *clause) bool {
	of := s.called[meaning(s.wordBefore(c.start))]
	if of == nil || len(of.figures) == 0 || c.unit != noUnit {
		return true
	}
	has := false
	for r := range s.Evidence.rows {
		if r <= now || !s.fits(int32(r), in) {
			continue
		}
		for _, f := range s.Evidence.rows[r].figures {
			if slices.Contains(of.figures, f.name) && strings.HasSuffix(strings.ToLower(f.name), s.wordBefore(c.start)) {
				if f.value == c.value {
					return true
				}
				has = true
			}
		}
	}
	return !has
}

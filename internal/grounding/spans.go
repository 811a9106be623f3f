package grounding

import (
	"iter"
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
	awaited := func(row *row) bool {
		for i, d := range row.days {
			if toToday(d) && s.awaited(row, i) {
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
		if (spoken || row.list < 0) && (awaited(row) || apart(row.days)) {
			return true
		}
		if len(s.topic.rows) == 0 && len(s.topic.days) == 0 && past != future && awaited(row) {
			return true
		}
	}
	return false
}

// over are words of an end.
var over = words("bis until till done finished finish ends ende endet end over fertig belegt zurück back")

// monthBefore: the month before the one that a result is of, which something is
// set against.
func (s *sentence) monthBefore(c *claim) bool {
	if c.keys[0].form != aMonthOf || !s.hasWord(comparing) {
		return false
	}
	for r := range s.Evidence.rows {
		for _, d := range s.Evidence.rows[r].months {
			if (d+10)%12+1 == c.keys[0].n {
				return true
			}
		}
	}
	return false
}

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

// beforeDays are words before a day of a month that is not said: am 21.
var beforeDays = words("am dem den zum vom der ab bis")

// dayOfMonth: am 21., of a row that has such a day.
func (s *sentence) dayOfMonth(c *claim, in *clause) bool {
	if c.value < 1 || c.value > 31 || c.end >= len(s.blank) || s.blank[c.end] != '.' || !beforeDays[s.wordBefore(c.start)] {
		return false
	}
	for r := range s.Evidence.rows {
		if r > now && s.fits(int32(r), in) && slices.ContainsFunc(s.Evidence.rows[r].days, func(d day) bool { return d.time().Day() == int(c.value) }) {
			return true
		}
	}
	return false
}

// atHours are words after which a number alone may be an hour.
var atHours = words("at from to until till between and um von bis ab zwischen und")

// hour: from 10 to 2.
func (s *sentence) hour(c *claim, in *clause) bool {
	if c.value < 1 || c.value > 24 || c.value != float64(int64(c.value)) {
		return false
	}
	h := int64(c.value)
	before := strings.ToLower(s.blank[max(0, c.start-16):c.start])
	for _, near := range []struct {
		words    string
		from, to int64
	}{{"kurz vor ", -15, 0}, {"kurz nach ", 0, 15}, {"shortly before ", -15, 0}, {"shortly after ", 0, 15}, {"gegen ", -15, 15}, {"around ", -15, 15}} {
		if !strings.HasSuffix(before, near.words) {
			continue
		}
		for r := range s.Evidence.rows {
			for _, at := range s.Evidence.rows[r].times {
				if d := at - h*60; (d >= near.from && d <= near.to || d-12*60 >= near.from && d-12*60 <= near.to) && s.fits(int32(r), in) {
					return true
				}
			}
		}
	}
	if !atHours[s.wordBefore(c.start)] {
		return false
	}
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
	var ends []day
	if s.hasWord(weekly) {
		ends = append(ends, monday(today), monday(today)+4, monday(today)+6, monday(today)+7, monday(today)+11, monday(today)+13, today+7, today+14)
	}
	if s.hasWord(monthly) {
		ends = append(ends, endOfMonth(today), endOfMonth(today)+1, today-day(today.time().Day())+1, today+30)
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
			if near(a, s.today) && s.awaited(row, i) {
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

// awaited reports whether a day is one that something can be late for, if the
// sentence says that it is.
func (s *sentence) awaited(row *row, i int) bool {
	if !s.hasWord(tardy) {
		return true
	}
	is := func(name string) bool {
		return slices.ContainsFunc(strings.Split(name, "_"), func(w string) bool { return dueNames[w] })
	}
	return is(row.named[i]) || !slices.ContainsFunc(row.named, is)
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

// duration: the time between two times of day of one row, which may be of two
// days; or of all rows of a list that are over, together.
func (s *sentence) duration(c *claim, in *clause) bool {
	const whole = 24 * 60
	want := int64(c.value)
	if c.unit == hours {
		want = int64(c.value * 60)
	}
	var said []int64
	for i := range s.claims {
		for _, k := range s.claims[i].keys {
			if k.form == aTime {
				said = append(said, k.n)
			}
		}
	}
	for r := range s.Evidence.rows {
		times := s.Evidence.rows[r].times
		if len(times) > 0 && s.fits(int32(r), in) && slices.ContainsFunc(times, func(at int64) bool {
			return slices.ContainsFunc(said, func(b int64) bool { return at-b == want || b-at == want })
		}) {
			return true
		}
		for i, a := range times {
			for _, b := range times[i+1:] {
				if (a-b == want || b-a == want || (a-b+whole)%whole == want || (b-a+whole)%whole == want) && s.fits(int32(r), in) {
					return true
				}
			}
		}
	}
	if !s.hasWord(adding) {
		return false
	}
	for _, l := range s.lists {
		all, past := int64(0), int64(0)
		for _, r := range l.rows {
			row := &s.Evidence.rows[r]
			if len(row.times) != 2 || !s.fits(r, in) {
				continue
			}
			took := max(row.times[0], row.times[1]) - min(row.times[0], row.times[1])
			if all += took; !slices.ContainsFunc(row.days, func(d day) bool { return d > s.today }) {
				past += took
			}
		}
		if all == want || past == want {
			return true
		}
	}
	return false
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
	if s.owned != nil {
		return // both are of what it marks: a course's day and its hours
	}
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

// weekly and monthly are words of a time that has an end of its own.
var (
	weekly  = words("woche wochen week weeks wochenende weekend")
	monthly = words("monat monats monatsende month months")
)

// tardy are words of what is late, and dueNames are parts of the names of days that
// something can be late for.
var (
	tardy    = words("overdue late überfällig verspätet verspätung verzug fällig due")
	dueNames = words("due until deadline eta expires expected delivery planned service end ends")
)

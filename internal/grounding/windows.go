package grounding

import (
	"slices"
	"strings"
)

// window is a time that a part of a sentence names.
type window struct{ from, to day }

// comes are words of what is to come.
var comes = []string{"vor dir", "vor uns", "ahead", "upcoming", "coming up", "bevorstehend", "ansteh", "steht an", "stehen an"}

// windows are the times that a part of a sentence may name.
func (s *sentence) windows(part span) []window {
	if list, ok := s.windowed[part]; ok {
		return list
	}
	if s.windowed == nil {
		s.windowed = map[span][]window{}
	}
	s.windowed[part] = s.findWindows(part)
	return s.windowed[part]
}

func (s *sentence) findWindows(part span) (list []window) {
	lower := strings.ToLower(s.blank[part.start:part.end])
	if from, to, called := s.timeIn(s.text[part.start:part.end]); called != "" {
		if strings.Contains(lower, "heute") && strings.Contains(lower, "morgen") || strings.Contains(lower, "today") && strings.Contains(lower, "tomorrow") {
			to++
		}
		list = append(list, window{from, to})
	}
	if strings.Contains(lower, "two days") || strings.Contains(lower, "beiden tage") || strings.Contains(lower, "zwei tage") {
		list = append(list, window{s.today, s.today + 1})
	}
	if slices.ContainsFunc(comes, func(w string) bool { return strings.Contains(lower, w) }) {
		list = append(list, window{s.today, s.today + 36500})
	}
	until := s.hasWordIn(part, untilWords)
	last := day(0)
	for i := range s.claims {
		x := &s.claims[i]
		if x.start < part.start || x.start >= part.end {
			continue
		}
		if x.sort == sortNumber && x.unit == noUnit && x.value >= 1990 && x.value < 2100 && x.end-x.start == 4 {
			list = append(list, window{ymd(int(x.value), 1, 1), ymd(int(x.value), 12, 31)})
		}
		if n := daysIn(x); n > 0 && s.hasWordIn(part, nextWords) {
			list = append(list, window{s.today, s.today + n})
		} else if n > 0 && s.hasWordIn(part, lastWords) {
			list = append(list, window{s.today - n, s.today})
		}
		if x.sort != sortDate {
			continue
		}
		for _, k := range x.keys {
			var w window
			switch k = k.resolve(s.today); k.form {
			case aDay:
				w = window{day(k.n), day(k.n)}
			case aMonthDay:
				d := ymd(s.today.time().Year(), int(k.n)/100, int(k.n)%100)
				w = window{d, d}
			case aMonth:
				d := ymd(int(k.n)/100, int(k.n)%100, 1)
				w = window{d, endOfMonth(d)}
			case aMonthOf:
				d := ymd(s.today.time().Year(), int(k.n), 1)
				w = window{d, endOfMonth(d)}
			default:
				continue
			}
			list = append(list, w)
			switch before := s.wordBefore(x.start); {
			case before == "since" || before == "seit" || s.hasWordIn(part, sinceWords):
				list = append(list, window{w.from, max(w.from, s.today)}, window{w.from, s.today + 36500})
			case before == "from" || before == "ab" || before == "after" || before == "nach":
				list = append(list, window{w.from, s.today + 36500})
			}
			if until && w.to >= s.today {
				list = append(list, window{s.today, w.to})
			}
			if last != 0 && last < w.from {
				list = append(list, window{last, w.to})
			}
			last = w.from
		}
	}
	return list
}

var (
	untilWords = words("until till bis by before between zwischen vor through")
	nextWords  = words("next nächsten kommenden coming within innerhalb binnen")
	lastWords  = words("last past letzten vergangenen previous")
	sinceWords = words("since seit")
)

// daysIn are the days of a number of days, weeks or months; 0: it is of something else.
func daysIn(c *claim) day {
	if c.sort != sortNumber {
		return 0
	}
	switch c.unit {
	case days:
		return day(c.value)
	case weeks:
		return day(7 * c.value)
	case months:
		return day(30.44 * c.value)
	}
	return 0
}

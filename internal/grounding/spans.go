package grounding

import "slices"

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

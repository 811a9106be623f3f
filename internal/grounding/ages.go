package grounding

import "slices"

// birth are words in the names of days from which an age is counted.
var birth = words("built year born birth birthday geboren founded opened since")

// aged are words of an age.
var aged = words("alt old age alter aged")

// becoming are words before an age to come.
var becoming = words("wird werden turns becomes")

// turns: how many years it is, or will be this year, since a day of birth.
func (s *sentence) turns(c *claim, in *clause) bool {
	if c.unit != years && c.unit != noUnit || c.value < 1 {
		return false
	}
	for r := range s.Evidence.rows {
		row := &s.Evidence.rows[r]
		if r <= now || !slices.ContainsFunc(row.members, func(name string) bool { return birth[name] }) || !s.fits(int32(r), in) ||
			!s.mentioned(int32(r), in) && !slices.Contains(s.topic.rows, int32(r)) {
			continue
		}
		for _, f := range row.figures {
			if birth[f.name] && f.value+c.value == float64(s.today.time().Year()) {
				return true
			}
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

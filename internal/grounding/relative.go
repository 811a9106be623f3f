package grounding

import "time"

// resolve gives a day that is said from today.
func (k key) resolve(today day) key {
	if k.form == aDay && k.s == "today" {
		return key{form: aDay, n: int64(today) + k.n}
	}
	return k
}

// monday is the first day of a day's week.
func monday(d day) day { return d - day((int(d.weekday())+6)%7) }

// endOfMonth is the last day of a day's month.
func endOfMonth(d day) day {
	t := d.time()
	return dayOf(time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC))
}

// expand gives the keys that a value in evidence has beside its own: a day is of
// a month, and is a weekday.
func expand(k key) []key {
	if k.form != aDay {
		return nil
	}
	t := day(k.n).time()
	return []key{
		{form: aMonthDay, n: int64(int(t.Month())*100 + t.Day())},
		{form: aMonth, n: int64(t.Year()*100 + int(t.Month()))},
		{form: aMonthOf, n: int64(t.Month())},
		{form: aWeekday, n: int64(t.Weekday())},
		number(float64(t.Year())),
	}
}

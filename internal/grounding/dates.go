package grounding

import "strings"

var monthWords = func() map[string]int {
	m := map[string]int{}
	for i, words := range []string{
		"jan januar january jänner", "feb februar february", "mär märz maerz mar march mrz", "apr april", "mai may",
		"jun juni june", "jul juli july", "aug august", "sep sept september", "okt oct oktober october",
		"nov november", "dez dec dezember december",
	} {
		for _, w := range strings.Fields(words) {
			m[w] = i + 1
		}
	}
	return m
}()

var weekdayWords = func() map[string]int {
	m := map[string]int{}
	for i, words := range []string{
		"sonntag sunday", "montag monday", "dienstag tuesday", "mittwoch wednesday", "donnerstag thursday",
		"freitag friday", "samstag sonnabend saturday",
	} {
		for _, w := range strings.Fields(words) {
			m[w] = i + 1
		}
	}
	return m
}()

// weekdayMarks are short forms, which stand before a date only.
var weekdayMarks = map[string]int{
	"so": 1, "mo": 2, "di": 3, "mi": 4, "do": 5, "fr": 6, "sa": 7,
	"sun": 1, "mon": 2, "tue": 3, "tues": 3, "wed": 4, "thu": 5, "thur": 5, "thurs": 5, "fri": 6, "sat": 7,
}

// relativeDays are words for a day from today.
var relativeDays = map[string]int{
	"heute": 0, "today": 0, "morgen": 1, "tomorrow": 1, "übermorgen": 2, "gestern": -1, "yesterday": -1, "vorgestern": -2,
}

// beforeMonth are words after which a month without a day is one.
var beforeMonth = words("im in seit bis ab until since by of ende anfang mitte early late mid end for vom zum during from to")

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// lower is a short word in lower case; "" for a long one.
func (s *scanner) lower(i int) string {
	t := s.at(i)
	if t.t != 'w' || t.end-t.start > 24 {
		return ""
	}
	return strings.ToLower(s.text[t.start:t.end])
}

// month reads a month's name; in English it must be written as one.
func (s *scanner) month(i int) (int, int) {
	w := s.lower(i)
	m := monthWords[w]
	if m == 0 || s.text[s.at(i).start] >= 'a' && s.text[s.at(i).start] <= 'z' && (w == "may" || w == "march" || w == "mar" || w == "august") {
		return 0, i
	}
	if len(w) <= 4 && w != "mai" && w != "may" && w != "juni" && w != "juli" && s.str(i+1) == "." && s.is(i+1, 'p') {
		return m, i + 2
	}
	return m, i + 1
}

// year reads a year that follows, perhaps after a comma.
func (s *scanner) year(i int) (int, int) {
	j := i
	if s.str(j) == "," && s.is(j+1, 's') {
		j++
	}
	j = s.space(j)
	if y, ok := s.digits(j, 4); ok && s.at(j).end-s.at(j).start == 4 && y >= 1900 && y < 2200 && j > i {
		return y, j + 1
	}
	return 0, i
}

// date takes in a date that begins with digits, or several that share a month.
func (s *scanner) date(i int) int {
	if j := s.iso(i); j > i {
		return j
	}
	if j := s.slashed(i); j > i {
		return j
	}
	return s.dotted(i)
}

// iso is 2026-05-16, with or without a time.
func (s *scanner) iso(i int) int {
	y, ok := s.digits(i, 4)
	if !ok || s.at(i).end-s.at(i).start != 4 || y < 1000 || s.at(i+3).t != 'p' {
		return i
	}
	if sep := s.str(i + 1); sep != "-" && sep != "/" || s.str(i+3) != sep {
		return i
	}
	m, ok := s.digits(i+2, 2)
	if !ok || m < 1 || m > 12 {
		return i
	}
	d, ok := s.digits(i+4, 2)
	j := i + 5
	if !ok && s.is(i+4, 'a') { // 16T14
		part := s.str(i + 4)
		if len(part) < 5 || part[2] != 'T' && part[2] != 't' {
			return i
		}
		d, ok = int(part[0]-'0')*10+int(part[1]-'0'), part[0] <= '3' && part[1] <= '9' && part[3] <= '2' && part[4] <= '9'
		if !ok {
			return i
		}
		s.addDay(i, i+4, y, m, d, 0)
		h := int(part[3]-'0')*10 + int(part[4]-'0')
		if min, isMin := s.digits(i+6, 2); s.str(i+5) == ":" && isMin && h < 24 && min < 60 {
			s.add(claim{start: s.at(i + 4).start, end: s.at(i + 6).end, sort: sortDate, keys: []key{{form: aTime, n: int64(h*60 + min)}}})
			j = i + 7
			if s.str(j) == ":" && (s.is(j+1, 'n') || s.is(j+1, 'a')) {
				j += 2
				if s.str(j) == "." && (s.is(j+1, 'n') || s.is(j+1, 'a')) {
					j += 2
				}
			}
			if p := s.str(j); (p == "+" || p == "-") && s.is(j+1, 'n') && s.at(j).start == s.at(j-1).end {
				j += 2
				if s.str(j) == ":" && s.is(j+1, 'n') {
					j += 2
				}
			}
		}
		return j
	}
	if !ok || d < 1 || d > 31 {
		return i
	}
	s.addDay(i, i+4, y, m, d, s.weekdayBefore(i))
	return j
}

// slashed is 16/05/2026 or 05/16/2026, and 16/05.
func (s *scanner) slashed(i int) int {
	a, ok := s.digits(i, 2)
	b, ok2 := s.digits(i+2, 2)
	if !ok || !ok2 || s.str(i+1) != "/" {
		return i
	}
	var keys []key
	last := i + 2
	if y, ok := s.digits(i+4, 4); ok && s.str(i+3) == "/" {
		y = full(y, s.at(i+4))
		keys, last = append(dayKeys(y, b, a), dayKeys(y, a, b)...), i+4
	} else {
		keys = append(monthDayKeys(b, a), monthDayKeys(a, b)...)
	}
	if len(keys) == 0 {
		return i
	}
	s.add(claim{start: s.at(i).start, end: s.at(last).end, sort: sortDate, keys: keys, weekday: s.weekdayBefore(i)})
	return last + 1
}

func full(y int, t token) int {
	if t.end-t.start <= 2 {
		return 2000 + y
	}
	return y
}

func dayKeys(y, m, d int) []key {
	if m < 1 || m > 12 || d < 1 || d > 31 || y < 1000 {
		return nil
	}
	return []key{{form: aDay, n: int64(ymd(y, m, d))}}
}

func monthDayKeys(m, d int) []key {
	if m < 1 || m > 12 || d < 1 || d > 31 {
		return nil
	}
	return []key{{form: aMonthDay, n: int64(m*100 + d)}}
}

// most is how many days may share a month.
const most = 8

// dotted is 16.05.2026, 16. Mai, 16 May 2026, and lists of days: 16. und 18. Mai,
// 16.–18.05.
func (s *scanner) dotted(i int) int {
	var at [most]int
	var day [most]int
	n, j := 0, i
	for n < most {
		d, ok := s.digits(j, 2)
		if !ok || d < 1 || d > 31 {
			return i
		}
		at[n], day[n] = j, d
		n++
		j++
		dot := s.str(j) == "." && s.is(j, 'p')
		if dot {
			j++
		} else if w := s.lower(j); w == "th" || w == "st" || w == "nd" || w == "rd" {
			j++
		}
		// 16.05.
		if m, ok := s.digits(j, 2); dot && ok && s.at(j).start == s.at(j-1).end && m >= 1 && m <= 12 {
			return s.numeric(i, at[:n], day[:n], m, j)
		}
		k := s.space(j)
		if w := s.lower(k); w == "of" {
			k = s.space(k + 1)
		}
		if m, after := s.month(k); m > 0 && (k > j || dot) {
			if n > 1 && day[n-1] <= day[n-2] {
				return i // Debian 12, 8. Dezember
			}
			y, end := s.year(after)
			for x := range n {
				s.addDay(at[x], after-1, y, m, day[x], s.weekdayBefore(at[x]))
				s.claims[len(s.claims)-1].end = s.at(max(end-1, at[x])).end
			}
			return end
		}
		next := s.list(j)
		if next == j {
			return i
		}
		j = next
	}
	return i
}

// list passes over what ties two days together.
func (s *scanner) list(j int) int {
	k := s.space(j)
	switch w := s.str(k); {
	case w == "," || w == "-" || w == "–" || w == "—" || w == "/" || w == "&":
		return s.space(k + 1)
	case s.is(k, 'w'):
		switch s.lower(k) {
		case "und", "and", "bis", "to", "oder", "or":
			next := s.space(k + 1)
			if w := s.lower(next); w == "zum" || w == "the" || w == "einschließlich" {
				next = s.space(next + 1)
			}
			return next
		case "auf": // vom 20. auf den 21.
			if next := s.space(k + 1); s.lower(next) == "den" {
				return s.space(next + 1)
			}
		}
	}
	return j
}

// numeric is the rest of 16.05. or 16.05.2026, at the month.
func (s *scanner) numeric(i int, at, day []int, m, j int) int {
	y, last, closed := 0, j, false
	if s.str(j+1) == "." && s.is(j+1, 'p') {
		closed = true
		if v, ok := s.digits(j+2, 4); ok && s.at(j+2).start == s.at(j+1).end && (s.at(j+2).end-s.at(j+2).start == 4 || s.at(j+2).end-s.at(j+2).start == 2) {
			y, last = full(v, s.at(j+2)), j+2
		} else if v, end := s.year(j + 2); v > 0 {
			y, last = v, end-1
		} else if s.is(j+2, 'n') && s.at(j+2).start == s.at(j+1).end {
			return i // 1.2.3: no date
		}
	}
	if y == 0 && !closed && (s.at(j).end-s.at(j).start < 2 || s.counts(j+1)) {
		return i // a number
	}
	for x := range day {
		s.addDay(at[x], last, y, m, day[x], s.weekdayBefore(at[x]))
		ends := closed && s.at(s.space(j+2)).t == 0
		if y == 0 && (!closed || ends) && len(day) == 1 { // 16.05 may be a number
			c := &s.claims[len(s.claims)-1]
			c.keys = append(c.keys, readings(s.text[s.at(i).start:s.at(j).end])...)
		}
	}
	if last == j && closed { // the dot is the date's unless it ends the sentence
		return j + 1
	}
	return last + 1
}

// counts reports whether what follows a number says what it counts.
func (s *scanner) counts(j int) bool {
	w := s.lower(s.space(j))
	return scales[w] > 0 || unitOf(w) != noUnit || s.str(s.space(j)) == "%" || w == "prozent" || w == "percent"
}

// addDay adds a claim for a day; without a year y is 0.
func (s *scanner) addDay(i, last, y, m, d, weekday int) {
	keys := monthDayKeys(m, d)
	if y > 0 {
		keys = dayKeys(y, m, d)
	}
	s.add(claim{start: s.at(i).start, end: s.at(last).end, sort: sortDate, keys: keys, weekday: weekday})
}

// weekdayBefore is the weekday that is said of the date at i, from 1; 0: none.
func (s *scanner) weekdayBefore(i int) int {
	k := i - 1
	for steps := 0; steps < 6 && k >= 0; steps++ {
		switch t := s.at(k); {
		case t.t == 's' || t.t == 'p' && strings.Contains(",.(", s.text[t.start:t.end]):
			k--
			continue
		case t.t == 'w':
			w := s.lower(k)
			if w == "den" || w == "the" || w == "dem" {
				k--
				continue
			}
			if d := weekdayWords[w]; d > 0 {
				s.dropWeekday(s.at(k))
				return d
			}
			if c := s.text[t.start]; c >= 'A' && c <= 'Z' {
				return weekdayMarks[w]
			}
		}
		return 0
	}
	return 0
}

// dropWeekday takes back the claim of a weekday that belongs to a date.
func (s *scanner) dropWeekday(t token) {
	for k := len(s.claims) - 1; k >= 0; k-- {
		if s.claims[k].start == t.start {
			s.claims = append(s.claims[:k], s.claims[k+1:]...)
			return
		}
	}
}

// worded is a date or a number in words.
func (s *scanner) worded(i int) int {
	w := s.lower(i)
	if w == "" {
		return i
	}
	if d := weekdayWords[w]; d > 0 && !lowerFirst(s.str(i)) && !s.surnames[s.lower(i-2)+" "+w] {
		s.add(claim{start: s.at(i).start, end: s.at(i).end, sort: sortDate, keys: []key{{form: aWeekday, n: int64(d - 1)}}})
		return i + 1
	}
	if m, after := s.month(i); m > 0 {
		if j := s.monthFirst(i, m, after); j > i {
			return j
		}
	}
	if n, ok := relativeDays[w]; ok && s.isDay(i, w) {
		if before := s.lower(i - 2); s.lower(i-4) == "day" && (before == "after" && n > 0 || before == "before" && n < 0) {
			n *= 2
		}
		s.add(claim{start: s.at(i).start, end: s.at(i).end, sort: sortDate, keys: []key{{form: aDay, n: int64(n), s: "today"}}})
		return i + 1
	}
	for _, try := range []func(int, string) int{s.clockWord, s.partHour, s.fractionWord, s.halfWord, s.timesWord, s.ordinalWord} {
		if j := try(i, w); j > i {
			return j
		}
	}
	return s.numberWord(i, w)
}

func lowerFirst(w string) bool { return w[0] >= 'a' && w[0] <= 'z' }

// isDay tells tomorrow from the morning.
func (s *scanner) isDay(i int, w string) bool {
	if w != "morgen" {
		return true
	}
	before := ""
	if s.is(i-1, 's') {
		before = s.lower(i - 2)
	}
	switch before {
	case "heute", "am", "gestern", "guten", "jeden", "der", "den", "dem", "diesen":
		return false
	}
	return lowerFirst(s.str(i)) || before == "" || i < 2
}

// monthFirst is May 16, May 16–18, 2026, Mai 2026, and im Mai.
func (s *scanner) monthFirst(i, m, after int) int {
	var at, day [most]int
	n, j := 0, s.space(after)
	for j > after && n < most {
		d, ok := s.digits(j, 2)
		if !ok {
			if part := s.str(j); s.is(j, 'a') && len(part) >= 3 && len(part) <= 4 && ordinalEnd(part[len(part)-2:]) {
				d, ok = atoi(part[:len(part)-2])
			}
		}
		if !ok || d < 1 || d > 31 {
			break
		}
		if s.str(j+1) == ":" || (s.str(j+1) == "." || s.str(j+1) == "," && s.at(j+2).start == s.at(j+1).end) && s.is(j+2, 'n') {
			break
		}
		at[n], day[n] = j, d
		n++
		j++
		if next := s.list(j); next > j && (s.is(next, 'n') && s.at(next).end-s.at(next).start <= 2 || s.is(next, 'a')) && s.str(s.space(j)) != "," {
			j = next
			continue
		}
		break
	}
	if n > 0 {
		y, end := s.year(j)
		for x := range n {
			s.addDay(i, at[x], y, m, day[x], s.weekdayBefore(i))
		}
		return end
	}
	if y, end := s.year(after); y > 0 {
		s.add(claim{start: s.at(i).start, end: s.at(end - 1).end, sort: sortDate, keys: []key{{form: aMonth, n: int64(y*100 + m)}}})
		return end
	}
	if len(s.str(i)) > 3 && !lowerFirst(s.str(i)) && s.is(i-1, 's') && beforeMonth[s.lower(i-2)] {
		s.add(claim{start: s.at(i).start, end: s.at(i).end, sort: sortDate, keys: []key{{form: aMonthOf, n: int64(m)}}})
		return i + 1
	}
	return i
}

func ordinalEnd(s string) bool { return s == "th" || s == "st" || s == "nd" || s == "rd" }

func atoi(s string) (v int, ok bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || v > 1e8 {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return v, s != ""
}

// ordinal is 16th of May, 3rd, and numbers with what they count: 3h, 30min.
func (s *scanner) ordinal(i int) int {
	part := s.str(i)
	k := 0
	for k < len(part) && part[k] >= '0' && part[k] <= '9' {
		k++
	}
	v, ok := atoi(part[:k])
	if !ok {
		return i
	}
	rest := strings.ToLower(part[k:])
	if ordinalEnd(rest) {
		j := s.space(i + 1)
		if s.lower(j) == "of" {
			j = s.space(j + 1)
		}
		if m, after := s.month(j); m > 0 && v >= 1 && v <= 31 {
			y, end := s.year(after)
			s.addDay(i, end-1, y, m, v, s.weekdayBefore(i))
			return end
		}
		return i + 1 // an ordinal is no figure
	}
	if u, ok := shortUnits[rest]; ok {
		s.add(claim{start: s.at(i).start, end: s.at(i).end, sort: sortNumber, keys: []key{number(float64(v) * u.times)}, value: float64(v) * u.times, unit: u.unit, scale: u.times})
		return i + 1
	}
	if (rest == "am" || rest == "pm") && v <= 12 {
		h := v % 12
		if rest == "pm" {
			h += 12
		}
		s.add(claim{start: s.at(i).start, end: s.at(i).end, sort: sortDate, keys: []key{{form: aTime, n: int64(h * 60)}}})
		return i + 1
	}
	return i
}

package grounding

import (
	"slices"
	"strings"
)

// counted reports whether a number counts records: what follows it is what they
// are called.
func (s *sentence) counted(c *claim) bool { return c.unit == noUnit && s.counts(c) != "" }

// own reports whether a record the clause is about gives the number itself.
func (s *sentence) own(c *claim, in *clause) bool {
	return slices.ContainsFunc(s.index[key{form: aFigure, n: number(c.value).n}], func(r int32) bool {
		return s.Evidence.rows[s.wholeOf(r)].record != nil && s.fits(r, in) && s.mentioned(r, in)
	})
}

// counts is the entity of the records a number counts; empty: none.
func (s *sentence) counts(c *claim) string {
	for _, n := range c.nouns {
		if n.end == 0 {
			break
		}
		if entity := s.noun(s.text[n.start:n.end]); entity != "" {
			return entity
		}
	}
	return ""
}

// noun is the entity that a word is for, whatever its ending.
func (s *sentence) noun(word string) string {
	w := strings.ToLower(word)
	for name, entity := range s.options.Markers {
		if plural(w, name) {
			return entity
		}
	}
	for entity := range s.kinds {
		if plural(w, entity) {
			return entity
		}
	}
	return ""
}

func plural(w, name string) bool {
	rest, ok := strings.CutPrefix(w, name)
	if !ok {
		return false
	}
	switch rest {
	case "", "s", "es", "en", "e", "n", "er":
		return true
	}
	return false
}

// count reports whether there are so many records: all of a list, those of a
// time the sentence names, or those that it mentions. entity empty: of any.
func (s *sentence) count(c *claim, in *clause, entity string) bool {
	want := int(c.value)
	if float64(want) != c.value || len(c.keys) == 0 {
		return false
	}
	k := number(c.value)
	if found, named := s.counter(c, in, entity); found || named {
		return found
	}
	if slices.Contains(s.index[k], int32(given)) {
		return true
	}
	lower := strings.ToLower(s.text)
	each := strings.Contains(lower, " je ") || strings.Contains(lower, "jeweils") || strings.Contains(lower, " each")
	told := func(l *list) bool {
		return s.countedByWords(s.partOf(c), l, l.rows, map[int]bool{}, func(string) bool { return true })
	}
	any := entity == "" && slices.ContainsFunc(s.lists, func(l list) bool { return told(&l) })
	for _, l := range s.lists {
		if l.entity != entity && entity != "" || any && !told(&l) {
			continue
		}
		if n := s.holding(l, c); entity != "" && n > 0 && (n == want || each) {
			return n == want
		}
		if want <= len(l.rows) && s.sizes(c, &l, in)[want] {
			return true
		}
	}
	return false
}

// counter reports whether a result itself says how many there are. named: it has
// a name for the number which the sentence says, so no other will do.
func (s *sentence) counter(c *claim, in *clause, entity string) (found, named bool) {
	lower, meanings := strings.ToLower(s.text), s.means(s.partOf(c))
	other := false // another number of those is it
	if _, _, called := s.time(s.partOf(c)); called != "" {
		lower += " " + called
	}
	for r := range s.Evidence.rows {
		row := &s.Evidence.rows[r]
		if row.record != nil || row.list >= 0 || row.parent >= 0 && s.Evidence.rows[row.parent].list >= 0 || !s.countsOf(row.path, entity) || len(row.figures) == 0 || !s.fits(int32(r), in) {
			continue
		}
		for _, f := range row.figures {
			if of := s.noun(f.name); of != "" && of != entity && entity != "" {
				continue // it counts others
			}
			says := len(f.name) > 2 && !slices.ContainsFunc(strings.Split(f.name, "_"), func(w string) bool {
				return !generic[w] && !strings.Contains(lower, w) && !slices.Contains(meanings, meaning(w))
			})
			named = named || says && entity != "" && (strings.Contains(row.path, entity) || row.list < 0 && strings.Contains(f.name, "count"))
			if f.value == c.value && f.of.kind == "" {
				found, other = found || says, other || !says
			}
		}
	}
	return found || other && !named, named
}

// generic are parts of names that say that something is counted.
var generic = words("count total number num n of")

// countsOf reports whether an object at a path may count records of an entity:
// it is not named for another one.
func (s *sentence) countsOf(path, entity string) bool {
	if entity == "" || strings.Contains(path, entity) {
		return true
	}
	for other := range s.kinds {
		if strings.Contains(path, other) {
			return false
		}
	}
	for word, other := range s.options.Markers {
		if other != entity && strings.Contains(path, word) {
			return false
		}
	}
	return true
}

// mostGroups is how many values a field may have whose rows are counted by them.
const mostGroups = 5

// time is what time a sentence names, from today, and the English words results
// call it by; empty: it names none. What a part does not say, the parts before it
// may have.
func (s *sentence) time(part span) (from, to day, called string) {
	if from, to, called = s.timeIn(s.text[part.start:part.end]); called == "" {
		return s.timeIn(s.text[:part.start])
	}
	return from, to, called
}

func (s *sentence) timeIn(text string) (from, to day, called string) {
	t := s.today
	lower := strings.ToLower(text)
	has := func(list ...string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(lower, w) })
	}
	switch {
	case has("überfällig", "overdue"):
		return t - 36500, t - 1, "overdue"
	case has("heute", "today"):
		return t, t, "today"
	case has("übermorgen"):
		return t + 2, t + 2, "in two days"
	case has(" morgen", "tomorrow"):
		return t + 1, t + 1, "tomorrow"
	case has("nächste woche", "nächster woche", "kommende woche", "kommender woche", "next week"):
		return monday(t) + 7, monday(t) + 13, "next week"
	case has("diese woche", "dieser woche", "this week"):
		return monday(t), monday(t) + 6, "this week"
	case has("letzte woche", "letzter woche", "vergangene woche", "last week"):
		return monday(t) - 7, monday(t) - 1, "last week"
	case has("nächsten monat", "nächstem monat", "kommenden monat", "next month"):
		next := endOfMonth(t) + 1
		return next, endOfMonth(next), "next month"
	case has("letzten monat", "letztem monat", "vergangenen monat", "last month"):
		before := t - day(t.time().Day())
		return before - day(before.time().Day()) + 1, before, "last month"
	case has("gestern", "yesterday") && !has("vorgestern"):
		return t - 1, t - 1, "yesterday"
	case has("dieses jahr", "diesem jahr", "this year"):
		return ymd(t.time().Year(), 1, 1), ymd(t.time().Year(), 12, 31), "this year"
	case has("diesen monat", "diesem monat", "this month"):
		return t - day(t.time().Day()) + 1, endOfMonth(t), "this month"
	}
	return 0, 0, ""
}

// position: an ordinal is the number of something, or the place in a list.
func (s *sentence) position(c *claim, in *clause) bool {
	if slices.ContainsFunc(s.index[number(c.value)], func(r int32) bool { return s.fits(r, in) }) {
		return true
	}
	return slices.ContainsFunc(s.lists, func(l list) bool { return len(l.rows) >= int(c.value) && len(in.mentions) == 0 })
}

// holding counts the rows of a list that hold what else the sentence says; 0: it
// says nothing else that one holds.
func (s *sentence) holding(l list, c *claim) (n int) {
	for i := range s.claims {
		x := &s.claims[i]
		if x == c || x.sort != sortDate && x.sort != sortNumber || x.sort == sortNumber && (s.counted(x) || x.value < 10) {
			continue
		}
		here := 0
		for _, r := range l.rows {
			if slices.ContainsFunc(x.keys, func(k key) bool { return slices.Contains(s.index[k.resolve(s.today)], r) }) {
				here++
			}
		}
		n = max(n, here)
	}
	return n
}

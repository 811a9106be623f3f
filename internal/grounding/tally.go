package grounding

import (
	"slices"
	"strings"
)

// left are the sets of rows of a list that filters may leave, and of these the ones of
// a time that the part names, by each of their days.
func (s *sentence) left(l *list, filters []filter, part span) (sets [][]int32, timed bool) {
	sets = [][]int32{l.rows}
	for _, f := range filters {
		var next [][]int32
		for _, rows := range sets {
			for _, is := range f.any {
				if len(next) < mostSets {
					next = append(next, slices.DeleteFunc(slices.Clone(rows), func(r int32) bool { return !is(r) }))
				}
			}
		}
		sets = next
	}
	windows, weekend := s.timesNamed(part)
	if len(windows) == 0 && !weekend {
		return sets, false
	}
	var names []string
	for _, r := range l.rows {
		for _, n := range s.Evidence.rows[r].named {
			add(&names, n)
		}
	}
	if len(names) == 0 {
		return sets, false
	}
	if weekend {
		windows = []window{{0, 0}}
	}
	var in [][]int32
	for _, rows := range sets {
		for _, w := range windows {
			for _, name := range names {
				in = append(in, slices.DeleteFunc(slices.Clone(rows), func(r int32) bool {
					row := &s.Evidence.rows[r]
					for i, d := range row.days {
						if row.named[i] == name && (weekend && (d.weekday() == 6 || d.weekday() == 0) || d >= w.from && d <= w.to && !weekend) {
							return false
						}
					}
					return true
				}))
			}
			in = append(in, slices.DeleteFunc(slices.Clone(rows), func(r int32) bool { // what goes on then
				days := s.Evidence.rows[r].days
				return len(days) < 2 || slices.Min(days) > w.to || slices.Max(days) < w.from
			}))
		}
	}
	return in, true
}

// timesNamed are those that a part names.
func (s *sentence) timesNamed(part span) (windows []window, weekend bool) {
	lower := strings.ToLower(s.blank[part.start:part.end])
	return s.windows(part), strings.Contains(lower, "weekend") || strings.Contains(lower, "wochenend")
}

// mostSets is how many meanings of what a sentence says are tried.
const mostSets = 16

// counting are the lists whose rows a number counts, by the words after it.
func (s *sentence) counting(c *claim) (lists []int32, things []string) {
	things = s.things(c)
	for _, m := range things {
		if of := s.called[m]; of != nil {
			for _, l := range of.lists {
				add(&lists, l)
			}
		}
	}
	for _, n := range c.nouns {
		if n.end == 0 {
			break
		}
		entity := s.compoundOf(s.text[n.start:n.end])
		if entity == "" {
			continue
		}
		for i := range s.lists {
			if s.lists[i].entity == entity {
				add(&lists, int32(i))
			}
		}
	}
	return lists, things
}

// compoundOf is the entity that a word is for, or ends in: Wochenenddienste.
func (s *sentence) compoundOf(word string) string {
	if entity := s.noun(word); entity != "" {
		return entity
	}
	w := strings.ToLower(word)
	for name, entity := range s.options.Markers {
		if len(name) < 4 {
			continue
		}
		if i := strings.LastIndex(w, name); i > 2 && plural(w[i:], name) {
			return entity
		}
	}
	return ""
}

// tally counts the rows of a list that are as the sentence says. known: the sentence
// says of what it is the number, and how these are told from others.
func (s *sentence) tally(c *claim) (known, so bool) {
	if lower := strings.ToLower(s.blank); strings.Contains(lower, " je ") || strings.Contains(lower, "jeweils") || strings.Contains(lower, " each") {
		return false, false // so many have so much
	}
	lists, things := s.counting(c)
	named := len(lists) > 0
	part := s.partOf(c)
	if !named {
		for i := range s.lists {
			lists = append(lists, int32(i))
		}
	}
	if !named {
		things = nil
	}
	some := s.ofThem(c)
	whole := span{0, len(s.text)}
	wholeTimed := len(s.windows(whole)) > 0
	atOnce := slices.ContainsFunc(s.whole.seen, func(m seenAt) bool { return m.at >= c.end && m.at-c.end < 3 }) // five NYM cables
	first := s.numbersOf(noUnit, c) == 0
	bare, told := !named && s.isBare(c), 0
	for i := range s.lists {
		if filters, _ := s.filters(part, &s.lists[i], nil); bare && len(filters) > 0 {
			told++
		}
	}
	alone := told == 1 // of one list only it says anything
	most := 0          // that is said of the rows of one list, where the sentence names none
	if !named {
		for _, i := range lists {
			most = max(most, s.saidOf(&s.lists[i], whole))
		}
	}
	for _, i := range lists {
		l := &s.lists[i]
		if !named && (len(l.rows) < 2 || s.saidOf(l, whole) < most) {
			continue
		}
		told0, own := false, false // the part itself mentions some of them
		for n, in := range []span{part, {0, part.end}, {0, len(s.text)}} {
			if n > 0 && (in == part || told0) {
				continue
			}
			filters, unlike := s.filters(in, l, things)
			filters = append(slices.Clip(filters), s.saying(c, l, in)...)
			sets, timed := s.left(l, filters, in)
			plain := len(filters) == 0 && !timed
			own = own || n == 0 && len(filters) > 0
			told0 = told0 || n == 0 && slices.ContainsFunc(filters, func(f filter) bool { return f.named }) && (timed || !wholeTimed)
			if plain && (!named || n > 0) || !named && !timed && wholeTimed || some && n > 1 {
				continue
			}
			if named && !s.outOf(c) && definite[s.wordBefore(c.start)] && float64(len(l.rows)) == c.value {
				return true, true // the three sites
			}
			known = known || some && !first && slices.ContainsFunc(filters, func(f filter) bool { return f.named }) || bare && n == 0 && len(filters) > 0 && alone || !some && !s.outOf(c) && (named && !plain && (n == 0 || timed || slices.ContainsFunc(filters, func(f filter) bool { return f.named })) || own && len(filters) > 0 && timed || atOnce && len(filters) > 0)
			if some && n == 0 && slices.ContainsFunc(filters, func(f filter) bool { return f.named }) && !slices.ContainsFunc(sets, func(rows []int32) bool { return float64(len(rows)) >= c.value }) {
				return true, false // more than there are
			}
			for _, rows := range sets {
				if k := float64(len(rows)); k == c.value && (n > 1 || !s.hasWord(bothWords) || s.leaves(l, things, whole, c)) || some && first && n == 0 && k > c.value && c.value > 0 && slices.ContainsFunc(filters, func(f filter) bool { return f.named }) {
					return known, true
				}
			}
			if unlike && len(filters) > 0 { // all others
				others := slices.DeleteFunc(slices.Clone(filters), func(f filter) bool { return !f.named })
				all, _ := s.left(l, others, in)
				for _, rows := range all {
					for _, not := range sets {
						if float64(len(rows)-len(not)) == c.value {
							return known, true
						}
					}
				}
			}
			if s.outOf(c) { // of all that the sentence says more of
				whole := slices.DeleteFunc(slices.Clone(filters), func(f filter) bool { return f.named })
				for _, fewer := range [][]filter{nil, whole} {
					all, _ := s.left(l, fewer, in)
					if float64(len(l.rows)) == c.value || slices.ContainsFunc(all, func(rows []int32) bool { return float64(len(rows)) == c.value }) {
						return known, true
					}
				}
			}
			if so = s.ofSpoken(c, sets, in); so {
				return known, true
			}
		}
	}
	return known, false
}

// ofSpoken counts those of what was spoken of in sets of rows: her three matters.
func (s *sentence) ofSpoken(c *claim, sets [][]int32, in span) bool {
	if len(s.topic.rows) == 0 || s.owned != nil || !s.hasWordIn(in, pronouns) {
		return false
	}
	var texts []string
	for _, t := range s.topic.rows {
		for _, text := range s.Evidence.rows[t].folded {
			add(&texts, text)
		}
	}
	for _, text := range texts {
		if len(text) < 4 || len(s.textRows(text)) < 2 || timestamp(text) {
			continue
		}
		for _, rows := range sets {
			n := 0
			for _, r := range rows {
				if slices.Contains(s.Evidence.rows[r].folded, text) {
					n++
				}
			}
			if n > 1 && float64(n) == c.value {
				return true
			}
		}
	}
	return false
}

// timestamp reports whether a folded text is a day or a time, which many things have.
func timestamp(text string) bool { return text[0] >= '0' && text[0] <= '9' }

// ofThem reports whether a number is of what was spoken of before: four of them.
func (s *sentence) ofThem(c *claim) bool {
	after := strings.Fields(strings.ToLower(s.blank[c.end:min(len(s.blank), c.end+16)]))
	return len(after) > 0 && (strings.HasPrefix(after[0], "davon") || strings.HasPrefix(after[0], "darunter")) || len(after) > 1 && after[0] == "of" && (strings.HasPrefix(after[1], "them") || strings.HasPrefix(after[1], "these") || strings.HasPrefix(after[1], "those"))
}

// leaves reports whether what a part of a sentence says leaves so many rows of a list,
// or says nothing of them.
func (s *sentence) leaves(l *list, things []string, part span, c *claim) bool {
	filters, _ := s.filters(part, l, things)
	sets, _ := s.left(l, filters, part)
	return slices.ContainsFunc(sets, func(rows []int32) bool { return float64(len(rows)) == c.value })
}

// bothWords say of all that were counted what follows.
var bothWords = words("both beide all alle")

// definite are words before a number of all there are.
var definite = words("die der den the your our deine deinen deiner unsere all alle allen")

// saidOf is how much a part of a sentence says of the rows of a list.
func (s *sentence) saidOf(l *list, part span) int {
	filters, _ := s.filters(part, l, nil)
	n := len(filters)
	if windows, weekend := s.timesNamed(part); (weekend || len(windows) > 0) && slices.ContainsFunc(l.rows, func(r int32) bool { return len(s.Evidence.rows[r].named) > 0 }) {
		n++
	}
	return n
}

// isBare reports whether no word for things follows a number: five are open.
func (s *sentence) isBare(c *claim) bool {
	w := strings.ToLower(firstWord(s.blank[c.end:]))
	return toBe[w] || w == "sind" || w == "ist" || w == "waren" || w == "have" || w == "haben" || s.called[meaning(w)] != nil && len(s.called[meaning(w)].values) > 0
}

package grounding

import (
	"slices"
	"strings"
)

// filter is what a sentence says of some rows of a list; what it says may mean
// several things.
type filter struct {
	named bool // the sentence mentions a value
	any   []func(int32) bool
}

// place is words of a sentence that mention values, of whichever fields.
type place struct {
	at, end int
	by      map[int32][]int32
	spans   []span
}

// places are what a part of a sentence mentions, one after another.
func (s *sentence) places(part span) (list []place) {
	for i := range s.whole.seen {
		m := &s.whole.seen[i]
		if m.at < part.start || m.at >= part.end || slices.ContainsFunc(s.claims, func(c claim) bool { return c.sort == sortNumber && c.start == m.at && m.words == 1 }) {
			continue
		}
		at := slices.IndexFunc(list, func(p place) bool { return m.at < p.end && p.at < m.end })
		if at < 0 {
			at = len(list)
			list = append(list, place{m.at, m.end, map[int32][]int32{}, nil})
		}
		p := &list[at]
		p.at, p.end = min(p.at, m.at), max(p.end, m.end)
		p.spans = append(p.spans, span{m.at, m.end})
		p.by[m.field] = append(p.by[m.field], m.values...)
	}
	return list
}

// filters are what a part of a sentence says of the rows of a list: values that it
// mentions, and what its words mean. What all rows are says nothing, and what none is,
// is said of something else.
func (s *sentence) filters(part span, l *list, counted []string) ([]filter, bool) {
	at := filterKey{part, l, strings.Join(counted, " ")}
	if known, ok := s.filtered[at]; ok {
		return known.list, known.unlike
	}
	list, unlike := s.findFilters(part, l, counted)
	if s.filtered == nil {
		s.filtered = map[filterKey]filtering{}
	}
	s.filtered[at] = filtering{list, unlike}
	return list, unlike
}

// filterKey is of what filters were found already.
type filterKey struct {
	part    span
	list    *list
	counted string
}

type filtering struct {
	list   []filter
	unlike bool
}

// textRows are the rows that have a text, or one that begins with the word.
func (e *Evidence) textRows(text string) []int32 {
	if e.byText == nil {
		e.byText = map[string][]int32{}
		note := func(t string, r int32) {
			if rows := e.byText[t]; len(rows) == 0 || rows[len(rows)-1] != r {
				e.byText[t] = append(rows, r)
			}
		}
		for r := range e.rows {
			for _, t := range e.rows[r].folded {
				note(t, int32(r))
				if first, _, more := strings.Cut(t, " "); more && len(first) > 4 {
					note(first, int32(r))
				}
			}
		}
	}
	return e.byText[text]
}

func (s *sentence) findFilters(part span, l *list, counted []string) (list []filter, unlike bool) {
	some := func(is func(int32) bool) bool {
		n := 0
		for _, r := range l.rows {
			if is(r) {
				n++
			}
		}
		return n > 0 && n < len(l.rows)
	}
	var used []place
	for _, p := range s.places(part) {
		// Of one field, several are all of those: Berghoff, Novak and Pfau.
		at := slices.IndexFunc(used, func(u place) bool {
			for f := range p.by {
				if u.by[f] != nil {
					return true
				}
			}
			return false
		})
		if at >= 0 {
			for f, v := range p.by {
				used[at].by[f] = append(used[at].by[f], v...)
			}
			used[at].spans = append(used[at].spans, p.spans...)
			continue
		}
		used = append(used, p)
	}
	var by []place // that tell some of the rows from others
	for _, p := range used {
		is := func(r int32) bool {
			return s.hasOf(r, func(m mention) bool { return slices.Contains(p.by[m.field], m.value) })
		}
		if some(is) {
			list = append(list, filter{true, []func(int32) bool{is}})
			by = append(by, p)
		}
	}
	exact := map[string]bool{}
	for i, t := range s.scanner.tokens {
		if t.t != 'w' || t.start < part.start || t.end > part.end || slices.ContainsFunc(by, func(p place) bool {
			return slices.ContainsFunc(p.spans, func(m span) bool { return m.start <= t.start && t.end <= m.end })
		}) {
			continue
		}
		w := s.scanner.lower(i)
		two := w + " " + s.scanner.lower(i+2)
		for _, text := range []string{two, w} {
			rows := s.textRows(text)
			is := func(r int32) bool { _, ok := slices.BinarySearch(rows, r); return ok }
			if len(text) > 2 && rows != nil && !exact[text] && !counters[text] && some(is) {
				exact[text] = true
				exact[meaning(w)] = true
				if text == two {
					exact[meaning(s.scanner.lower(i+2))] = true
				}
				list = append(list, filter{false, []func(int32) bool{is}})
				break
			}
		}
	}
	for _, m := range s.means(part) {
		of := s.called[m]
		if exact[m] || timeMeanings[m] || slices.ContainsFunc(of.lists, func(n int32) bool { return s.lists[n].name == l.name }) || slices.ContainsFunc(of.values, func(v mention) bool {
			return slices.ContainsFunc(used, func(p place) bool { return slices.Contains(p.by[v.field], v.value) })
		}) {
			continue
		}
		var any []func(int32) bool
		as := func(r int32) bool { return valued(&s.Evidence.rows[r], of) }
		if some(as) {
			any = append(any, as)
			for _, v := range of.values {
				one := func(r int32) bool { return slices.Contains(s.Evidence.rows[r].has, v) }
				if some(one) {
					any = append(any, one)
				}
			}
		} else if as = func(r int32) bool { return having(&s.Evidence.rows[r], of) }; some(as) {
			any = append(any, as)
		}
		if any != nil {
			list = append(list, filter{false, any})
		}
	}
	return list, s.hasWordIn(part, negations) || s.saysUn(part) || strings.Contains(s.blank[part.start:part.end], "n't") || strings.Contains(s.blank[part.start:part.end], "n’t")
}

// timeMeanings are of words for a time, which say nothing of what is so called.
var timeMeanings = words("=day =week =month =year =hour =minute")

// hasOf reports whether a row, or an object in it, has a value.
func (e *Evidence) hasOf(r int32, is func(mention) bool) bool {
	return slices.ContainsFunc(e.rows[r].has, is) || slices.ContainsFunc(e.rows[r].objects, func(o int32) bool { return slices.ContainsFunc(e.rows[o].has, is) })
}

// saying is a filter of the rows of a list that give a figure which the part says beside
// a number: with contracts of 38.5 hours.
func (s *sentence) saying(c *claim, l *list, part span) (list []filter) {
	for i := range s.claims {
		x := &s.claims[i]
		if x == c || x.sort != sortNumber || x.start < part.start || x.start >= part.end || x.unit == noUnit && x.value <= mostSmall || x.unit != noUnit && x.unit != hours && x.unit != percent || len(x.keys) == 0 || x.value >= 1990 && x.value < 2100 {
			continue
		}
		rows := s.index[key{form: aFigure, n: number(x.value).n}]
		n := 0
		for _, r := range l.rows {
			if slices.Contains(rows, r) {
				n++
			}
		}
		if n > 0 && n < len(l.rows) {
			list = append(list, filter{false, []func(int32) bool{func(r int32) bool { return slices.Contains(rows, r) }}})
		}
	}
	return list
}

// saysUn reports whether a word of a part turns round what another means: unsigned.
func (s *sentence) saysUn(part span) bool {
	for i, t := range s.scanner.tokens {
		if w := s.scanner.lower(i); t.start >= part.start && t.end <= part.end && len(w) > 5 && strings.HasPrefix(w, "un") && s.called[meaning(w[2:])] != nil {
			return true
		}
	}
	return false
}

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
	lower := strings.ToLower(s.blank[part.start:part.end])
	windows := s.windows(part)
	weekend := strings.Contains(lower, "weekend") || strings.Contains(lower, "wochenend")
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
			if so = s.ofSpoken(c, l, filters, in); so {
				return known, true
			}
		}
	}
	return known, false
}

// ofSpoken counts those of what was spoken of: her three matters.
func (s *sentence) ofSpoken(c *claim, l *list, filters []filter, in span) bool {
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
		of := filter{true, []func(int32) bool{func(r int32) bool { return slices.Contains(s.Evidence.rows[r].folded, text) }}}
		sets, _ := s.left(l, append(slices.Clip(filters), of), in)
		if slices.ContainsFunc(sets, func(rows []int32) bool { return len(rows) > 1 && float64(len(rows)) == c.value }) {
			return true
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
	if _, timed := s.left(l, nil, part); timed {
		n++
	}
	return n
}

// isBare reports whether no word for things follows a number: five are open.
func (s *sentence) isBare(c *claim) bool {
	w := strings.ToLower(firstWord(s.blank[c.end:]))
	return toBe[w] || w == "sind" || w == "ist" || w == "waren" || w == "have" || w == "haben" || s.called[meaning(w)] != nil && len(s.called[meaning(w)].values) > 0
}

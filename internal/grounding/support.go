package grounding

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// mostSmall is up to what number so many of something are nearly always there, so
// that it must be the number of what the sentence says.
const mostSmall = 20

// mostTally is up to what number something is a count of records.
const mostTally = 200

// supported reports whether evidence holds a claim: as it stands in a row that the
// clause is about, or as what follows from such rows.
func (s *sentence) supported(c *claim) bool {
	in := s.clauseOf(c)
	switch c.sort {
	case sortName:
		return held(s.haystack(), *c)
	case sortNumber:
		if c.unit == noUnit && s.phraseHeld(c) {
			return true
		}
	case sortID:
		return s.literal(c, in) || s.idWithWords(c, in)
	case sortDate:
		return s.literal(c, in) || s.lasting(c, in) || s.derivedDay(c, in) || s.monthBefore(c)
	}
	if c.unit == noUnit && c.scale == 0 && c.value <= mostSmall {
		in = s.atLarge(c, in)
	}
	if c.ordinal {
		return s.position(c, in)
	}
	if s.beyond(c) || s.beyondBefore(c) {
		return false
	}
	if c.unit == noUnit {
		if s.dayOfMonth(c, in) || s.hour(c, in) || s.pointed(c) || s.perMarker(c) && !strings.ContainsAny(s.text[c.start:c.end], ".,") || s.ofMarked(c) {
			return true
		}
		if c.value <= mostTally && c.value == math.Trunc(c.value) && c.scale == 0 && !c.label && !s.numbers(c) && !s.joined(c) && !s.times(c) && s.measuredBy(c).kind == "" && !strings.ContainsAny(s.text[c.start:c.end], ".,") {
			if so := s.listed(c); so != 0 {
				return so > 0
			}
			if s.counted(c) && s.countedOtherwise(c) {
				return s.beside(c, in) || s.own(c, in) || s.leftOf(c)
			}
			if known, so := s.tally(c); so || s.summed(c) {
				return true
			} else if known && c.value <= mostSmall {
				return s.numbered(c, in)
			}
		}
	}
	if s.owned != nil && s.literal(c, in) {
		return true
	}
	if c.unit == noUnit {
		if so := s.listed(c); so != 0 {
			return so > 0
		}
		if known, so := s.amount(c, in); known {
			return so
		}
	}
	if c.label && !s.labels(c, in) {
		return false
	}
	return s.literal(c, in) || s.inParts(c, in) || s.turns(c, in) || s.owned == nil && s.difference(c, in) || (s.owned != nil || c.unit == hours || c.unit == minutes) && s.elapsed(c, in) || s.daysOfAsked(c) || s.rounded(c, in) || s.approximate(c, in) || s.computed(c, in) || s.summed(c) || s.rated(c, in) ||
		c.unit == noUnit && (s.leftOf(c) || s.owned == nil && !s.numbers(c) && s.count(c, in, ""))
}

// atLarge is a clause that goes on with what was spoken of, for a number of things:
// two of them may be of other things. Of what results give a number each, it is not.
func (s *sentence) atLarge(c *claim, in *clause) *clause {
	if !in.goesOn || slices.ContainsFunc(s.things(c), func(m string) bool { return s.called[m] != nil && len(s.called[m].figures) > 0 }) {
		return in
	}
	free := *in
	free.known = nil
	free.marked, free.rows = false, nil
	return &free
}

// amount tells a number of records, and a small one of anything that results name:
// it must be how many of those there are. known: it is such a number, and so says
// whether there are so many.
func (s *sentence) amount(c *claim, in *clause) (known, so bool) {
	few := c.value <= mostSmall && c.value == math.Trunc(c.value)
	if entity := s.counts(c); entity != "" {
		found, named := s.counter(c, in, entity)
		so = found || s.beside(c, in) || s.namedSo(c, in) || s.own(c, in) || s.leftOf(c) || !named && (s.count(c, in, entity) || s.computed(c, in) || s.figuredOf(c, in))
		return so || few, so
	}
	if of := s.things(c); few && c.scale == 0 && len(of) > 0 && !(s.unknownNoun(c) && !small(s.text[c.nouns[0].start:c.nouns[0].end])) && !s.numbers(c) && !s.joined(c) && !s.times(c) {
		return true, s.beside(c, in) || s.namedSo(c, in) || s.many(c, in, of) || s.computed(c, in) || s.leftOf(c)
	}
	return false, false
}

// beside reports whether a row that holds what else the sentence says of it, and
// is in a list, gives the number as well: seven of 15.
func (s *sentence) beside(c *claim, in *clause) bool {
	if !s.beforeOf(c) {
		return false
	}
	saying := s.sayingRows(c)
	return slices.ContainsFunc(s.index[key{form: aFigure, n: number(c.value).n}], func(r int32) bool { return slices.Contains(saying, r) && s.fits(r, in) })
}

// beyond reports whether a number is said to be of a smaller one.
func (s *sentence) beyond(c *claim) bool {
	for i := range s.claims {
		if x := &s.claims[i]; x.sort == sortNumber && x.unit == noUnit && c.unit == noUnit && x.start > c.end && s.outOf(x) && x.value < c.value && s.measuredBy(c).kind == "" && len(strings.Fields(s.blank[c.end:x.start])) < 3 {
			return true
		}
	}
	return false
}

// within a number that is said before: of the three, four.
func (s *sentence) beyondBefore(c *claim) bool {
	for i := range s.claims {
		x := &s.claims[i]
		if x.sort == sortNumber && x.unit == noUnit && c.unit == noUnit && x.end < c.start && s.ofThose(x) && x.value < c.value && s.measuredBy(c).kind == "" && c.value <= mostSmall &&
			!strings.ContainsAny(s.blank[x.end:c.start], ",;:") && len(strings.Fields(s.blank[x.end:c.start])) < 5 {
			return true
		}
	}
	return false
}

// ofThose reports whether a number is of things that others are some of: of the three.
func (s *sentence) ofThose(c *claim) bool {
	before := strings.Fields(strings.ToLower(s.blank[max(0, c.start-16):c.start]))
	n := len(before)
	return n > 1 && (before[n-2] == "of" && (before[n-1] == "the" || before[n-1] == "these" || before[n-1] == "those") || before[n-2] == "von" && (before[n-1] == "den" || before[n-1] == "diesen"))
}

// beforeOf reports whether a number is said to be of another: seven of 15.
func (s *sentence) beforeOf(c *claim) bool {
	for i := range s.claims {
		if x := &s.claims[i]; x.sort == sortNumber && x.start > c.end && x.start-c.end < 24 && s.outOf(x) {
			return true
		}
	}
	return false
}

// literal reports whether a claim stands in a row that the clause is about.
func (s *sentence) literal(c *claim, in *clause) bool {
	keys := c.keys
	if (c.label || s.owned != nil) && c.unit == noUnit {
		for _, k := range c.keys {
			if k.form == aNumber {
				keys = append(keys, key{form: aLabel, n: k.n})
			}
		}
	}
	if m := s.measuredBy(c); m.kind == "money" && m.times < 1 { // 8 cents of 0.08
		keys = append(slices.Clip(keys), number(c.value*m.times))
	}
	for _, k := range keys {
		k = k.resolve(s.today)
		if c.weekday > 0 && !s.onWeekday(k, c.weekday, in) {
			continue
		}
		for _, r := range s.index[k] {
			if r == given && s.owned != nil && len(c.keys) > 0 && c.keys[0].s == "today" {
				continue // what the person called tomorrow need not be of this record
			}
			if s.ofAll(r, k) || s.otherShare(r, k, c) || s.ofObject(r, k) {
				continue
			}
			if s.fits(r, in) && (c.unit == noUnit || s.sameUnit(r, k, c)) && s.sameMeasure(r, k, c) && s.sameThings(r, k, c, in) && s.sameShare(r, k, c) {
				return true
			}
		}
	}
	return false
}

// idWithWords: F1-Wert, of what a result calls f1.
func (s *sentence) idWithWords(c *claim, in *clause) bool {
	found := false
	for _, part := range strings.Split(s.text[c.start:c.end], "-") {
		if !strings.ContainsAny(part, "0123456789") {
			if len(part) < 3 || strings.ToUpper(part) == part {
				return false
			}
			continue
		}
		if !slices.ContainsFunc(s.index[tokenKey(part)], func(r int32) bool { return s.fits(r, in) }) {
			return false
		}
		found = true
	}
	return found
}

// numbered reports whether a number of things that the sentence tells apart, and of
// which there are not so many, is one that a result gives all the same.
func (s *sentence) numbered(c *claim, in *clause) bool {
	if found, named := s.counter(c, in, s.counts(c)); found && named || s.figuredOf(c, in) || s.listed(c) > 0 || s.namedSo(c, in) || (s.hasWord(aged) || s.hasWord(becoming)) && s.turns(c, in) || s.hasWord(equal) && s.rated(c, in) {
		return true
	}
	if s.owned != nil {
		if w := strings.ToLower(firstWord(s.blank[c.end:])); len(w) > 3 && strings.Contains(s.ownTexts(), " "+strconv.Itoa(int(c.value))+" "+w[:4]) {
			return true // up to 5 people
		}
		if s.hasWord(remaining) && s.computed(c, in) {
			return true
		}
		return slices.ContainsFunc(s.index[key{form: aFigure, n: number(c.value).n}], func(r int32) bool { return s.owned[r] && !s.isOfNone(r) })
	}
	return s.givenBy(c, in) || (s.hasWord(comparing) || s.hasWord(remaining)) && !further[strings.ToLower(firstWord(s.blank[c.end:]))] && s.computed(c, in)
}

// countedOtherwise reports whether a result gives another number under a name that is
// said of what is counted: overdue 2.
func (s *sentence) countedOtherwise(c *claim) (otherwise bool) {
	part := s.partOf(c)
	lower, meanings := strings.ToLower(s.blank[part.start:part.end]), s.means(part)
	for r := range s.Evidence.rows {
		row := &s.Evidence.rows[r]
		if r <= now || row.record != nil || !s.isOfNone(int32(r)) || !s.countsOf(row.path, s.counts(c)) || !strings.Contains(row.path, s.counts(c)) {
			continue
		}
		for _, f := range row.figures {
			said := 0
			for _, w := range strings.Split(f.name, "_") {
				switch {
				case generic[w]:
				case strings.Contains(lower, w) || slices.Contains(meanings, meaning(w)):
					said++
				default:
					said = math.MinInt32
				}
			}
			if said > 0 && f.value == c.value {
				return false
			}
			otherwise = otherwise || said > 0
		}
	}
	return otherwise
}

// further are words after a number of more such things, which are counted by themselves.
var further = words("more weitere weiteren others andere")

// givenBy reports whether a row that the clause mentions something of gives a number.
func (s *sentence) givenBy(c *claim, in *clause) bool {
	return slices.ContainsFunc(s.index[key{form: aFigure, n: number(c.value).n}], func(r int32) bool {
		return r > now && s.fits(r, in) && (s.Evidence.rows[r].list < 0 && s.mentioned(r, in) || !s.counted(c) && slices.ContainsFunc(s.Evidence.rows[r].has, func(m mention) bool { return slices.Contains(in.mentions[m.field], m.value) }))
	})
}

// phraseHeld reports whether a number with the word behind it is part of the name of
// what is mentioned: 11 kW.
func (s *sentence) phraseHeld(c *claim) bool {
	rest := s.blank[c.end:]
	if rest == "" || rest[0] != ' ' && rest[0] != '-' {
		return false
	}
	w := firstWord(rest)
	if len(w) < 2 || !strings.ContainsAny(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return false
	}
	phrase := " " + fold(s.blank[c.start:c.end]+" "+strings.SplitN(w, "-", 2)[0]) + " "
	if s.owned != nil {
		return strings.Contains(s.ownTexts(), phrase)
	}
	return slices.ContainsFunc(s.whole.seen, func(m seenAt) bool {
		return slices.ContainsFunc(m.values, func(v int32) bool {
			return strings.Contains(" "+fold(s.Evidence.values[m.field].texts[v])+" ", phrase)
		})
	})
}

// inParts: three years of 36 months.
func (s *sentence) inParts(c *claim, in *clause) bool {
	smaller, times := parts(c.unit)
	if times == 0 {
		return false
	}
	part := *c
	part.unit, part.value, part.keys = smaller, c.value*times, []key{number(c.value * times)}
	return slices.ContainsFunc(s.index[part.keys[0]], func(r int32) bool { return r > now && s.fits(r, in) && s.sameUnit(r, part.keys[0], &part) })
}

// parts is the unit that one is given in as well, and how many of it make one.
func parts(u unit) (smaller unit, times float64) {
	switch u {
	case years:
		return months, 12
	case weeks:
		return days, 7
	case hours:
		return minutes, 60
	}
	return noUnit, 0
}

// sameUnit: three months support no three weeks, where a row says what the
// number counts.
func (s *sentence) sameUnit(r int32, k key, c *claim) bool {
	if k.form != aNumber {
		return true
	}
	if c.unit == percent {
		return s.shareNamed(r, k, c)
	}
	if slices.ContainsFunc(s.Evidence.rows[r].figures, func(f figure) bool {
		return number(math.Abs(f.value)) == k && (slices.ContainsFunc(strings.Split(f.name, "_"), func(w string) bool { return unitOf(w) == c.unit }) || f.of.kind == "" && s.Evidence.rows[r].list >= 0 && s.mentioned(r, s.clauseOf(c)))
	}) {
		return true
	}
	if r == given {
		u, ok := s.spans[k.n]
		return !ok || u == c.unit
	}
	return slices.ContainsFunc(s.Evidence.rows[r].nums, func(n claim) bool {
		return n.unit == c.unit && slices.Contains(n.keys, k)
	})
}

// sameMeasure: 3.4 degrees support no 3.4 percent, where the row's number says what
// it is of.
func (s *sentence) sameMeasure(r int32, k key, c *claim) bool {
	if k.form != aNumber || c.sort != sortNumber || r <= now {
		return true
	}
	m, found := s.measuredBy(c), false
	if m.kind == "" && s.thing(c) && slices.ContainsFunc(s.Evidence.rows[r].figures, func(f figure) bool {
		return number(f.value) == k && f.of.kind != "" && f.of.kind != "time" && f.of.kind != "share"
	}) {
		return false // thirteen people are no thirteen degrees
	}
	if m.kind == "time" || m.kind == "" && (c.value != math.Trunc(c.value) || s.Evidence.rows[r].list < 0 || s.mentioned(r, s.clauseOf(c))) {
		return true
	}
	for _, f := range s.Evidence.rows[r].figures {
		if number(math.Abs(f.value)) != k {
			continue
		}
		if f.of.kind == "" || f.of.kind == m.kind || m.kind == "" && f.of.kind != "money" {
			return true
		}
		found = true
	}
	return !found
}

// sameThings: where results have numbers of what a number counts, one of another
// name supports it only in a row that the sentence is about.
func (s *sentence) sameThings(r int32, k key, c *claim, in *clause) bool {
	if k.form != aNumber || c.sort != sortNumber || r <= now || c.unit != noUnit {
		return true
	}
	var of []string
	for _, m := range s.things(c) {
		if named := s.called[m]; named != nil {
			of = append(of, named.figures...)
		}
	}
	if len(of) == 0 && (c.value > mostSmall || c.value != math.Trunc(c.value) || s.unknownNoun(c) || s.Evidence.rows[s.wholeOf(r)].list < 0 || s.mentioned(r, in)) || s.outOf(c) || slices.Contains(s.sayingRows(c), r) {
		return true
	}
	meanings, figures := s.means(s.partOf(c)), false
	if s.Evidence.rows[s.wholeOf(r)].list < 0 || s.mentioned(r, in) {
		// Of one thing, what it counts is what the thing has so many of.
		whole := s.wholeOf(r)
		if r == whole || !slices.ContainsFunc(s.Evidence.rows[whole].figures, func(f figure) bool { return slices.Contains(of, f.name) }) {
			return true
		}
	}
	for _, f := range s.Evidence.rows[r].figures {
		if number(f.value) != k {
			continue
		}
		if figures = true; slices.Contains(of, f.name) || slices.ContainsFunc(s.Evidence.means(f.name), func(m string) bool { return slices.Contains(meanings, m) }) {
			return true
		}
	}
	return !figures
}

// sameShare: where a sentence calls a share of a row by its name, another share of
// the row does not support the first that it says.
func (s *sentence) sameShare(r int32, k key, c *claim) bool {
	if c.unit != percent || k.form != aNumber || r <= now || s.numbersOf(percent, c) > 0 {
		return true
	}
	meanings := s.means(s.partOf(c))
	named := func(f figure) bool {
		return slices.ContainsFunc(s.Evidence.means(f.name), func(m string) bool { return slices.Contains(meanings, m) })
	}
	other := false
	for _, f := range s.Evidence.rows[r].figures {
		share := f.value >= 0 && f.value <= 1 && f.value != math.Trunc(f.value) || f.of.kind == "share"
		if !share {
			continue
		}
		if number(f.value) == k {
			if named(f) {
				return true
			}
		} else if named(f) {
			other = true
		}
	}
	return !other
}

// thing reports whether a word for things follows a number.
func (s *sentence) thing(c *claim) bool {
	n := c.nouns[0]
	return n.end > 0 && c.value <= mostSmall && conceptOf(strings.ToLower(s.text[n.start:n.end])) > 0
}

// unknownNoun reports whether a word follows a number that nothing tells the
// meaning of.
func (s *sentence) unknownNoun(c *claim) bool {
	n := c.nouns[0]
	if n.end == 0 {
		return false
	}
	w := strings.ToLower(s.text[n.start:n.end])
	return conceptOf(w) == 0 && !begins[w] && !joins[w] && !counters[w] && s.noun(w) == ""
}

// mentioned reports whether a clause mentions or marks something of a row.
func (s *sentence) mentioned(r int32, c *clause) bool {
	if c.marked || len(s.whole.mentions) == 0 {
		return c.marked
	}
	mentions := func(at int32) bool {
		for _, m := range s.Evidence.rows[at].has {
			if slices.Contains(s.whole.mentions[m.field], m.value) {
				return true
			}
		}
		return false
	}
	return mentions(r) || s.context(r, mentions)
}

// times reports whether a number says how often: zweimal, twice.
func (s *sentence) times(c *claim) bool {
	w := strings.ToLower(s.text[c.start:c.end])
	return strings.HasSuffix(w, "mal") || w == "twice"
}

// joined reports whether a number is the rest of a longer one: 110538-6.
func (s *sentence) joined(c *claim) bool {
	return c.start > 1 && strings.IndexByte("-/.", s.text[c.start-1]) >= 0 && s.text[c.start-2] >= '0' && s.text[c.start-2] <= '9'
}

// labels are words that a number behind them names one of.
var labels = words("room rule page article section no nr art abs rn ziff saal raum regel seite artikel absatz nummer number step schritt floor stock line zeile")

// numbers reports whether a number is the name of something, as in room 4, and
// counts nothing.
func (s *sentence) numbers(c *claim) bool {
	before := strings.TrimRight(s.text[:c.start], " .")
	i := strings.LastIndexAny(before, " \n(") + 1
	return labels[strings.ToLower(before[i:])]
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
			if s.Evidence.rows[r].list >= 0 && slices.Contains(of.figures, f.name) && strings.HasSuffix(strings.ToLower(f.name), s.wordBefore(c.start)) {
				if f.value == c.value {
					return true
				}
				has = true
			}
		}
	}
	return !has
}

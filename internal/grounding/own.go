package grounding

import (
	"slices"
	"strings"
)

// A marker says of which record a sentence is: what the sentence says must then be
// of that record, or of what is around it: what it holds and what holds it, and the
// records that it names or that name it, by their ids or as they are called.

// ours finds the records that the markers of a sentence name, and what is around
// them.
func (s *sentence) ours() {
	for _, m := range s.markers {
		switch m.kind {
		case cites, opens:
			for _, r := range s.records[strings.ToLower(m.value)] {
				if s.Evidence.rows[r].record.Entity == m.entity {
					add(&s.marks, r)
				}
			}
		case names:
			if r := s.named(m.entity, m.value); r >= 0 {
				add(&s.marks, r)
			}
		}
	}
	if len(s.marks) == 0 {
		return
	}
	s.owned = make([]bool, len(s.Evidence.rows))
	for _, m := range s.marks {
		for _, r := range s.around(m) {
			s.owned[r] = true
		}
	}
	for r := range s.Evidence.rows { // what is of no record is of all
		if r > now && s.isOfNone(int32(r)) {
			s.owned[r] = true
		}
	}
}

// isOfNone reports whether a row is of a result itself, and of nothing in a list.
func (e *Evidence) isOfNone(r int32) bool {
	for ; r >= 0; r = e.rows[r].parent {
		if e.rows[r].list >= 0 || e.rows[r].record != nil {
			return false
		}
	}
	return true
}

// around are the rows of a record and of all that is tied to it.
func (e *Evidence) around(m int32) []int32 {
	if rows, ok := e.ties[m]; ok {
		return rows
	}
	var rows []int32
	for _, r := range e.partsOf(m) {
		add(&rows, r)
		for _, other := range e.namedBy(r) {
			for _, x := range e.partsOf(other) {
				add(&rows, x)
			}
		}
	}
	for _, other := range e.naming(m) {
		for _, x := range e.partsOf(e.wholeOf(other)) {
			add(&rows, x)
		}
	}
	if e.ties == nil {
		e.ties = map[int32][]int32{}
	}
	e.ties[m] = rows
	return rows
}

// partsOf are the rows of a thing: of its record wherever it is told, of what that
// holds, and of what holds it.
func (e *Evidence) partsOf(m int32) []int32 {
	rows := []int32{m}
	if rec := e.rows[m].record; rec != nil {
		for _, twin := range e.records[strings.ToLower(rec.ID)] {
			if e.rows[twin].record.Entity == rec.Entity {
				add(&rows, twin)
			}
		}
	}
	for _, r := range slices.Clone(rows) {
		beside := e.rows[r].record != nil && e.rows[r].list < 0 && e.rows[r].parent >= 0 // all of that result is of it
		for i := range e.rows {
			if x := int32(i); i > now && (e.within(x, r) || beside && e.within(x, e.rows[r].parent)) {
				add(&rows, x)
			}
		}
		for up := e.rows[r].parent; up >= 0; up = e.rows[up].parent {
			add(&rows, up)
			for _, o := range e.rows[up].objects {
				add(&rows, o)
			}
		}
	}
	return rows
}

// within reports whether a row is in another.
func (e *Evidence) within(r, of int32) bool {
	for up := e.rows[r].parent; up >= 0; up = e.rows[up].parent {
		if up == of {
			return true
		}
	}
	return false
}

// leastName is of how many bytes what a record is called must be to name it within
// a longer text.
const leastName = 6

// namedBy are the records that a row names.
func (e *Evidence) namedBy(r int32) (list []int32) {
	own := e.rows[r].record
	note := func(of []int32) {
		for _, x := range of {
			if own == nil || e.rows[x].record.Entity != own.Entity || e.rows[x].record.Line != own.Line { // others may be called so too
				add(&list, x)
			}
		}
	}
	for i, name := range e.rows[r].lower {
		note(e.records[name])
		text := " " + e.rows[r].folded[i] + " "
		for line, of := range e.byLine {
			if text == " "+line+" " || len(line) >= leastName && strings.Contains(text, " "+line+" ") {
				note(of)
			}
		}
	}
	return list
}

// naming are the rows that name a record.
func (e *Evidence) naming(m int32) (list []int32) {
	rec := e.rows[m].record
	if rec == nil {
		return nil
	}
	id, line := strings.ToLower(rec.ID), fold(rec.Line)
	for r := range e.rows {
		row := &e.rows[r]
		if r <= now || int32(r) == m || row.record != nil && row.record.Entity == rec.Entity && line != "" && row.record.Line == rec.Line {
			continue
		}
		for i, name := range row.lower {
			if name == id && len(id) > 1 || line != "" && (row.folded[i] == line || len(line) >= leastName && strings.Contains(" "+row.folded[i]+" ", " "+line+" ")) {
				list = append(list, int32(r))
				break
			}
		}
	}
	return list
}

// foreign finds what a sentence with markers mentions that is of other records.
func (s *sentence) foreign(say func(string)) {
	close := map[int32]bool{} // what the records hold, and what they name
	for _, m := range s.marks {
		for _, r := range s.partsOf(m) {
			close[r] = true
			for _, other := range s.namedBy(r) {
				for _, x := range s.partsOf(other) {
					close[x] = true
				}
			}
		}
	}
	for i := range s.whole.seen {
		m := &s.whole.seen[i]
		known, theirs, whole, near := false, false, false, false
		for j := range s.whole.seen {
			x := &s.whole.seen[j]
			if x.at >= m.end || x.end <= m.at {
				continue
			}
			for _, v := range x.values {
				for _, r := range s.has[mention{x.field, v}] {
					known, near = known || s.owned[r], near || close[r]
				}
			}
			is, all := s.isTheirs(x, close)
			theirs, whole = theirs || is, whole || all
		}
		text := " " + fold(s.text[m.at:m.end]) + " "
		if setAgainst[s.wordBefore(m.at)] {
			continue // two days after the reply
		}
		switch {
		case !theirs || whole && near || !whole && known:
		case whole:
			if !s.closeText(close, text) {
				say(s.text[m.at:m.end])
			}
		case !s.ownWord(text) && !strings.Contains(s.ownTexts(), text):
			say(s.text[m.at:m.end])
		}
	}
}

// setAgainst are words before what something is only compared with, or comes before or
// after.
var setAgainst = words("after before unlike like than as nach vor als wie gegenüber seit since statt besides neben außer except")

// closeText reports whether rows have a text that holds another.
func (s *sentence) closeText(rows map[int32]bool, text string) bool {
	for r := range rows {
		if slices.ContainsFunc(s.Evidence.rows[r].folded, func(t string) bool { return strings.Contains(" "+t+" ", text) }) {
			return true
		}
	}
	return false
}

// isTheirs reports whether a mention is of some record, and cannot be meant otherwise:
// a whole name, or a word of a field that the sentence's records have. whole: it is
// what records of a kind are told by of which the sentence's records are, or name, one.
func (s *sentence) isTheirs(m *seenAt, close map[int32]bool) (is, whole bool) {
	w := strings.ToLower(s.blank[m.at:m.end])
	if s.noun(w) != "" || conceptOf(w) != 0 {
		return false, false
	}
	said := fold(s.blank[m.at:min(len(s.blank), m.end+8)])
	for _, v := range m.values {
		value := &s.Evidence.values[m.field]
		if all := value.words[v] == m.words || strings.HasPrefix(said+" ", fold(value.texts[v])+" "); !all || m.words < 2 && !s.lines[mention{m.field, v}] {
			continue
		}
		for _, h := range s.holders[mention{m.field, v}] {
			for r := range close {
				if rec := s.Evidence.rows[r].record; rec != nil && rec.Entity == s.Evidence.rows[h].record.Entity {
					return true, true
				}
			}
		}
		is = true
	}
	if is {
		return true, false
	}
	name := last(s.Evidence.values[m.field].name)
	for _, r := range s.marks {
		for _, x := range append(slices.Clip(s.Evidence.rows[r].objects), r) {
			if slices.ContainsFunc(s.Evidence.rows[x].has, func(h mention) bool {
				return h.field == m.field || x == r && last(s.Evidence.values[h.field].name) == name
			}) {
				return true, false
			}
		}
	}
	return false, false
}

// ownTexts are the texts of the sentence's records, folded.
func (s *sentence) ownTexts() string {
	if s.ownText == "" {
		var b strings.Builder
		for r, own := range s.owned {
			if own {
				for _, t := range s.Evidence.rows[r].folded {
					b.WriteString(" " + t + " ")
				}
			}
		}
		s.ownText = b.String() + " "
	}
	return s.ownText
}

// ownWord reports whether a word of a text stands in one of the sentence's records.
func (s *sentence) ownWord(text string) bool {
	for _, w := range strings.Fields(fold(text)) {
		if len(w) >= 4 && strings.Contains(s.ownTexts(), " "+w) {
			return true
		}
	}
	return false
}

// idle finds markers whose records have nothing to do with what the sentence says.
func (s *sentence) idle(say func(string)) {
	if len(slices.CompactFunc(slices.Clone(s.marks), func(a, b int32) bool {
		return s.Evidence.rows[a].record.ID == s.Evidence.rows[b].record.ID
	})) < 2 || len(s.claims) == 0 && len(s.whole.seen) == 0 {
		return // what it says is of that record anyway
	}
	said := " " + fold(s.blank) + " "
	for _, m := range s.markers {
		if m.kind != cites && m.kind != opens || m.entity == "" {
			continue
		}
		r := s.find(m.entity, m.value)
		if r < 0 || s.Evidence.rows[r].record.Earlier {
			continue
		}
		if !slices.ContainsFunc(s.partsOf(r), func(x int32) bool {
			return s.Evidence.rows[x].list >= 0 && s.touches(x, said) || x == r && s.touches(x, said)
		}) {
			say(m.value)
		}
	}
}

// touches reports whether a sentence says anything that a row holds.
func (s *sentence) touches(r int32, said string) bool {
	for i := range s.claims {
		for _, k := range s.claims[i].keys {
			if k.form != aWeekday && slices.Contains(s.index[k.resolve(s.today)], r) {
				return true
			}
		}
	}
	for i := range s.whole.seen {
		m := &s.whole.seen[i]
		if slices.ContainsFunc(m.values, func(v int32) bool { return slices.Contains(s.has[mention{m.field, v}], r) }) {
			return true
		}
	}
	for _, t := range s.Evidence.rows[r].folded {
		for _, w := range strings.Fields(t) {
			if len(w) >= 4 && strings.Contains(said, " "+w) {
				return true
			}
		}
	}
	for _, name := range s.Evidence.rows[r].members { // low is the load
		if w := fold(name); len(w) >= 4 && strings.Contains(said, w) {
			return true
		}
	}
	return false
}

// ofAll reports whether a row that is of no record gives a number which the records
// of the sentence give under the same name: it is that of all of them together.
func (s *sentence) ofAll(r int32, k key) bool {
	if s.owned == nil || k.form != aNumber || r <= now || !s.isOfNone(r) {
		return false
	}
	for _, f := range s.Evidence.rows[r].figures {
		if number(f.value) == k && slices.ContainsFunc(s.marks, func(m int32) bool {
			return slices.ContainsFunc(s.Evidence.rows[m].figures, func(g figure) bool { return g.name == f.name && g.value != f.value })
		}) {
			return true
		}
	}
	return false
}

// otherShare reports whether a number is said to be percent, and its row's is not of
// a name for that, where the records of the sentence have one that is.
func (s *sentence) otherShare(r int32, k key, c *claim) bool {
	if s.owned == nil || c.unit != percent || k.form != aNumber || r <= now {
		return false
	}
	share := func(f figure) bool {
		return f.of.kind == "share" || slices.ContainsFunc(strings.Split(f.name, "_"), func(w string) bool { return perShare[w] })
	}
	if slices.ContainsFunc(s.Evidence.rows[r].figures, func(f figure) bool { return number(f.value) == k && share(f) }) {
		return false
	}
	return slices.ContainsFunc(s.marks, func(m int32) bool { return slices.ContainsFunc(s.Evidence.rows[m].figures, share) })
}

// ofObject reports whether a row of a list gives a number under a name under which an
// object that the sentence names, and no row of the list, gives another: the team's.
func (s *sentence) ofObject(r int32, k key) bool {
	if s.owned != nil || k.form != aNumber || r <= now || s.Evidence.rows[r].list < 0 || len(s.whole.seen) > 0 {
		return false
	}
	for o := range s.Evidence.rows {
		row := &s.Evidence.rows[o]
		if o <= now || row.list >= 0 || row.record != nil || len(row.figures) == 0 || !slices.Contains(s.lowers(), last(row.path)) {
			continue
		}
		for _, f := range s.Evidence.rows[r].figures {
			if number(f.value) == k && slices.ContainsFunc(row.figures, func(g figure) bool { return g.name == f.name && g.value != f.value }) {
				return true
			}
		}
	}
	return false
}

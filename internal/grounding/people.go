package grounding

import (
	"slices"
	"strings"
	"unicode"
)

// beforeNames are words that a name follows.
var beforeNames = words("by von with mit durch bei is ist sind are")

// abstract are endings of nouns that are no names.
var abstract = []string{"ung", "heit", "keit", "schaft", "tion", "tät", "ment", "ismus", "ing", "ness", "ungen", "tionen", "en", "er"}

// roles are endings of words for what somebody is, which stand before a name.
var roles = []string{"in", "er", "or", "ist", "ent", "ant", "eur", "frau", "mann", "firma", "amt", "gericht"}

// strangers finds names without quotes that no evidence holds: of a person, of a
// place, of anything that English writes with a capital, and two words of which
// one goes with another in evidence, or both of which are unknown and stand where
// a name does.
func (s *sentence) strangers(blank string, say func(string)) {
	english := s.english()
	for i, t := range s.scanner.tokens {
		if t.t == 'w' && !s.withinName(t.start, t.end) {
			if s.stranger(blank, i, english) {
				say(blank[t.start:t.end])
			}
			s.strangePair(blank, i, say)
		}
	}
}

// stranger reports whether a word alone is a name that no evidence holds.
func (s *sentence) stranger(blank string, i int, english bool) bool {
	t := s.scanner.tokens[i]
	w := nameWord(blank, t)
	if w == "" || shouted(blank[t.start:t.end]) || weekdayWords[strings.TrimSuffix(w, "s")] > 0 {
		return false
	}
	for _, name := range []string{w, strings.TrimSuffix(w, "s")} {
		if givenNames[name] {
			return !s.knows(w) && !s.knows(name)
		}
		if same := places[name]; same != nil {
			return !s.heard(w) && !slices.ContainsFunc(same, func(other string) bool { return s.heard(fold(other)) })
		}
	}
	if s.owned != nil && i >= 2 && s.scanner.tokens[i-1].t == 's' && capitalised(blank[t.start:t.end]) && s.scanner.tokens[i-2].t == 'w' && !s.heard(w) && conceptOf(w) == 0 && unitOf(w) == noUnit {
		if before := s.scanner.str(i - 2); len(before) > 1 && len(before) < 6 && shouted(before) && strings.Count(s.haystack(), "\n "+fold(before)+" ") > 1 {
			return true // AG Wangen, where there is an AG Lindau
		}
	}
	if !english && i >= 2 && capitalised(blank[t.start:t.end]) && s.scanner.tokens[i-1].t == 's' && !titled[w] && conceptOf(w) == 0 && s.noun(w) == "" && !ends(w) && unitOf(w) == noUnit && s.category(blank, i-2) && !s.scanner.is(i-4, 'n') {
		return !s.heard(w) // Zweigstelle Weststadt
	}
	return english && (s.inSentence(blank, i) || s.listedAlone(blank, i)) && capitalised(blank[t.start:t.end]) && !titled[w] && conceptOf(w) == 0 && s.noun(w) == "" && numberWords[w] == 0 && !s.heard(w)
}

// listedAlone reports whether a word is all that stands between two commas in the
// line of a list: the company that an order is from.
func (s *sentence) listedAlone(blank string, i int) bool {
	before, after := i-1, i+1
	if s.scanner.is(before, 's') {
		before--
	}
	return len(blank) > 1 && blank[:2] == "- " && s.scanner.str(before) == "," && s.scanner.str(after) == ","
}

// bothStrange reports whether two words with capitals in a row, of which neither stands
// in evidence, are a name: of a sentence that marks its record, whose other words do.
func (s *sentence) bothStrange(blank string, i int, first, last string) bool {
	return s.owned != nil && blank[s.scanner.tokens[i+1].start] == ' ' && capitalised(blank[s.scanner.tokens[i].start:s.scanner.tokens[i].end]) && len(first) > 2 && !s.heard(first) && !s.heard(last) && !ends(first) && conceptOf(first) == 0 && conceptOf(last) == 0 &&
		!titled[first] && !titled[last] && unitOf(first) == noUnit && unitOf(last) == noUnit && monthWords[last] == 0 && !s.scanner.is(i-2, 'n') && (i >= 2 || blank[0] == '-') && (givenNames[first] || !inflects(first) || i > 3 && s.scanner.is(i-2, 'w'))
}

// inflects reports whether a word ends as adjectives do, which begin a line with a
// capital.
func inflects(w string) bool {
	return slices.ContainsFunc([]string{"er", "es", "en", "e"}, func(end string) bool { return strings.HasSuffix(w, end) })
}

// category reports whether a word is a noun for things that results hold, after
// which the name of one stands.
func (s *sentence) category(blank string, i int) bool {
	t := s.scanner.tokens[i]
	if t.t != 'w' || small(blank[t.start:t.end]) {
		return false
	}
	w := strings.ToLower(blank[t.start:t.end])
	c := s.called[meaning(w)]
	return s.noun(w) != "" || c != nil && conceptOf(w) > 0 && (len(c.lists) > 0 || len(c.members) > 0)
}

// capitalised reports whether only the first letter of a word is a capital.
func capitalised(w string) bool {
	for i, r := range w {
		if unicode.IsUpper(r) != (i == 0) {
			return false
		}
	}
	return true
}

// inSentence reports whether a word stands within a sentence, where English writes
// a capital for names only.
func (s *sentence) inSentence(blank string, i int) bool {
	tokens := s.scanner.tokens
	if strings.ContainsAny(blank[:min(3, len(blank))], "#|>") || i < 2 || tokens[i-1].t != 's' || blank[tokens[i-1].start] == '\n' {
		return false
	}
	before := tokens[i-2]
	if before.t == 'p' && blank[before.start:before.end] != "," {
		return false
	}
	// Before it, a word in small letters: a heading has none.
	return before.t == 'n' || before.t == 'p' || small(blank[before.start:before.end])
}

var (
	englishWords = words("the of is are was were has have and to for on at by with from this that it be been will not no there which you your its their his her")
	germanWords  = words("der die das den dem des ist sind war und zu für auf am im bei mit von vom aus ein eine einen einem einer es sie er wird nicht kein keine hat haben noch")
)

// english reports whether a sentence is.
func (s *sentence) english() bool {
	en, de := s.languages()
	return en > de || en == de && s.topic.english
}

func (s *sentence) languages() (en, de int) {
	for i := range s.scanner.tokens {
		switch w := s.scanner.lower(i); {
		case englishWords[w]:
			en++
		case germanWords[w]:
			de++
		}
	}
	return en, de
}

func (s *sentence) strangePair(blank string, i int, say func(string)) {
	tokens := s.scanner.tokens
	if i+2 >= len(tokens) {
		return
	}
	a, b := tokens[i], tokens[i+2]
	if b.t != 'w' || tokens[i+1].end-tokens[i+1].start != 1 || blank[tokens[i+1].start] != ' ' && blank[tokens[i+1].start] != '-' {
		return
	}
	first, last := nameWord(blank, a), surname(blank, b)
	if first == "" || last == "" || len(last) < 4 || s.noun(last) != "" || s.noun(first) != "" || shouted(blank[b.start:b.end]) || shouted(blank[a.start:a.end]) ||
		numberWords[last] > 0 || s.withinName(a.start, b.end) {
		return
	}
	if !slices.Contains(s.follow[first], last) && (len(common(s.firsts[first], s.lasts[last])) > 0 || len(s.firsts[first]) > 0 && weekdayWords[last] > 0 && givenNames[first]) {
		say(s.text[a.start:b.end]) // a name of two that are known
		return
	}
	if s.knows(last) || s.heard(last) && (len(s.follow[first]) == 0 || s.stemKnown(last)) {
		if len(s.lasts[last]) > 0 && (!s.heard(first) || givenNames[first] && !s.knows(first)) && len(first) > 2 && conceptOf(first) == 0 && !titled[first] && !salutations[first] &&
			!slices.ContainsFunc(roles, func(end string) bool { return strings.HasSuffix(first, end) }) && !ends(first) {
			say(s.text[a.start:b.end])
		}
		return
	}
	if s.bothStrange(blank, i, first, last) {
		say(s.text[a.start:b.end])
		return
	}
	unknown := !s.heard(first) && i >= 2 && beforeNames[s.scanner.lower(i-2)] && !ends(first) && !ends(last) && len(first) > 3
	if len(s.follow[first]) > 0 || unknown {
		say(s.text[a.start:b.end])
	}
}

func ends(w string) bool {
	return slices.ContainsFunc(abstract, func(end string) bool { return len(end) > 2 && strings.HasSuffix(w, end) })
}

// shouted reports whether a word is all capitals, as short forms are.
func shouted(w string) bool { return w == strings.ToUpper(w) }

// knows reports whether a word stands in evidence as it is.
func (s *sentence) knows(w string) bool {
	return len(s.words[w]) > 0 || strings.Contains(s.haystack(), " "+w+" ")
}

// stemKnown reports whether a word without an ending stands in evidence.
func (s *sentence) stemKnown(w string) bool {
	for _, end := range []string{"s", "es", "en", "n", "e"} {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) >= 4 && s.knows(stem) {
			return true
		}
	}
	return false
}

// heard reports whether a word stands in evidence, with another ending perhaps.
func (s *sentence) heard(w string) bool {
	if len(s.words[w]) > 0 || len(s.inflected(w)) > 0 || strings.Contains(s.haystack(), " "+w) {
		return true
	}
	for _, end := range []string{"s", "es", "en", "n", "e"} {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) >= 4 && strings.Contains(s.haystack(), " "+stem+" ") {
			return true
		}
	}
	return false
}

// withinName reports whether a name that is judged by itself holds a place.
func (s *sentence) withinName(start, end int) bool {
	return slices.ContainsFunc(s.claims, func(c claim) bool { return c.sort == sortName && c.start < end && start < c.end })
}

// unrelated: two names of different things of which each goes with others in
// evidence, and nothing ties one to the other.
func (s *sentence) unrelated(c *clause, say func(string)) {
	if c.marked || s.lenient || len(c.seen) < 2 || s.hasWord(comparing) {
		return
	}
	for i := range c.seen { // of several things, it says one after another
		if slices.ContainsFunc(c.seen[i+1:], func(b seenAt) bool { return b.field == c.seen[i].field && len(common(b.values, c.seen[i].values)) == 0 }) {
			return
		}
	}
	for i := range c.seen {
		for j := i + 1; j < len(c.seen); j++ {
			a, b := &c.seen[i], &c.seen[j]
			if a.field == b.field || a.end > b.at && b.end > a.at || s.partner(c, a, b.field) || s.partner(c, b, a.field) {
				continue
			}
			say(s.text[min(a.at, b.at):max(a.end, b.end)])
			return
		}
	}
}

// partner reports whether a name is tied to one of a field.
func (s *sentence) partner(c *clause, a *seenAt, of int32) bool {
	return slices.ContainsFunc(c.seen, func(b seenAt) bool { return b.field == of && s.tied(a, &b) })
}

// tied reports whether a row has, or is around or in one that has, a value of
// each; or one of the fields is of no rows that have the other's.
func (s *sentence) tied(a, b *seenAt) bool {
	apart := false
	for _, v := range a.values {
		for _, r := range s.has[mention{a.field, v}] {
			row := &s.Evidence.rows[r]
			for _, m := range row.has {
				if m.field != b.field {
					continue
				}
				if slices.Contains(b.values, m.value) {
					return true
				}
				apart = true
			}
		}
	}
	if !apart {
		return true
	}
	for _, v := range b.values { // and the other one has another too
		for _, r := range s.has[mention{b.field, v}] {
			if slices.ContainsFunc(s.Evidence.rows[r].has, func(m mention) bool { return m.field == a.field }) {
				return false
			}
		}
	}
	return true
}

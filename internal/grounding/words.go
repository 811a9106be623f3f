package grounding

import (
	"slices"
	"strings"
)

// ordinalWords are from third on: a second is a time too, and a second instance is
// no figure. A capital in German is a third party.
var ordinalWords = map[string]int{
	"third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12,
	"dritte": 3, "vierte": 4, "fünfte": 5, "sechste": 6, "siebte": 7, "neunte": 9, "zehnte": 10, "elfte": 11, "zwölfte": 12,
}

// ordinalWord is third or dritten; after an article a third is a fraction.
func (s *scanner) ordinalWord(i int, w string) int {
	v := ordinalWords[w]
	for _, end := range []string{"n", "r", "s", "m"} {
		if stem, ok := strings.CutSuffix(w, end); v == 0 && ok && strings.HasSuffix(stem, "te") {
			v = ordinalWords[stem]
		}
	}
	if v == 0 || !lowerFirst(s.str(i)) {
		return i
	}
	if s.is(i-1, 's') {
		if before := s.lower(i - 2); before == "a" || before == "one" || before == "two" {
			return i
		}
	}
	s.add(claim{start: s.at(i).start, end: s.at(i).end, sort: sortNumber, keys: []key{number(float64(v))}, value: float64(v), ordinal: true})
	return i + 1
}

// halfWord is anderthalb, zweieinhalb, and one and a half.
func (s *scanner) halfWord(i int, w string) int {
	v, last := 0.0, i
	stem, half := strings.CutSuffix(w, "einhalb")
	n, known := numberWords[stem]
	switch {
	case w == "anderthalb" || w == "eineinhalb":
		v = 1.5
	case half && known:
		v = float64(n) + 0.5
	default:
		if n, known = numberWords[w]; w == "one" {
			n, known = 1, true
		}
		if !known || s.lower(i+2) != "and" || s.lower(i+4) != "a" || s.lower(i+6) != "half" {
			return i
		}
		v, last = float64(n)+0.5, i+6
	}
	c := claim{start: s.at(i).start, end: s.at(last).end, sort: sortNumber, keys: []key{number(v)}, value: v}
	c.way, c.about = s.about(i)
	j := s.measured(&c, last+1)
	s.add(c)
	return j
}

// fractions are what a whole has so many of.
var fractions = map[string]float64{
	"half": 2, "hälfte": 2, "third": 3, "thirds": 3, "drittel": 3, "quarter": 4, "quarters": 4, "viertel": 4,
	"fifth": 5, "fifths": 5, "fünftel": 5, "tenth": 10, "tenths": 10, "zehntel": 10,
}

// partHours are words for parts of an hour, in minutes.
var partHours = map[string]float64{"viertelstunde": 15, "dreiviertelstunde": 45}

// partHour is eine halbe Stunde, a quarter of an hour, and Viertelstunde.
func (s *scanner) partHour(i int, w string) int {
	v, last := partHours[w], i
	switch next := s.lower(i + 2); {
	case (w == "halbe" || w == "halben") && next == "stunde", w == "half" && next == "hour":
		v, last = 30, i+2
	case w == "half" && next == "an" && s.lower(i+4) == "hour":
		v, last = 30, i+4
	case w == "quarter" && next == "of" && s.lower(i+6) == "hour":
		v, last = 15, i+6
	}
	if v == 0 {
		return i
	}
	s.add(claim{start: s.at(i).start, end: s.at(last).end, sort: sortNumber, keys: []key{number(v)}, value: v, unit: minutes})
	return last + 1
}

// fractionWord is two thirds and drei Viertel.
func (s *scanner) fractionWord(i int, w string) int {
	if f := fractions[w]; f == 2 && (w == "hälfte" || s.lower(i+2) == "of") {
		s.add(fraction(s.at(i).start, s.at(i).end, 50))
		return i + 1
	}
	n := numberWords[w]
	of := fractions[s.lower(i+2)]
	if next := s.lower(i + 4); (w == "a" || w == "one" || w == "ein") && (next == "of" || next == "der" || next == "des" || pronouns[next]) {
		n = 1
	}
	if n == 0 || of == 0 || float64(n) >= of || !s.is(i+1, 's') {
		return i
	}
	s.add(fraction(s.at(i).start, s.at(i+2).end, 100*float64(n)/of))
	return i + 3
}

func fraction(start, end int, v float64) claim {
	return claim{start: start, end: end, sort: sortNumber, keys: []key{number(v), number(v / 100)}, value: v, unit: percent, about: true, within: 3}
}

// timesWord is zweimal, dreifach and twice. Einmal and once say when as well.
func (s *scanner) timesWord(i int, w string) int {
	v := 0
	for _, end := range []string{"mal", "fach"} {
		if stem, ok := strings.CutSuffix(w, end); ok {
			v = numberWords[stem]
		}
	}
	if w == "twice" {
		v = 2
	}
	if v == 0 {
		return i
	}
	s.add(claim{start: s.at(i).start, end: s.at(i).end, sort: sortNumber, keys: []key{number(float64(v))}, value: float64(v)})
	return i + 1
}

// clockWord is halb acht, half past eight, and a quarter before or after.
func (s *scanner) clockWord(i int, w string) int {
	j, minutes := i+2, 0
	switch next := s.lower(i + 2); {
	case w == "halb":
		minutes = -30
	case w == "half" && next == "past":
		j, minutes = i+4, 30
	case (w == "viertel" || w == "quarter") && (next == "nach" || next == "past"):
		j, minutes = i+4, 15
	case (w == "viertel" || w == "quarter") && (next == "vor" || next == "to"):
		j, minutes = i+4, -15
	default:
		return i
	}
	h, ok := s.digits(j, 2)
	if !ok {
		if h, ok = numberWords[s.lower(j)]; s.lower(j) == "eins" || s.lower(j) == "one" {
			h, ok = 1, true
		}
	}
	if !ok || h < 1 || h > 12 {
		return i
	}
	at := h*60 + minutes
	s.add(claim{start: s.at(i).start, end: s.at(j).end, sort: sortDate, keys: []key{
		{form: aTime, n: int64(at % (24 * 60))}, {form: aTime, n: int64((at + 12*60) % (24 * 60))},
	}})
	return j + 1
}

// hourRange is 10–16 Uhr and 10 to 4 pm: the first of two hours takes its sign
// from the second.
func (s *scanner) hourRange(i, h int) int {
	next := s.list(i + 1)
	to, ok := s.digits(next, 2)
	if next == i+1 || !ok || to > 24 || h > 24 {
		return i
	}
	k := s.space(next + 1)
	half, end := s.half(k)
	switch {
	case half >= 0:
		h, to = h%12, to%12+half
		if h+half < to {
			h += half
		}
	case s.lower(k) == "uhr":
		end = k + 1
	default:
		return i
	}
	s.add(claim{start: s.at(i).start, end: s.at(i).end, sort: sortDate, keys: []key{{form: aTime, n: int64(h % 24 * 60)}}})
	s.add(claim{start: s.at(next).start, end: s.at(end - 1).end, sort: sortDate, keys: []key{{form: aTime, n: int64(to % 24 * 60)}}})
	return end
}

// inPlace are words before where so much of the same is: 14 minutes in Frankfurt and
// 13 in Hamburg.
var inPlace = words("in bei at on für for am im")

// merged joins 1 h 27 min to one time, and has the second of two numbers be of what
// the first is.
func merged(text string, claims []claim) []claim {
	for i := 1; i < len(claims); i++ {
		a, b := &claims[i-1], &claims[i]
		if b.sort != sortNumber || b.unit != noUnit || b.scale != 0 || a.unit == noUnit || a.unit == percent || b.start < a.end || b.start-a.end > 40 {
			continue
		}
		between := strings.Fields(strings.ToLower(text[a.end:b.start]))
		if n := len(between); n > 0 && (between[n-1] == "and" || between[n-1] == "und") && inPlace[strings.ToLower(firstWord(text[b.end:]))] {
			b.unit = a.unit
		}
	}
	for i := 0; i+1 < len(claims); i++ {
		a, b := &claims[i], claims[i+1]
		if a.unit != hours || b.unit != minutes || b.start-a.end > 14 || b.start < a.end {
			continue
		}
		if between := strings.TrimSpace(text[a.end:b.start]); strings.ContainsAny(between, ",;:–-") || strings.Contains(between, ". ") {
			continue
		}
		a.end, a.unit, a.value = b.end, minutes, a.value*60+b.value
		a.keys = []key{number(a.value)}
		claims = slices.Delete(claims, i+1, i+2)
	}
	return claims
}

// around is what a word before a number says of it: that it is about so much (0),
// that it is a little more (1) or a little less (-1) than it.
var around = map[string]int{
	"rund": 0, "etwa": 0, "ca": 0, "circa": 0, "ungefähr": 0, "about": 0, "around": 0, "roughly": 0, "approximately": 0, "some": 0,
	"über": 1, "gut": 1, "over": 1, "more than": 1, "mehr als": 1, "just over": 1,
	"knapp": -1, "fast": -1, "unter": -1, "nearly": -1, "almost": -1, "under": -1, "less than": -1, "weniger als": -1,
}

// about looks for such a word before a token.
func (s *scanner) about(i int) (way int, ok bool) {
	k := i - 1
	for k >= 0 && (s.is(k, 's') || s.is(k, 'p') && strings.Contains("€$£.", s.str(k))) {
		k--
	}
	w := s.lower(k)
	if w == "als" || w == "than" {
		w = s.lower(k-2) + " " + w
	}
	way, ok = around[w]
	return way, ok
}

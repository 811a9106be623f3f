package grounding

import (
	"strconv"
	"strings"
)

// numberWords are numbers in words. One is none: ein and one are articles.
var numberWords = func() map[string]int {
	m := map[string]int{}
	for i, list := range []string{
		"", "", "zwei two", "drei three", "vier four", "fünf five", "sechs six", "sieben seven", "acht eight", "neun nine",
		"zehn ten", "elf eleven", "zwölf twelve", "dreizehn thirteen", "vierzehn fourteen", "fünfzehn fifteen",
		"sechzehn sixteen", "siebzehn seventeen", "achtzehn eighteen", "neunzehn nineteen", "zwanzig twenty",
	} {
		for _, w := range strings.Fields(list) {
			m[w] = i
		}
	}
	for i, list := range []string{"dreißig thirty", "vierzig forty", "fünfzig fifty", "sechzig sixty", "siebzig seventy", "achtzig eighty", "neunzig ninety"} {
		for _, w := range strings.Fields(list) {
			m[w] = 30 + 10*i
		}
	}
	m["hundert"], m["hundred"] = 100, 100
	return m
}()

// unitWords begin words for what a number counts.
var unitWords = []struct {
	stem string
	unit unit
}{
	{"tag", days}, {"tägig", days}, {"day", days}, {"woche", weeks}, {"wöch", weeks}, {"week", weeks}, {"monat", months}, {"month", months},
	{"jahr", years}, {"jähr", years}, {"year", years}, {"stunde", hours}, {"stünd", hours}, {"std", hours}, {"hour", hours}, {"minute", minutes}, {"minüt", minutes}, {"min", minutes},
}

// shortUnits are written to a number without a space.
var shortUnits = map[string]struct {
	times float64
	unit  unit
}{
	"h": {1, hours}, "d": {1, days}, "w": {1, weeks}, "min": {1, minutes}, "x": {1, noUnit}, "k": {1000, noUnit}, "m": {1e6, noUnit},
	"er": {1, noUnit}, "mal": {1, noUnit}, "fach": {1, noUnit},
}

// scales are words that multiply a number.
var scales = map[string]float64{
	"tsd": 1e3, "tausend": 1e3, "thousand": 1e3, "mio": 1e6, "million": 1e6, "millionen": 1e6, "millions": 1e6,
	"mrd": 1e9, "milliarde": 1e9, "milliarden": 1e9, "billion": 1e9,
}

func unitOf(word string) unit {
	if word == "tagesordnung" || strings.HasPrefix(word, "tagung") || strings.HasPrefix(word, "minde") || strings.HasPrefix(word, "minist") {
		return noUnit
	}
	if strings.HasPrefix(word, "wochenend") {
		return noUnit
	}
	if strings.HasSuffix(word, "stunden") || strings.HasSuffix(word, "stunde") { // Wochenstunden
		return hours
	}
	for _, u := range unitWords {
		if strings.HasPrefix(word, u.stem) {
			return u.unit
		}
	}
	return noUnit
}

// figure is a number in digits.
func (s *scanner) figure(i int) int {
	j, start := i+1, s.at(i).start
	for s.is(j, 'p') && s.is(j+1, 'n') && s.at(j+1).start == s.at(j).end && strings.Contains(".,'’", s.str(j)) {
		j += 2
	}
	for s.is(j, 's') && s.at(j).end-s.at(j).start > 1 && s.is(j+1, 'n') && s.at(j+1).end-s.at(j+1).start == 3 && s.text[s.at(j).start] > ' ' {
		j += 2 // 1 234 with a narrow space
	}
	written := s.text[start:s.at(j-1).end]
	c := claim{start: start, end: s.at(j - 1).end, sort: sortNumber, keys: readings(written)}
	if len(c.keys) > 0 && c.keys[0].form == aNumber {
		c.value = c.keys[0].value()
	}
	if s.outline(i, j) {
		return j
	}
	if s.part(i) {
		return j
	}
	c.label = s.labelled(i)
	if c.way, c.about = s.about(i); c.way > 0 && len(written) > 3 && strings.IndexByte(".,", written[len(written)-3]) >= 0 {
		c.way, c.about = 0, false // over 3.284,40 €: so much
	}
	j = s.measured(&c, j)
	s.add(c)
	return j
}

// counters are words before a number that it is not the number of.
var counters = words(`sind ist are is was were hat haben has have gibt liegen liegt stehen bleiben bleibt kommen noch nur only davon of insgesamt knapp rund etwa about
	some beträgt betragen zeigt shows laut nach vor um von bis mit für auf zu zum bei über than more als mehr weniger total etwas genau exactly these diese alle all`)

// labelled reports whether a word stands right before a number.
func (s *scanner) labelled(i int) bool {
	k := i - 1
	for k >= 0 && (s.at(k).t == 's' && !strings.Contains(s.str(k), "\n") || s.at(k).t == 'p' && strings.Contains(".(§", s.str(k))) {
		if s.str(k) == "§" {
			return true
		}
		k--
	}
	return k >= 0 && s.at(k).t == 'w' && !counters[s.lower(k)] && !begins[s.lower(k)]
}

// partWords number the parts of an answer.
var partWords = words("day tag step schritt option phase teil part punkt")

// part reports whether a small number is that of a part, at the beginning of a line:
// Day 2.
func (s *scanner) part(i int) bool {
	if s.at(i).end-s.at(i).start > 1 || !s.is(i-1, 's') || !partWords[s.lower(i-2)] {
		return false
	}
	k := i - 3
	for k >= 0 && (s.is(k, 'p') && strings.Contains("#*_>-", s.str(k)) || s.is(k, 's') && !strings.Contains(s.str(k), "\n")) {
		k--
	}
	return k < 0 || s.is(k, 's')
}

// outline: a number at the beginning of a line that ends in a dot or a bracket
// counts the lines.
func (s *scanner) outline(i, j int) bool {
	k := i - 1
	for k >= 0 && (s.at(k).t == 's' && !strings.Contains(s.str(k), "\n") || s.at(k).t == 'p' && strings.Contains("#>*-", s.str(k))) {
		k--
	}
	begins := k < 0 || s.at(k).t == 's'
	return begins && s.at(i).end-s.at(i).start <= 2 && j == i+1 && (s.str(j) == "." || s.str(j) == ")") && (s.is(j+1, 's') || s.at(j+1).t == 0)
}

// thousands are units of which a result may give the thousandth part: kg, kWh.
var thousands = words("t tonne tonnes tonnen tons mwh km")

// measured takes in what follows a number: a scale, a unit, what it counts.
func (s *scanner) measured(c *claim, j int) int {
	k := s.space(j)
	if s.str(k) == "-" && k == j {
		k++
	}
	if p := s.str(k); p == "%" {
		c.unit = percent
		if c.value != 0 {
			c.keys = append(c.keys, number(c.value/100))
		}
		c.end = s.at(k).end
		return k + 1
	}
	w := s.lower(k)
	if w == "prozent" || w == "percent" {
		c.unit = percent
		c.keys = append(c.keys, number(c.value/100))
		return j
	}
	if times := scales[w]; times > 0 && k > j {
		c.scale = times
		for _, r := range readings(s.text[c.start:c.end]) {
			if r.form == aNumber {
				c.value = r.value() * times
				c.keys = append(c.keys, number(c.value))
			}
		}
		c.end = s.at(k).end
		k++
		if s.str(k) == "." {
			k++
		}
		return k
	}
	if c.unit = unitOf(w); w == "h" {
		c.unit = hours
	}
	if thousands[w] {
		c.thousand = true
		c.keys = append(c.keys, number(c.value*1000))
	}
	s.nouns(c, k)
	return j
}

// nouns notes the words after a number.
func (s *scanner) nouns(c *claim, k int) {
	n := 0
	for n < len(c.nouns) && s.at(k).t == 'w' {
		c.nouns[n] = span{s.at(k).start, s.at(k).end}
		n++
		k++
		if !s.is(k, 's') && s.str(k) != "-" {
			break
		}
		k++
	}
}

// readings are the numbers that digits with dots and commas may stand for.
func readings(written string) []key {
	clean := strings.NewReplacer("'", "", "’", "", "\u00a0", "", "\u202f", "", "\u2009", "", " ", "").Replace(written)
	dots, commas := strings.Count(clean, "."), strings.Count(clean, ",")
	parse := func(t string) (key, bool) {
		v, err := strconv.ParseFloat(t, 64)
		return number(v), err == nil && v < 1e15
	}
	var out []key
	add := func(t string) {
		if k, ok := parse(t); ok {
			out = append(out, k)
		}
	}
	switch {
	case dots == 0 && commas == 0:
		add(clean)
	case dots > 0 && commas > 0:
		if strings.LastIndexByte(clean, '.') > strings.LastIndexByte(clean, ',') {
			if dots == 1 && grouped(clean[:strings.LastIndexByte(clean, '.')], ",") {
				add(strings.ReplaceAll(clean, ",", ""))
			}
		} else if commas == 1 && grouped(clean[:strings.LastIndexByte(clean, ',')], ".") {
			add(strings.ReplaceAll(strings.ReplaceAll(clean, ".", ""), ",", "."))
		}
	default:
		sep := "."
		if commas > 0 {
			sep = ","
		}
		if grouped(clean, sep) {
			add(strings.ReplaceAll(clean, sep, ""))
		}
		if dots+commas == 1 {
			add(strings.ReplaceAll(clean, ",", "."))
		}
	}
	if len(out) == 0 {
		return []key{{form: aToken, s: clean}}
	}
	return out
}

// grouped reports whether a number is written in groups of three digits.
func grouped(t, sep string) bool {
	parts := strings.Split(t, sep)
	if len(parts[0]) == 0 || len(parts[0]) > 3 || len(parts) > 1 && parts[0] == "0" {
		return len(parts) == 1
	}
	for _, p := range parts[1:] {
		if len(p) != 3 {
			return false
		}
	}
	return true
}

// numberWord is a number in words, or a word that begins with one: dreimonatig.
func (s *scanner) numberWord(i int, w string) int {
	v, ok := numberWords[w]
	if ok {
		if s.str(i+1) == "-" { // twenty-five
			if ones, is := numberWords[s.lower(i+2)]; is && v >= 20 && ones < 10 {
				c := claim{start: s.at(i).start, end: s.at(i + 2).end, sort: sortNumber, value: float64(v + ones)}
				c.keys = []key{number(c.value)}
				s.measured(&c, i+3)
				s.add(c)
				return i + 3
			}
		}
		c := claim{start: s.at(i).start, end: s.at(i).end, sort: sortNumber, keys: []key{number(float64(v))}, value: float64(v)}
		k := s.space(i + 1)
		if times := scales[s.lower(k)]; times > 0 {
			c.end, c.value, c.scale = s.at(k).end, c.value*times, times
			c.keys = []key{number(c.value)}
			s.add(c)
			return k + 1
		}
		if s.str(k) == "-" {
			k++
		}
		c.way, c.about = s.about(i)
		if w := s.lower(k); w == "prozent" || w == "percent" {
			c.unit = percent
			c.keys = append(c.keys, number(c.value/100))
		} else {
			c.unit = unitOf(w)
		}
		s.nouns(&c, k)
		s.add(c)
		return i + 1
	}
	for n := len(w) - 3; n >= 4 || n == 3; n-- {
		v, is := numberWords[w[:min(n, len(w))]]
		if !is {
			continue
		}
		if u := unitOf(w[n:]); u != noUnit {
			s.add(claim{start: s.at(i).start, end: s.at(i).end, sort: sortNumber, keys: []key{number(float64(v))}, value: float64(v), unit: u})
			return i + 1
		}
	}
	return i
}

package grounding

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// form is what a key is of.
type form byte

const (
	aDay      form = 'd' // n: days since 1970
	aMonthDay form = 'm' // n: month*100 + day, of no year
	aMonth    form = 'y' // n: year*100 + month
	aMonthOf  form = 'o' // n: month, of no year
	aWeekday  form = 'w' // n: time.Weekday
	aTime     form = 't' // n: minutes since midnight
	aNumber   form = 'n' // n: bits of a float64
	aFigure   form = 'j' // n: the same, of a number that is one in JSON
	aLabel    form = 'l' // n: the same, of a number that is part of a name, as in room 3
	aToken    form = 'i' // s: an id, a docket or an address, without its punctuation
)

// key is a value as it is looked up: however it was written, the same value has
// the same key.
type key struct {
	form form
	n    int64
	s    string
}

func number(v float64) key {
	return key{form: aNumber, n: int64(math.Float64bits(math.Round(v*1e6) / 1e6))}
}

func (k key) value() float64 { return math.Float64frombits(uint64(k.n)) }

// sort is what kind of claim something is.
type sort byte

const (
	sortID sort = iota
	sortDate
	sortNumber
	sortName
)

// unit is what a number counts.
type unit byte

const (
	noUnit unit = iota
	days
	weeks
	months
	years
	hours
	minutes
	percent
)

// claim is something a text says that evidence can hold.
type claim struct {
	start, end int
	sort       sort
	keys       []key // any of which supports it
	value      float64
	unit       unit
	scale      float64 // above 1: the value is rounded to so much
	weekday    int     // that the day is said to be, from 1; 0: none
	name       string  // of a name: folded
	label      bool    // of a number: a word stands before it, which it may be the number of
	ordinal    bool    // third
	about      bool    // a word says that it is rounded
	thousand   bool    // of a unit whose thousandth a result may give
	within     float64 // of a fraction in words: how far the value may be from it
	way        int     // that the value is above it, or below
	loose      bool    // of a name: words at its beginning may be the sentence's
	nouns      [3]span // words after a number
}

type span struct{ start, end int }

// token is a run of letters, of digits or of both, or one other character.
type token struct {
	start, end int
	t          byte // w letters, n digits, a both, s white space, p anything else, u digits of another script
}

// scanner finds claims in a text.
type scanner struct {
	text   string
	tokens []token
	claims []claim
	// surnames are names of evidence that end in the name of a day: frida sonntag.
	surnames map[string]bool
}

func (s *scanner) tokenise(text string) {
	s.text, s.tokens = text, s.tokens[:0]
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case isWord(text, i):
			j, letters, digits, strange := i, false, false, false
			for j < len(text) {
				r, n := rune(text[j]), 1
				if r >= utf8.RuneSelf {
					r, n = utf8.DecodeRuneInString(text[j:])
				}
				switch {
				case r >= '0' && r <= '9':
					digits = true
				case r < utf8.RuneSelf && (r|0x20 >= 'a' && r|0x20 <= 'z'), r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r)):
					letters = true
				case r >= utf8.RuneSelf && unicode.IsDigit(r):
					strange = true
				default:
					n = 0
				}
				if n == 0 {
					break
				}
				j += n
			}
			t := byte('w')
			switch {
			case strange:
				t = 'u'
			case letters && digits:
				t = 'a'
			case digits:
				t = 'n'
			}
			s.tokens = append(s.tokens, token{i, j, t})
			i = j
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			j := i + 1
			for j < len(text) && (text[j] == ' ' || text[j] == '\t' || text[j] == '\n' || text[j] == '\r') {
				j++
			}
			s.tokens = append(s.tokens, token{i, j, 's'})
			i = j
		default:
			_, n := utf8.DecodeRuneInString(text[i:])
			t := byte('p')
			if r := text[i : i+n]; r == "\u00a0" || r == "\u202f" || r == "\u2009" {
				t = 's'
			}
			s.tokens = append(s.tokens, token{i, i + n, t})
			i += n
		}
	}
}

func isWord(text string, i int) bool {
	c := text[i]
	if c < utf8.RuneSelf {
		return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func (s *scanner) at(i int) token {
	if i < 0 || i >= len(s.tokens) {
		return token{len(s.text), len(s.text), 0}
	}
	return s.tokens[i]
}

func (s *scanner) is(i int, t byte) bool { return s.at(i).t == t }

func (s *scanner) str(i int) string { t := s.at(i); return s.text[t.start:t.end] }

// digits gives the number a token of digits stands for, if it has at most n.
func (s *scanner) digits(i, n int) (int, bool) {
	t := s.at(i)
	if t.t != 'n' || t.end-t.start > n {
		return 0, false
	}
	v := 0
	for _, c := range []byte(s.text[t.start:t.end]) {
		v = v*10 + int(c-'0')
	}
	return v, true
}

func (s *scanner) space(i int) int {
	if s.is(i, 's') {
		return i + 1
	}
	return i
}

// values finds what a text says of ids, dates and numbers, in its order.
func (s *scanner) values(text string) []claim {
	s.tokenise(text)
	s.claims = s.claims[:0]
	for i := 0; i < len(s.tokens); {
		i = max(i+1, s.one(i))
	}
	return s.claims
}

// scan finds the claims of a text: its values, and then its names.
func (s *scanner) scan(text string) []claim {
	s.values(text)
	s.claims = merged(text, s.claims)
	s.names()
	return s.claims
}

// one takes in what begins at a token, and gives the first token after it.
func (s *scanner) one(i int) int {
	t := s.tokens[i]
	switch t.t {
	case 'u':
		s.add(claim{start: t.start, end: t.end, sort: sortNumber})
		return i + 1
	case 'w':
		for _, try := range []func(int) int{s.address, s.mailbox, s.docket, s.compound, s.worded} {
			if j := try(i); j > i {
				return j
			}
		}
	case 'a':
		for _, try := range []func(int) int{s.ordinal, s.version, s.docket, s.compound} {
			if j := try(i); j > i {
				return j
			}
		}
	case 'n':
		for _, try := range []func(int) int{s.date, s.phone, s.version, s.docket, s.code, s.compound, s.clock, s.figure} {
			if j := try(i); j > i {
				return j
			}
		}
	}
	return i + 1
}

func (s *scanner) add(c claim) { s.claims = append(s.claims, c) }

// phone is a telephone number: it begins with + or 0, and goes on in groups.
func (s *scanner) phone(i int) int {
	plus := s.str(i-1) == "+" && s.is(i-1, 'p')
	if !plus && s.text[s.at(i).start] != '0' || s.at(i).end-s.at(i).start < 2 && !plus {
		return i
	}
	j, digits, groups := i, s.at(i).end-s.at(i).start, 1
	for {
		k := j + 1
		for s.is(k, 's') && s.str(k) == " " || s.is(k, 'p') && strings.Contains("-/()", s.str(k)) {
			k++
		}
		if k == j+1 || k > j+3 || !s.is(k, 'n') {
			break
		}
		digits += s.at(k).end - s.at(k).start
		j = k
		groups++
	}
	if groups < 2 || digits < 6 || !plus && groups < 3 && digits < 8 {
		return i
	}
	start, end := s.at(i).start, s.at(j).end
	keys := []key{tokenKey(s.text[start:end])}
	if k := keys[0].s; plus && len(k) > 6 { // without its country
		keys = append(keys, key{form: aToken, s: "0" + k[2:]})
	}
	s.add(claim{start: start, end: end, sort: sortID, keys: keys})
	return j + 1
}

// code is a number of two parts that are no range: 110538-6.
func (s *scanner) code(i int) int {
	a, b := s.at(i), s.at(i+2)
	if s.str(i+1) != "-" || b.t != 'n' || s.is(i-1, 'p') && s.str(i-1) == "-" {
		return i
	}
	first, second := s.text[a.start:a.end], s.text[b.start:b.end]
	x, _ := atoi(first)
	y, _ := atoi(second)
	if first[0] != '0' && second[0] != '0' && len(first) < 5 && len(second) < 5 && x <= y {
		return i
	}
	s.add(claim{start: a.start, end: b.end, sort: sortID, keys: []key{tokenKey(s.text[a.start:b.end])}})
	return i + 3
}

// mailbox is an address with an @.
func (s *scanner) mailbox(i int) int {
	j, at, dot := i, false, false
	for {
		switch {
		case s.str(j+1) == "@" && !at && isPart(s.at(j+2)):
			at = true
		case s.is(j+1, 'p') && strings.Contains(".-_+", s.str(j+1)) && isPart(s.at(j+2)):
			dot = dot || at && s.str(j+1) == "."
		default:
			if !at || !dot {
				return i
			}
			start, end := s.tokens[i].start, s.tokens[j].end
			s.add(claim{start: start, end: end, sort: sortID, keys: []key{tokenKey(s.text[start:end])}})
			return j + 1
		}
		j += 2
	}
}

// address is https://… up to white space.
func (s *scanner) address(i int) int {
	if w := s.str(i); w != "http" && w != "https" || !strings.HasPrefix(s.text[s.tokens[i].end:], "://") {
		return i
	}
	j := i
	for j < len(s.tokens) && s.tokens[j].t != 's' && !strings.ContainsAny(s.str(j), `<>")]`) {
		j++
	}
	start, end := s.tokens[i].start, s.tokens[j-1].end
	written := strings.TrimRight(s.text[start:end], ".,;:!?")
	s.add(claim{start: start, end: start + len(written), sort: sortID, keys: []key{tokenKey(written)}})
	return j
}

// compound is an id: letters and digits without a space, such as c47bd2,
// UPC_CFI_12/2024 or a UUID.
func (s *scanner) compound(i int) int {
	j, letters, digits := i, false, false
	note := func(k int) {
		switch s.tokens[k].t {
		case 'w':
			letters = true
		case 'n':
			digits = true
		case 'a':
			letters, digits = true, true
		}
	}
	note(i)
	for isPart(s.at(j+2)) && s.joins(j) {
		j += 2
		note(j)
	}
	if !letters || !digits {
		return i
	}
	if s.is(i, 'n') && s.measure(i, j) {
		return i
	}
	if s.is(i, 'w') && j > i && !s.hasDigitBefore(i, j) {
		return i
	}
	written := s.text[s.tokens[i].start:s.tokens[j].end]
	c := claim{start: s.tokens[i].start, end: s.tokens[j].end, sort: sortID, keys: []key{tokenKey(written)}}
	s.add(c)
	return j + 1
}

func isPart(t token) bool { return t.t == 'w' || t.t == 'n' || t.t == 'a' }

// joins reports whether the character after a token ties it to the next one.
func (s *scanner) joins(i int) bool {
	if !s.is(i+1, 'p') {
		return false
	}
	switch s.str(i + 1) {
	case "-", "_", "/":
		return true
	case ".", ":":
		if s.is(i, 'n') && s.is(i-1, 'p') && s.is(i+2, 'w') && len(s.str(i+2)) == 1 {
			return true // RoP.029.a
		}
		return s.is(i+2, 'n') && (s.is(i, 'n') || s.is(i, 'w') && len(s.str(i)) <= 4)
	}
	return false
}

// measure: 3-Monats-Frist is a number with what it counts, and no id.
func (s *scanner) measure(i, j int) bool {
	for k := i + 2; k <= j; k += 2 {
		if s.tokens[k].t != 'w' {
			return false
		}
	}
	return s.str(i+1) == "-" && s.at(i+2).end-s.at(i+2).start > 2
}

// hasDigitBefore: of a word that begins a compound, a digit comes in one of the
// next two parts; long words joined to words are no ids.
func (s *scanner) hasDigitBefore(i, j int) bool {
	for k := i; k <= j && k <= i+6; k += 2 {
		if s.tokens[k].t == 'n' || s.tokens[k].t == 'a' {
			return true
		}
	}
	return false
}

// tokenKey is an id without its punctuation, in one case.
func tokenKey(written string) key {
	var b strings.Builder
	b.Grow(len(written))
	for _, r := range written {
		if r < utf8.RuneSelf {
			switch {
			case r >= 'a' && r <= 'z':
				b.WriteByte(byte(r - 32))
			case r >= '0' && r <= '9' || r >= 'A' && r <= 'Z':
				b.WriteByte(byte(r))
			}
		} else if unicode.IsLetter(r) {
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return key{form: aToken, s: b.String()}
}

// docket is a file number written with spaces: 4a O 23/22, X ZR 12/21,
// EP 3 456 789 B1.
func (s *scanner) docket(i int) int {
	if j := s.patent(i); j > i {
		return j
	}
	j, parts, upper := i, 0, false
	for parts < 5 {
		t := s.at(j)
		if !isPart(t) || t.end-t.start > 4 && t.t != 'n' {
			return i
		}
		if t.t == 'n' && s.str(j+1) == "/" && s.is(j+2, 'n') && parts > 0 {
			year := s.at(j + 2)
			if n := year.end - year.start; (n == 2 || n == 4) && upper {
				s.add(claim{start: s.tokens[i].start, end: year.end, sort: sortID, keys: []key{tokenKey(s.text[s.tokens[i].start:year.end])}})
				return j + 3
			}
			return i
		}
		if t.t == 'n' && t.end-t.start > 3 {
			return i
		}
		if t.t != 'n' {
			first := s.text[t.start]
			if t.t == 'w' && (first < 'A' || first > 'Z') {
				return i
			}
			upper = upper || t.t == 'w'
		}
		parts++
		switch {
		case s.is(j+1, 's') && s.at(j+1).end-s.at(j+1).start <= 2:
			j += 2
		case s.str(j+1) == "-" && isPart(s.at(j+2)):
			j += 2
		default:
			return i
		}
	}
	return i
}

// patent is two capital letters and a long number: EP 3 456 789 B1.
func (s *scanner) patent(i int) int {
	w := s.str(i)
	if len(w) != 2 || w[0] < 'A' || w[0] > 'Z' || w[1] < 'A' || w[1] > 'Z' || !s.is(i+1, 's') || !s.is(i+2, 'n') {
		return i
	}
	j, count := i+2, 0
	last := j
	for s.is(j, 'n') {
		count += s.at(j).end - s.at(j).start
		last = j
		if (s.is(j+1, 's') || s.is(j+1, 'p') && strings.Contains(",./", s.str(j+1))) && s.is(j+2, 'n') {
			j += 2
			continue
		}
		break
	}
	if count < 6 {
		return i
	}
	if s.is(last+1, 's') && s.is(last+2, 'a') && len(s.str(last+2)) == 2 && s.str(last + 2)[0] >= 'A' && s.str(last + 2)[0] <= 'C' {
		last += 2
	}
	start, end := s.tokens[i].start, s.tokens[last].end
	written := s.text[start:end]
	keys := []key{tokenKey(written)}
	if k := keys[0].s; len(k) > 4 && k[len(k)-2] >= 'A' && k[len(k)-2] <= 'C' { // without its kind code
		keys = append(keys, key{form: aToken, s: k[:len(k)-2]})
	}
	s.add(claim{start: start, end: end, sort: sortID, keys: keys})
	return last + 1
}

package grounding

import (
	"math"
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

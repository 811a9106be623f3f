package redact

import (
	"slices"
	"strings"
)

const (
	maxGroups = 8
	maxDigits = 19
)

// run is digits in groups, with single separators between: "030 123-45".
type run struct {
	groups []group
	plus   bool // begins with +
	area   bool // the first group stands in parentheses
	word   bool // a word such as "phone" stands before it
	start  int  // of the +, the parenthesis or the first digit
}

type group struct {
	start, end int
	sep        byte // before the group; 0 for the first
}

func (g group) size() int { return g.end - g.start }

// numbers finds payment cards and phone numbers. The longest reading of a run
// that is one of them wins; then the search goes on behind it.
func numbers(s string) (found []Span) {
	for i := 0; i < len(s); i++ {
		if !begins(s, i) {
			continue
		}
		r := runAt(s, i)
		if n, kind := r.longest(s); n > 0 {
			end := r.groups[n-1].end
			found = append(found, Span{r.start, end, kind})
			i = end - 1
		} else if len(r.groups) > 0 {
			i = r.groups[0].end - 1
		}
	}
	return found
}

// begins reports whether a number may begin at i: a digit, a + or a (, with
// nothing before it that would make it part of something else.
func begins(s string, i int) bool {
	c, prev := s[i], before(s, i)
	switch {
	case isWord(prev):
		return false
	case c == '+':
		return isDigit(at(s, i+1))
	case c == '(':
		return isDigit(at(s, i+1))
	case isDigit(c):
		return strings.IndexByte("-./#$,+@", prev) < 0
	}
	return false
}

func runAt(s string, i int) run {
	r := run{start: i, plus: s[i] == '+', area: s[i] == '(', word: afterWord(s, i)}
	if r.plus || r.area {
		i++
	}
	sep := byte(0)
	for digits := 0; len(r.groups) < maxGroups; {
		end := i
		for end < len(s) && isDigit(s[end]) {
			end++
		}
		if digits += end - i; end == i || digits > maxDigits {
			return r
		}
		r.groups = append(r.groups, group{i, end, sep})
		sep, i = separator(s, end)
		if sep == 0 {
			return r
		}
	}
	return r
}

// separator reads what may stand between two groups: one of -./ or a space,
// or a parenthesis with its space.
func separator(s string, i int) (sep byte, next int) {
	switch c := at(s, i); {
	case i >= len(s):
		return 0, i
	case c == ')' && at(s, i+1) == ' ' || c == ' ' && at(s, i+1) == '(':
		return ')', i + 2
	case c == ')':
		return ')', i + 1
	case strings.IndexByte("-./ ", c) >= 0:
		return c, i + 1
	}
	return 0, i
}

// longest returns how many groups of r are one number, and of which kind.
func (r run) longest(s string) (groups int, kind Kind) {
	for n := len(r.groups); n > 0; n-- {
		part := r
		part.groups = r.groups[:n]
		if !closed(s, part.groups[n-1].end) {
			continue
		}
		switch {
		case !r.plus && !r.area && part.card(s):
			return n, Card
		case part.phone(s):
			return n, Phone
		}
	}
	return 0, ""
}

// closed reports whether a number may end at i.
func closed(s string, i int) bool {
	c, next := at(s, i), at(s, i+1)
	if isWord(c) || c == '%' || c == '@' {
		return false
	}
	return strings.IndexByte("-./:,", c) < 0 || !isWord(next)
}

func (r run) digits(s string) string {
	var b strings.Builder
	for _, g := range r.groups {
		b.WriteString(s[g.start:g.end])
	}
	return b.String()
}

func (r run) sizes() (out []int) {
	for _, g := range r.groups {
		out = append(out, g.size())
	}
	return out
}

// only reports whether all separators are among those of set.
func (r run) only(set string) bool {
	return !slices.ContainsFunc(r.groups[1:], func(g group) bool { return strings.IndexByte(set, g.sep) < 0 })
}

// card reports whether r is a payment card's number: written as cards are, of
// a known issuer's range and length, and with the right check digit.
func (r run) card(s string) bool {
	if !cardShape(r.sizes()) || !r.only("- ") {
		return false
	}
	d := r.digits(s)
	return issued(d) && luhn(d)
}

func cardShape(sizes []int) bool {
	switch len(sizes) {
	case 1:
		return sizes[0] >= 13
	case 3:
		return slices.Equal(sizes, []int{4, 6, 5}) || slices.Equal(sizes, []int{4, 6, 4})
	case 4, 5:
		last := len(sizes) - 1
		return sizes[last] <= 4 && !slices.ContainsFunc(sizes[:last], func(n int) bool { return n != 4 })
	}
	return false
}

// issued reports whether the first digits and the length are those of an
// issuer of payment cards.
func issued(d string) bool {
	n := len(d)
	if n < 13 {
		return false
	}
	first := func(k int) (v int) {
		for _, c := range d[:k] {
			v = v*10 + int(c-'0')
		}
		return v
	}
	two, four := first(2), first(4)
	switch {
	case d[0] == '4':
		return n == 13 || n == 16 || n == 19
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720:
		return n == 16
	case two == 34 || two == 37:
		return n == 15
	case two == 30, two == 36, two == 38:
		return n == 14
	case four >= 3528 && four <= 3589, four == 6011, two == 65, first(3) >= 644 && first(3) <= 649, two == 62:
		return n >= 16
	}
	return false
}

func luhn(d string) bool {
	sum := 0
	for i := range len(d) {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}

package redact

import (
	"slices"
	"strings"
)

// phoneWords announce a number that would else pass for an ordinary one.
var phoneWords = []string{
	"tel", "telephone", "telefon", "telefonnummer", "phone", "phones", "mobile", "mobil", "handy", "fon", "fax", "whatsapp", "call", "ring", "sms",
}

// afterWord reports whether a phone word stands before i, with at most a
// colon, a full stop, a quote, an equals sign and spaces between.
func afterWord(s string, i int) bool {
	end := i
	for end > 0 && i-end < 4 && strings.IndexByte(`:.="' `, s[end-1]) >= 0 {
		end--
	}
	start := end
	for start > 0 && end-start < 16 && isWord(s[start-1]) {
		start--
	}
	return end < i && slices.Contains(phoneWords, strings.ToLower(s[start:end]))
}

// phone reports whether r is written as phone numbers are.
func (r run) phone(s string) bool {
	d := r.digits(s)
	n := len(d)
	switch {
	case n < 7 || n > 15 || r.thousands() || r.afterNumber(s):
		return false
	case r.plus:
		return n >= 8 && d[0] != '0'
	case r.word:
		return !r.dated()
	case strings.HasPrefix(d, "00"):
		return n >= 11 && d[2] != '0' && len(r.groups) > 1 && r.groups[0].size() >= 4 && r.only("- )/")
	case d[0] == '0':
		return n >= 9 && n <= 13 && d[1] != '0' && r.national()
	}
	return r.american(d)
}

// afterNumber: in "3 +12345678" the + adds, and in "3704 0044 0532" a longer
// number goes on.
func (r run) afterNumber(s string) bool {
	return r.start >= 2 && s[r.start-1] == ' ' && isDigit(s[r.start-2])
}

// thousands: 1.234.567.890 is an amount.
func (r run) thousands() bool {
	return len(r.groups) > 2 && r.only(".") && r.groups[0].size() <= 3 &&
		!slices.ContainsFunc(r.groups[1:], func(g group) bool { return g.size() != 3 })
}

// dated: 2026-11-20 and 20.11.2026 are dates, whatever stands before them.
func (r run) dated() bool {
	sizes := r.sizes()
	return len(sizes) == 3 && (slices.Equal(sizes, []int{4, 2, 2}) || sizes[0] <= 2 && sizes[1] <= 2 && sizes[2] == 4)
}

// national: a trunk 0 with its area or network, then the subscriber: 030
// 1234567, 0170/1234567, (030) 123456, and 01 23 45 67 89.
func (r run) national() bool {
	sizes := r.sizes()
	if slices.Equal(sizes, []int{2, 2, 2, 2, 2}) {
		return r.only(" ") || r.only("-") || r.only(".")
	}
	return len(sizes) >= 2 && len(sizes) <= 5 && sizes[0] >= 3 && sizes[0] <= 5 && r.only("- )/")
}

// american: 415-555-0132, (415) 555-0132, 1-800-555-0199. Spaces alone do not
// do: "400 500 6000" may be anything.
func (r run) american(d string) bool {
	sizes := r.sizes()
	if len(d) == 11 && d[0] == '1' && len(sizes) == 4 && sizes[0] == 1 {
		d, sizes = d[1:], sizes[1:]
	}
	if len(d) != 10 || !slices.Equal(sizes, []int{3, 3, 4}) || d[0] < '2' || d[3] < '2' {
		return false
	}
	return r.only("-") || r.only(".") || r.only("-.)") || r.area && r.only("-. )")
}

package grounding

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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
	for s.str(i+1) == "." && s.is(i+2, 'n') && i+2 < j { // 38.5-hour
		i += 2
	}
	for k := i + 2; k <= j; k += 2 {
		if s.tokens[k].t != 'w' {
			return false
		}
	}
	_, known := measures[s.lower(i+2)]
	return s.str(i+1) == "-" && (s.at(i+2).end-s.at(i+2).start > 2 || known)
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

// version is 4.18.2 or v4.18.2: three or more numbers that are no thousands.
func (s *scanner) version(i int) int {
	j, parts, thousands := i, 1, true
	first := s.str(i)
	if s.is(i, 'a') {
		if _, ok := atoi(first[1:]); !ok || first[0] != 'v' && first[0] != 'V' {
			return i
		}
		thousands = false
	}
	for s.str(j+1) == "." && s.is(j+2, 'n') && s.at(j+2).start == s.at(j+1).end {
		j += 2
		thousands = thousands && s.at(j).end-s.at(j).start == 3
		parts++
	}
	if parts < 2 || s.is(i, 'n') && (parts < 3 || thousands) || s.str(j+1) == "-" && isPart(s.at(j+2)) {
		return i
	}
	written := s.text[s.at(i).start:s.at(j).end]
	keys := []key{tokenKey(written)}
	if s.is(i, 'a') {
		keys = append(keys, tokenKey(written[1:]))
	}
	s.add(claim{start: s.at(i).start, end: s.at(j).end, sort: sortID, keys: keys})
	return j + 1
}

package grounding

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds a quoted name in bytes.
const maxName = 160

// fold is a text as names are compared: its words in lower case, without
// punctuation, one space apart.
func fold(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 8)
	foldInto(&b, text)
	return strings.TrimSuffix(b.String(), " ")
}

func foldInto(b *strings.Builder, text string) {
	open := false
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9'):
			b.WriteByte(byte(r))
			open = true
		case r < utf8.RuneSelf && r >= 'A' && r <= 'Z':
			b.WriteByte(byte(r + 32))
			open = true
		case r == 'ß' || r == 'ẞ':
			b.WriteString("ss")
			open = true
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)):
			b.WriteRune(unicode.ToLower(r))
			open = true
		case open:
			b.WriteByte(' ')
			open = false
		}
	}
	if open {
		b.WriteByte(' ')
	}
}

// closing are the marks that end a quote, by what begins it.
var closing = map[string]string{
	"„": "“”\"", "“": "”\"", "»": "«", "«": "»", "\"": "\"", "‚": "‘’",
}

// legalForms end the name of a company.
var legalForms = words("gmbh ag se kg kgaa ohg ug gbr ltd limited inc llp llc corp plc bv sa sarl spa nv oy ab")

// salutations begin the name of a person.
var salutations = words("herr herrn frau dr prof mr mrs ms ra rain rechtsanwalt rechtsanwältin")

// begins are words that begin a sentence with a capital and are no part of a
// name.
var begins = words(`der die das den dem des ein eine einen einem einer in im am an auf aus bei beim bis da dann dort du er es sie wir ihr ich
	für gegen hier mit nach noch nun nur ob oder ohne seit so über um und unter vom von vor wann was weil wenn wer wie wo zu zum zur auch alle
	außerdem zudem danach dazu deine dein ihre ihr unsere mein meine laut sache akte verfahren partei mandant mandantin klägerin kläger beklagte beklagter
	the a an at by for from he she it of on or our she so they this that these those to we what when where who with you your there then in and but
	as is are case matter party client claimant defendant plaintiff both beide sowie neben zwischen between heute today next nächste`)

// names finds quoted names, companies, people with a title, and the two sides
// of a case.
func (s *scanner) names() {
	for i := 0; i < len(s.tokens); i++ {
		t := s.tokens[i]
		switch t.t {
		case 'p':
			if j := s.quoted(i); j > i {
				i = j
			} else if s.against(i) {
				s.sides(i, i+3)
				i += 2
			}
		case 'w':
			w := s.lower(i)
			switch {
			case (w == "v" || w == "vs") && s.str(i+1) == "." && s.is(i-1, 's'):
				s.sides(i, i+2)
			case legalForms[w] && s.is(i-1, 's') && (w != "ag" && w != "se" && w != "sa" && w != "ab" || s.str(i) == strings.ToUpper(w)):
				s.company(i)
			case salutations[w]:
				s.person(i)
			}
		}
	}
}

func (s *scanner) against(i int) bool {
	return s.str(i) == "." && s.str(i+1) == "/" && s.str(i+2) == "."
}

func (s *scanner) addName(from, to int, loose byte) {
	start, end := s.at(from).start, s.at(to).end
	name := fold(s.text[start:end])
	if name != "" {
		s.add(claim{start: start, end: end, sort: sortName, name: name, loose: loose != 0, value: float64(loose)})
	}
}

// quoted takes in a quote that begins as names do; it gives its last token.
func (s *scanner) quoted(i int) int {
	ends, ok := closing[s.str(i)]
	if !ok {
		return i
	}
	for j := i + 1; j < len(s.tokens) && s.tokens[j].start-s.tokens[i].start < maxName; j++ {
		if s.tokens[j].t == 's' && strings.Contains(s.str(j), "\n") {
			return i
		}
		if s.tokens[j].t != 'p' || !strings.Contains(ends, s.str(j)) {
			continue
		}
		if j == i+1 {
			return i
		}
		if r, _ := utf8.DecodeRuneInString(s.text[s.tokens[i+1].start:]); unicode.IsUpper(r) || unicode.IsDigit(r) || j > i+3 {
			s.addName(i+1, j-1, 0)
		}
		return j
	}
	return i
}

// capital reports whether a token is a word as names have them.
func (s *scanner) capital(i int) bool {
	t := s.at(i)
	if t.t != 'w' && t.t != 'a' {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s.text[t.start:])
	return unicode.IsUpper(r) && !begins[s.lower(i)]
}

// joined passes over what ties two words of a name together, backwards or
// forwards.
func (s *scanner) joined(i, step int) int {
	j := i + step
	if s.is(j, 's') {
		j += step
	}
	switch p := s.str(j); {
	case p == "&" || p == "-" || p == "+":
		j += step
		if s.is(j, 's') {
			j += step
		}
	case p == "." && step < 0 && s.is(j-1, 'w') && s.at(j-1).end-s.at(j-1).start <= 4:
		j += step
	case p == "." && step > 0 && s.at(i).end-s.at(i).start <= 4:
		j += step
		if s.is(j, 's') {
			j += step
		}
	}
	return j
}

// stretch is how far a name goes from a word, at most four words.
func (s *scanner) stretch(i, step int) int {
	for n := 1; n < 4; n++ {
		j := s.joined(i, step)
		if !s.capital(j) && !legalForms[s.lower(j)] {
			break
		}
		i = j
	}
	return i
}

func (s *scanner) sides(i, after int) {
	if l := i - 1; s.is(l, 's') && (s.capital(l-1) || legalForms[s.lower(l-1)]) {
		s.addName(s.stretch(l-1, -1), l-1, 'l')
	}
	if r := s.space(after); s.capital(r) {
		s.addName(r, s.stretch(r, 1), 'r')
	}
}

func (s *scanner) company(i int) {
	if j := s.joined(i, -1); s.capital(j) {
		s.addName(s.stretch(j, -1), i, 'c')
	}
}

func (s *scanner) person(i int) {
	j := i + 1
	if s.str(j) == "." {
		j++
	}
	j = s.space(j)
	for salutations[s.lower(j)] { // Frau Dr. Weber
		j++
		if s.str(j) == "." {
			j++
		}
		j = s.space(j)
	}
	if s.capital(j) && j > i+1 {
		for k := len(s.claims) - 1; k >= 0; k-- {
			if s.claims[k].sort == sortName && s.claims[k].start <= s.at(j).start && s.claims[k].end >= s.at(j).end {
				return // the same name, after another title
			}
		}
		s.addName(j, s.stretch(j, 1), 'r')
	}
}

// held reports whether a name stands in a folded text. Of a loose one, words of
// the sentence beside it may have been taken for its own: then the rest must be
// where a value begins or ends.
func held(folded string, c claim) bool {
	list := strings.Split(c.name, " ")
	has := func(before string, w []string, after string) bool {
		return len(w) > 0 && strings.Contains(folded, before+" "+strings.Join(w, " ")+" "+after)
	}
	if has("", list, "") {
		return true
	}
	least := 0
	switch byte(c.value) {
	case 'c': // a company: its form is no name
		least = 1
		fallthrough
	case 'l':
		for n := 1; n < len(list)-least; n++ {
			if has("\n", list[n:], "") {
				return true
			}
		}
	case 'r':
		for n := len(list) - 1; n > 0; n-- {
			if has("", list[:n], "\n") {
				return true
			}
		}
	default:
		return hasInflected(folded, c.name)
	}
	return false
}

// hasInflected: the last word of a quoted name may lack or have an ending.
func hasInflected(folded, name string) bool {
	return len(name) > 5 && strings.Contains(folded, " "+name)
}

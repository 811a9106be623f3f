package words

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence is Text[Start:End] of the text it was found in, without white
// space at its ends.
type Sentence struct {
	Start, End int
	Form       Form
	Paragraph  int // sentences of one paragraph or list item share it
}

// Form is what a sentence stands in.
type Form string

// The forms of a sentence.
const (
	Prose   Form = ""
	Heading Form = "heading"
	Item    Form = "item"  // of a list
	Row     Form = "row"   // of a table
	Code    Form = "code"  // one line of it
	Fence   Form = "fence" // the line that opens or closes code
)

// maxSentence bounds one sentence in bytes: text without any punctuation
// (a log, a binary dump) is cut at line ends or spaces.
const maxSentence = 1200

// Sentences finds the sentences of text. A line end inside a paragraph is
// white space, so hard-wrapped text is read as it was meant; blank lines,
// headings, list items, table rows and fenced code are borders.
func Sentences(text string) []Sentence {
	var out []Sentence
	for i, p := range paragraphs(text) {
		switch p.Form {
		case Prose, Item:
			for _, s := range split(text, p.Start, p.End) {
				out = append(out, Sentence{s.Start, s.End, p.Form, i})
			}
		default:
			for _, s := range bounded(text, p.Start, p.End) {
				out = append(out, Sentence{s.Start, s.End, p.Form, i})
			}
		}
	}
	return out
}

var (
	listItem = regexp.MustCompile(`^\s*(?:[-*+•◦‣▪–]\s+|\d{1,3}[.)]\s+|[a-zA-Z][.)]\s+|\[[ xX]\]\s+)`)
	atxHead  = regexp.MustCompile(`^ {0,3}#{1,6}\s`)
	ruled    = regexp.MustCompile(`^\s*(?:[-*_=~]\s*){3,}$`)
	fenced   = regexp.MustCompile("^\\s*(?:```|~~~)")
)

// paragraphs groups the lines of text.
func paragraphs(text string) []Sentence {
	g := grouping{text: text}
	for at := 0; at < len(text); {
		end := len(text)
		next := end
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end, next = at+i, at+i+1
		}
		g.line(at, end)
		at = next
	}
	g.flush()
	return g.out
}

// grouping is the state of reading lines into paragraphs.
type grouping struct {
	text  string
	out   []Sentence
	open  Sentence
	lives bool
	code  bool
}

func (g *grouping) line(start, end int) {
	line := g.text[start:end]
	switch {
	case fenced.MatchString(line):
		g.alone(start, end, Fence)
		g.code = !g.code
	case strings.TrimSpace(line) == "" || ruled.MatchString(line):
		g.flush()
	case g.code:
		g.alone(start, end, Code)
	case atxHead.MatchString(line):
		g.alone(start, end, Heading)
	case tabular(line):
		g.alone(start, end, Row)
	case listItem.MatchString(line):
		g.flush()
		g.begin(start, end, Item)
	case g.lives:
		g.open.End = end
	default:
		g.begin(start, end, Prose)
	}
}

func (g *grouping) begin(start, end int, f Form) {
	g.open, g.lives = Sentence{Start: start, End: end, Form: f}, true
}

func (g *grouping) alone(start, end int, f Form) {
	g.flush()
	g.begin(start, end, f)
	g.flush()
}

func (g *grouping) flush() {
	if g.lives {
		g.out = append(g.out, g.open)
	}
	g.lives = false
}

// tabular reports whether a line is a row of a table or of a drawing.
func tabular(line string) bool {
	t := strings.TrimSpace(line)
	return strings.HasPrefix(t, "|") && strings.Count(t, "|") > 1 || strings.ContainsAny(t, "│║├└┌┐┘┤┬┴┼─═") || record.MatchString(t)
}

// record is a line of a file of fields, such as /etc/passwd: words of a sentence
// have no colons without a space.
var record = regexp.MustCompile(`^[^\s:]+(?::[^:]*){4,}$`)

// split cuts text[start:end] at sentence ends.
func split(text string, start, end int) []Sentence {
	var out []Sentence
	from := start
	for at := start; at < end; {
		r, n := utf8.DecodeRuneInString(text[at:end])
		at += n
		if !strings.ContainsRune(".!?…。！？", r) {
			continue
		}
		stop := closing(text, at, end)
		if ends(text, from, at-n, stop, end, r) {
			out = append(out, bounded(text, from, stop)...)
			from, at = stop, stop
		}
	}
	return append(out, bounded(text, from, end)...)
}

// closing steps over what may follow a full stop: more stops, quotes,
// brackets, Markdown emphasis.
func closing(text string, at, end int) int {
	for at < end {
		r, n := utf8.DecodeRuneInString(text[at:end])
		if !strings.ContainsRune(".!?…\"'”’»«)]}*_`“", r) {
			break
		}
		at += n
	}
	return at
}

// ends reports whether the mark at text[mark] ends the sentence from..stop.
func ends(text string, from, mark, stop, end int, r rune) bool {
	if r == '。' || r == '！' || r == '？' || stop >= end {
		return true
	}
	next, _ := utf8.DecodeRuneInString(text[stop:end])
	if !unicode.IsSpace(next) {
		return false
	}
	first := firstRune(text[stop:end])
	if r != '.' {
		return !unicode.IsLower(first)
	}
	word := lastWord(text[from:mark])
	numbers := len(word) <= 3 && strings.EqualFold(strings.TrimSpace(text[from:mark]), word) // "2. Then …" is one sentence
	if numbers || unicode.IsLower(first) || abbreviation(word) {
		return false
	}
	return !ordinal(word, text[stop:end])
}

func firstRune(s string) rune {
	for _, r := range s {
		if !unicode.IsSpace(r) && !strings.ContainsRune("\"'“„‘«(*_`[", r) {
			return r
		}
	}
	return ' '
}

func lastWord(s string) string {
	i := strings.LastIndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '(' || r == '[' })
	return strings.ToLower(s[i+1:])
}

func abbreviation(word string) bool {
	return abbreviations[word] || utf8.RuneCountInString(word) == 1 && word != "i" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == ""
}

var abbreviations = set(`e.g i.e etc vs cf al approx resp no nos fig figs eq sec ch vol ed eds p pp dr mr mrs ms prof st jr sr inc ltd co corp dept
est univ jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k a.m p.m ph.d z.b d.h u.a o.ä s.o s.u bzw usw ca evtl ggf inkl
exkl max min nr abs art tel str hr fr bspw sog vgl zzgl abb kap bd hrsg mio mrd`)

var months = set(`januar februar märz april mai juni juli august september oktober november dezember jahrhundert`)

// ordinal reports whether "3." is the German way to write third.
func ordinal(word, rest string) bool {
	if len(word) == 0 || len(word) > 2 || strings.Trim(word, "0123456789") != "" {
		return false
	}
	fields := strings.Fields(rest[:min(len(rest), 64)])
	return len(fields) > 0 && months[strings.ToLower(strings.Trim(fields[0], ".,;"))]
}

// bounded trims white space and cuts what is longer than maxSentence.
func bounded(text string, start, end int) []Sentence {
	var out []Sentence
	for {
		start, end = Trim(text, start, end)
		if start >= end {
			return out
		}
		if end-start <= maxSentence {
			return append(out, Sentence{Start: start, End: end})
		}
		cut := cutAt(text, start, start+maxSentence)
		s, e := Trim(text, start, cut)
		if s < e {
			out = append(out, Sentence{Start: s, End: e})
		}
		start = cut
	}
}

// cutAt finds the best place at or before limit to cut text[start:]: a line
// end, else a space, else the border of a character.
func cutAt(text string, start, limit int) int {
	for limit > start+1 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	half := (limit - start) / 2
	for _, border := range []byte{'\n', ' '} {
		if i := strings.LastIndexByte(text[start:limit], border); i > half {
			return start + i + 1
		}
	}
	return limit
}

// Trim narrows text[start:end] to what is not white space.
func Trim(text string, start, end int) (int, int) {
	s := text[start:end]
	left := len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	s = s[left:]
	return start + left, start + left + len(strings.TrimRightFunc(s, unicode.IsSpace))
}

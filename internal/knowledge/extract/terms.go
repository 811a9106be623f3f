package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A manual explains terms: a line of its own names an option or a setting, and
// what is said of it is set in below. Such a term is read as a heading, so that
// all that is said of an option is known to be about it, the paragraph that
// tells its default as well as the first.

const (
	fewestTerms  = 8   // a text with fewer is no manual
	termStep     = 3   // columns the explanation is set in further, at least
	maxTermLines = 5   // spellings of one option, a line each
	maxTerm      = 60  // bytes of a term that is no option
	maxOption    = 110 // and of one that is
	termWords    = 9   // words of a term that is no option
	termLevel    = 100 // and up are the levels of terms, by their column
)

// isManual reports whether a text explains terms.
func isManual(text string) bool {
	n, blank := 0, true
	for l := (lines{text: text}); l.scan(); {
		line := l.line()
		if strings.TrimSpace(line) == "" {
			blank = true
			continue
		}
		if blank && termLines(l) > 0 {
			if n++; n == fewestTerms {
				return true
			}
		}
		blank = false
	}
	return false
}

// termLines is how many lines, from that l stands on, name what the lines below
// them explain; 0 for none.
func termLines(l lines) int {
	at := indent(l.line())
	if !isTerm(l.line()) {
		return 0
	}
	ahead := lines{text: l.text, next: l.next}
	for n := 1; n <= maxTermLines && ahead.scan(); n++ {
		line := ahead.line()
		if strings.TrimSpace(line) == "" {
			return 0
		}
		in := indent(line)
		if in >= at+termStep {
			return n
		}
		if in > at+1 || in+1 < at || !isTerm(line) {
			return 0
		}
	}
	return 0
}

// isTerm reports whether a line may name something and says nothing.
func isTerm(line string) bool {
	t := strings.TrimSpace(line)
	first, _ := utf8.DecodeRuneInString(t)
	if len(t) < 2 || len(t) > maxOption || !strings.ContainsFunc(t, unicode.IsLetter) && !isOption(t) {
		return false
	}
	if strings.HasSuffix(t, ".") && !strings.HasSuffix(t, "..") || strings.ContainsAny(t[len(t)-1:], ",;:!?{") {
		return false
	}
	if isOption(t) {
		return true
	}
	letter := unicode.IsLetter(first) || unicode.IsDigit(first) || strings.ContainsRune("/$_", first)
	return letter && len(t) <= maxTerm && len(strings.Fields(t)) <= termWords &&
		!strings.Contains(t, "  ") && !strings.Contains(t, ". ") && !strings.HasPrefix(t, "o ") && !bulleted.MatchString(t)
}

var bulleted = regexp.MustCompile(`^(?:[-*+•◦‣▪–]|\d{1,3}[.)]|[a-zA-Z][.)])\s`)

// isOption reports whether a text is an option of a command: "-v", "\watch".
func isOption(t string) bool {
	return len(t) > 1 && (t[0] == '-' || t[0] == '\\') && t[1] != ' ' && !strings.HasPrefix(t, "---")
}

// inlineTerm is a term with the beginning of its explanation on the same line.
var inlineTerm = regexp.MustCompile(`^( *)(\S+(?: \S+){0,3}) {2,}(\S)`)

// runInTerm is the term that a line names and explains, where the next line
// goes on in the explanation's column; or "".
func runInTerm(l lines) string {
	m := inlineTerm.FindStringSubmatchIndex(l.line())
	if m == nil {
		return ""
	}
	term := l.line()[m[4]:m[5]]
	in := indent(l.peek())
	column := utf8.RuneCountInString(l.line()[:m[6]])
	if strings.TrimSpace(l.peek()) == "" || in != column || !isTerm(term) || bulleted.MatchString(term+" ") {
		return ""
	}
	return term
}

// explains reads an opening line of a manual that is the title of a section or
// a term, and reports whether it was one. A paragraph that is set in no further
// than a term ends what is said of it.
func (p *plainText) explains() bool {
	at := indent(p.line())
	p.path.leave(termLevel, termLevel+at)
	start := p.start
	if at == 0 && headingLike(p.line()) && levelOf(p.line()) == 1 && indent(p.peek()) >= termStep {
		p.path.enter(1, strings.TrimSpace(p.line()))
		p.add("heading", start, p.end)
		return true
	}
	if n := termLines(p.lines); n > 0 {
		names := strings.TrimSpace(p.line())
		for ; n > 1 && p.scan(); n-- {
			names += ", " + strings.TrimSpace(p.line())
		}
		p.path.enter(termLevel+at, names)
		p.add("heading", start, p.end)
		return true
	}
	if term := runInTerm(p.lines); term != "" {
		p.path.enter(termLevel+at, term)
	}
	return false
}

// leave closes the headings of at least a level, down to the lowest that is
// meant.
func (o *outline) leave(lowest, level int) {
	for n := len(o.levels); n > 0 && o.levels[n-1] >= max(lowest, level); n-- {
		o.levels, o.titles = o.levels[:n-1], o.titles[:n-1]
	}
}

// dotted is the beginning of a section's title with a number of several levels.
var dotted = regexp.MustCompile(`^ {0,3}(\d{1,3}(?:\.\d{1,3}){1,4})\.?[ \t]+\S`)

const (
	sectionLines = 4   // lines of a section's title, at most
	sectionTitle = 240 // and its bytes
)

// question reads the title of a numbered section that is a question, or too
// long for a line, and stands alone above what is set in further: "2.3. Where
// do I get it?". It reports whether there was one.
func (p *plainText) question() bool {
	m := dotted.FindStringSubmatch(p.line())
	if m == nil {
		return false
	}
	ahead := lines{text: p.text, start: p.start, end: p.end, next: p.next}
	end, n := p.end, 1
	for ahead.scan() && strings.TrimSpace(ahead.line()) != "" {
		if n++; n > sectionLines || indent(ahead.line()) > 3 || dotted.MatchString(ahead.line()) {
			return false
		}
		end = ahead.end
	}
	title := strings.Join(strings.Fields(p.text[p.start:end]), " ")
	after := lines{text: p.text, next: min(end+1, len(p.text))}
	next := ""
	for after.scan() {
		if next = after.line(); strings.TrimSpace(next) != "" {
			break
		}
	}
	asks := strings.ContainsAny(title[len(title)-1:], "?!")
	if len(title) > sectionTitle || !asks && n == 1 || strings.ContainsAny(title[len(title)-1:], ".,;:") ||
		indent(next) <= indent(p.line()) {
		return false
	}
	p.path.enter(1+strings.Count(m[1], "."), title)
	p.add("heading", p.start, end)
	p.end, p.next = end, min(end+1, len(p.text))
	return true
}

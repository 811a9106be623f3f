package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parseText reads plain text. Text that is Markdown in all but name is read
// as Markdown. Else a line that stands alone is a heading where it is
// underlined, centred, numbered or in upper case, and centred lines at the
// very top are the title.
func parseText(text string) Document {
	if len(atxLines.FindAllStringIndex(text, 3)) >= 2 {
		return parseMarkdown(text)
	}
	p := plainText{lines: lines{text: text}, manual: isManual(text)}
	p.titlePage()
	p.titleLine()
	for blank := true; p.scan(); {
		if strings.TrimSpace(p.line()) == "" {
			blank = true
			continue
		}
		if blank {
			blank = p.opening()
			continue
		}
		p.add("", p.start, p.end)
	}
	return p.extract(text)
}

// plainText is a plain text being read.
type plainText struct {
	lines
	sections
	item   bool // the paragraph before was a numbered item of a list
	manual bool // it explains terms
}

// opening reads the first line of a paragraph. It reports whether the next line
// opens one too.
func (p *plainText) opening() bool {
	if p.question() || p.manual && p.explains() {
		p.item = false
		return true
	}
	if p.manual { // what is set in far there are examples
		p.add("", p.start, p.end)
	} else {
		p.first()
	}
	return false
}

// first reads the first line of a paragraph as what it is elsewhere than in a
// manual.
func (p *plainText) first() {
	line, next := p.line(), p.peek()
	item := p.item
	p.item = false
	if level := underline(next); level > 0 && headingLike(line) {
		start := p.start
		p.scan()
		p.heading(level, line, start, p.end)
		return
	}
	alone := strings.TrimSpace(next) == ""
	if !alone && p.centredPair(line, next) {
		start := p.start
		p.scan()
		p.path.enter(1, strings.TrimSpace(next))
		p.add("heading", start, p.end)
		return
	}
	switch name, numbered := numberedTitle(line); {
	case alone && numbered && name != "" && !item && p.introduces():
		p.path.enter(1, name)
		p.add("heading", p.start, p.end)
	case alone && headingLike(line) && levelOf(line) > 0:
		p.heading(levelOf(line), line, p.start, p.end)
	case alone && p.centred(line):
		p.heading(1, line, p.start, p.end)
	case runIn(line) != "":
		p.path.enter(1, runIn(line))
		p.add("", p.start, p.end)
	default:
		p.item = alone && numbered
		p.add("", p.start, p.end)
	}
}

// introduces reports whether the paragraph after this line is not one more
// item of a list.
func (p *plainText) introduces() bool {
	after := p.after()
	_, item := numberedTitle(after)
	return after != "" && !item
}

// after is the next line that is not blank, or "".
func (p *plainText) after() string {
	ahead := lines{text: p.text, next: p.next}
	for ahead.scan() {
		if strings.TrimSpace(ahead.line()) != "" {
			return ahead.line()
		}
	}
	return ""
}

const (
	titleWords   = 10 // words a title in plain text has at most
	centredFrom  = 8  // columns a centred line is set in, at least
	titleLines   = 4  // lines of a title page
	beyondOthers = 6  // columns a centred line stands further in than what follows
)

// ordinal is the number of a section or an item: "8.", "8)", "8".
var ordinal = regexp.MustCompile(`^\s*(\d{1,3})[.)]?[ \t]+(\S.*?)\s*$`)

// numberedTitle reports whether a line begins with a number of one level, and
// gives it without its full stop where it may be the title of a section, as in
// "8. Termination.".
func numberedTitle(line string) (name string, numbered bool) {
	m := ordinal.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	title, stopped := strings.CutSuffix(m[2], ".")
	if !headingLike(title) || strings.Contains(title, ". ") || !capital(title) || len(strings.Fields(title)) > titleWords {
		return "", true
	}
	if stopped && !titleCase(title) {
		return "", true
	}
	return strings.TrimSuffix(strings.TrimSpace(line), "."), true
}

// inLine is a title at the beginning of its paragraph: "2. Grant of License.
// Subject to the terms …".
var inLine = regexp.MustCompile(`^\s*(\d{1,3}\.[ \t]+([\pL][^.;:?!]{2,70}))\.[ \t]+\p{Lu}`)

func runIn(line string) string {
	m := inLine.FindStringSubmatch(line)
	if m == nil || !titleCase(m[2]) || len(strings.Fields(m[2])) > titleWords {
		return ""
	}
	return m[1]
}

// titleCase reports whether a text is written like a title: a few words, or
// all long ones with a capital.
func titleCase(title string) bool {
	list := strings.Fields(title)
	if !capital(title) {
		return false
	}
	for _, w := range list {
		if len(list) > 2 && utf8.RuneCountInString(w) > 4 && !capital(strings.TrimLeft(w, `"'(“„`)) {
			return false
		}
	}
	return true
}

func capital(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// indent is how many columns a line is set in.
func indent(line string) int {
	n := 0
	for _, r := range line {
		switch r {
		case ' ', '\u00a0':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}

// centred reports whether a line that stands alone is set further in than
// what follows it, as titles are.
func (p *plainText) centred(line string) bool {
	title := strings.TrimSpace(line)
	return indent(line) >= centredFrom && indent(line) >= indent(p.after())+beyondOthers &&
		headingLike(title) && capital(title) && len(strings.Fields(title)) <= titleWords
}

// centredPair reports whether two lines that stand alone are both centred: a
// title over two lines, the second of which says more.
func (p *plainText) centredPair(line, next string) bool {
	ahead := lines{text: p.text, next: p.next}
	ahead.scan()
	ends := strings.TrimSpace(ahead.peek()) == ""
	middle := func(s string) int { return indent(s) + len(strings.TrimSpace(s))/2 }
	apart := middle(line) - middle(next)
	return ends && indent(line) >= centredFrom && indent(next) > 0 && apart >= -3 && apart <= 3 &&
		headingLike(line) && headingLike(next) && capital(strings.TrimSpace(line)) && capital(strings.TrimSpace(next))
}

// titleLine reads a first line that stands alone above a heading: the title.
func (p *plainText) titleLine() {
	first := lines{text: p.text, next: p.next}
	for p.title == "" && first.scan() {
		line := strings.TrimSpace(first.line())
		if line == "" {
			continue
		}
		above := lines{text: p.text, next: first.next}
		_, numbered := numberedTitle(first.line())
		if numbered || strings.TrimSpace(above.peek()) != "" || !headingLike(line) || !titleCase(line) || levelOf(line) > 0 ||
			len(strings.Fields(line)) > titleWords {
			return
		}
		after := plainText{lines: above}
		if name, _ := numberedTitle(after.after()); name == "" && levelOf(after.after()) == 0 {
			return
		}
		p.title = strings.Join(strings.Fields(line), " ")
		p.add("heading", first.start, first.end)
		p.next = first.end
		return
	}
}

// titlePage reads the first paragraph where all its lines are centred: they
// are the title, without addresses.
func (p *plainText) titlePage() {
	ahead := lines{text: p.text}
	start, end := -1, 0
	var title []string
	for ahead.scan() {
		line := strings.TrimSpace(ahead.line())
		if line == "" && start < 0 {
			continue
		}
		if line == "" {
			break
		}
		if indent(ahead.line()) < centredFrom || len(line) > 80 || len(title) == titleLines {
			return
		}
		if start < 0 {
			start = ahead.start
		}
		if end = ahead.end; !strings.Contains(line, "://") {
			title = append(title, strings.TrimRight(line, " .,;:"))
		}
	}
	if len(title) == 0 || !headingLike(title[0]) || len(letters(title[0])) < 4 || ahead.next >= len(p.text) {
		return
	}
	p.title = strings.Join(strings.Fields(strings.Join(title, ", ")), " ")
	p.add("heading", start, end)
	p.next = end
}

package extract

import (
	"regexp"
	"strings"
	"unicode"
)

// lines is a text being read line by line, with byte offsets.
type lines struct {
	text       string
	start, end int // of the line; end excludes its "\n"
	next       int
}

func (l *lines) scan() bool {
	if l.next >= len(l.text) {
		return false
	}
	l.start, l.end, l.next = l.next, len(l.text), len(l.text)
	if i := strings.IndexByte(l.text[l.start:], '\n'); i >= 0 {
		l.end, l.next = l.start+i, l.start+i+1
	}
	return true
}

func (l *lines) line() string { return l.text[l.start:l.end] }

// peek is the line after this one.
func (l *lines) peek() string {
	ahead := lines{text: l.text, next: l.next}
	if !ahead.scan() {
		return ""
	}
	return ahead.line()
}

// sections collects blocks over a text that is stored as it is.
type sections struct {
	blocks []Block
	path   outline
	title  string
}

// add extends the last block by text[start:end] or opens a new one.
func (s *sections) add(kind string, start, end int) {
	b := Block{Start: start, End: end, Heading: s.path.path(), Kind: kind}
	if last := len(s.blocks) - 1; last >= 0 && kind != "heading" && s.blocks[last].Kind == kind && s.blocks[last].Heading == b.Heading {
		s.blocks[last].End = end
		return
	}
	if len(s.blocks) > maxBlocks { // refused when all is read
		return
	}
	s.blocks = append(s.blocks, b)
}

// titleWithin is how far into a text its title may stand, in bytes.
const titleWithin = 400

func (s *sections) heading(level int, title string, start, end int) {
	if title = plainInline(title); title == "" {
		s.add("", start, end)
		return
	}
	if s.title == "" && start < titleWithin {
		s.title = title
	}
	s.path.enter(level, title)
	s.add("heading", start, end)
}

func (s *sections) extract(text string) Document {
	return Document{Text: text, Blocks: s.blocks, Title: shorten(s.title, MaxHeading)}
}

var atx = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$`)

// parseMarkdown finds the headings, code and tables of Markdown. The text
// stays as it is written.
func parseMarkdown(text string) Document {
	var s sections
	fence := ""
	l := lines{text: text, next: frontMatter(text, &s)}
	for l.scan() {
		line := l.line()
		switch mark := fenceMark(line); {
		case fence != "":
			s.add("code", l.start, l.end)
			if mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && strings.TrimSpace(line) == mark {
				fence = ""
			}
		case mark != "":
			fence = mark
			s.add("code", l.start, l.end)
		case strings.TrimSpace(line) == "":
		case atx.MatchString(line):
			m := atx.FindStringSubmatch(line)
			s.heading(len(m[1]), m[2], l.start, l.end)
		case underline(l.peek()) > 0 && headingLike(line):
			start := l.start
			level := underline(l.peek())
			l.scan()
			s.heading(level, line, start, l.end)
		case strings.HasPrefix(strings.TrimSpace(line), "|"):
			s.add("table", l.start, l.end)
		default:
			s.add("", l.start, l.end)
		}
	}
	return s.extract(text)
}

// fenceMark is the run of backticks or tildes that opens or closes code.
func fenceMark(line string) string {
	t := strings.TrimLeft(line, " \t")
	for _, c := range []string{"`", "~"} {
		n := len(t) - len(strings.TrimLeft(t, c))
		if n >= 3 {
			return t[:n]
		}
	}
	return ""
}

// underline is the level of a heading underlined by line, or 0.
func underline(line string) int {
	t := strings.TrimSpace(line)
	switch {
	case len(t) >= 3 && strings.Trim(t, "=") == "":
		return 1
	case len(t) >= 3 && strings.Trim(t, "-") == "":
		return 2
	}
	return 0
}

// frontMatter reads a YAML block at the very start; its title is the
// document's. It returns where the body begins.
func frontMatter(text string, s *sections) int {
	if !strings.HasPrefix(text, "---\n") {
		return 0
	}
	end := strings.Index(text[4:], "\n---\n")
	if end < 0 || end > 8<<10 {
		return 0
	}
	for line := range strings.SplitSeq(text[4:4+end], "\n") {
		if v, ok := strings.CutPrefix(line, "title:"); ok {
			s.title = strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	s.add("code", 4, 4+end)
	return 4 + end + 5
}

var (
	link     = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	emphasis = strings.NewReplacer("**", "", "__", "", "`", "")
)

// plainInline takes the Markdown out of a heading.
func plainInline(s string) string {
	s = link.ReplaceAllString(s, "$1")
	s = emphasis.Replace(s)
	return strings.Trim(strings.Join(strings.Fields(s), " "), "*_# ")
}

// numbered is how headings of plain text and of PDFs are often numbered:
// "2.3 Sessions", "§4 Limits", "Chapter 5: Names", "Anhang B".
var numbered = regexp.MustCompile(`^(?:§{1,2}\s*)?(\d{1,3}(?:\.\d{1,3}){0,4})\.?[ \t]+\S|^§\s*\d|^(?i:chapter|part|section|appendix|kapitel|teil|abschnitt|anhang)\s+[\dA-ZIVX]+\b`)

var atxLines = regexp.MustCompile(`(?m)^#{1,6}[ \t]+\S`)

// headingLike reports whether a line is short and not a sentence.
func headingLike(line string) bool {
	t := strings.TrimSpace(line)
	if len(t) < 2 || len(t) > 120 || strings.HasPrefix(t, "-") || strings.HasPrefix(t, "|") {
		return false
	}
	return !strings.ContainsAny(t[len(t)-1:], ".,;:!?{}")
}

// levelOf is the level of a line that reads like a heading, or 0.
func levelOf(line string) int {
	t := strings.TrimSpace(line)
	if m := numbered.FindStringSubmatch(t); m != nil {
		if m[1] == "" {
			return 1
		}
		if dots := strings.Count(m[1], "."); dots > 0 || strings.HasPrefix(t, "§") {
			return 1 + dots
		}
		return 0 // "1. Do this" alone is an item of a list
	}
	letters := 0
	for _, r := range t {
		if unicode.IsLower(r) {
			return 0
		}
		if unicode.IsUpper(r) {
			letters++
		}
	}
	if letters >= 4 {
		return 1
	}
	return 0
}

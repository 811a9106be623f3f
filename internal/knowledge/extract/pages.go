package extract

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// composePages makes one text of the pages of a document. Running heads and
// page numbers are left out, lines that end short end a paragraph, and lines
// that stand in the outline become headings.
func composePages(pages []string, marks []mark, title string) Document {
	split := make([][]string, len(pages))
	for i, p := range pages {
		split[i] = nonEmpty(p)
	}
	running := runningLines(split)
	w := pageWriter{marks: marks}
	for i, page := range split {
		w.out.page = i + 1
		w.page(trimRunning(page, running))
	}
	return w.out.extract(cmp.Or(title, firstLine(split)), len(pages))
}

// firstLine is the title of a document that does not tell its own: the line
// it begins with, where that reads like one.
func firstLine(pages [][]string) string {
	at := slices.IndexFunc(pages, func(page []string) bool { return len(page) > 0 })
	if at < 0 {
		return ""
	}
	line := pages[at][0]
	if !headingLike(line) || len(line) > 100 || len(letters(line)) < 4 || contentsName.MatchString(strings.TrimSpace(line)) {
		return ""
	}
	return line
}

// contentsName is a page of contents, which many documents begin with.
var contentsName = regexp.MustCompile(`(?i)^(?:(?:table of )?contents|index|inhalt|inhaltsverzeichnis)$`)

// leaders are the dots that lead to a page number.
var leaders = regexp.MustCompile(`(?:\. ?){5,}\s*\d+`)

// HasLeaders reports whether a text has dots that lead to a page number, as
// the lines of a table of contents do.
func HasLeaders(text string) bool { return leaders.MatchString(text) }

// CountLeaders is how many of these a text has, at most n.
func CountLeaders(text string, n int) int { return len(leaders.FindAllStringIndex(text, n)) }

func nonEmpty(page string) []string {
	var out []string
	for line := range strings.SplitSeq(page, "\n") {
		if line = strings.TrimRightFunc(line, unicode.IsSpace); strings.TrimSpace(line) != "" {
			out = append(out, line)
		}
	}
	return out
}

// edge is how many lines at the top and the bottom of a page may be running
// heads or page numbers.
const edge = 2

var numerals = regexp.MustCompile(`\d+`)

func masked(line string) string {
	return numerals.ReplaceAllString(strings.TrimSpace(line), "#")
}

// runningLines finds the lines that stand at the edge of a third of the pages.
func runningLines(pages [][]string) map[string]bool {
	counts := map[string]int{}
	for _, page := range pages {
		seen := map[string]bool{}
		for i, line := range page {
			if m := masked(line); (i < edge || i >= len(page)-edge) && !seen[m] && len(m) < 120 {
				seen[m] = true
				counts[m]++
			}
		}
	}
	running := map[string]bool{}
	for m, n := range counts {
		if n >= 3 && n*3 >= len(pages) {
			running[m] = true
		}
	}
	return running
}

var pageNumber = regexp.MustCompile(`^(?:\d{1,5}|[ivxlc]{1,7}|- ?\d{1,5} ?-)$`)

// shoutedHead is a running head in capitals beside the page number.
var shoutedHead = regexp.MustCompile(`^(?:\d{1,4}\s+[^a-zß-ÿ]{4,}|[^a-zß-ÿ]{4,}\s\d{1,4})$`)

// trimRunning takes running heads and bare page numbers off both ends.
func trimRunning(page []string, running map[string]bool) []string {
	drop := func(line string) bool {
		return running[masked(line)] || pageNumber.MatchString(strings.TrimSpace(line))
	}
	if len(page) > 1 && shoutedHead.MatchString(strings.TrimSpace(page[0])) {
		page = page[1:]
	}
	for range edge {
		if len(page) > 0 && drop(page[0]) {
			page = page[1:]
		}
		if len(page) > 0 && drop(page[len(page)-1]) {
			page = page[:len(page)-1]
		}
	}
	return page
}

// pageWriter writes lines as paragraphs, and knows where the outline stands.
type pageWriter struct {
	out   composer
	marks []mark
	next  int // the first mark not yet met
	last  string
	notes bool // what is read stands below the text of the page
}

func (w *pageWriter) page(lines []string) {
	width, notes := typicalWidth(lines), notesFrom(lines)
	var para []string
	flush := func() {
		if len(para) == 0 {
			return
		}
		gap := "\n\n"
		if len(w.last) > 0 && continues(w.last, para[0]) {
			gap = "\n"
		}
		w.last = para[len(para)-1]
		w.out.join(gap, "", strings.Join(para, "\n"))
		para = nil
	}
	for i, line := range lines {
		w.notes = i >= notes
		if level, title := w.heading(line); level > 0 {
			flush()
			w.out.heading(level, title)
			w.last = ""
			continue
		}
		if startsItem(line) || w.notes && noteLine.MatchString(line) {
			flush()
		}
		para = append(para, line)
		if i+1 < len(lines) && short(line, width) && !continues(line, lines[i+1]) {
			flush()
			w.last = ""
		}
	}
	flush()
}

// noteLine is how a footnote begins: with its number, which the text above has
// behind a word.
var noteLine = regexp.MustCompile(`^\s*(\d{1,3})[.)]?\s+\S`)

// notesFrom is the line with which the footnotes of a page begin, in its lower
// half; as many as there are lines: it has none.
func notesFrom(lines []string) int {
	for i := (len(lines) + 1) / 2; i < len(lines); i++ {
		if m := noteLine.FindStringSubmatch(lines[i]); m != nil && refersTo(lines[:i], m[1]) {
			return i
		}
	}
	return len(lines)
}

// refersTo reports whether a text has the number of a footnote: right behind a
// word or the sign that ends a sentence, and not as in "CO2" or "1.2".
func refersTo(lines []string, number string) bool {
	for _, line := range lines {
		for from := 0; ; {
			at := strings.Index(line[from:], number)
			if at < 0 {
				break
			}
			at += from
			from = at + len(number)
			next, _ := utf8.DecodeRuneInString(line[from:])
			before, size := utf8.DecodeLastRuneInString(line[:at])
			further, _ := utf8.DecodeLastRuneInString(line[:at-size])
			ends := strings.ContainsRune(".,;:!?)\"”“’»«", before) && !unicode.IsDigit(further)
			if (unicode.IsLower(before) || ends) && !unicode.IsDigit(next) && !unicode.IsLetter(next) {
				return true
			}
		}
	}
	return false
}

// typicalWidth is the length of a full line of the page, in characters.
func typicalWidth(lines []string) int {
	longest := 0
	for _, l := range lines {
		longest = max(longest, utf8.RuneCountInString(l))
	}
	return longest
}

func short(line string, width int) bool { return utf8.RuneCountInString(line)*10 < width*7 }

// continues reports whether next goes on with the sentence of line.
func continues(line, next string) bool {
	line = strings.TrimSpace(line)
	r, _ := utf8.DecodeLastRuneInString(line)
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(next))
	if strings.ContainsRune(".!?:;", r) {
		return false
	}
	return unicode.IsLower(first) || r == ','
}

var itemLine = regexp.MustCompile(`^\s*(?:[•◦‣▪–]|[-*]\s|\d{1,2}[.)]\s|\([a-z0-9]{1,2}\)\s)`)

func startsItem(line string) bool { return itemLine.MatchString(line) }

// heading tells whether a line is a heading: first by the outline, and only
// without one by how it is numbered. Footnotes are numbered too.
func (w *pageWriter) heading(line string) (int, string) {
	if len(w.marks) == 0 && w.notes {
		return 0, ""
	}
	if len(w.marks) == 0 {
		t := strings.TrimSpace(line)
		if m := numbered.FindStringSubmatch(t); m != nil && headingLike(t) && len(t) < 80 && !HasLeaders(t) && upperAfterNumber(t) {
			return 1 + strings.Count(m[1], "."), t
		}
		return 0, ""
	}
	have := letters(line)
	if have == "" {
		return 0, ""
	}
	for i := w.next; i < len(w.marks) && i < w.next+40; i++ {
		m := w.marks[i]
		if m.page > w.out.page {
			break
		}
		if m.page == w.out.page && sameTitle(have, letters(m.title)) {
			w.next = i + 1
			return m.level, strings.TrimSpace(line)
		}
	}
	return 0, ""
}

func upperAfterNumber(t string) bool {
	rest := strings.TrimLeft(t, "§0123456789. \t")
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsUpper(r)
}

// letters is s without spaces, digits and signs, for comparing titles that
// were typeset with numbers.
func letters(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, s))
}

func sameTitle(line, title string) bool {
	return line != "" && title != "" && (line == title || strings.HasSuffix(line, title) && len(line) <= len(title)+10)
}

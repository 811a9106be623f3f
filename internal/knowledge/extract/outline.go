package extract

import (
	"strings"
	"unicode/utf8"
)

// HeadingSeparator stands between the headings of a path.
const HeadingSeparator = " › "

// outline is the stack of headings above the place being read.
type outline struct {
	levels []int
	titles []string
}

// MaxHeading bounds one heading in a path, in bytes.
const MaxHeading = 160

// enter opens a heading of a level (1 is the highest) and returns its path.
func (o *outline) enter(level int, title string) string {
	for len(o.levels) > 0 && o.levels[len(o.levels)-1] >= level {
		o.levels = o.levels[:len(o.levels)-1]
		o.titles = o.titles[:len(o.titles)-1]
	}
	o.levels = append(o.levels, level)
	o.titles = append(o.titles, shorten(strings.Join(strings.Fields(title), " "), MaxHeading))
	return o.path()
}

func (o *outline) path() string { return strings.Join(o.titles, HeadingSeparator) }

// shorten cuts s to at most n bytes, at the border of a character.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimSpace(s[:n]) + "…"
}

// composer builds the text of formats whose text is not the file itself.
type composer struct {
	text   strings.Builder
	blocks []Block
	path   outline
	page   int
}

// write adds a paragraph of its own. Its border to the one before is a blank
// line, or gap when given.
func (c *composer) write(kind, s string) {
	c.join("\n\n", kind, s)
}

func (c *composer) join(gap, kind, s string) {
	// Each paragraph is cleaned on its own: offsets are never moved later.
	if s = strings.TrimRight(strings.Trim(tidy(s), "\n"), " \t"); strings.TrimSpace(s) == "" {
		return
	}
	if c.text.Len() > 0 {
		c.text.WriteString(gap)
	}
	start := c.text.Len()
	c.text.WriteString(s)
	b := Block{Start: start, End: c.text.Len(), Heading: c.path.path(), Page: c.page, Kind: kind}
	if last := len(c.blocks) - 1; last >= 0 && mergeable(c.blocks[last], b) {
		c.blocks[last].End = b.End
		return
	}
	if len(c.blocks) > maxBlocks { // refused when all is read
		return
	}
	c.blocks = append(c.blocks, b)
}

// row writes one row of a table, "| a | b |", and reports whether it says
// anything. The first row stands apart from what is before it.
func (c *composer) row(cells []string, first bool) bool {
	last := -1
	words := make([]string, len(cells))
	for i, cell := range cells {
		if words[i] = strings.Join(strings.Fields(cell), " "); words[i] != "" {
			last = i
		}
	}
	if last < 0 {
		return false
	}
	gap := "\n"
	if first {
		gap = "\n\n"
	}
	c.join(gap, "table", "| "+strings.Join(words[:last+1], " | ")+" |")
	return true
}

// mergeable reports whether two neighbouring blocks are one run of prose, or
// rows of a table.
func mergeable(a, b Block) bool {
	return (a.Kind == "" || a.Kind == "table") && a.Kind == b.Kind && a.Heading == b.Heading && a.Page == b.Page
}

// heading adds a heading line and opens its level.
func (c *composer) heading(level int, title string) {
	if title = strings.Join(strings.Fields(tidy(title)), " "); title == "" {
		return
	}
	c.headed(level, title, title)
}

// headed adds the line of a heading that is written otherwise than it is called.
func (c *composer) headed(level int, title, line string) {
	if title = strings.Join(strings.Fields(tidy(title)), " "); title == "" {
		return
	}
	c.path.enter(level, title)
	c.write("heading", line)
}

func (c *composer) extract(title string, pages int) Document {
	return Document{Text: c.text.String(), Blocks: c.blocks, Pages: pages, Title: shorten(strings.Join(strings.Fields(title), " "), MaxHeading)}
}

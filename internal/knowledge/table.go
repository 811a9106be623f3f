package knowledge

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/words"
)

// A table is lines that begin with "|", as Markdown has them and as the
// readers of files write them: the names of its columns first, with or without
// a rule below them. A row means little without those names, and may stand in
// another passage than they do.

var tableRule = regexp.MustCompile(`^\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?$`)

// isRow reports whether a line is one of a table.
func isRow(line string) bool {
	t := strings.TrimSpace(line)
	return strings.HasPrefix(t, "|") && strings.Count(t, "|") > 1
}

// isRule reports whether a line is the one below the names of columns.
func isRule(line string) bool { return isRow(line) && tableRule.MatchString(strings.TrimSpace(line)) }

// lineAt is the line of text around a byte: text[start:end], without its "\n".
func lineAt(text string, at int) (start, end int) {
	start, end = strings.LastIndexByte(text[:at], '\n')+1, len(text)
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		end = at + i
	}
	return start, end
}

// tableStart is where the table begins whose row begins at a byte.
func tableStart(text string, row int) int {
	for row > 0 {
		start, end := lineAt(text, row-1)
		if !isRow(text[start:end]) {
			break
		}
		row = start
	}
	return row
}

const (
	// maxColumns bounds the names of columns that go with a row, in bytes.
	maxColumns = 4 << 10
	// maxName is how long the name of a column may be, in characters, where no
	// rule says that it is one.
	maxName = 40
)

// namesAt is the line that names the columns of the table which begins at a
// byte, or "". Without a rule below it the first line is taken for that when
// all its cells are short words, as no row of values is that holds a figure; a
// word with a figure in it ("Usage m3") is a name where the cell below is a
// number.
func namesAt(text string, start int) string {
	_, end := lineAt(text, start)
	line := strings.TrimSpace(text[start:end])
	if !isRow(line) || isRule(line) || len(line) > maxColumns {
		return ""
	}
	var below []string
	if end < len(text) {
		_, next := lineAt(text, end+1)
		if isRule(text[end+1 : next]) {
			return line
		}
		below = Cells(text[end+1 : next])
	}
	for i, cell := range Cells(line) {
		if cell == "" || utf8.RuneCountInString(cell) > maxName {
			return ""
		}
		if strings.ContainsAny(cell, digits) && (strings.IndexAny(cell, digits) == 0 || i >= len(below) || !isNumber(below[i])) {
			return ""
		}
	}
	return line
}

const digits = "0123456789"

// isNumber reports whether a cell is a figure and nothing else.
func isNumber(cell string) bool {
	return strings.ContainsAny(cell, digits) && strings.Trim(cell, digits+" .,-+'%") == ""
}

// Cells are the cells of a row of a table, trimmed. A "|" behind a backslash
// stands in one.
func Cells(row string) []string {
	row = strings.TrimPrefix(strings.TrimSpace(row), "|")
	var out []string
	from := 0
	for i := range len(row) {
		if row[i] == '|' && (i == 0 || row[i-1] != '\\') {
			out, from = append(out, strings.TrimSpace(row[from:i])), i+1
		}
	}
	if rest := strings.TrimSpace(row[from:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// ColumnsOf is the line that names the columns of p.Text[start:end], where that
// is rows of a table which has such a line above them; else "".
func (p Passage) ColumnsOf(start, end int) string {
	if start < 0 || end > len(p.Text) || start >= end {
		return ""
	}
	first, _ := lineAt(p.Text, start)
	if strings.TrimSpace(p.Text[first:start]) != "" {
		return ""
	}
	for line := range strings.Lines(p.Text[first:end]) {
		if !isRow(line) {
			return ""
		}
	}
	if _, stop := lineAt(p.Text, end-1); strings.TrimSpace(p.Text[end:stop]) != "" {
		return "" // a part of a row has other columns than the row
	}
	top := tableStart(p.Text, first)
	names := p.named(top)
	if names == "" || top == first && strings.HasPrefix(strings.TrimSpace(p.Text[top:]), names) {
		return "" // there is none, or it is the first of the rows itself
	}
	return names
}

// named is the line that names the columns of the table that begins, or goes
// on, at a byte of p: where p begins with a row, it may be of a table that
// began before.
func (p Passage) named(top int) string {
	if top > 0 || p.Start == 0 || p.rules(top) {
		return namesAt(p.Text, top)
	}
	return p.Columns
}

// rules reports whether the second line of the table that begins at a byte is
// its rule, so that the first one names the columns.
func (p Passage) rules(top int) bool {
	_, end := lineAt(p.Text, top)
	if end == len(p.Text) {
		return false
	}
	_, next := lineAt(p.Text, end+1)
	return isRule(p.Text[end+1 : next])
}

// cutOff reports whether p begins in the midst of a table, for all it says.
func (p Passage) cutOff() bool {
	_, end := lineAt(p.Text, 0)
	return p.Start > 0 && isRow(p.Text[:end]) && !p.rules(0)
}

// name gives passages that begin in the midst of a table the names of its
// columns, which stand in the document before them. It reads texts only for
// such passages.
func (l *Library) name(ctx context.Context, v identity.Viewer, passages []Passage) error {
	texts := map[string]string{}
	for i := range passages {
		p := &passages[i]
		if !p.cutOff() {
			continue
		}
		text, known := texts[p.DocumentID]
		if !known {
			x, err := l.o.Documents.Text(ctx, v, p.DocumentID)
			if err != nil && !errors.Is(err, fault.NotFound) { // deleted, or read again, since the index answered
				return err
			}
			text = x.Text
			texts[p.DocumentID] = text
		}
		p.nameIn(text)
	}
	return nil
}

// nameIn is name for a passage of a text that is at hand.
func (p *Passage) nameIn(text string) {
	if p.cutOff() && p.Start < len(text) && strings.HasPrefix(text[p.Start:], p.Text) {
		start, _ := lineAt(text, p.Start)
		p.Columns = namesAt(text, tableStart(text, start))
	}
}

// fits reports whether a row of a table holds a value the question names in the
// column it names, "Nacht" under "Mittwoch", and nothing under each column of
// which it asks for none.
func (q *inquiry) fits(l words.Language, names, row string) bool {
	cells := Cells(row)
	meets, lacks := false, false
	for c, name := range Cells(names) {
		if c >= len(cells) {
			break
		}
		above := q.matches(q.bag(l, name), name)
		for t, x := range above {
			switch {
			case x == 0 || q.terms[t].weak:
			case q.terms[t].without:
				if lacks = none[strings.ToLower(cells[c])]; !lacks {
					return false
				}
			default:
				for u, y := range q.matches(q.bag(l, cells[c]), cells[c]) {
					meets = meets || y > 0 && u != t && above[u] == 0 && !q.terms[u].weak
				}
			}
		}
	}
	return meets || lacks
}

// none are cells that say that there is nothing of what the column is called.
var none = map[string]bool{"": true, "-": true, "–": true, "—": true, "0": true, "no": true, "none": true, "n": true, "nein": true, "keine": true, "kein": true, "ohne": true, "false": true}

// Table is a quote of nothing but rows of a table: the cells of the line that
// names its columns, nil where none is known, and those of its rows. Quotes of
// several rows begin with that line.
func (q Quote) Table() (names []string, rows [][]string, ok bool) {
	if q.Columns != "" {
		names = Cells(q.Columns)
	}
	for line := range strings.Lines(q.Text) {
		switch {
		case !isRow(line):
			return nil, nil, false
		case !isRule(line):
			rows = append(rows, Cells(line))
		}
	}
	if names == nil && len(rows) > 1 {
		names, rows = rows[0], rows[1:]
	}
	return names, rows, len(rows) > 0
}

package extract

import (
	"slices"
	"strconv"
	"strings"
)

// docx reads a Word document: paragraphs with the headings their styles make
// them, list items with their numbers, tables row by row, and the notes a
// paragraph refers to. What was deleted under tracked changes, headers and
// footers are left out.
func (a *archive) docx(main string) (Document, error) {
	d := &docx{archive: a, notes: map[string]string{}}
	if err := d.prepare(main); err != nil {
		return Document{}, err
	}
	x, err := d.read(main)
	if err == nil && d.headings == 0 {
		// Its author made headings by hand: short bold lines, or numbered ones.
		d.loose = true
		x, err = d.read(main)
	}
	return x, err
}

// docx is one document being read.
type docx struct {
	*archive
	styles   map[string]docStyle
	lists    numbering
	notes    map[string]string // of a kind and id
	loose    bool              // short bold lines are headings
	headings int

	out    composer
	title  string
	paras  []*docPara // open ones: a text box is a paragraph in a paragraph
	tables []*docTable
	inText bool
	beside int // bytes of cells and notes, which are not in out at once
}

// docPara is a paragraph being read.
type docPara struct {
	b           strings.Builder
	style       string
	num, level  string // of the list it is in
	outline     string
	bold        bool // of the run being read
	boldLetters int
	notes       []string
}

// docTable is a table being read.
type docTable struct {
	rows int
	row  []string
	cell []string
}

// docStyle is what a style says of paragraphs.
type docStyle struct {
	heading int    // 0: none
	title   bool   // of the whole document
	listing bool   // of a table of contents, whose lines are elsewhere
	num     string // list and level
	level   string
}

func (d *docx) prepare(main string) error {
	list, err := d.relations(main)
	if err != nil {
		return err
	}
	for _, r := range list {
		switch {
		case !d.has(r.Target):
		case r.is("styles"):
			d.styles, err = d.readStyles(r.Target)
		case r.is("numbering"):
			d.lists, err = d.readNumbering(r.Target)
		case r.is("footnotes"), r.is("endnotes"):
			err = d.readNotes(r.Target)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *docx) read(main string) (Document, error) {
	d.out, d.title, d.paras, d.tables, d.beside = composer{}, "", nil, nil, 0
	d.lists.restart()
	if err := d.walk(main, d); err != nil {
		return Document{}, err
	}
	if d.full() {
		return Document{}, tooLong()
	}
	title := d.coreTitle()
	if title == "" {
		title = d.title
	}
	return d.out.extract(title, 0), nil
}

// unread are elements whose text is not the document's.
var unread = map[string]bool{
	"Fallback": true, "del": true, "moveFrom": true, "delText": true, "instrText": true, "tabs": true, "pPrChange": true, "rPrChange": true,
	"sectPr": true, "tblPr": true, "tblGrid": true, "trPr": true, "annotationRef": true, "sdtPr": true, "binData": true,
}

// full reports whether there is more text than a document may have.
func (d *docx) full() bool { return max(d.out.text.Len(), d.beside) > MaxText }

// maxInside bounds how deep paragraphs stand in paragraphs.
const maxInside = 16

func (d *docx) open(name string, attr func(string) string) bool {
	if unread[name] || d.full() || len(d.paras) > maxInside {
		return false
	}
	if name == "p" {
		d.paras = append(d.paras, &docPara{})
		return true
	}
	if p := d.para(); p != nil {
		p.open(name, attr)
	}
	switch name {
	case "t":
		d.inText = true
	case "tbl":
		d.tables = append(d.tables, &docTable{})
	case "tr":
		if t := d.table(); t != nil {
			t.row = nil
		}
	case "tc":
		if t := d.table(); t != nil {
			t.cell = nil
		}
	}
	return true
}

// open takes in what an element says of the paragraph.
func (p *docPara) open(name string, attr func(string) string) {
	switch name {
	case "pStyle":
		p.style = attr("val")
	case "outlineLvl":
		p.outline = attr("val")
	case "numId":
		p.num = attr("val")
	case "ilvl":
		p.level = attr("val")
	case "r":
		p.bold = false
	case "b":
		p.bold = isOn(attr("val"))
	case "tab", "ptab":
		p.b.WriteByte('\t')
	case "br", "cr":
		p.b.WriteByte('\n')
	case "noBreakHyphen":
		p.b.WriteByte('-')
	case "footnoteReference", "endnoteReference":
		p.notes = append(p.notes, strings.TrimSuffix(name, "Reference")+"/"+attr("id"))
	}
}

func isOn(val string) bool { return val != "0" && val != "false" && val != "off" }

func (d *docx) para() *docPara {
	if len(d.paras) == 0 {
		return nil
	}
	return d.paras[len(d.paras)-1]
}

func (d *docx) table() *docTable {
	if len(d.tables) == 0 {
		return nil
	}
	return d.tables[len(d.tables)-1]
}

func (d *docx) text(s string) {
	if p := d.para(); p != nil && d.inText {
		p.b.WriteString(s)
		if p.bold {
			p.boldLetters += len(s)
		}
	}
}

func (d *docx) close(name string) {
	switch name {
	case "t":
		d.inText = false
	case "p":
		if p := d.para(); p != nil {
			d.paras = d.paras[:len(d.paras)-1]
			d.paragraph(p)
		}
	case "tc":
		if t := d.table(); t != nil {
			t.row = append(t.row, strings.Join(t.cell, " "))
		}
	case "tr":
		d.row()
	case "tbl":
		if len(d.tables) > 0 {
			d.tables = d.tables[:len(d.tables)-1]
		}
	}
}

// row writes a row of an outermost table; one in a cell is text of the cell.
func (d *docx) row() {
	t := d.table()
	if t == nil {
		return
	}
	if len(d.tables) > 1 {
		outer := d.tables[len(d.tables)-2]
		outer.cell = append(outer.cell, strings.Join(slices.DeleteFunc(t.row, func(s string) bool { return s == "" }), ", "))
		return
	}
	if d.out.row(t.row, t.rows == 0) {
		t.rows++
	}
}

// paragraph writes a paragraph that has ended.
func (d *docx) paragraph(p *docPara) {
	text := strings.TrimSpace(p.b.String())
	style := d.styles[p.style]
	if style.listing {
		return
	}
	label := ""
	if text != "" {
		label = d.label(p, style)
	}
	level := d.level(p, style, text)
	if t := d.table(); t != nil {
		t.cell = appendWords(t.cell, label, text)
		t.cell = append(t.cell, d.noted(p)...)
		d.beside += len(label) + len(text)
		return
	}
	switch {
	case text == "":
	case level > 0:
		d.headings++
		d.out.heading(level, strings.TrimSpace(strings.TrimPrefix(label, "-")+" "+text))
	case label != "":
		d.out.join("\n", "", label+" "+text)
	default:
		d.out.write("", text)
	}
	if style.title && d.title == "" {
		d.title = text
	}
	for _, note := range d.noted(p) {
		d.out.join("\n", "", note)
	}
}

func appendWords(list []string, words ...string) []string {
	for _, w := range words {
		if w = strings.Join(strings.Fields(w), " "); w != "" {
			list = append(list, w)
		}
	}
	return list
}

// level is the level of the heading a paragraph is, or 0.
func (d *docx) level(p *docPara, style docStyle, text string) int {
	if n, err := strconv.Atoi(p.outline); err == nil && n >= 0 && n < 9 {
		return n + 1
	}
	switch {
	case style.heading > 0:
		return style.heading
	case style.title:
		return 1
	case !d.loose || !headingLike(text) || strings.ContainsRune(text, '\n'):
		return 0
	case levelOf(text) > 0:
		return levelOf(text)
	case p.boldLetters >= len(text) && len(text) < 100:
		return 2
	}
	return 0
}

// label is the number or the dash of a list item, or nothing.
func (d *docx) label(p *docPara, style docStyle) string {
	num, level := p.num, p.level
	if num == "" {
		num = style.num
	}
	if level == "" {
		level = style.level
	}
	at, err := strconv.Atoi(level)
	if num == "" || num == "0" || err != nil && level != "" || at < 0 || at > 8 {
		return ""
	}
	return d.lists.label(num, at)
}

// noted are the notes a paragraph refers to.
func (d *docx) noted(p *docPara) []string {
	var out []string
	for _, key := range p.notes {
		if text := d.notes[key]; text != "" && !d.full() {
			out = append(out, "["+text+"]")
			d.beside += len(text)
		}
	}
	return out
}

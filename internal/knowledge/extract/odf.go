package extract

import (
	"strconv"
	"strings"
)

// openDocument reads a file of LibreOffice and its kin: a text, a
// presentation, whose pages are its slides, or a workbook, whose sheets are
// headings.
func (a *archive) openDocument() (Document, error) {
	var manifest struct {
		Entries []struct {
			Locked *struct{} `xml:"encryption-data"`
		} `xml:"file-entry"`
	}
	if err := a.decode("META-INF/manifest.xml", &manifest); err != nil {
		return Document{}, err
	}
	for _, e := range manifest.Entries {
		if e.Locked != nil {
			return Document{}, locked()
		}
	}
	var meta struct {
		Title string `xml:"meta>title"`
	}
	if err := a.decode("meta.xml", &meta); err != nil {
		return Document{}, err
	}
	o := &odf{}
	if err := a.walk("content.xml", o); err != nil {
		return Document{}, err
	}
	if o.out.text.Len() > MaxText {
		return Document{}, tooLong()
	}
	return o.out.extract(madeUp(meta.Title), o.out.page), nil
}

// odf is the content of an OpenDocument file being read.
type odf struct {
	out    composer
	paras  []*strings.Builder // open ones
	levels []int              // of the headings among them; 0: no heading
	items  int                // lists around
	marked bool               // the item has its dash
	sheets bool
	noted  bool // the next text is the first of a slide's notes

	untitled bool // the slide has no heading yet
	titled   bool // in the frame of its title
	rows     int
	tables   int // around
	row      []string
	cell     []string
}

var odfUnread = map[string]bool{
	"tracked-changes": true, "annotation": true, "automatic-styles": true, "font-face-decls": true, "scripts": true, "note-citation": true,
	"sequence-decls": true, "forms": true, "title": true, "desc": true, "table-of-content-source": true, "object": true, "covered-table-cell": true,
}

func (o *odf) open(name string, attr func(string) string) bool {
	if odfUnread[name] || o.out.text.Len() > MaxText || len(o.paras) > maxInside {
		return false
	}
	switch name {
	case "spreadsheet":
		o.sheets = true
	case "page":
		o.out.page++
		o.untitled = true
	case "frame":
		o.titled = attr("class") == "title" && o.untitled
	case "notes":
		o.titled = false
		o.noted = true
	case "p", "h":
		level := 0
		if name == "h" {
			level = min(max(number(attr("outline-level"), 1), 1), 9)
		}
		o.paras, o.levels = append(o.paras, &strings.Builder{}), append(o.levels, level)
	case "list":
		o.items++
	case "list-item":
		o.marked = false
	case "table":
		if o.tables++; o.tables == 1 {
			o.rows = 0
			if o.sheets {
				o.out.path = outline{}
				o.out.heading(1, attr("name"))
			}
		}
	case "table-row":
		if o.tables == 1 {
			o.row = nil
		}
	case "table-cell":
		if o.tables == 1 {
			o.cell = nil
		}
	case "s", "tab", "line-break":
		o.text(" ")
	case "note-body":
		o.text(" [")
	}
	return true
}

func (o *odf) text(s string) {
	if n := len(o.paras); n > 0 {
		o.paras[n-1].WriteString(s)
	}
}

func (o *odf) close(name string) {
	switch name {
	case "p", "h":
		o.paragraph()
	case "list":
		o.items--
	case "note-body":
		o.text("]")
	case "notes":
		o.noted = false
	case "frame":
		o.titled = false
	case "table":
		o.tables--
	case "table-cell":
		if o.tables == 1 {
			o.row = append(o.row, strings.Join(o.cell, " "))
		}
	case "table-row":
		if o.tables == 1 {
			o.place()
			if o.out.row(o.row, o.rows == 0) {
				o.rows++
			}
		}
	}
}

// paragraph writes a paragraph that has ended; one in a cell or a note belongs
// to what is around it.
func (o *odf) paragraph() {
	n := len(o.paras) - 1
	if n < 0 {
		return
	}
	text, level := strings.Join(strings.Fields(o.paras[n].String()), " "), o.levels[n]
	o.paras, o.levels = o.paras[:n], o.levels[:n]
	switch {
	case text == "":
	case n > 0:
		o.text(text)
	case o.tables > 0:
		o.cell = append(o.cell, text)
	case o.titled:
		o.untitled, o.titled = false, false
		o.out.heading(1, text)
	case level > 0:
		o.out.heading(level, text)
	default:
		o.say(text)
	}
}

// place writes the headings that what follows stands under.
func (o *odf) place() {
	if o.untitled {
		o.untitled = false
		o.out.heading(1, "Slide "+strconv.Itoa(o.out.page))
	}
	if o.noted {
		o.noted = false
		o.out.heading(2, "Speaker notes")
	}
}

// say writes a line of text where it belongs.
func (o *odf) say(text string) {
	o.place()
	switch {
	case o.items > 0:
		if !o.marked {
			text = strings.Repeat("  ", min(o.items, 8)-1) + "- " + text
			o.marked = true
		}
		o.out.join("\n", "", text)
	default:
		o.out.write("", text)
	}
}

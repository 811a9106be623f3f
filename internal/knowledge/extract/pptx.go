package extract

import (
	"cmp"
	"strconv"
	"strings"
)

// pptx reads a presentation slide by slide: the page of a block is the slide
// it is on, and its heading the slide's title. Speaker notes stand below their
// slide. Footers, dates and slide numbers are left out.
func (a *archive) pptx(main string) (Document, error) {
	order := &slideOrder{}
	if err := a.walk(main, order); err != nil {
		return Document{}, err
	}
	list, err := a.relations(main)
	if err != nil {
		return Document{}, err
	}
	parts := map[string]string{}
	for _, r := range list {
		parts[r.ID] = r.Target
	}
	var out composer
	title := a.coreTitle()
	for i, id := range order.ids {
		out.page = i + 1
		if !a.has(parts[id]) {
			continue
		}
		name, err := a.slide(&out, parts[id])
		if err != nil {
			return Document{}, err
		}
		if title == "" && i == 0 {
			title = name
		}
		if out.text.Len() > MaxText {
			return Document{}, tooLong()
		}
	}
	return out.extract(title, len(order.ids)), nil
}

// slideOrder reads the relations of the slides in their order.
type slideOrder struct{ ids []string }

func (s *slideOrder) open(name string, attr func(string) string) bool {
	if name == "sldId" && len(s.ids) < MaxPages {
		s.ids = append(s.ids, attr(":id")) // the other id is a number nobody needs
	}
	return true
}
func (*slideOrder) close(string) {}
func (*slideOrder) text(string)  {}

// slide writes one slide with its notes and returns its title, if it has one.
func (a *archive) slide(out *composer, part string) (title string, err error) {
	shapes, err := a.shapes(part)
	if err != nil {
		return "", err
	}
	list, err := a.relations(part)
	if err != nil {
		return "", err
	}
	beside, err := a.beside(list)
	if err != nil {
		return "", err
	}
	for _, s := range shapes {
		if s.isTitle() && title == "" {
			title = strings.Join(strings.Fields(s.all()), " ")
		}
	}
	out.heading(1, cmp.Or(title, "Slide "+strconv.Itoa(out.page)))
	for _, s := range append(shapes, beside.drawn...) {
		if !s.isTitle() {
			s.write(out)
		}
	}
	for _, c := range beside.charts {
		c.write(out)
	}
	writeNotes(out, beside.notes)
	return title, nil
}

// slideParts is what belongs to a slide and lies in parts of its own.
type slideParts struct {
	notes, drawn []shape
	charts       []*chart
}

func (a *archive) beside(list []relation) (p slideParts, err error) {
	for _, r := range list {
		var more []shape
		switch {
		case r.is("notesSlide"):
			more, err = a.shapes(r.Target)
			p.notes = append(p.notes, more...)
		case r.is("diagramData"):
			more, err = a.shapes(r.Target)
			p.drawn = append(p.drawn, more...)
		case r.is("chart"):
			var c *chart
			c, err = a.chart(r.Target)
			p.charts = append(p.charts, c)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

func writeNotes(out *composer, notes []shape) {
	begun := false
	for _, s := range notes {
		if s.holder != "body" || s.all() == "" {
			continue
		}
		if !begun {
			out.heading(2, "Speaker notes")
			begun = true
		}
		for _, l := range s.lines {
			out.join("\n", "", l.text)
		}
	}
}

// shape is what stands in one shape, or in one cell of a table.
type shape struct {
	holder string // what the layout says it is: title, body, ftr, …; "" for a free one
	lines  []shapeLine
	rows   [][]string
}

type shapeLine struct {
	text  string
	level int
}

func (s shape) isTitle() bool { return s.holder == "title" || s.holder == "ctrTitle" }

func (s shape) all() string {
	var parts []string
	for _, l := range s.lines {
		parts = append(parts, l.text)
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

func (s shape) write(out *composer) {
	switch s.holder {
	case "ftr", "dt", "sldNum", "hdr", "sldImg":
		return
	}
	for i, row := range s.rows {
		out.row(row, i == 0)
	}
	list := s.holder == "body" || s.holder == "obj" || s.holder == "body?"
	for i, l := range s.lines {
		gap := "\n"
		if i == 0 {
			gap = "\n\n"
		}
		if list && len(s.lines) > 1 {
			l.text = strings.Repeat("  ", l.level) + "- " + l.text
		}
		out.join(gap, "", l.text)
	}
}

// shapes reads the shapes of a slide, of its notes or of a diagram.
func (a *archive) shapes(part string) ([]shape, error) {
	if !a.has(part) {
		return nil, nil
	}
	r := &shapeReader{}
	if err := a.walk(part, r); err != nil {
		return nil, err
	}
	r.flush()
	return r.out, nil
}

// shapeReader gathers shapes.
type shapeReader struct {
	out    []shape
	now    shape
	line   strings.Builder
	level  int
	inText bool
	row    []string
	cell   []string
	cells  bool // in a table
}

func (r *shapeReader) open(name string, attr func(string) string) bool {
	switch name {
	case "Fallback", "fld":
		return name == "fld" && attr("type") != "slidenum"
	case "sp", "graphicFrame", "pt":
		r.flush()
	case "ph":
		r.now.holder = attr("type")
		if r.now.holder == "" {
			r.now.holder = "body?" // a place without a type is one for content
		}
	case "p":
		r.line.Reset()
		r.level = 0
	case "pPr":
		r.level = min(max(number(attr("lvl"), 0), 0), 8)
	case "t":
		r.inText = true
	case "br":
		r.line.WriteByte(' ')
	case "tbl":
		r.cells = true
	case "tr":
		r.row = nil
	case "tc":
		r.cell = nil
	}
	return true
}

func (r *shapeReader) close(name string) {
	switch name {
	case "t":
		r.inText = false
	case "p":
		text := strings.Join(strings.Fields(r.line.String()), " ")
		r.line.Reset()
		switch {
		case text == "":
		case r.cells:
			r.cell = append(r.cell, text)
		default:
			r.now.lines = append(r.now.lines, shapeLine{text, r.level})
		}
	case "tc":
		r.row = append(r.row, strings.Join(r.cell, " "))
	case "tr":
		r.now.rows = append(r.now.rows, r.row)
	case "tbl":
		r.cells = false
	case "sp", "graphicFrame", "pt":
		r.flush()
	}
}

func (r *shapeReader) text(s string) {
	if r.inText {
		r.line.WriteString(s)
	}
}

// flush ends a shape.
func (r *shapeReader) flush() {
	if len(r.now.lines)+len(r.now.rows) > 0 {
		r.out = append(r.out, r.now)
	}
	r.now = shape{}
}

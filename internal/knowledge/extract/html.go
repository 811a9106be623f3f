package extract

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"liminal/internal/fault"
)

// maxDepth bounds the nesting of a page, so that a hostile one cannot exhaust the
// stack; deeper elements are left out. html.Parse itself refuses a page in which
// more than 512 elements stand around one another.
const maxDepth = 520

// plainHTML reads the main content of a page (RAG-02).
func plainHTML(_ *Parsers, ctx context.Context, r io.ReaderAt, size int64) (Document, error) {
	raw, err := readAll(ctx, r, size)
	if err != nil {
		return Document{}, err
	}
	return parseHTML(raw)
}

// parseHTML keeps headings, paragraphs, lists, tables and code of a page and
// leaves out what surrounds them: navigation, scripts, forms, footers.
func parseHTML(raw []byte) (Document, error) {
	if enc, _, declared := charset.DetermineEncoding(raw[:min(len(raw), 1024)], ""); declared && !utf8.Valid(raw) {
		if s, err := enc.NewDecoder().Bytes(raw); err == nil {
			raw = s
		}
	}
	text := Clean(raw)
	if strings.Count(text, "<") > maxElements {
		return Document{}, TooManyPieces()
	}
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return Document{}, fault.Wrap(fault.Invalid, err, "the page nests its elements too deeply, or is not HTML.")
	}
	title, heading := titles(doc)
	content, declared := mainContent(doc)
	strip(content, !declared)
	w := walker{}
	w.block(content, 0)
	w.flush("")
	if w.full() {
		return Document{}, tooLong()
	}
	return w.out.extract(cmp.Or(madeUp(title), tidy(heading)), 0), nil
}

// skipped elements are never content.
var skipped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Head: true, atom.Nav: true,
	atom.Footer: true, atom.Aside: true, atom.Form: true, atom.Button: true, atom.Select: true, atom.Svg: true,
	atom.Iframe: true, atom.Object: true, atom.Canvas: true, atom.Dialog: true, atom.Menu: true, atom.Input: true, atom.Textarea: true,
}

// roles are those of what surrounds the content.
var roles = map[string]bool{"navigation": true, "banner": true, "contentinfo": true, "search": true}

func ignore(n *html.Node) bool {
	if n.Type == html.CommentNode || n.Type == html.DoctypeNode {
		return true
	}
	if n.Type != html.ElementNode {
		return false
	}
	if skipped[n.DataAtom] {
		return true
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "hidden", a.Key == "aria-hidden" && a.Val == "true":
			return true
		case a.Key == "role" && roles[a.Val]:
			return true
		case a.Key == "style" && strings.Contains(strings.ReplaceAll(a.Val, " ", ""), "display:none"):
			return true
		}
	}
	return false
}

// mainContent is the smallest element that says it is the content and holds
// a good part of the page's text; without one, the whole page, which declares
// nothing.
func mainContent(doc *html.Node) (best *html.Node, declared bool) {
	whole, size := weight(doc, 0), 0
	best = doc
	visit(doc, 0, func(n *html.Node) {
		if !declaresMain(n) {
			return
		}
		if w := weight(n, 0); w > size && w*3 >= whole {
			best, size, declared = n, w, true
		}
	})
	return best, declared
}

func declaresMain(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	if n.DataAtom == atom.Main || n.DataAtom == atom.Article {
		return true
	}
	for _, a := range n.Attr {
		if a.Key == "role" && a.Val == "main" {
			return true
		}
	}
	return false
}

func visit(n *html.Node, depth int, f func(*html.Node)) {
	if depth > maxDepth || ignore(n) {
		return
	}
	f(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		visit(c, depth+1, f)
	}
}

// weight is how much text an element shows.
func weight(n *html.Node, depth int) int {
	total := 0
	visit(n, depth, func(n *html.Node) {
		if n.Type == html.TextNode {
			total += len(strings.TrimSpace(n.Data))
		}
	})
	return total
}

// titles are the page's own title and its first heading.
func titles(doc *html.Node) (title, h1 string) {
	var find func(n *html.Node, depth int)
	find = func(n *html.Node, depth int) {
		if depth > maxDepth {
			return
		}
		switch {
		case n.DataAtom == atom.Title && n.Namespace == "" && title == "": // pictures have titles too
			title = inlineText(n, 0)
		case n.DataAtom == atom.H1 && h1 == "":
			h1 = inlineText(n, 0)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			find(c, depth+1)
		}
	}
	find(doc, 0)
	return title, h1
}

// inlineText is the text of an element on one line.
func inlineText(n *html.Node, depth int) string { return lineOf(n, depth, false) }

// spacedText is inlineText of an element with paragraphs in it.
func spacedText(n *html.Node, depth int) string { return lineOf(n, depth, true) }

func lineOf(n *html.Node, depth int, spaced bool) string {
	var b strings.Builder
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		if depth > maxDepth || depth > 0 && ignore(n) {
			return
		}
		if n.DataAtom == atom.Br || spaced && (breaks[n.DataAtom] || n.DataAtom == atom.Li) {
			b.WriteByte(' ')
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, depth+1)
		}
	}
	walk(n, depth)
	return strings.Join(strings.Fields(b.String()), " ")
}

// walker writes the blocks of a page; inline text gathers until a block ends.
type walker struct {
	out    composer
	inline bytes.Buffer
	marks  *marks // of what is written as Markdown; nil: as its words (see Page)
}

// full reports whether there is more text than can be kept.
func (w *walker) full() bool { return w.out.text.Len() > MaxText || w.inline.Len() > MaxText }

var levels = map[atom.Atom]int{atom.H1: 1, atom.H2: 2, atom.H3: 3, atom.H4: 4, atom.H5: 5, atom.H6: 6}

// breaks are the elements that begin and end a paragraph.
var breaks = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Section: true, atom.Article: true, atom.Main: true, atom.Header: true, atom.Ul: true,
	atom.Ol: true, atom.Dl: true, atom.Dt: true, atom.Dd: true, atom.Blockquote: true, atom.Figure: true, atom.Figcaption: true,
	atom.Table: true, atom.Tr: true, atom.Td: true, atom.Th: true, atom.Caption: true, atom.Hr: true, atom.Address: true, atom.Details: true, atom.Summary: true, atom.Body: true,
}

func (w *walker) block(n *html.Node, depth int) {
	if depth > maxDepth || ignore(n) || w.full() || w.marks != nil && w.mark(n, depth) {
		return
	}
	switch {
	case n.Type == html.TextNode:
		w.inline.WriteString(n.Data)
	case levels[n.DataAtom] > 0:
		w.flush("")
		w.out.heading(levels[n.DataAtom], inlineText(n, depth))
	case n.DataAtom == atom.Pre:
		w.flush("")
		w.pre(n, depth)
	case n.DataAtom == atom.Li:
		w.flush("")
		w.inline.WriteString("- ")
		w.children(n, depth)
		w.flush("\n")
	case n.DataAtom == atom.Table && !isLayout(n):
		w.flush("")
		w.table(n, depth)
	case n.DataAtom == atom.Br && broken(n):
		w.flush("")
	case n.DataAtom == atom.Br:
		w.inline.WriteString(" ")
	case breaks[n.DataAtom]:
		w.flush("")
		w.children(n, depth)
		w.flush("")
	default:
		w.children(n, depth)
	}
}

// broken reports whether a line break follows another one: together they end a
// paragraph.
func broken(br *html.Node) bool {
	for n := br.PrevSibling; n != nil; n = n.PrevSibling {
		if n.Type != html.TextNode || strings.TrimSpace(n.Data) != "" {
			return n.DataAtom == atom.Br
		}
	}
	return false
}

func (w *walker) children(n *html.Node, depth int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.block(c, depth+1)
	}
}

// flush writes the gathered text as one paragraph.
func (w *walker) flush(gap string) {
	if w.marks != nil {
		w.paragraph()
		return
	}
	s := strings.Join(strings.Fields(w.inline.String()), " ")
	w.inline.Reset()
	if s == "-" || s == "" {
		return
	}
	if gap == "" {
		gap = "\n\n"
	}
	w.out.join(gap, "", s)
}

// isLayout reports whether a table only arranges a page: it has a heading, a
// list or another table in a cell, or one column.
func isLayout(table *html.Node) bool {
	layout, columns := false, 0
	visit(table, 0, func(n *html.Node) {
		switch {
		case n == table:
		case n.DataAtom == atom.Table, n.DataAtom == atom.Pre, n.DataAtom == atom.Hr, levels[n.DataAtom] > 0:
			layout = true
		case n.DataAtom == atom.Tr:
			cells := 0
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
					cells++
				}
			}
			columns = max(columns, cells)
		}
	})
	return layout || columns < 2
}

// table writes the rows of a table, below its caption.
func (w *walker) table(table *html.Node, depth int) {
	first := true
	visit(table, depth, func(n *html.Node) {
		switch n.DataAtom {
		case atom.Caption:
			w.out.write("", w.caption(n, depth))
		case atom.Tr:
			var cells []string
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
					cells = append(cells, w.cell(c, depth))
				}
			}
			if w.out.row(cells, first) {
				if first && w.marks != nil {
					w.out.row(slices.Repeat([]string{"---"}, len(cells)), false)
				}
				first = false
			}
		default:
		}
	})
}

func (w *walker) caption(n *html.Node, depth int) string {
	if w.marks == nil {
		return inlineText(n, depth)
	}
	return w.line(n, depth)
}

// cell is what stands in a cell of a table, on one line.
func (w *walker) cell(n *html.Node, depth int) string {
	if w.marks == nil {
		return spacedText(n, depth)
	}
	return strings.ReplaceAll(w.line(n, depth), "|", `\|`)
}

// pre writes preformatted text between fences, its lines kept.
func (w *walker) pre(n *html.Node, depth int) {
	var b strings.Builder
	visit(n, depth, func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	})
	if strings.TrimSpace(b.String()) != "" {
		fence := "```"
		if w.marks != nil {
			fence, w.marks.listed = fenceFor(b.String()), false
		}
		w.out.write("code", fence+"\n"+strings.Trim(b.String(), "\n")+"\n"+fence)
	}
}

package extract

import (
	"bytes"
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"liminal/internal/fault"
)

// The bounds of a page of the web.
const (
	maxPageElements = 100_000 // tags; they take much more memory and time than bytes
	maxPageTitle    = 300     // bytes
	maxLink         = 4096    // bytes of an address; what is longer is text without one
	// maxLevels is how deep lists and quotations are told apart: each level
	// stands before every line in it, and a few kilobytes of HTML could become
	// gigabytes.
	maxLevels = 12
	maxStart  = 6 // digits of the number a list begins with
)

// Page reads a page of the web, which was found at address: its main content,
// by the rules documents are read by, as Markdown with its links, for whoever
// goes on from it. Links are absolute; one to anything but a page of the web
// loses its address. What the page itself says nobody is to see is left out, in
// whichever way it says so. A page without words is an empty Document.
//
// It reads in this process: whoever asked waits for it, and must not wait behind
// documents. The text should be no longer than a few MiB. The error is
// fault.Invalid with a sentence for a person.
func Page(text, address string) (Document, error) {
	text = tidy(strings.ToValidUTF8(text, "\uFFFD"))
	if strings.Count(text, "<") > maxPageElements {
		return Document{}, fault.New(fault.Invalid, "The page was not read: it has more than %d elements.", maxPageElements)
	}
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return Document{}, fault.Wrap(fault.Invalid, err, "The page was not read: it nests its elements too deeply, or is not HTML.")
	}
	title, heading := titles(doc)
	prune(doc)
	where, _ := url.Parse(address)
	w := walker{marks: &marks{where: where}}
	content, _ := mainContent(doc)
	w.block(content, 0)
	w.flush("")
	if w.full() {
		return Document{}, fault.New(fault.Invalid, "The page was not read: its text is longer than %d MiB.", MaxText>>20)
	}
	x := w.out.extract("", 0)
	x.Title = shorten(strings.Join(strings.Fields(cmp.Or(tidy(title), tidy(heading))), " "), maxPageTitle)
	return x, nil
}

// prune takes out of a page what nobody sees: whoever reads it for a person must
// not be told what that person would not find there (SAFE-06). What holds
// controls may hold the content too: some pages are one form.
func prune(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if unseen(c) {
			n.RemoveChild(c)
		} else {
			prune(c)
		}
		c = next
	}
	if n.DataAtom == atom.Form {
		n.Data, n.DataAtom = "div", atom.Div
	}
}

func unseen(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.Embed, atom.Img, atom.Picture, atom.Video, atom.Audio, atom.Math:
		return true
	default:
	}
	for _, a := range n.Attr {
		switch value := strings.ToLower(a.Val); a.Key {
		case "aria-hidden":
			if value == "true" {
				return true
			}
		case "role":
			if roles[value] {
				return true
			}
		case "style":
			if hides(strings.Join(strings.Fields(value), "")) {
				return true
			}
		}
	}
	return false
}

func hides(style string) bool {
	return slices.ContainsFunc([]string{"display:none", "visibility:hidden", "font-size:0", "opacity:0;", "text-indent:-9"}, func(s string) bool {
		return strings.Contains(style+";", s)
	})
}

// marks is where the Markdown of a page stands.
type marks struct {
	where  *url.URL
	levels []level
	counts map[*html.Node]int // items of lists so far
	listed bool               // what was written last is in a list
	flat   bool               // one line is written: a heading, or a cell of a table

	strong, stressed, code bool // what is being read is marked so already

	link   string // the address of the link that is being read, until its words are known
	linked int    // where in the inline text they begin
	resets int    // how often the inline text began anew
}

// level is a list item or a quotation around what is read.
type level struct {
	first, rest string // what stands before its first line, and before the others
	begun       bool
	item        bool
}

// What stands in inline text for Markdown until the words are known: what a page
// writes itself must not pass for a link. No text holds them, as control
// characters are no part of one (see tidy).
const (
	openMark  = "\x01" // [
	shutMark  = "\x02" // ](
	endMark   = "\x03" // )
	breakMark = "\x04" // the end of a line
)

var markdownOf = strings.NewReplacer("](", `]\(`, openMark, "[", shutMark, "](", endMark, ")")

// mark writes an element that is more in Markdown than its words, and reports
// whether it is one.
func (w *walker) mark(n *html.Node, depth int) bool {
	m := w.marks
	switch {
	case n.Type == html.TextNode:
		w.inline.WriteString(tidy(n.Data))
	case n.DataAtom == atom.A:
		w.link(n, depth)
	case n.DataAtom == atom.B || n.DataAtom == atom.Strong:
		w.around(n, depth, &m.strong, "**")
	case n.DataAtom == atom.I || n.DataAtom == atom.Em:
		w.around(n, depth, &m.stressed, "*")
	case n.DataAtom == atom.Code:
		w.around(n, depth, &m.code, "`")
	case m.flat:
		if breaks[n.DataAtom] || levels[n.DataAtom] > 0 || n.DataAtom == atom.Li || n.DataAtom == atom.Br || n.DataAtom == atom.Pre {
			w.inline.WriteByte(' ')
		}
		w.children(n, depth)
	case levels[n.DataAtom] > 0:
		w.flush("")
		w.out.headed(levels[n.DataAtom], inlineText(n, depth), strings.Repeat("#", levels[n.DataAtom])+" "+w.line(n, depth))
		m.listed = false
	case n.DataAtom == atom.Li:
		number := m.number(n)
		w.within(n, depth, level{first: number, rest: strings.Repeat(" ", len(number)), item: true})
	case n.DataAtom == atom.Blockquote:
		w.within(n, depth, level{first: "> ", rest: "> "})
	case n.DataAtom == atom.Br && !broken(n):
		w.inline.WriteString(breakMark)
	default:
		return false
	}
	return true
}

// within writes what stands in a list item or a quotation; below maxLevels they
// are told apart no more.
func (w *walker) within(n *html.Node, depth int, l level) {
	w.flush("")
	if len(w.marks.levels) == maxLevels {
		w.children(n, depth)
		w.flush("")
		return
	}
	w.marks.levels = append(w.marks.levels, l)
	w.children(n, depth)
	w.flush("")
	w.marks.levels = w.marks.levels[:len(w.marks.levels)-1]
}

// number is what stands before an item of a list: a dash, or its number.
func (m *marks) number(li *html.Node) string {
	list := li.Parent
	if list == nil || list.DataAtom != atom.Ol {
		return "- "
	}
	first := 1
	if s, _ := htmlAttribute(list, "start"); len(s) <= maxStart {
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
			first = n
		}
	}
	if m.counts == nil {
		m.counts = map[*html.Node]int{}
	}
	m.counts[list]++
	return strconv.Itoa(first+m.counts[list]-1) + ". "
}

// paragraph writes the gathered text between what its levels have before each
// line.
func (w *walker) paragraph() {
	m := w.marks
	if m.link != "" {
		w.endLink(false)
	}
	text := finished(w.inline.String())
	w.inline.Reset()
	m.resets++
	if text == "" {
		return
	}
	first, rest, gap := "", "", "\n\n"
	begins, listed := false, false
	for i := range m.levels {
		l := &m.levels[i]
		rest, listed = rest+l.rest, listed || l.item
		if l.begun {
			first += l.rest
			continue
		}
		l.begun, first, begins = true, first+l.first, begins || l.item
	}
	if begins && m.listed {
		gap = "\n"
	}
	w.out.join(gap, "", first+strings.ReplaceAll(text, "\n", "\n"+rest))
	m.listed = listed
}

// line is the text of an element on one line.
func (w *walker) line(n *html.Node, depth int) string {
	m := w.marks
	outer := w.inline
	w.inline, m.flat, m.linked = bytes.Buffer{}, true, 0
	w.children(n, depth)
	if m.link != "" {
		w.endLink(false)
	}
	text := finished(w.inline.String())
	w.inline, m.flat = outer, false
	return strings.ReplaceAll(text, "\n", " ")
}

// finished is inline text as Markdown, without space around its lines.
func finished(inline string) string {
	var lines []string
	for line := range strings.SplitSeq(inline, breakMark) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, markdownOf.Replace(line))
		}
	}
	return strings.Join(lines, "\n")
}

// around writes the words of an element between two marks. What holds paragraphs
// is not marked.
func (w *walker) around(n *html.Node, depth int, on *bool, sign string) {
	m := w.marks
	if *on || m.code {
		w.children(n, depth)
		return
	}
	*on = true
	from, resets := w.inline.Len(), m.resets
	w.children(n, depth)
	*on = false
	if resets == m.resets {
		w.wrap(from, sign, sign)
	}
}

// wrap puts marks around the inline text from a place on: they stand against its
// words. It reports whether there are any.
func (w *walker) wrap(from int, before, after string) bool {
	text := string(w.inline.Bytes()[from:])
	words := strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || string(r) == breakMark })
	if words == "" {
		return false
	}
	lead := text[:strings.Index(text, words)]
	w.inline.Truncate(from)
	w.inline.WriteString(lead + before + words + after + text[len(lead)+len(words):])
	return true
}

// link writes a link. One around paragraphs is that of the first of them, and one
// without words, such as of a picture, has its address alone.
func (w *walker) link(n *html.Node, depth int) {
	m := w.marks
	address := m.address(n)
	if address == "" || m.link != "" {
		w.children(n, depth)
		return
	}
	m.link, m.linked = address, w.inline.Len()
	resets := m.resets
	w.children(n, depth)
	if m.link != "" {
		w.endLink(resets == m.resets)
	}
	m.link = ""
}

// endLink makes a link of the words since it began. Without any it goes on,
// unless it is over.
func (w *walker) endLink(over bool) {
	m := w.marks
	target := shutMark + m.link + endMark
	switch {
	case w.wrap(m.linked, openMark, target):
		m.link = ""
	case over:
		w.inline.WriteString(openMark + target)
	}
	m.linked = 0
}

// address is where a link leads, absolute; empty when that is no page.
func (m *marks) address(n *html.Node) string {
	target, there := htmlAttribute(n, "href")
	u, err := url.Parse(strings.TrimSpace(strings.NewReplacer("\n", "", "\t", "").Replace(target)))
	if err != nil || !there {
		return ""
	}
	if m.where != nil {
		u = m.where.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return ""
	}
	address := strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29").Replace(u.String())
	if len(address) > maxLink {
		return ""
	}
	return address
}

func htmlAttribute(n *html.Node, key string) (value string, there bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// fenceFor is a fence that no line of a text can end.
func fenceFor(text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

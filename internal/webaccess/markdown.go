package webaccess

import (
	"net/url"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"liminal/internal/fault"
)

// maxElements bounds the tags of a page: they take much more memory and time
// than bytes.
const maxElements = 100_000

// markdown gives a page's title and its main content as Markdown. Links are
// absolute; pictures, scripts and whatever nobody sees are left out.
func markdown(text, address string) (title, content string, err error) {
	if strings.Count(text, "<") > maxElements {
		return "", "", fault.New(fault.Invalid, "The page was not read: it has more than %d elements.", maxElements)
	}
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return "", "", fault.Wrap(fault.Invalid, err, "The page was not read: it nests its elements too deeply, or is not HTML.")
	}
	title = titleOf(doc)
	where, _ := url.Parse(address)
	prune(doc, where, 0)
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		// Aligned, each row would be as wide as the widest.
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal)),
	))
	root := mainContent(doc)
	out, err := conv.ConvertNode(root)
	if err != nil {
		return "", "", fault.Wrap(fault.Invalid, err, "The page was not read: it cannot be written as text.")
	}
	return title, Plain(string(out)), nil
}

// skipped elements are never content.
var skipped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Head: true, atom.Nav: true,
	atom.Footer: true, atom.Aside: true, atom.Button: true, atom.Select: true, atom.Svg: true, atom.Iframe: true,
	atom.Object: true, atom.Embed: true, atom.Canvas: true, atom.Dialog: true, atom.Menu: true, atom.Input: true,
	atom.Textarea: true, atom.Img: true, atom.Picture: true, atom.Video: true, atom.Audio: true, atom.Math: true,
}

// prune takes out of a page what is no content or what nobody sees, and makes
// links absolute; a link to anything but a page loses its address. level is
// how many elements around n mark every line in them.
func prune(n *html.Node, where *url.URL, level int) {
	if levels[n.DataAtom] {
		level++
	}
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if surplus(c) {
			n.RemoveChild(c)
		} else {
			prune(c, where, level)
		}
		c = next
	}
	bound(n, level)
	if n.DataAtom == atom.A {
		relink(n, where)
	}
}

func surplus(n *html.Node) bool {
	if n.Type == html.CommentNode || n.Type == html.DoctypeNode {
		return true
	}
	if n.Type != html.ElementNode {
		return false
	}
	return skipped[n.DataAtom] || unshown(n)
}

// unshown: the page itself says that the element is not to be seen or read.
func unshown(n *html.Node) bool {
	for _, a := range n.Attr {
		switch value := strings.ToLower(a.Val); a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			if value == "true" {
				return true
			}
		case "role":
			if value == "navigation" || value == "banner" || value == "contentinfo" || value == "search" {
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
	for _, s := range []string{"display:none", "visibility:hidden", "font-size:0", "opacity:0;", "text-indent:-9"} {
		if strings.Contains(style+";", s) {
			return true
		}
	}
	return false
}

// relink makes the address of a link absolute.
func relink(n *html.Node, where *url.URL) {
	for i, a := range n.Attr {
		if a.Key != "href" {
			continue
		}
		u, err := url.Parse(strings.TrimSpace(a.Val))
		if err == nil && where != nil {
			u = where.ResolveReference(u)
		}
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			n.Data, n.DataAtom, n.Attr = "span", atom.Span, nil
			return
		}
		n.Attr[i].Val = u.String()
	}
}

// mainContent is the element that says it is the content and holds a good part
// of the page's text; without one, the whole page.
func mainContent(doc *html.Node) *html.Node {
	best, size := doc, 0
	var weigh func(n *html.Node) int
	weigh = func(n *html.Node) int {
		total := 0
		if n.Type == html.TextNode {
			return len(strings.TrimSpace(n.Data))
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			total += weigh(c)
		}
		if total > size && declaresMain(n) {
			best, size = n, total
		}
		return total
	}
	if whole := weigh(doc); size*3 < whole {
		return doc
	}
	return best
}

func declaresMain(n *html.Node) bool {
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

// titleOf is the page's own title, or else its first heading.
func titleOf(doc *html.Node) string {
	heading := ""
	for n := range doc.Descendants() {
		switch n.DataAtom {
		case atom.Title:
			if t := line(n); t != "" && (n.Parent == nil || n.Parent.DataAtom == atom.Head) {
				return t
			}
		case atom.H1:
			if heading == "" {
				heading = line(n)
			}
		default:
		}
	}
	return heading
}

// maxTitle bounds a title, in bytes.
const maxTitle = 300

// line is the text of an element on one line.
func line(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && b.Len() <= maxTitle {
			b.WriteString(d.Data + " ")
		}
	}
	return oneLine(b.String(), maxTitle)
}

// oneLine is text on one line, in so many bytes at most.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(Plain(text)), " ")
	if len(text) <= limit {
		return text
	}
	return strings.TrimSpace(strings.ToValidUTF8(text[:limit], "")) + "…"
}

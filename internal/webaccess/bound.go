package webaccess

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The bounds of what a page may make of Markdown. Each level of a quotation
// or list stands before every line in it, and each row of a table has as many
// cells as the longest one: a few kilobytes of HTML could become gigabytes.
const (
	maxLevels = 12
	maxCells  = 20_000 // rows times columns
	maxSpan   = 100    // cells that one cell stands for, either way
	maxStart  = 6      // digits of the number a list begins with
)

// bound takes from an element what would make its Markdown grow out of all
// proportion, once its children are bounded. level is how many of the elements
// around it count as levels, itself included.
func bound(n *html.Node, level int) {
	switch n.DataAtom {
	case atom.Table:
		if cells(n) > maxCells {
			flattenTable(n)
		}
	case atom.Ol:
		n.Attr = without(n.Attr, func(a html.Attribute) bool { return a.Key == "start" && len(a.Val) > maxStart })
	default:
	}
	if level > maxLevels && levels[n.DataAtom] {
		flatten(n)
	}
}

// levels are the elements whose every line is marked.
var levels = map[atom.Atom]bool{
	atom.Blockquote: true, atom.Ul: true, atom.Ol: true, atom.Li: true,
	atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true,
}

// flatten makes a plain block of an element.
func flatten(n *html.Node) { n.Data, n.DataAtom, n.Attr = "div", atom.Div, nil }

// cells is how many cells a table's Markdown has. Spans that no reader would
// follow are taken out on the way.
func cells(table *html.Node) int {
	rows, widest, tallest := 0, 0, 0
	for n := range table.Descendants() {
		if n.DataAtom != atom.Tr {
			continue
		}
		wide := 0
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
				wide += span(c, "colspan")
				tallest = max(tallest, span(c, "rowspan"))
			}
		}
		rows, widest = rows+1, max(widest, wide)
	}
	return (rows + tallest) * widest
}

// span is how many cells a cell stands for; one of too many stands for itself.
func span(cell *html.Node, key string) int {
	for _, a := range cell.Attr {
		if n, err := strconv.Atoi(strings.TrimSpace(a.Val)); a.Key == key && (err != nil || n > maxSpan) {
			cell.Attr = without(cell.Attr, func(b html.Attribute) bool { return b.Key == key })
			return 1
		} else if a.Key == key {
			return max(n, 1)
		}
	}
	return 1
}

// flattenTable makes plain blocks of a table and its rows and cells.
func flattenTable(table *html.Node) {
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Thead, atom.Tfoot, atom.Caption, atom.Colgroup:
			flatten(n)
		default:
		}
	}
	flatten(table)
}

func without(list []html.Attribute, drop func(html.Attribute) bool) []html.Attribute {
	var out []html.Attribute
	for _, a := range list {
		if !drop(a) {
			out = append(out, a)
		}
	}
	return out
}

package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// furniture is how pages call what surrounds their content, in classes and ids.
var furniture = map[string]bool{
	"nav": true, "navbar": true, "navigation": true, "menu": true, "sidebar": true, "footer": true, "breadcrumb": true, "breadcrumbs": true,
	"cookie": true, "cookies": true, "banner": true, "advert": true, "advertisement": true, "ads": true, "related": true, "share": true,
	"sharing": true, "social": true, "newsletter": true, "skip": true, "pagination": true, "comments": true, "masthead": true,
}

// strip takes out of a page what is called furniture and, when links is set,
// also lists of nothing but links, unless little would be left: a page of
// links is about them.
func strip(page *html.Node, links bool) {
	var s stripper
	whole := s.weigh(page, 0)
	for _, n := range s.furniture {
		n.Parent.RemoveChild(n)
	}
	if !links {
		return
	}
	sum := 0
	for _, size := range s.lists {
		sum += size
	}
	if sum*2 >= whole.total {
		return
	}
	for n := range s.lists {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

// stripper finds what to take out.
type stripper struct {
	furniture []*html.Node
	lists     map[*html.Node]int // and how much text they show
}

// substance is how much text an element shows, how much of it is in links and
// buttons, and how many these are.
type substance struct{ total, linked, links int }

func (s *stripper) weigh(n *html.Node, depth int) (sum substance) {
	if n.Type == html.TextNode {
		return substance{total: len(strings.TrimSpace(n.Data))}
	}
	if ignore(n) || depth > maxDepth {
		return substance{}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		part := s.weigh(c, depth+1)
		sum.total, sum.linked, sum.links = sum.total+part.total, sum.linked+part.linked, sum.links+part.links
	}
	if n.DataAtom == atom.A || n.DataAtom == atom.Button {
		return substance{sum.total, sum.total, 1}
	}
	switch n.DataAtom {
	case atom.Div, atom.Section, atom.Ul, atom.Ol, atom.P, atom.Header, atom.Td, atom.Table:
	default:
		return sum
	}
	switch {
	case depth == 0:
	case isCalledFurniture(n) && (sum.linked*2 >= sum.total || sum.total < 200):
		s.furniture = append(s.furniture, n)
		return substance{}
	case sum.links >= 3 && sum.linked*10 >= sum.total*9:
		if s.lists == nil {
			s.lists = map[*html.Node]int{}
		}
		s.lists[n] = sum.total
		return substance{total: sum.total}
	}
	return sum
}

func isCalledFurniture(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key != "class" && a.Key != "id" {
			continue
		}
		for _, word := range strings.FieldsFunc(strings.ToLower(a.Val), func(r rune) bool { return r < 'a' || r > 'z' }) {
			if furniture[word] {
				return true
			}
		}
	}
	return false
}

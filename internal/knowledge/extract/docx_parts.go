package extract

import (
	"regexp"
	"strconv"
	"strings"
)

// val is an element that says one thing.
type val struct {
	Val string `xml:"val,attr"`
}

// headingName is what Word calls its headings, whatever the language of the
// program was: the names in the file are English, those of its ids are not.
var headingName = regexp.MustCompile(`(?i)^(?:heading|überschrift|titre|titolo|título|kop|rubrik|nagłówek)\s*([1-9])$`)

// listingName is what it calls the lines of a table of contents.
var listingName = regexp.MustCompile(`(?i)^(?:toc [1-9]|table of figures)$`)

// readStyles reads what the styles say of paragraphs, each with what it takes
// over from the one it is based on.
func (a *archive) readStyles(part string) (map[string]docStyle, error) {
	var sheet struct {
		Styles []struct {
			ID      string `xml:"styleId,attr"`
			Name    val    `xml:"name"`
			Based   val    `xml:"basedOn"`
			Outline *val   `xml:"pPr>outlineLvl"`
			Num     val    `xml:"pPr>numPr>numId"`
			Level   val    `xml:"pPr>numPr>ilvl"`
		} `xml:"style"`
	}
	if err := a.decode(part, &sheet); err != nil {
		return nil, err
	}
	own, based := map[string]docStyle{}, map[string]string{}
	for _, s := range sheet.Styles {
		one := docStyle{num: s.Num.Val, level: s.Level.Val, title: strings.EqualFold(s.Name.Val, "title"), listing: listingName.MatchString(s.Name.Val)}
		if m := headingName.FindStringSubmatch(s.Name.Val); m != nil {
			one.heading, _ = strconv.Atoi(m[1])
		} else if s.Outline != nil {
			if n, err := strconv.Atoi(s.Outline.Val); err == nil && n >= 0 && n < 9 {
				one.heading = n + 1
			}
		}
		own[s.ID], based[s.ID] = one, s.Based.Val
	}
	out := make(map[string]docStyle, len(own))
	for id := range own {
		out[id] = inherited(own, based, id)
	}
	return out, nil
}

// inherited is a style with what it leaves to those it is based on.
func inherited(own map[string]docStyle, based map[string]string, id string) docStyle {
	s := own[id]
	for range 20 { // they may be based on each other
		if id = based[id]; id == "" {
			break
		}
		up := own[id]
		if s.heading == 0 {
			s.heading = up.heading
		}
		if s.num == "" {
			s.num = up.num
		}
		if s.level == "" {
			s.level = up.level
		}
	}
	return s
}

// numbering is the lists of a document and how far each has been counted.
type numbering struct {
	abstract map[string]*[9]listLevel // by abstract id
	of       map[string]string        // abstract id by list id
	starts   map[string]map[int]int   // where a list begins anew
	counts   map[string]*[9]int       // by abstract id
	begun    map[string]bool          // lists that have begun
}

// maxLabel bounds, in bytes, what stands before the items of a list; Word takes
// no more.
const maxLabel = 255

// listLevel is how the items of one level are numbered.
type listLevel struct {
	format, text string
	start        int
}

func (a *archive) readNumbering(part string) (numbering, error) {
	var doc struct {
		Abstract []struct {
			ID     string `xml:"abstractNumId,attr"`
			Levels []struct {
				At     int `xml:"ilvl,attr"`
				Start  val `xml:"start"`
				Format val `xml:"numFmt"`
				Text   val `xml:"lvlText"`
			} `xml:"lvl"`
		} `xml:"abstractNum"`
		Lists []struct {
			ID        string `xml:"numId,attr"`
			Abstract  val    `xml:"abstractNumId"`
			Overrides []struct {
				At    int  `xml:"ilvl,attr"`
				Start *val `xml:"startOverride"`
			} `xml:"lvlOverride"`
		} `xml:"num"`
	}
	n := numbering{abstract: map[string]*[9]listLevel{}, of: map[string]string{}, starts: map[string]map[int]int{}}
	if err := a.decode(part, &doc); err != nil {
		return n, err
	}
	for _, abstract := range doc.Abstract {
		levels := &[9]listLevel{}
		for _, l := range abstract.Levels {
			if l.At >= 0 && l.At < 9 {
				text := l.Text.Val[:min(len(l.Text.Val), maxLabel)]
				levels[l.At] = listLevel{format: l.Format.Val, text: strings.ToValidUTF8(text, ""), start: number(l.Start.Val, 1)}
			}
		}
		n.abstract[abstract.ID] = levels
	}
	for _, list := range doc.Lists {
		n.of[list.ID] = list.Abstract.Val
		for _, o := range list.Overrides {
			if o.Start != nil && o.At >= 0 && o.At < 9 {
				if n.starts[list.ID] == nil {
					n.starts[list.ID] = map[int]int{}
				}
				n.starts[list.ID][o.At] = number(o.Start.Val, 1)
			}
		}
	}
	return n, nil
}

func number(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return otherwise
}

// restart forgets how far the lists have been counted.
func (n *numbering) restart() { n.counts, n.begun = map[string]*[9]int{}, map[string]bool{} }

// label counts an item and returns what stands before it: "2.", "(a)", "-".
func (n *numbering) label(list string, at int) string {
	levels := n.abstract[n.of[list]]
	if levels == nil {
		return "-"
	}
	counts := n.counts[n.of[list]]
	if counts == nil {
		counts = &[9]int{}
		n.counts[n.of[list]] = counts
	}
	if !n.begun[list] {
		n.begun[list] = true
		for level, start := range n.starts[list] {
			counts[level] = start - levels[level].start // counted up below
		}
	}
	counts[at]++
	clear(counts[at+1:])
	if levels[at].format == "bullet" || levels[at].text == "" && levels[at].format == "" {
		return "-"
	}
	label := levels[at].text
	for i := range at + 1 {
		count := levels[i].start + max(counts[i], 1) - 1
		label = strings.ReplaceAll(label, "%"+strconv.Itoa(i+1), counted(levels[i].format, count))
	}
	return strings.TrimSpace(label)
}

// counted writes a number the way a list does.
func counted(format string, n int) string {
	switch format {
	case "lowerLetter":
		return lettered(n)
	case "upperLetter":
		return strings.ToUpper(lettered(n))
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "none":
		return ""
	}
	return strconv.Itoa(n)
}

// lettered is a to z, then aa, bb and so on.
func lettered(n int) string {
	if n < 1 || n > 780 {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(rune('a'+(n-1)%26)), (n-1)/26+1)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, r := range []struct {
		n int
		s string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= r.n; n -= r.n {
			b.WriteString(r.s)
		}
	}
	return b.String()
}

// readNotes gathers the texts of footnotes or endnotes.
func (d *docx) readNotes(part string) error {
	return d.walk(part, &noteReader{into: d.notes})
}

// noteReader reads a part of notes.
type noteReader struct {
	into   map[string]string
	key    string
	b      strings.Builder
	inText bool
}

func (n *noteReader) open(name string, attr func(string) string) bool {
	switch name {
	case "footnote", "endnote":
		n.key = name + "/" + attr("id")
		n.b.Reset()
		return attr("type") == "" || attr("type") == "normal" // else a separator
	case "t":
		n.inText = true
	case "p", "tab", "br":
		n.b.WriteByte(' ')
	}
	return !unread[name]
}

func (n *noteReader) close(name string) {
	switch name {
	case "t":
		n.inText = false
	case "footnote", "endnote":
		n.into[n.key] = strings.Join(strings.Fields(n.b.String()), " ")
	}
}

func (n *noteReader) text(s string) {
	if n.inText {
		n.b.WriteString(s)
	}
}

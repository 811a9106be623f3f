package extractive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"liminal/internal/knowledge"
	"liminal/internal/model"
)

// document is one of those that are talked about, with its passages.
type document struct {
	id, title string
	file      string // where it is called otherwise
	passages  []passage
}

// documents are those that were named, in that order, and then those that
// passages are of.
func (t turn) documents() []document {
	var out []document
	add := func(id, title string) int {
		at := slices.IndexFunc(out, func(d document) bool { return d.id == id })
		if at < 0 {
			at = len(out)
			out = append(out, document{id: id, title: title})
		}
		return at
	}
	for line := range strings.Lines(t.material["documents"]) {
		var d struct{ ID, Title, File string }
		if json.Unmarshal([]byte(line), &d) == nil && d.ID != "" {
			out[add(d.ID, d.Title)].file = d.File
		}
	}
	for _, p := range t.passages {
		at := add(p.DocumentID, cmp.Or(p.Title, p.Path))
		out[at].title = cmp.Or(out[at].title, p.Title, p.Path, t.say.untitled)
		out[at].file = cmp.Or(out[at].file, path.Base(p.Path))
		out[at].passages = append(out[at].passages, p)
	}
	for i := range out {
		out[i].title = cmp.Or(out[i].title, t.say.untitled)
		slices.SortStableFunc(out[i].passages, func(a, b passage) int { return cmp.Compare(a.Start, b.Start) })
	}
	return out
}

// notes numbers quotes: the same words of the same place have one number,
// however often they are shown.
type notes struct{ known []model.Source }

func (n *notes) number(q knowledge.Quote) (int, bool) {
	at := slices.IndexFunc(n.known, func(s model.Source) bool {
		return s.DocumentID == q.DocumentID && s.Start == q.Start && s.End == q.End
	})
	if at >= 0 {
		return at + 1, false
	}
	n.known = append(n.known, q.Source)
	return len(n.known), true
}

// quote writes a quote with its number, and its Citation event the first time.
func (t turn) quote(w *writer, n *notes, q knowledge.Quote, several bool) error {
	number, fresh := n.number(q)
	if err := w.say(t.inList(t.block(q, fmt.Sprintf(" [%d]", number)), several)); err != nil || !fresh {
		return err
	}
	source := q.Source
	return w.send(model.Event{Type: model.Citation, Source: &source, Quote: q.Text})
}

// lastHeading is the innermost of a path of headings, unless it is only the
// title.
func lastHeading(path, title string) string {
	if i := strings.LastIndex(path, " › "); i >= 0 {
		path = path[i+len(" › "):]
	}
	if knowledge.Fold(path) == knowledge.Fold(title) {
		return ""
	}
	return knowledge.Fold(path)
}

// onPage is ", page 3", or nothing.
func (t turn) onPage(page int) string {
	if page == 0 {
		return ""
	}
	return fmt.Sprintf(", %s %d", t.say.page, page)
}

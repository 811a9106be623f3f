package builtin

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/knowledge"
	"liminal/internal/model"
)

// cited is the passages an answer may quote and those it has quoted. A quote
// that does not stand word for word in one of them is never passed on.
type cited struct {
	passages []knowledge.Passage
	quotes   []knowledge.Passage // numbered from 1 in the order of first use
}

// passagesOf are the passages a request shows to the model.
func passagesOf(messages []model.Message) []knowledge.Passage {
	var out []knowledge.Passage
	for _, m := range messages {
		for _, b := range m.Content {
			if b.Type == model.Passage && b.Source != nil {
				out = append(out, knowledge.Passage{Source: *b.Source, Text: b.Text})
			}
		}
	}
	return out
}

// cite gives the number of a quoted passage; false for one that is not ours.
func (c *cited) cite(e model.Event) (int, bool) {
	if e.Source == nil || e.Quote == "" {
		return 0, false
	}
	// The same words may stand in several passages, as a heading does in a table
	// of contents: where the source says they are comes before anywhere else.
	for _, find := range []func(p knowledge.Passage) int{
		func(p knowledge.Passage) int { return there(p, e.Source.Start-p.Start, e.Quote) },
		func(p knowledge.Passage) int { return strings.Index(p.Text, e.Quote) },
	} {
		for _, p := range c.passages {
			if p.DocumentID != e.Source.DocumentID {
				continue
			}
			if at := find(p); at >= 0 {
				return c.number(part(p, at, *e.Source, e.Quote)), true
			}
		}
	}
	return 0, false
}

// there is at when the quote stands at that byte of the passage, and -1 when
// it does not.
func there(p knowledge.Passage, at int, quote string) int {
	if at < 0 || at+len(quote) > len(p.Text) || p.Text[at:at+len(quote)] != quote {
		return -1
	}
	return at
}

// part is the quote at a byte of its passage.
func part(p knowledge.Passage, at int, s model.Source, quote string) knowledge.Passage {
	columns := p.ColumnsOf(at, at+len(quote))
	p.Source, p.Text = p.Part(at, at+len(quote)), quote
	p.Columns = columns
	p.Score = cmp.Or(s.Score, p.Score)
	return p
}

func (c *cited) number(q knowledge.Passage) int {
	same := func(o knowledge.Passage) bool {
		return o.DocumentID == q.DocumentID && o.Start == q.Start && o.End == q.End
	}
	if i := slices.IndexFunc(c.quotes, same); i >= 0 {
		return i + 1
	}
	c.quotes = append(c.quotes, q)
	return len(c.quotes)
}

// marker stands in the answer for citation n.
func marker(n int) string { return fmt.Sprintf("[%d]", n) }

var (
	markers = regexp.MustCompile(`\[(\d{1,3})\]`)
	code    = regexp.MustCompile("(?s)```.*?(?:```|$)|`[^`\n]*`")
)

// prose is a text without its code, in which numbers in brackets are no
// citations.
func prose(text string) string { return code.ReplaceAllString(text, " ") }

// citations are the answer's quotes as clients get them. A model that cites
// by the numbers of the passages instead of by events is taken at its word:
// each is then quoted whole.
func (c *cited) citations(text string) []any {
	out := []any{}
	for i, q := range c.quotes {
		out = append(out, citation(i+1, q))
	}
	if len(out) > 0 {
		return out
	}
	seen := map[int]bool{}
	for _, m := range markers.FindAllStringSubmatch(prose(text), -1) {
		n, _ := strconv.Atoi(m[1])
		if n >= 1 && n <= len(c.passages) && !seen[n] {
			seen[n] = true
			out = append(out, citation(n, c.passages[n-1]))
		}
	}
	return out
}

func citation(n int, p knowledge.Passage) map[string]any {
	out := passage(p)
	out["n"] = float64(n)
	return out
}

// passage is a passage as it travels through a run.
func passage(p knowledge.Passage) map[string]any {
	out := map[string]any{
		"document_id": p.DocumentID, "context_id": p.ContextID, "chunk_id": p.ChunkID,
		"title": p.Title, "path": p.Path, "start": float64(p.Start), "end": float64(p.End),
		"score": p.Score, "text": p.Text,
	}
	if p.Heading != "" {
		out["heading"] = p.Heading
	}
	if p.Page > 0 {
		out["page"] = float64(p.Page)
	}
	if p.Columns != "" {
		out["columns"] = p.Columns
	}
	return out
}

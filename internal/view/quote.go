package view

import (
	"fmt"
	"strings"
)

// Quote is a result that is set aside, and said once more in a later message of the user:
// the past is not changed for it, so it costs no cache.
type Quote struct {
	Result string `json:"result"`
	Block  string `json:"block"`
	Label  string `json:"label"`
	// At is the message it is added to, and Sum what that says: another message in its
	// place, after a rewind, is left alone.
	At  int    `json:"at"`
	Sum string `json:"sum"`
}

// Quotes begins to say results once more in the last message of the user, which must be
// new: those of wanted that are set aside in this body, and were not quoted before.
func (b *Body) Quotes(wanted []string, aside []Replacement, before []Quote) (list []Quote) {
	at := b.last()
	if len(wanted) == 0 || !b.NewTurn() {
		return nil
	}
	quoted, names := map[string]bool{}, map[string]Replacement{}
	for _, q := range before {
		quoted[q.Result] = true
	}
	for _, r := range aside {
		names[r.Result] = r
	}
	results := b.results(at)
	for _, id := range wanted {
		r, is := names[id]
		if _, there := results[id]; is && there && !quoted[id] {
			quoted[id] = true
			list = append(list, Quote{Result: id, Block: r.Block, Label: r.Label, At: at, Sum: b.sumOf(at)})
		}
	}
	return list
}

// Quoted are the edits that add quotes to their messages, in order, and to which messages
// how many are added.
func (b *Body) Quoted(list []Quote) (edits []Edit, added map[int]int) {
	added = map[int]int{}
	texts := map[int][]string{}
	for _, q := range list {
		if q.At <= 0 || q.At >= len(b.Messages) || b.Messages[q.At].Role != "user" || len(b.Messages[q.At].Parts) == 0 || b.sumOf(q.At) != q.Sum {
			continue
		}
		p, there := b.results(q.At)[q.Result]
		if !there {
			continue
		}
		text := fmt.Sprintf("[palace: block %s was set aside above, and its person wants it seen: %s]\n%s", q.Block, q.Label, Said(b.Of(p.Content)))
		texts[q.At] = append(texts[q.At], `{"type":"text","text":`+quoted(text)+`}`)
	}
	for at := range b.Messages {
		m, more := &b.Messages[at], texts[at]
		if len(more) == 0 {
			continue
		}
		added[at] = len(more)
		if m.Text {
			edits = append(edits, Edit{m.Content.From, m.Content.To, "[" + asPart(b.Of(m.Content)) + "," + strings.Join(more, ",") + "]"})
			continue
		}
		end := m.Content.To - 1 // its ]
		edits = append(edits, Edit{end, end, "," + strings.Join(more, ",")})
	}
	return edits, added
}

// asPart is a text, which is JSON, as a block.
func asPart(text []byte) string { return `{"type":"text","text":` + string(text) + `}` }

// results are those before a message that say something.
func (b *Body) results(at int) map[string]Part {
	out := map[string]Part{}
	for _, m := range b.Messages[:at] {
		for _, p := range m.Parts {
			if p.Type == "tool_result" && !p.Content.Empty() {
				out[p.ID] = p
			}
		}
	}
	return out
}

// sumOf is the hash of what a message says, wherever the client marks its cache.
func (b *Body) sumOf(at int) string {
	m := &b.Messages[at]
	var all strings.Builder
	for _, p := range m.Parts {
		v := Decoded(b.Of(p.Span))
		if m.Text {
			v = map[string]any{"type": "text", "text": v}
		}
		all.WriteString(HashBlock(m.Role, v))
	}
	return Sum([]byte(all.String()))
}

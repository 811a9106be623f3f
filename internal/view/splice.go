package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// Beta is the value of anthropic-beta with which a backend takes block_binding.
const Beta = "thinking-binding-controls-2026-08-01"

// Edit is a change of a body: Text stands where the bytes from From to To stood.
type Edit struct {
	From int    `json:"f"`
	To   int    `json:"t"`
	Text string `json:"x"`
}

// Edited is a body with edits, which are in order and do not overlap.
func Edited(raw []byte, edits []Edit) ([]byte, error) {
	size, at := len(raw), 0
	for _, e := range edits {
		if e.From < at || e.To < e.From || e.To > len(raw) {
			return nil, fmt.Errorf("an edit of the bytes %d to %d does not fit behind byte %d of %d", e.From, e.To, at, len(raw))
		}
		size, at = size+len(e.Text)-(e.To-e.From), e.To
	}
	out := make([]byte, 0, size)
	at = 0
	for _, e := range edits {
		out = append(append(out, raw[at:e.From]...), e.Text...)
		at = e.To
	}
	return append(out, raw[at:]...), nil
}

// Edited is the body with edits, whose texts are JSON.
func (b *Body) Edited(edits []Edit) (*Body, error) {
	raw, err := Edited(b.Raw, edits)
	if err != nil {
		return nil, err
	}
	return read(raw)
}

// Spliced is what a body says instead.
type Spliced struct {
	Edits []Edit
	// Done are the replacements that took place, in the order of the body.
	Done []Replacement
}

// SetAside replaces the content of results by their notes. What must not be
// touched is not: the open round of tools, the last message of the user, results that
// say another thing than Sum, and what recall answered. known says whether a
// tool_result is the one that a replacement means; nil: it is looked at. kept are
// results that stay, whatever is asked.
func (b *Body) SetAside(replace []Replacement, recall bool, known func(r Replacement, result []byte) bool, kept map[string]bool) (a Spliced) {
	if len(replace) == 0 {
		return a
	}
	if known == nil {
		known = func(r Replacement, result []byte) bool { return SumOf(result) == r.Sum }
	}
	wanted := make(map[string]Replacement, len(replace))
	for _, r := range replace {
		wanted[r.Result] = r
	}
	uses := b.uses()
	for _, m := range b.Messages[:b.Closed()] {
		if m.Role != "user" {
			continue
		}
		for _, p := range m.Parts {
			r, ok := wanted[p.ID]
			if p.Type != "tool_result" || !ok || kept[p.ID] || isOwn(uses[p.ID].Tool) || p.Content.Empty() || !known(r, b.Of(p.Span)) {
				continue
			}
			text := b.instead(p, r.Note(recall))
			if len(text) >= p.Content.To-p.Content.From {
				continue
			}
			delete(wanted, p.ID) // an id that comes twice is set aside once
			a.Edits, a.Done = append(a.Edits, Edit{p.Content.From, p.Content.To, text}), append(a.Done, r)
		}
	}
	return a
}

// instead is the JSON of a content that says a text. Where the client marked a block in
// the old one as the end of what is cached, the new one is marked.
func (b *Body) instead(p Part, text string) string {
	control := ""
	if v := gjson.ParseBytes(b.Of(p.Content)); v.IsArray() {
		v.ForEach(func(_, e gjson.Result) bool {
			if c := e.Get("cache_control"); c.IsObject() {
				control = c.Raw
			}
			return true
		})
	}
	if control == "" {
		return quoted(text)
	}
	return `[{"type":"text","text":` + quoted(text) + `,"cache_control":` + control + `}]`
}

// quoted is a text as JSON, as clients write it.
func quoted(s string) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text always can be
	return strings.TrimSuffix(out.String(), "\n")
}

// ErrBound says that the client settles for itself what becomes of thinking that is
// bound to another history.
var ErrBound = errors.New("the request says itself what becomes of bound thinking")

// DropBlock is the edit that has the backend leave out thinking which is bound to
// another history, instead of refusing the request; none where the request thinks not,
// or says so already.
func (b *Body) DropBlock() ([]Edit, error) {
	if !b.Thinks || b.bound == "drop_block" {
		return nil, nil
	}
	if !b.binding.Empty() {
		return nil, ErrBound
	}
	end := b.Thinking.To - 1 // its }
	return []Edit{{end, end, `,"block_binding":{"prefix_mismatch_behavior":"drop_block"}`}}, nil
}

// Strip are the edits that leave out the thinking of all turns before this one, for
// backends that do not know how to be asked for it. That of the open turn stays: a
// backend wants it there while tools are under way.
func (b *Body) Strip() (edits []Edit, err error) {
	for i := range b.Messages[:b.turn()] {
		m := &b.Messages[i]
		if m.Role != "assistant" || !m.has("thinking") && !m.has("redacted_thinking") {
			continue
		}
		var kept [][]byte
		for _, p := range m.Parts {
			if p.Type != "thinking" && p.Type != "redacted_thinking" {
				kept = append(kept, b.Of(p.Span))
			}
		}
		if len(kept) == 0 {
			return nil, fmt.Errorf("message %d has thinking only, and cannot do without", i)
		}
		edits = append(edits, Edit{m.Content.From, m.Content.To, "[" + string(bytes.Join(kept, []byte(","))) + "]"})
	}
	return edits, nil
}

// turn is where the message stands with which the user began the turn.
func (b *Body) turn() int {
	for i := len(b.Messages) - 1; i >= 0; i-- {
		if m := &b.Messages[i]; m.Role == "user" && !m.has("tool_result") {
			return i
		}
	}
	return 0
}

// Said is what a tool_result says, as text: what is no text is named.
func Said(content []byte) string {
	v := gjson.ParseBytes(content)
	if v.Type == gjson.String {
		return v.Str
	}
	var out []string
	v.ForEach(func(_, e gjson.Result) bool {
		if e.Get("type").Str == "text" {
			out = append(out, e.Get("text").Str)
		} else {
			out = append(out, fmt.Sprintf("[%s, %d bytes of JSON]", e.Get("type").Str, len(e.Raw)))
		}
		return true
	})
	return strings.Join(out, "\n")
}

// Calls counts how often the same was asked of the same tool from a message on, and
// whether it went on to say the same, or had been set aside: an agent that turns in a
// circle. It is what was asked at least so often; "" for none.
func (b *Body) Circle(from, least int, aside []Replacement) string {
	type call struct{ tool, input string }
	uses, gone := b.uses(), map[call]bool{}
	for _, r := range aside {
		if u, ok := uses[r.Result]; ok {
			gone[call{u.Tool, string(b.Of(u.Input))}] = true
		}
	}
	n, said := map[call]int{}, map[call]map[string]int{}
	for _, m := range b.Messages[min(max(from, 0), len(b.Messages)):] {
		for _, p := range m.Parts {
			if p.Type != "tool_result" {
				continue
			}
			u, ok := uses[p.ID]
			if !ok || isOwn(u.Tool) {
				continue
			}
			c := call{u.Tool, string(b.Of(u.Input))}
			if n[c]++; said[c] == nil {
				said[c] = map[string]int{}
			}
			said[c][string(b.Of(p.Content))]++
			if n[c] >= least && (gone[c] || said[c][string(b.Of(p.Content))] >= least) {
				return c.tool
			}
		}
	}
	return ""
}

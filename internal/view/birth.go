package view

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// leastRepeated is how long a result must be to be named instead of being said again,
// in bytes: a short one costs less than its name.
const leastRepeated = 400

// Repeats finds results that say what a result before them says which the model still
// sees, and says instead which that is. It is decided when a result is born, by what is
// before it alone, so that the beginning of the next request is this one; so only what
// stands at message from and behind it may be named, and all of that is. aside are
// results that an epoch set aside. sources are those that are pointed to, and named those
// that are not said again.
func (b *Body) Repeats(from int, aside []Replacement) (edits []Edit, sources, named map[string]bool) {
	sources, named = map[string]bool{}, map[string]bool{}
	gone := map[string]bool{}
	for _, r := range aside {
		gone[r.Result] = true
	}
	uses := b.uses()
	type says struct {
		tool, text string
		failed     bool
	}
	first := map[says]string{} // who said it first, and is seen
	for i, m := range b.Messages {
		if m.Role != "user" {
			continue
		}
		for _, p := range m.Parts {
			u, ok := uses[p.ID]
			if p.Type != "tool_result" || !ok || isOwn(u.Tool) || gone[p.ID] || p.Content.To-p.Content.From < leastRepeated {
				continue
			}
			it := says{u.Tool, onlyText(b.Of(p.Content)), p.Failed}
			if it.text == "" {
				continue
			}
			source, again := first[it]
			if !again {
				first[it] = p.ID
				continue
			}
			if i < from {
				continue
			}
			var call Block
			call.Read(b.Of(uses[source].Span))
			text := b.instead(p, BirthNote(&call))
			if len(text) < p.Content.To-p.Content.From {
				edits = append(edits, Edit{p.Content.From, p.Content.To, text})
				sources[source], named[p.ID] = true, true
			}
		}
	}
	return edits, sources, named
}

// onlyText is the JSON of the text that a content is, alone or in a list; "" for what is
// more than one text.
func onlyText(content []byte) string {
	v := gjson.ParseBytes(content)
	if v.Type == gjson.String {
		return v.Raw
	}
	list := v.Array()
	if len(list) != 1 || list[0].Get("type").Str != "text" {
		return ""
	}
	return list[0].Get("text").Raw
}

// Cap is how long results may be when they are sent first.
type Cap struct {
	Bytes int `json:"bytes"`
	// Whole are the tools whose results may be longer.
	Whole []string `json:"whole,omitempty"`
}

// Capped leaves out the middle of results that stand at message from or behind it and say
// more than a cap. As with repeated ones that is decided by the body and the cap alone, so
// it stays as it is. others are results of which something else becomes. What was cut is
// asked back by the tool_use id, which a result has before anybody gave it a number.
func (b *Body) Capped(from int, c *Cap, recall bool, others func(result string) bool) (edits []Edit, done []Replacement) {
	if c == nil || c.Bytes <= 0 {
		return nil, nil
	}
	uses := b.uses()
	for _, m := range b.Messages[min(max(from, 0), len(b.Messages)):] {
		if m.Role != "user" {
			continue
		}
		for _, p := range m.Parts {
			u, ok := uses[p.ID]
			if p.Type != "tool_result" || !ok || isOwn(u.Tool) || p.Content.To-p.Content.From <= c.Bytes || slices.Contains(c.Whole, u.Tool) || others(p.ID) {
				continue
			}
			said := gjson.Parse(onlyText(b.Of(p.Content))).Str
			if len(said) <= c.Bytes {
				continue
			}
			text := b.instead(p, capped(said, c.Bytes, p.ID, recall))
			if len(text) >= p.Content.To-p.Content.From {
				continue
			}
			var call Block
			call.Read(b.Of(u.Span))
			edits = append(edits, Edit{p.Content.From, p.Content.To, text})
			done = append(done, Replacement{Result: p.ID, Block: p.ID, Label: Label(&call), Bytes: len(said)})
		}
	}
	return edits, done
}

// capped is the beginning and the end of a text, two to one, and what says that there was
// more: an error at the end of a log is there, and so is the head of a file.
func capped(text string, most int, result string, recall bool) string {
	head := most * 2 / 3
	tail := len(text) - (most - head)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	back := "Run the tool again for a part of it if you need them."
	if recall {
		back = fmt.Sprintf(`%s {"block":%q,"from":%d} returns them`, RecallTool, result, head)
	}
	return fmt.Sprintf("%s\n[palace: bytes %d to %d of %d are left out here. %s]\n%s", text[:head], head, tail, len(text), back, text[tail:])
}

package view

import "github.com/tidwall/gjson"

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

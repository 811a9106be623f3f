package builtin

import (
	"context"
	"strings"

	"liminal/internal/tool"
)

// The bounds of an editor document that is walked.
const (
	maxMentions     = 200
	maxEditorLevels = 64
)

// mentions walks the JSON of a TipTap editor for what is tagged in it (LG-12).
type mentions struct{}

func (mentions) Name() string { return "tiptap.mentions_v1" }

func (mentions) Run(_ context.Context, c *tool.Call) (map[string]any, error) {
	w := walk{categories: map[string]any{}}
	w.node(c.Inputs["document"], 0)
	category, ids, labels := words(c, "category"), []any{}, []any{}
	for _, m := range w.found {
		if category == "" || m["category"] == category {
			ids, labels = append(ids, m["id"]), append(labels, m["label"])
		}
	}
	return map[string]any{
		"ids": distinct(ids), "labels": distinct(labels), "categories": w.categories,
		"text": strings.Join(strings.Fields(w.text.String()), " "),
	}, nil
}

// walk gathers the mentions of a document and the text around them.
type walk struct {
	found      []map[string]any
	categories map[string]any // lists of ids
	text       strings.Builder
}

func (w *walk) node(v any, level int) {
	n, ok := v.(map[string]any)
	if !ok || level > maxEditorLevels {
		return
	}
	switch n["type"] {
	case "text":
		s, _ := n["text"].(string)
		w.text.WriteString(s)
	case "mention":
		w.mention(n)
	}
	children, _ := n["content"].([]any)
	for _, child := range children {
		w.node(child, level+1)
	}
	if len(children) > 0 {
		w.text.WriteByte('\n')
	}
}

func (w *walk) mention(n map[string]any) {
	attrs, _ := n["attrs"].(map[string]any)
	id, _ := attrs["id"].(string)
	if id == "" || len(w.found) >= maxMentions {
		return
	}
	category, _ := attrs["category"].(string)
	label, _ := attrs["label"].(string)
	w.found = append(w.found, map[string]any{"id": id, "label": label, "category": category})
	ids, _ := w.categories[category].([]any)
	w.categories[category] = append(ids, id)
}

// distinct drops what is empty or was there before.
func distinct(list []any) []any {
	out, seen := []any{}, map[any]bool{"": true}
	for _, v := range list {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

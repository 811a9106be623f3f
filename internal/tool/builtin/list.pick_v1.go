package builtin

import (
	"context"

	"liminal/internal/tool"
)

// pick takes entries of a catalogue by their ids, in the order of the ids.
type pick struct{}

func (pick) Name() string { return "list.pick_v1" }

func (pick) Run(_ context.Context, c *tool.Call) (map[string]any, error) {
	from, _ := c.Inputs["from"].([]any)
	most := number(c, "most", len(from))
	taken, options := map[string]bool{}, []any{}
	take := func(id string) {
		if e := withID(from, id); e != nil && !taken[id] && len(options) < most {
			taken[id] = true
			options = append(options, e)
		}
	}
	for _, id := range texts(c.Inputs["ids"]) {
		take(id)
	}
	for _, e := range from {
		if len(options) >= number(c, "least", 0) {
			break
		}
		if one, ok := e.(map[string]any); ok {
			id, _ := one["id"].(string)
			take(id)
		}
	}
	return map[string]any{"options": options, "count": float64(len(options))}, nil
}

func withID(from []any, id string) any {
	for _, e := range from {
		if one, ok := e.(map[string]any); ok && one["id"] == id {
			return e
		}
	}
	return nil
}

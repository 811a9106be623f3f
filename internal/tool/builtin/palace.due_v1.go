package builtin

import (
	"context"

	"liminal/internal/tool"
)

// pastTime tells what is past its time (PAL-22).
type pastTime struct{ palace Palace }

func (pastTime) Name() string { return "palace.due_v1" }

func (t pastTime) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	list, err := t.palace.DueBlocks(ctx, c.Viewer, words(c, "after"))
	if err != nil {
		return nil, err
	}
	return object(list)
}

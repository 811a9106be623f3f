package builtin

import (
	"context"

	"liminal/internal/tool"
)

// learningEvents looks what there is to learn from.
type learningEvents struct{ steps Learning }

func (learningEvents) Name() string { return "learning.events_v1" }

func (t learningEvents) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	due, err := t.steps.Due(ctx, c.Viewer)
	if err != nil {
		return nil, err
	}
	return object(due)
}

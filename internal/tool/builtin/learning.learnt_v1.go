package builtin

import (
	"context"

	"liminal/internal/tool"
)

// learnt records what was read.
type learnt struct{ steps Learning }

func (learnt) Name() string { return "learning.learnt_v1" }

func (t learnt) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	upto := number(c, "upto", 0)
	return map[string]any{"upto": float64(upto)}, t.steps.Learnt(ctx, c.Viewer, int64(upto))
}

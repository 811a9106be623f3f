package builtin

import (
	"context"

	"liminal/internal/tool"
)

// prune proposes to do without adapters that nobody misses (CLUS-06).
type prune struct{ steps Learning }

func (prune) Name() string { return "learning.prune_v1" }

func (t prune) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	n, err := t.steps.Prune(ctx, c.Viewer)
	return map[string]any{"proposed": float64(n)}, err
}

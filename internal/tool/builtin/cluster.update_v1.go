package builtin

import (
	"context"

	"liminal/internal/tool"
)

// updateClusters groups what was said of answers (CLUS-01).
type updateClusters struct{ steps Learning }

func (updateClusters) Name() string { return "cluster.update_v1" }

func (t updateClusters) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	updated, err := t.steps.Update(ctx, c.Viewer)
	if err != nil {
		return nil, err
	}
	return object(updated)
}

package builtin

import (
	"context"

	"liminal/internal/tool"
)

// publishWeights makes a version of what was trained.
type publishWeights struct{ training Training }

func (publishWeights) Name() string { return "train.publish_v1" }

func (t publishWeights) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	out, err := t.training.Publish(ctx, c.Viewer, claimOf(c))
	if err != nil {
		return nil, failedStep(ctx, c, t.training, err)
	}
	return object(out)
}

package builtin

import (
	"context"

	"liminal/internal/tool"
)

// settleTraining ends a training that has a version (TRAIN-12).
type settleTraining struct{ training Training }

func (settleTraining) Name() string { return "train.settle_v1" }

func (t settleTraining) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	out, err := t.training.Settle(ctx, c.Viewer, claimOf(c))
	if err != nil {
		return nil, err
	}
	return object(out)
}

package builtin

import (
	"context"

	"liminal/internal/tool"
)

// makeDataset makes what an adapter is trained with.
type makeDataset struct{ training Training }

func (makeDataset) Name() string { return "train.dataset_v1" }

func (t makeDataset) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	out, err := t.training.Dataset(ctx, c.Viewer, claimOf(c))
	if err != nil {
		return nil, failedStep(ctx, c, t.training, err)
	}
	return object(out)
}

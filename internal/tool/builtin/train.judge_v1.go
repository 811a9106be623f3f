package builtin

import (
	"context"

	"liminal/internal/tool"
)

// judgeWeights measures what was trained.
type judgeWeights struct{ training Training }

func (judgeWeights) Name() string { return "train.judge_v1" }

func (t judgeWeights) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	out, err := t.training.Judge(ctx, c.Viewer, claimOf(c))
	if err != nil {
		return nil, failedStep(ctx, c, t.training, err)
	}
	return object(out)
}

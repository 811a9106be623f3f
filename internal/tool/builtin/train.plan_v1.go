package builtin

import (
	"context"

	"liminal/internal/tool"
)

// planTraining queues trainings that are due (PREF-05).
type planTraining struct{ training Training }

func (planTraining) Name() string { return "train.plan_v1" }

func (t planTraining) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	planned, err := t.training.Plan(ctx, c.Viewer, c.RunID)
	if err != nil {
		return nil, err
	}
	return object(planned)
}

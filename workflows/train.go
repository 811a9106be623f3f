package workflows

import (
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
)

// Train trains an adapter of a person's own, id train:{job}. Its steps are those
// of the artifact "learn.train" (GRAPH-24).
func (f *Flows) Train(ctx workflow.Context, in activities.RunInput, c *Carry) (activities.Result, error) {
	return f.execute(ctx, in, c)
}

package workflows

import (
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
)

// ToolRun is one tool run by itself, id tool:{run}.
func (f *Flows) ToolRun(ctx workflow.Context, in activities.RunInput, c *Carry) (activities.Result, error) {
	return f.execute(ctx, in, c)
}

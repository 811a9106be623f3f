package workflows

import (
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
)

// RunWorkflow runs a workflow artifact, id graph:{run}, or as the child of the
// run that named it (GRAPH-03). A child has no row: its end is its result, and
// its failure fails the parent's node.
func (f *Flows) RunWorkflow(ctx workflow.Context, in activities.RunInput, c *Carry) (activities.Result, error) {
	return f.execute(ctx, in, c)
}

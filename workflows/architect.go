package workflows

import (
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
)

// Architect reads what runs left and proposes patches, id architect:{run}. Its
// steps are those of the artifact "architect" (CFG-13).
func (f *Flows) Architect(ctx workflow.Context, in activities.RunInput, c *Carry) (activities.Result, error) {
	return f.execute(ctx, in, c)
}

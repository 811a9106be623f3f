package workflows

import (
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
)

// ConfigPatch is a proposed change on its way, id patch:{patch}. Its steps are
// those of the artifact "config_patch"; it waits for people by the same
// questions as any run, and only the Desk answers them (CFG-15).
func (f *Flows) ConfigPatch(ctx workflow.Context, in activities.RunInput, c *Carry) (activities.Result, error) {
	return f.execute(ctx, in, c)
}

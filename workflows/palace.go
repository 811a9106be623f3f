package workflows

import (
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
)

// Palace looks after what the capture proxy kept of a person's agents, ids
// palace:retain:{user}:{hour}, palace:classify:{lineage} and palace:consolidate:{lineage}.
// Its steps are those of the artifact that its input names: "palace_retain" (PAL-22),
// "palace_classify" (PAL-08), "palace_consolidate". What is handed on are ids.
func (f *Flows) Palace(ctx workflow.Context, in activities.RunInput, c *Carry) (activities.Result, error) {
	return f.execute(ctx, in, c)
}

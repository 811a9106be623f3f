package workflows

import (
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
)

// Ingest brings one document into its context, id ingest:{document}. Its
// steps are those of the artifact "ingest" (GRAPH-24).
func (f *Flows) Ingest(ctx workflow.Context, in activities.RunInput, c *Carry) (activities.Result, error) {
	return f.execute(ctx, in, c)
}

package workflows

import (
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/internal/run"
)

// Cluster reads what a person, or everybody who allows it, said of answers, id
// cluster:{user or global}:{time}. Its steps are those of the artifact
// "learn.cluster" (CLUS-01).
func (f *Flows) Cluster(ctx workflow.Context, in activities.RunInput, c *Carry) (activities.Result, error) {
	return f.execute(ctx, in, c)
}

// Learn is the part of a Cluster that is about one situation: a child, whose
// steps are those of the artifact "learn.text".
func (f *Flows) Learn(ctx workflow.Context, in activities.RunInput, c *Carry) (activities.Result, error) {
	return f.execute(ctx, in, c)
}

// childKind is what a run's children are: parts of a Cluster are Learns, and
// all others are workflows like any.
func childKind(parent run.Kind) run.Kind {
	if parent == run.KindCluster || parent == run.KindLearn {
		return run.KindLearn
	}
	return run.KindGraph
}

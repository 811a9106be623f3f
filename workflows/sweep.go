package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
)

const (
	// sweepLimit bounds one try of a sweep.
	sweepLimit = time.Hour
	// sweepTries is how often a sweep is tried before its next time comes.
	sweepTries = 5
)

// Sweep is one sweep of the house, started by its schedule (FILE-07). It has no
// row and no person: its result is in Temporal.
func (f *Flows) Sweep(ctx workflow.Context, in activities.SweepInput) (activities.Swept, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           in.Queue,
		StartToCloseTimeout: sweepLimit,
		HeartbeatTimeout:    heartbeatTimeout,
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 10 * time.Second, BackoffCoefficient: 2,
			MaximumInterval: 5 * time.Minute, MaximumAttempts: sweepTries,
		},
		Summary: in.Name,
	})
	var swept activities.Swept
	err := workflow.ExecuteActivity(ctx, activities.NameSweep, in).Get(ctx, &swept)
	return swept, err
}

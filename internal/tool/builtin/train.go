package builtin

import (
	"cmp"
	"context"

	"liminal/internal/adaptation"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/lora/train"
	"liminal/internal/tool"
	"liminal/internal/training"
)

// Training trains adapters of people's own, step by step; *training.Steps is one.
// Every step re-checks where its job stands.
type Training interface {
	Plan(ctx context.Context, v identity.Viewer, runID string) (training.Planned, error)
	Dataset(ctx context.Context, v identity.Viewer, c training.Claim) (training.Prepared, error)
	Fit(ctx context.Context, v identity.Viewer, c training.Claim, report func(train.Metric), notice func(string)) (training.Fitted, error)
	Judge(ctx context.Context, v identity.Viewer, c training.Claim) (training.Judged, error)
	Publish(ctx context.Context, v identity.Viewer, c training.Claim) (training.Published, error)
	Ending
}

// Ending hands in what was trained, and ends jobs.
type Ending interface {
	HandIn(ctx context.Context, v identity.Viewer, c training.Claim) (training.HandIn, bool, error)
	HandedIn(ctx context.Context, v identity.Viewer, c training.Claim, patch int64, status string) error
	Settle(ctx context.Context, v identity.Viewer, c training.Claim) (training.Settled, error)
	Fail(ctx context.Context, v identity.Viewer, c training.Claim, f training.Failure) (training.Failed, error)
}

var _ Training = (*training.Steps)(nil)

// trainingTools are the tools of the graph that trains.
func trainingTools(p Parts) []tool.Tool {
	if p.Training == nil {
		return nil
	}
	return []tool.Tool{
		planTraining{p.Training}, makeDataset{p.Training}, fitAdapter{p.Training}, judgeWeights{p.Training}, publishWeights{p.Training},
		settleTraining{p.Training}, failTraining{p.Training},
	}
}

// claimOf is the claim a step is made for.
func claimOf(c *tool.Call) training.Claim {
	return training.Claim{Job: words(c, "job"), Fence: int64(number(c, "fence", 0))}
}

// failedStep notes a failure that may pass in the job: it is the job that is tried
// again, later and three times in all (TRAIN-10), and not the call. A call that is
// cut off is made again.
func failedStep(ctx context.Context, c *tool.Call, t Training, err error) error {
	if ctx.Err() != nil || !train.Passes(err) {
		return err
	}
	known := fault.From(err)
	out, failed := t.Fail(ctx, c.Viewer, claimOf(c), training.Failure{Code: string(known.Code), Reason: fault.Reason(known), Message: known.Message})
	if failed != nil {
		return err // nobody could note it: the call is made again
	}
	return fault.Wrap(fault.Conflict, err, "%s", cmp.Or(out.Reason, known.Message))
}

// proposeWeights hands in the version of a job.
func (t proposeAdapter) proposeWeights(ctx context.Context, c *tool.Call) (adaptation.Proposed, error) {
	of, due, err := t.training.HandIn(ctx, c.Viewer, claimOf(c))
	if err != nil || !due {
		return adaptation.Proposed{Status: "none"}, err
	}
	p, err := t.steps.ProposeWeights(ctx, c.Viewer, c.RunID, adaptation.Trained(of))
	if err != nil || p.Wait {
		return p, err
	}
	return p, t.training.HandedIn(ctx, c.Viewer, claimOf(c), p.Patch, p.Status)
}

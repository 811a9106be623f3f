package workflows

import (
	"encoding/json"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/internal/graph"
)

const (
	// maxOutcomes is how many outcomes a run keeps for its recording.
	maxOutcomes = 2000
	// maxCarried bounds what of them travels into the next execution, in bytes
	// compressed: a recording takes no more.
	maxCarried = 256 << 10
)

// done hands an effect's result to the machine, and keeps it for the recording.
func (d *drive) done(ctx workflow.Context, c activities.Outcome, out map[string]any) {
	c.Result = out
	d.keep(c)
	d.step(func() []graph.Effect { return d.run.Done(c.Effect, out, d.now(ctx)) })
}

// versionGivenUp marks runs in which attempts that were given up count as none.
const versionGivenUp = "given-up"

// failed is done for an effect that failed.
func (d *drive) failed(ctx workflow.Context, c activities.Outcome, err error) {
	f := failure(err)
	// An attempt that was given up says nothing of what it was given. Who waits
	// for an answer is told soon; what runs in the background, such as the reading
	// of a file, is tried for as long as a machine may have too much to do.
	f.GivenUp = f.Soon && d.opened.Job && workflow.GetVersion(ctx, versionGivenUp, workflow.DefaultVersion, 1) >= 1
	c.Failure = &f
	if d.awaits(c.Effect) { // a step that was told to stop did not fail by itself
		d.keep(c)
	}
	d.step(func() []graph.Effect { return d.run.Fail(c.Effect, f, d.now(ctx)) })
}

// awaits reports whether the machine waits for an effect.
func (d *drive) awaits(effect string) bool {
	return slices.ContainsFunc(d.run.Pending(), func(e graph.Effect) bool { return e.ID == effect })
}

// keep keeps what came of an effect. A child's effects are no part of its
// parent's recording, and a child has none of its own.
func (d *drive) keep(c activities.Outcome) {
	switch {
	case d.outcomes == nil || d.in.Child != nil:
	case len(d.outcomes.All) >= maxOutcomes, d.outcomes.Full(c):
		d.outcomes.Cut = true
	default:
		c.Effect = graph.FirstCall(c.Effect) // a rehearsal is not put off
		d.outcomes.Add(c)
	}
}

// since is how long an effect took that began at a time of the machine's clock.
func (d *drive) since(ctx workflow.Context, began time.Time) time.Duration {
	return max(0, d.now(ctx).Sub(began))
}

// recorded are the outcomes of the run, for Close; nil when nobody knows all of
// them.
func (d *drive) recorded(ctx workflow.Context) *activities.RunOutcomes {
	if d.outcomes != nil {
		d.outcomes.Took = max(0, d.wall(ctx).Sub(d.outcomes.Since)-d.waited)
	}
	return d.outcomes
}

// packed are the outcomes on their way into the next execution.
func (d *drive) packed() []byte {
	if d.outcomes == nil {
		return nil
	}
	small := pack(d.outcomes)
	if len(small) > maxCarried {
		d.outcomes.All, d.outcomes.Bulk, d.outcomes.Cut = nil, 0, true
		small = pack(d.outcomes)
	}
	return small
}

// pack gives nothing where there is nothing to keep: a recording is not worth
// a run.
func pack(h *activities.RunOutcomes) []byte {
	raw, err := json.Marshal(h)
	if err != nil {
		return nil
	}
	small, err := compressed(raw)
	if err != nil {
		return nil
	}
	return small
}

// unpacked is the other side of packed; nil for an execution that was begun
// before there were recordings.
func unpacked(small []byte) *activities.RunOutcomes {
	raw, err := expanded(small)
	h := &activities.RunOutcomes{}
	if len(small) == 0 || err != nil || json.Unmarshal(raw, h) != nil {
		return nil
	}
	return h
}

package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/run"
)

// execute is every run: open, drive, close. Whatever goes wrong on the way is
// how the run ended, and is closed like any other end: a row must never stay
// open behind a workflow that is gone.
func (f *Flows) execute(ctx workflow.Context, in activities.RunInput, c *Carry) (activities.Result, error) {
	if err := f.admit(ctx, in, c); err != nil {
		return activities.Result{}, err
	}
	// A cancel from outside (Temporal's own, or the parent's) becomes the
	// machine's; the work around it must not be cut off.
	work, _ := workflow.NewDisconnectedContext(ctx)
	d := newDrive(f, in, c)
	defer f.idle(in)
	if err := d.listen(ctx, work); err != nil {
		return activities.Result{}, err
	}
	if err := d.open(work); err != nil {
		d.fail(failure(err))
	} else if d.loopUnlessCancelled(ctx, work); d.continues {
		return activities.Result{}, d.carryOn(work)
	}
	if d.closed != nil {
		return d.result(*d.closed, d.outcome().Err)
	}
	if in.Child != nil {
		return d.childResult()
	}
	return d.close(work)
}

// open gets the pinned graph, and begins or goes on with its run.
func (d *drive) open(ctx workflow.Context) error {
	var o activities.Opening
	if !d.carried {
		d.outcomes.Since = workflow.Now(ctx)
		var err error
		if o, err = d.openRun(ctx); err != nil {
			return err
		}
		d.opened = o.Opened
	}
	g, err := d.flows.graphs.parse(&d.opened)
	if err != nil {
		return fault.New(fault.Invalid, "The workflow cannot run: %s", err)
	}
	if d.carried {
		return d.restore(g)
	}
	d.takeUp(ctx, o.Direct, func() { d.start(ctx, g) })
	return nil
}

// openRun waits for the run's opening. While that goes on with the run, a person
// may cancel it.
func (d *drive) openRun(ctx workflow.Context) (o activities.Opening, err error) {
	options := workflow.LocalActivityOptions{
		StartToCloseTimeout:    storeTimeout,
		ScheduleToCloseTimeout: d.in.OpenLimit(),
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 5 * time.Second},
	}
	if d.in.Queued {
		options.StartToCloseTimeout = d.in.OpenLimit() // Open bounds its own work
	}
	if !d.in.Direct {
		ctx = workflow.WithLocalActivityOptions(ctx, options)
		err = workflow.ExecuteLocalActivity(ctx, activities.NameOpen, d.in, activities.Ahead{}).Get(ctx, &o)
		return o, err
	}
	options.StartToCloseTimeout += directLimit
	options.ScheduleToCloseTimeout += directLimit
	b := d.goBeside()
	lctx := workflow.WithLocalActivityOptions(ctx, options)
	err = d.await(ctx, b, workflow.ExecuteLocalActivity(lctx, activities.NameOpen, d.in, b.ahead(ctx)), &o)
	return o, err
}

// start begins the machine.
func (d *drive) start(ctx workflow.Context, g *graph.Graph) {
	d.outcomes.Began = d.now(ctx)
	d.step(func() []graph.Effect {
		r, effects := g.Start(graph.Input{
			Input: d.opened.Input, Persisted: d.opened.Persisted, Conversation: d.opened.Conversation,
			User: d.opened.User, Now: d.now(ctx), Budget: d.opened.Budget, Remembers: d.opened.Remembers,
		})
		d.run = r
		return effects
	})
}

// close writes the end. A store that is down is waited for; what it refuses
// is written again as a failure without the message, and if even that is
// refused the reconciler finds the row.
func (d *drive) close(ctx workflow.Context) (activities.Result, error) {
	in := d.ended(ctx)
	result, err := d.closeWith(ctx, in)
	if err != nil {
		f := failure(err)
		in.Outcome = graph.Outcome{Err: &f}
		in.Persist, in.Tally.Records, in.Outcomes = nil, nil, nil
		if result, err = d.closeWith(ctx, in); err != nil {
			return result, err
		}
	}
	return d.result(result, in.Outcome.Err)
}

// result is what the workflow returns of a run whose end is written.
func (d *drive) result(r activities.Result, f *graph.Failure) (activities.Result, error) {
	if f != nil {
		return r, temporal.NewNonRetryableApplicationError(f.Error(), f.Code, nil, r)
	}
	return r, nil
}

func (d *drive) closeWith(ctx workflow.Context, in activities.CloseInput) (activities.Result, error) {
	var result activities.Result
	ctx = workflow.WithLocalActivityOptions(ctx, durable(0))
	err := workflow.ExecuteLocalActivity(ctx, activities.NameClose, in).Get(ctx, &result)
	return result, err
}

// durable are the options of short activities over the store that must happen:
// tried until they do, or are refused for good.
func durable(attempts int32) workflow.LocalActivityOptions {
	return workflow.LocalActivityOptions{
		StartToCloseTimeout:    storeTimeout,
		ScheduleToCloseTimeout: 24 * time.Hour,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2,
			MaximumInterval: 10 * time.Second, MaximumAttempts: attempts,
		},
	}
}

// ended is how the run ended, for Close.
func (d *drive) ended(ctx workflow.Context) activities.CloseInput {
	in := activities.CloseInput{Run: d.in, Opened: d.opened, Tally: d.tally, Outcome: d.outcome(), Outcomes: d.recorded(ctx)}
	if d.run != nil && d.broken == nil {
		in.Steps = d.run.Trace()
		if in.Outcome.Err == nil {
			in.Persist = d.run.Persist()
		}
	}
	return in
}

func (d *drive) outcome() graph.Outcome {
	if d.broken != nil {
		return graph.Outcome{Err: d.broken}
	}
	out, _ := d.run.Outcome()
	out.Suppressed = out.Suppressed || d.hidden
	return out
}

// childResult is what a child run hands to its parent's node.
func (d *drive) childResult() (activities.Result, error) {
	out := d.outcome()
	r := activities.Result{Status: run.Done, Output: childOutput(out), Child: &activities.ChildResult{
		Tally: d.tally, Waited: d.waited, Suppressed: out.Suppressed,
	}}
	if d.run != nil {
		r.Child.Waited += d.run.Spoken()
	}
	if d.run != nil && d.opened.Budget != nil {
		used := d.run.Used()
		r.Child.Used = &used
	}
	if out.Cancelled && !out.Suppressed {
		r.Status = run.Cancelled
	}
	trimmed(&r.Child.Tally)
	if f := out.Err; f != nil {
		r.Said = f.Said
		return r, temporal.NewNonRetryableApplicationError(f.Error(), f.Code, nil, r)
	}
	return r, nil
}

// childOutput merges like a tool's: the data of the end node, the response as
// its answer, and its citations.
func childOutput(out graph.Outcome) map[string]any {
	merged := map[string]any{}
	for _, key := range keys(out.Data) {
		merged[key] = out.Data[key]
	}
	if _, named := merged["answer"]; !named && out.Response != "" {
		merged["answer"] = out.Response
	}
	if _, named := merged["citations"]; !named && out.Citations != nil {
		merged["citations"] = out.Citations
	}
	return merged
}

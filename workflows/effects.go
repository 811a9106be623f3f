package workflows

import (
	"errors"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/model"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// call runs a tool: an inline one as a local activity, so that consecutive
// ones stay within one workflow task; another as an ordinary activity on its
// tool's queue. Either is tried once: the machine decides about retries.
func (d *drive) call(ctx workflow.Context, e graph.Effect) {
	pin, in := d.opened.Tools[e.Call.Tool], d.callInput(e)
	ctx, cancel := workflow.WithCancel(ctx)
	began := d.now(ctx)
	var future workflow.Future
	if pin.Runs == tool.Inline {
		future = workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, inline(e)), activities.NameCall, in, "")
	} else {
		in.Longest = e.Call.Longest
		future = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, d.apart(e, pin.Queue, pin.Shared)), activities.NameCall, in, d.sealed(ctx, in))
	}
	d.flight[e.ID] = cancel
	d.selector.AddFuture(future, func(f workflow.Future) {
		delete(d.flight, e.ID)
		var r activities.CallResult
		err := f.Get(ctx, &r)
		d.called(ctx, e, began, r, err)
	})
}

// callInput is what a call's activity is told.
func (d *drive) callInput(e graph.Effect) activities.CallInput {
	pin := d.opened.Tools[e.Call.Tool]
	in := activities.CallInput{
		Run: d.in, Scope: d.opened.Scope, Tool: pin.Pin(), Under: pin.Under, Model: pin.Model || pin.Plain, Effect: d.effectID(e), Node: e.Node, Stage: e.Stage,
		Description: e.Description, Quiet: e.Quiet, Attempt: d.attempt(e), Final: e.Call.Final,
		Reset: d.attempt(e) > 1 || d.tally.Spoke && !continues(e), Inputs: e.Call.Inputs, Resume: e.Call.Resume,
		Timeout: e.Call.Timeout,
	}
	if pin.Model {
		in.Models, in.Adapters = d.opened.Models, d.opened.Adapters
	}
	in.Run.Child, in.Run.Seal, in.Run.Direct = nil, "", false // ids and streams are the row's; the rest would only travel
	return in
}

// continues reports whether a call goes on from the words that readers have: its
// first attempt takes nothing of them back.
func continues(e graph.Effect) bool {
	_, ok := e.Call.Continues()
	return ok
}

func inline(e graph.Effect) workflow.LocalActivityOptions {
	return workflow.LocalActivityOptions{
		StartToCloseTimeout: e.Call.Timeout + activities.MaxWait,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:             e.ID,
	}
}

func (d *drive) apart(e graph.Effect, queue string, shared bool) workflow.ActivityOptions {
	o := workflow.ActivityOptions{
		TaskQueue:           queue,
		StartToCloseTimeout: max(e.Call.Timeout, e.Call.Longest) + activities.MaxWait,
		HeartbeatTimeout:    heartbeatTimeout,
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:             summary(e),
	}
	if d.opened.Job {
		// A machine with no time to spare is silent for longer: what was given up
		// for that would be again.
		o.HeartbeatTimeout *= time.Duration(min(max(e.Attempt, 1), maxPatience))
	} else {
		o.ScheduleToStartTimeout = startLimit
	}
	switch {
	case shared:
		o.RetryPolicy = untilItsTurn()
	case d.opened.Tools[e.Call.Tool].Acts:
		o.RetryPolicy = untilKnown()
	}
	return o
}

// untilKnown has the engine make a call of an act again whose worker died: it is
// written down whether it was begun (see activities.Set), so that none is done
// twice. What the tool or the worker itself says of a call is the end of it.
func untilKnown() *temporal.RetryPolicy {
	final := []string{activities.TypeStopped, "PanicError"}
	for _, code := range fault.Codes() {
		final = append(final, string(code))
	}
	return &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: time.Second, MaximumAttempts: maxDied, NonRetryableErrorTypes: final}
}

// maxDied is how many workers may die over one act before it is given up.
const maxDied = 10

// maxPatience is by how much the silence of a worker is borne longer, at most, when
// a call of background work is made again: half a minute.
const maxPatience = 10

// untilItsTurn has the engine make a call again whose person's share of the
// background work is taken, and no other: those are for the machine to repeat.
func untilItsTurn() *temporal.RetryPolicy {
	final := []string{
		activities.TypeStopped, "PanicError", "deadlineExceededError",
		"TemporalTimeout:StartToClose", "TemporalTimeout:Heartbeat",
	}
	for _, code := range fault.Codes() {
		final = append(final, string(code))
	}
	return &temporal.RetryPolicy{InitialInterval: time.Second, MaximumAttempts: maxTurns, NonRetryableErrorTypes: final}
}

// maxTurns bounds how often a call looks whether it is its turn: about a day's
// worth, which is what a run may take.
const maxTurns = 50_000

// maxSummary bounds a summary in bytes, below the 400 a server takes by default.
const maxSummary = 300

// summary is how an effect reads in Temporal's UI.
func summary(e graph.Effect) string {
	if e.Description == "" {
		return e.ID
	}
	s := e.ID + ": " + e.Description
	if len(s) > maxSummary {
		s = strings.ToValidUTF8(s[:maxSummary], "") + "…"
	}
	return s
}

// called hands what came of a call to the machine.
func (d *drive) called(ctx workflow.Context, e graph.Effect, began time.Time, r activities.CallResult, err error) {
	if d.opened.Tools[e.Call.Tool].Acts && errors.As(err, new(*temporal.TimeoutError)) {
		err = temporal.NewNonRetryableApplicationError("It is not known whether "+e.Call.Tool+" was done: no worker lived to tell. Look there before it is tried again.", fault.Uncertain, nil)
	}
	used := d.record(e, r, err)
	outcome := activities.Outcome{
		Effect: e.ID, Kind: e.Kind, Tool: e.Call.Tool, Took: d.since(ctx, began), Model: used.Model, Usage: used.Usage,
	}
	switch {
	case err != nil:
		d.failed(ctx, outcome, err)
	case r.Stopped:
		if r.Partial != "" {
			d.tally.Partial = r.Partial
		}
		d.step(func() []graph.Effect { return d.run.Cancel(d.now(ctx)) })
	case tool.Later(r.Output): // nothing has come of it yet
		d.step(func() []graph.Effect { return d.run.Done(e.ID, r.Output, d.now(ctx)) })
	default:
		d.done(ctx, outcome, r.Output)
	}
}

// wait lets time pass before a retry, or before a tool is called again.
func (d *drive) wait(ctx workflow.Context, e graph.Effect) {
	ctx, cancel := workflow.WithCancel(ctx)
	timer := workflow.NewTimerWithOptions(ctx, max(0, e.Wait.Until.Sub(d.now(ctx))), workflow.TimerOptions{Summary: e.ID})
	d.flight[e.ID] = cancel
	began := workflow.Now(ctx)
	d.selector.AddFuture(timer, func(f workflow.Future) {
		delete(d.flight, e.ID)
		if e.Wait.Rest && len(d.flight) == 0 && d.paused.IsZero() {
			d.waited += workflow.Now(ctx).Sub(began)
		}
		if f.Get(ctx, nil) == nil {
			d.step(func() []graph.Effect { return d.run.Done(e.ID, nil, d.now(ctx)) })
		}
	})
}

// spawn runs another workflow artifact as a child. Its time is bounded by its
// own graph: a limit from here would count the time it waits for a person.
func (d *drive) spawn(ctx workflow.Context, e graph.Effect) {
	ctx, cancel := workflow.WithCancel(ctx)
	began := d.now(ctx)
	in := activities.RunInput{RunID: d.in.RunID, Viewer: d.in.Viewer, Kind: childKind(d.in.Kind), Queued: e.Spawn.Budget != nil, Direct: d.in.Direct, Child: &activities.ChildInput{
		Workflow: e.Spawn.Workflow, Inputs: e.Spawn.Inputs, EffectID: d.effectID(e),
		Alone: len(d.run.Pending()) == 1 && d.alone(), Earlier: d.attempt(e) - 1, Opened: d.inherited(),
		Budget: e.Spawn.Budget,
	}}
	// Not after the parent's own workflow id: a replayed history does not know it.
	workflowID := "graph:" + d.in.RunID + "/" + d.effectID(e)
	in.Seal = d.sealedChild(ctx, workflowID, in)
	future := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            workflowID,
		WaitForCancellation:   true,
		StaticSummary:         summary(e),
		TypedSearchAttributes: workflow.GetTypedSearchAttributes(ctx),
	}), TypeOf(in.Kind), in)
	d.flight[e.ID] = cancel
	d.children[e.ID] = true
	d.selector.AddFuture(future, func(f workflow.Future) { d.spawned(ctx, e, began, f) })
}

// inherited is what a child takes over of its parent's opening.
func (d *drive) inherited() *activities.Opened {
	o := d.opened
	return &activities.Opened{
		Conversation: o.Conversation, User: o.User, Scope: o.Scope, Routing: o.Routing,
		Models: o.Models, Adapters: o.Adapters,
	}
}

// alone reports whether nothing above a run is at work either.
func (d *drive) alone() bool { return d.in.Child == nil || d.in.Child.Alone }

// spawned hands what came of a child to the machine.
func (d *drive) spawned(ctx workflow.Context, e graph.Effect, began time.Time, f workflow.Future) {
	delete(d.flight, e.ID)
	delete(d.children, e.ID)
	var r activities.Result
	err := f.Get(ctx, &r)
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.HasDetails() {
		_ = app.Details(&r) // details of another shape leave the tally as it is
	}
	outcome := activities.Outcome{Effect: e.ID, Kind: e.Kind, Tool: e.Spawn.Workflow}
	if c := r.Child; c != nil {
		d.merge(c.Tally)
		d.away += c.Waited
		d.waited += c.Waited
		d.hidden = d.hidden || c.Suppressed
		outcome.Model, outcome.Usage = c.Tally.Model, c.Tally.Usage
		if c.Used != nil {
			d.run.Refund(e.ID, *c.Used)
		}
	}
	outcome.Took = d.since(ctx, began)
	switch {
	case err != nil:
		d.failed(ctx, outcome, err)
	case r.Status == run.Cancelled:
		d.step(func() []graph.Effect { return d.run.Cancel(d.now(ctx)) })
	default:
		d.done(ctx, outcome, r.Output)
	}
}

// record keeps a call for the audit, adds up what it used, and gives that.
func (d *drive) record(e graph.Effect, r activities.CallResult, err error) activities.Tally {
	inputs, output := e.Call.Shown(r.Output)
	rec := activities.Record{
		Effect: d.effectID(e), Node: e.Node, Tool: e.Call.Tool, Attempt: e.Attempt,
		Arguments: inputs, Result: output, Status: "ok", Summary: r.Summary, MS: r.MS,
		Mutating: d.opened.Tools[e.Call.Tool].Changes, Approved: e.Call.Approved, Adapters: r.Adapters,
	}
	switch {
	case err != nil:
		f := failure(err)
		rec.Status, rec.Error, rec.Said = "error", f.Message, f.Said
	case r.Stopped:
		rec.Status = "stopped"
	}
	t := activities.Tally{Records: []activities.Record{rec}, Spoke: r.Spoke, Redactions: r.Redactions, Strange: r.Strange, Lessons: r.Lessons}
	if err != nil && e.Call.Final {
		t.Spoke = true // nobody knows how much of it was shown
	}
	switch pin := d.opened.Tools[e.Call.Tool]; {
	case pin.Model:
		t.ModelCalls = 1
	case !pin.Plain:
		t.ToolCalls = 1
	}
	t.Usage = usageOf(r.Output)
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		t.Usage = usageOf(detailsOf(app))
	}
	t.Model, _ = r.Output["model"].(string)
	t.Earlier, _ = r.Output["earlier"].(string)
	if tool.Later(r.Output) {
		return activities.Tally{} // it is one call, however often it is looked after
	}
	if due, ok := r.Output["summary_due"].(float64); ok {
		t.SummaryDue = int(due)
	}
	if e.Call.Final {
		t.Cut, _ = r.Output["truncated"].(bool)
	}
	d.merge(t)
	return t
}

// maxRecords bounds the calls a run keeps for its audit; a background run may
// make thousands.
const maxRecords = 256

// merge adds to the run's tally.
func (d *drive) merge(t activities.Tally) {
	sum := &d.tally
	if room := maxRecords - len(sum.Records); room > 0 {
		sum.Records = append(sum.Records, t.Records[:min(room, len(t.Records))]...)
	}
	sum.Notices = append(sum.Notices, t.Notices...)
	if room := maxRecords - len(sum.Redactions); room > 0 {
		sum.Redactions = append(sum.Redactions, t.Redactions[:min(room, len(t.Redactions))]...)
	}
	for _, id := range t.Lessons {
		if !slices.Contains(sum.Lessons, id) {
			sum.Lessons = append(sum.Lessons, id)
		}
	}
	sum.Usage = sum.Usage.Add(t.Usage)
	sum.ModelCalls, sum.ToolCalls = sum.ModelCalls+t.ModelCalls, sum.ToolCalls+t.ToolCalls
	sum.Spoke, sum.Cut, sum.Strange = sum.Spoke || t.Spoke, sum.Cut || t.Cut, sum.Strange || t.Strange
	if t.Model != "" {
		sum.Model = t.Model
	}
	if t.Partial != "" {
		sum.Partial = t.Partial
	}
	if t.Earlier != "" {
		sum.Earlier = t.Earlier
	}
	sum.SummaryDue = max(sum.SummaryDue, t.SummaryDue)
}

// usageOf reads what a model tool says it used.
func usageOf(out map[string]any) model.Usage {
	u, _ := out["usage"].(map[string]any)
	count := func(key string) int {
		n, _ := u[key].(float64)
		return int(n)
	}
	used := model.Usage{
		Input: count("input_tokens"), Output: count("output_tokens"),
		CacheRead: count("cache_read_tokens"), CacheWrite: count("cache_write_tokens"),
	}
	if usd, known := u["cost_usd"].(float64); known {
		used.CostUSD = &usd
	}
	return used
}

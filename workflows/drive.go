package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
)

// drive carries out the effects of one run of a graph until it ends. The
// machine decides everything; drive only knows how each effect is done on
// Temporal, and what a person may send meanwhile.
type drive struct {
	flows  *Flows
	in     activities.RunInput
	opened activities.Opened
	run    *graph.Run
	broken *graph.Failure // the run cannot go on, whatever the machine says

	next      []graph.Effect // what the machine wants done now
	selector  workflow.Selector
	flight    map[string]workflow.CancelFunc // effects under way, by effect id
	questions map[string]*question           // questions put, by interrupt id
	unasked   []activities.Question          // those not put yet
	early     map[string]activities.Answer   // answers to questions not put yet
	answered  map[string]bool                // interrupt ids
	cancels   workflow.ReceiveChannel        // for draining
	answers   workflow.ReceiveChannel        // for draining
	updates   workflow.Channel               // answers that came as updates; for draining
	tally     activities.Tally
	effects   int                     // carried out by this execution
	leaving   bool                    // cancelled, and a child was told
	left      bool                    // it has been waited for long enough
	abandoned bool                    // the run has ended, and its children are Temporal's to end
	children  map[string]bool         // those of the effects under way
	away      time.Duration           // in which only a child's person was waited for
	waited    time.Duration           // in which only a person was waited for, or the run rested
	hidden    bool                    // a person skipped a child's question (INT-10)
	outcomes  *activities.RunOutcomes // for the recording; nil: begun before there were any

	paused    time.Time            // since when only a person can move the run; zero: not
	carried   bool                 // continued from an earlier execution
	continues bool                 // to be continued by another
	snapshot  []byte               // of the machine, until restored
	asked     map[string]time.Time // when an earlier execution put its open questions

	gone     workflow.Future    // set by Temporal's own cancel
	beside   *beside            // what an activity goes on with; nil: none does
	stopping bool               // cancelled while one did
	closed   *activities.Result // its end is written
	at       time.Time          // what the clock on the wall says for now; zero: ask the workflow
}

func newDrive(f *Flows, in activities.RunInput, c *Carry) *drive {
	d := &drive{
		flows: f, in: in,
		flight: map[string]workflow.CancelFunc{}, questions: map[string]*question{},
		early: map[string]activities.Answer{}, answered: map[string]bool{}, children: map[string]bool{}, outcomes: &activities.RunOutcomes{},
	}
	if c != nil {
		d.restoreCarried(c)
	}
	return d
}

// loop is the heart: begin what the machine wants, wait for one thing to
// happen, hand it to the machine.
func (d *drive) loop(ctx workflow.Context) {
	for {
		switch {
		case !d.full(ctx):
			d.begin(ctx)
		case len(d.flight) == 0 && d.drained(ctx):
			d.continues = true
			return
		} // else what is under way comes home before the run is handed over
		if d.over(ctx) {
			return
		}
		d.flows.idle(d.in)
		d.selector.Select(ctx)
	}
}

// loopUnlessCancelled is loop for a run that may have been cancelled while it was opened: that
// one begins nothing.
func (d *drive) loopUnlessCancelled(outer, ctx workflow.Context) {
	if d.opened.Budget != nil && outer.Err() != nil {
		d.cancel(ctx)
	}
	d.loop(ctx)
}

// over reports whether the run has ended and nothing is under way that has
// something to hand over: a cancelled call gives the text it had written.
func (d *drive) over(ctx workflow.Context) bool {
	if !d.ending() {
		return false
	}
	d.recall(ctx)
	return len(d.flight) == 0 || d.left || d.abandoned && len(d.flight) == len(d.children)
}

// versionAbandon marks runs that end without waiting for their children.
const versionAbandon = "abandon-children"

func (d *drive) ending() bool {
	_, ended := d.run.Outcome()
	return ended || d.broken != nil
}

// abandon leaves the children of a run that has ended to Temporal, which ends
// them with it, and all of their own, at one write for each. To cancel and to
// hear every one of a large tree would be the work of as many turns. Only of a
// child that may be writing the run's answer a cancelled run has a use still.
func (d *drive) abandon(ctx workflow.Context) {
	if d.abandoned || len(d.children) == 0 || d.opened.Budget == nil || !d.ending() {
		return
	}
	if d.broken == nil && d.outcome().Cancelled && len(d.children) == 1 && len(d.flight) == 1 && d.alone() {
		return
	}
	d.abandoned = workflow.GetVersion(ctx, versionAbandon, workflow.DefaultVersion, 1) >= 1
}

// leave gives a child that was told to end a while to do so. A child's own is
// waited for by its parent's.
func (d *drive) leave(ctx workflow.Context) {
	d.abandon(ctx)
	if len(d.children) == 0 || d.leaving || d.abandoned || d.in.Child != nil || d.opened.Budget == nil {
		return
	}
	d.leaving = true
	timer := workflow.NewTimerWithOptions(ctx, leaveLimit, workflow.TimerOptions{Summary: "children end"})
	d.selector.AddFuture(timer, func(workflow.Future) { d.left = true })
}

// begin starts what the machine wants until it wants no more: a question may
// find its answer already there.
func (d *drive) begin(ctx workflow.Context) {
	for {
		effects := d.next
		d.next = nil
		d.recall(ctx)
		for _, e := range effects {
			d.effects++
			switch e.Kind {
			case graph.KindCall:
				d.call(ctx, e)
			case graph.KindWait:
				d.wait(ctx, e)
			case graph.KindSpawn:
				d.spawn(ctx, e)
			case graph.KindAsk:
				d.unasked = append(d.unasked, d.question(e))
			}
		}
		if d.ask(ctx); len(d.next) == 0 {
			return
		}
	}
}

// recall cancels effects under way that the machine no longer waits for, as
// when one branch of a parallel failed and another is still at work.
func (d *drive) recall(ctx workflow.Context) {
	if len(d.flight) == 0 {
		return
	}
	d.abandon(ctx)
	wanted := map[string]bool{}
	if d.broken == nil {
		for _, e := range d.run.Pending() {
			wanted[e.ID] = true
		}
	}
	for _, id := range keys(d.flight) {
		if !wanted[id] && !(d.abandoned && d.children[id]) {
			d.flight[id]()
		}
	}
}

// step lets the machine take something in. A panic inside it is a bug of ours
// that a graph found: it ends this run and never the worker.
func (d *drive) step(f func() []graph.Effect) {
	defer func() {
		if p := recover(); p != nil {
			d.fail(graph.Failure{Code: string(fault.Internal), Message: inside, Node: fmt.Sprintf("machine: %v", p)})
		}
	}()
	d.next = append(d.next, f()...)
}

func (d *drive) fail(f graph.Failure) { d.broken, d.next = &f, nil }

// now is the machine's clock: without the time a child waited for a person.
func (d *drive) now(ctx workflow.Context) time.Time { return d.wall(ctx).Add(-d.away) }

// wall is the time of the workflow; a drive without one is told.
func (d *drive) wall(ctx workflow.Context) time.Time {
	if !d.at.IsZero() {
		return d.at
	}
	return workflow.Now(ctx)
}

// effectID names an effect in the whole run: a child's ids follow the parent's
// effect.
func (d *drive) effectID(e graph.Effect) string {
	if d.in.Child != nil {
		return d.in.Child.EffectID + "/" + e.ID
	}
	return e.ID
}

// interruptID is the id of the question that an effect puts to a person: the
// same on every replay, and known before the question is stored.
func (d *drive) interruptID(e graph.Effect) string { return id.Derive(d.in.RunID, d.effectID(e)) }

// mostAttempts is more than an effect of one run has.
const mostAttempts = 16

// attempt counts on from the attempts a child was made at before: its effects
// have the same ids again.
func (d *drive) attempt(e graph.Effect) int {
	if d.in.Child != nil {
		return d.in.Child.Earlier*mostAttempts + e.Attempt
	}
	return e.Attempt
}

// keys are the keys of m in order: the only range over a map here, and its
// order does not depend on the map's.
//
//workflowcheck:ignore
func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

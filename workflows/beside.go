package workflows

import (
	"slices"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/internal/graph"
	"liminal/internal/tool"
)

// beside is a run's machine for an activity that goes on with the run: a drive
// without a workflow, which tells what comes next and does none of it. What the
// activity has done by it the workflow's own drive takes in afterwards: the same
// values at the same times, so it comes to stand where this one did. The two
// share nothing that either changes.
type beside struct {
	drive   *drive
	effect  graph.Effect // that was asked for
	began   time.Time
	stopped atomic.Bool // by the workflow

	question *question // that is answered; nil: the run is being opened
	signal   activities.Answer
}

var _ activities.Driver = (*beside)(nil)

// goBeside is for a run that is about to be opened.
func (d *drive) goBeside() *beside {
	b := &beside{drive: newDrive(d.flows, d.in, nil)}
	b.drive.outcomes.Since = d.outcomes.Since
	return b
}

// goBesideFrom is for a run that waits for the answer to q and nothing else, and
// is given a; nil for another.
func (d *drive) goBesideFrom(q *question, a activities.Answer) *beside {
	if !d.in.Direct || d.outcomes == nil || d.paused.IsZero() || len(d.questions) != 1 || len(d.flight)+len(d.unasked)+len(d.next) > 0 {
		return nil
	}
	g, err := d.flows.graphs.parse(&d.opened)
	if err != nil {
		return nil
	}
	raw, err := d.run.Snapshot()
	if err != nil {
		return nil
	}
	r, err := g.Restore(raw)
	if err != nil {
		return nil
	}
	t := newDrive(d.flows, d.in, nil)
	t.run, t.opened, t.effects, t.paused = r, d.opened, d.effects, d.paused
	t.away, t.waited, t.hidden = d.away, d.waited, d.hidden
	t.tally, *t.outcomes = d.tally, *d.outcomes
	t.tally.Records, t.tally.Notices = slices.Clip(t.tally.Records), slices.Clip(t.tally.Notices)
	t.tally.Redactions, t.outcomes.All = slices.Clip(t.tally.Redactions), slices.Clip(t.outcomes.All)
	asked := *q
	asked.forget = nil // the workflow's timer
	t.questions[q.ID] = &asked
	return &beside{drive: t, question: &asked, signal: a}
}

// await waits for an activity that goes on with the run, and listens for a
// cancel meanwhile: answers can wait.
func (d *drive) await(ctx workflow.Context, b *beside, f workflow.Future, out any) (err error) {
	d.beside = b
	s := workflow.NewNamedSelector(ctx, "beside")
	s.AddFuture(f, func(f workflow.Future) { err, d.beside = f.Get(ctx, out), nil })
	s.AddFuture(d.gone, func(workflow.Future) { d.interrupt() })
	s.AddReceive(d.cancels, func(c workflow.ReceiveChannel, _ bool) {
		c.Receive(ctx, nil)
		d.interrupt()
	})
	for d.beside != nil {
		s.Select(ctx)
	}
	return err
}

// interrupt stops the activity that goes on with the run where it stands: what
// it has done until then comes back as ever. The calls of a child are its
// parent's too, and end by themselves.
func (d *drive) interrupt() {
	d.stopping = true
	d.beside.stop()
	if d.in.Child == nil {
		d.flows.stop(d.in)
	}
}

// takeUp does what begins or goes on with the run, by the clock of what was done
// of it already, and takes that in.
func (d *drive) takeUp(ctx workflow.Context, done *activities.Direct, begin func()) {
	if done == nil {
		begin()
	} else {
		d.at = done.Began
		begin()
		d.follow(done)
		d.at = time.Time{}
	}
	d.stopLate(ctx)
}

// stopLate cancels a run for which a cancel came while an activity went on with
// it.
func (d *drive) stopLate(ctx workflow.Context) {
	if d.stopping && d.closed == nil && !d.ending() {
		d.cancel(ctx)
	}
	d.stopping = false
}

func (b *beside) ahead(ctx workflow.Context) activities.Ahead {
	return activities.Ahead{Driver: b, At: workflow.Now(ctx)}
}

// stop has nothing more begun.
func (b *beside) stop() { b.stopped.Store(true) }

// Start implements activities.Driver. A graph that cannot run is the workflow's to
// refuse.
func (b *beside) Start(o activities.Opened, now time.Time) {
	d := b.drive
	d.opened, d.at = o, now
	if g, err := d.flows.graphs.parse(&d.opened); err == nil {
		d.start(nil, g)
	}
}

// Answer implements activities.Driver.
func (b *beside) Answer(given map[string]activities.Answer, now time.Time) {
	b.drive.at = now
	b.drive.said(nil, b.question, b.signal, given)
}

// Next implements activities.Driver.
func (b *beside) Next() (activities.CallInput, bool) {
	d := b.drive
	if b.stopped.Load() || d.broken != nil || len(d.next) != 1 || d.effects >= d.most() || !d.isInline(d.next[0]) {
		return activities.CallInput{}, false
	}
	b.effect, b.began, d.next = d.next[0], d.now(nil), nil
	d.effects++
	return d.callInput(b.effect), true
}

// isInline reports whether an effect is a call that is made beside the workflow.
func (d *drive) isInline(e graph.Effect) bool {
	return e.Kind == graph.KindCall && d.opened.Tools[e.Call.Tool].Runs == tool.Inline
}

// Called implements activities.Driver.
func (b *beside) Called(r activities.CallResult, err error, now time.Time) {
	b.drive.at = now
	b.drive.called(nil, b.effect, b.began, r, err)
}

// End implements activities.Driver. A child's end is its parent's.
func (b *beside) End(now time.Time) (activities.CloseInput, bool) {
	d := b.drive
	if d.in.Child != nil || d.run == nil || !d.ending() {
		return activities.CloseInput{}, false
	}
	d.at = now
	return d.ended(nil), true
}

// follow takes in the calls that were made.
func (d *drive) follow(done *activities.Direct) {
	for _, c := range done.Calls {
		if len(d.next) != 1 || d.effectID(d.next[0]) != c.Effect {
			break // this drive goes its own way: it is another version's
		}
		e, began := d.next[0], d.now(nil)
		d.next = nil
		d.effects++
		d.at = c.At
		r, err := c.Returned()
		d.called(nil, e, began, r, err)
	}
	d.closed = done.Closed
}

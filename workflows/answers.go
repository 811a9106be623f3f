package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/internal/graph"
	"liminal/internal/run"
)

// question is one that was put to a person.
type question struct {
	activities.Question
	effect graph.Effect
	at     time.Time
	forget workflow.CancelFunc // its expiry; nil without one
}

// maxEarly bounds the answers kept for questions not put yet.
const maxEarly = 64

// listen receives what may come at any time: answers, a person's cancel, and
// Temporal's own cancel, which means the same. outer is the context Temporal
// cancels, ctx the one the run works under.
func (d *drive) listen(outer, ctx workflow.Context) error {
	d.selector = workflow.NewNamedSelector(ctx, "drive")
	d.answers = workflow.GetSignalChannel(ctx, SignalAnswer)
	d.selector.AddReceive(d.answers, func(c workflow.ReceiveChannel, _ bool) {
		// Receive would drop one that is no answer and wait for the next signal,
		// while the true answer comes as an update.
		var a activities.Answer
		if c.ReceiveAsync(&a) {
			d.receive(ctx, a)
		}
	})
	d.updates = workflow.NewBufferedChannel(ctx, maxEarly)
	d.selector.AddReceive(d.updates, func(c workflow.ReceiveChannel, _ bool) {
		var a activities.Answer
		c.Receive(ctx, &a)
		d.receive(ctx, a)
	})
	d.cancels = workflow.GetSignalChannel(ctx, SignalCancel)
	d.selector.AddReceive(d.cancels, func(c workflow.ReceiveChannel, _ bool) {
		c.Receive(ctx, nil)
		d.cancel(ctx)
	})
	ended, set := workflow.NewFuture(ctx)
	workflow.Go(outer, func(outer workflow.Context) {
		outer.Done().Receive(outer, nil)
		set.SetValue(nil)
	})
	d.gone = ended
	d.selector.AddFuture(ended, func(workflow.Future) { d.cancel(ctx) })
	if err := workflow.SetUpdateHandlerWithOptions(ctx, UpdateAnswer, d.updated, workflow.UpdateHandlerOptions{Validator: d.mayUpdate}); err != nil {
		return err
	}
	return workflow.SetQueryHandler(ctx, QueryState, func() (State, error) { return d.state(), nil })
}

// updated takes an answer in that came as an update: a signal without the
// engine's two writes for one, where a worker has the run at hand. The update is
// over as soon as it is here; what comes of it is on the run's stream.
func (d *drive) updated(ctx workflow.Context, a activities.Answer) error {
	a.Update = true
	d.updates.Send(ctx, a)
	return nil
}

// mayUpdate refuses an answer that the run does not wait for, which leaves nothing
// in its history. One to a question that is not put yet, as when the step that put
// it is made again, the sender signals: it is kept for the question then.
func (d *drive) mayUpdate(a activities.Answer) error {
	if d.answered[a.InterruptID] {
		return temporal.NewApplicationError("the run has this answer", TypeAnswered)
	}
	if q := d.questions[a.InterruptID]; q == nil || q.at.IsZero() {
		return temporal.NewApplicationError("the run does not wait for this answer", TypeNotAsked)
	}
	return nil
}

// question gives an Ask its interrupt id.
func (d *drive) question(e graph.Effect) activities.Question {
	q := activities.Question{
		ID: d.interruptID(e), Effect: d.effectID(e),
		Node: e.Node, Description: e.Description, Quiet: e.Quiet, Ask: *e.Ask,
	}
	if e.Stage != "" {
		q.Node = e.Stage // people see the stage that asks (LG-30)
	}
	if !q.Ask.Expires.IsZero() {
		q.Ask.Expires = q.Ask.Expires.Add(d.away)
	}
	d.questions[q.ID] = &question{Question: q, effect: e}
	return q
}

// ask puts the questions there are, and says once when only a person can move
// the run. It returns when they are stored: an answer cannot be older.
func (d *drive) ask(ctx workflow.Context) {
	if d.broken != nil {
		return
	}
	waiting := len(d.flight) == 0 && d.run.Waiting() && d.alone()
	pause := waiting && d.paused.IsZero()
	if len(d.unasked) == 0 && !pause {
		return
	}
	if len(d.unasked) == 0 {
		// What was put while another branch was at work is put again, now as
		// the only thing that is waited for.
		for _, id := range keys(d.questions) {
			d.unasked = append(d.unasked, d.questions[id].Question)
		}
	}
	in := activities.AskInput{
		Run: d.in, WorkflowID: workflow.GetInfo(ctx).WorkflowExecution.ID, ConversationID: d.opened.ConversationID,
		Questions: d.unasked, Open: keys(d.questions), Waiting: waiting,
	}
	if d.in.Child == nil {
		in.Pins = d.opened.Pins
	}
	in.Run.Child, d.unasked = nil, nil
	lctx := workflow.WithLocalActivityOptions(ctx, durable(0))
	if err := workflow.ExecuteLocalActivity(lctx, activities.NameAsk, in).Get(ctx, nil); err != nil {
		d.refused(ctx, in.Questions, err)
		return
	}
	if pause {
		d.paused = workflow.Now(ctx)
		d.upsert(ctx, StatusAwaiting)
	}
	for _, q := range in.Questions {
		if put := d.questions[q.ID]; put.at.IsZero() {
			d.put(ctx, put)
		}
	}
}

// refused fails questions that cannot be stored.
func (d *drive) refused(ctx workflow.Context, asked []activities.Question, err error) {
	for _, q := range asked {
		e := d.questions[q.ID].effect
		delete(d.questions, q.ID)
		d.failed(ctx, activities.Outcome{Effect: e.ID, Kind: e.Kind}, err)
	}
}

// put starts a question's expiry, and answers it at once if its answer came
// first: a worker that died after storing the question asks it again.
func (d *drive) put(ctx workflow.Context, q *question) {
	q.at = workflow.Now(ctx)
	if at, ok := d.asked[q.ID]; ok {
		q.at = at
	}
	if a, ok := d.early[q.ID]; ok {
		delete(d.early, q.ID)
		if d.answer(ctx, q, a) {
			return
		}
	}
	if q.Ask.Expires.IsZero() {
		return
	}
	tctx, cancel := workflow.WithCancel(ctx)
	q.forget = cancel
	timer := workflow.NewTimerWithOptions(tctx, max(0, q.Ask.Expires.Sub(workflow.Now(ctx))), workflow.TimerOptions{Summary: q.Effect + " expires"})
	d.selector.AddFuture(timer, func(f workflow.Future) {
		if f.Get(ctx, nil) == nil {
			d.expire(ctx, q)
		}
	})
}

// receive takes an answer in. One to a question that is settled is dropped;
// one to a question not put yet is kept for it.
func (d *drive) receive(ctx workflow.Context, a activities.Answer) {
	if q := d.questions[a.InterruptID]; q != nil && !q.at.IsZero() {
		d.answer(ctx, q, a)
		return
	}
	if !d.answered[a.InterruptID] && len(d.early) < maxEarly {
		d.early[a.InterruptID] = a
	}
}

// answer lets the run go on with what a person said. It reports false where
// nobody has said anything: the signal was not ours, and the question stays
// open.
func (d *drive) answer(ctx workflow.Context, q *question, a activities.Answer) bool {
	in := activities.DeliverInput{Run: d.in, IDs: []string{q.ID}, Update: a.Update}
	in.Run.Child = nil
	out, err := d.deliver(ctx, q, a, in)
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.Type() == activities.TypeUnanswered {
		workflow.GetLogger(ctx).Warn("an answer that nobody gave is dropped", "interrupt", q.ID)
		d.stopLate(ctx)
		return false
	}
	if err != nil {
		// The run goes on all the same; the answer will be sent again and
		// dropped.
		workflow.GetLogger(ctx).Warn("an answer was not marked as delivered", "interrupt", q.ID, "error", err)
	}
	d.takeUp(ctx, out.Direct, func() { d.said(ctx, q, a, out.Answers) })
	return true
}

// deliver has an answer marked as delivered. Where the run waited for nothing but
// it, the activity goes on with the run.
func (d *drive) deliver(ctx workflow.Context, q *question, a activities.Answer, in activities.DeliverInput) (out activities.Delivered, err error) {
	options := durable(0)
	b := d.goBesideFrom(q, a)
	if b == nil {
		ctx = workflow.WithLocalActivityOptions(ctx, options)
		err = workflow.ExecuteLocalActivity(ctx, activities.NameDeliver, in, activities.Ahead{}).Get(ctx, &out)
		return out, err
	}
	options.StartToCloseTimeout += directLimit
	lctx := workflow.WithLocalActivityOptions(ctx, options)
	err = d.await(ctx, b, workflow.ExecuteLocalActivity(lctx, activities.NameDeliver, in, b.ahead(ctx)), &out)
	return out, err
}

// said hands an answer to the machine: the stored one, or the signal's where a
// history from before has that alone.
func (d *drive) said(ctx workflow.Context, q *question, a activities.Answer, stored map[string]activities.Answer) {
	if s, ok := stored[q.ID]; ok {
		a = s
	}
	d.settled(ctx, q, a)
	d.done(ctx, d.outcomeOf(ctx, q), map[string]any{"answer": a.Answer, "cancelled": a.Cancelled, "expired": a.Expired})
}

// outcomeOf is the outcome of a question but for its answer.
func (d *drive) outcomeOf(ctx workflow.Context, q *question) activities.Outcome {
	return activities.Outcome{Effect: q.effect.ID, Kind: q.effect.Kind, Took: d.wall(ctx).Sub(q.at)}
}

// settled notes what became of a question, and that the run moves again.
func (d *drive) settled(ctx workflow.Context, q *question, a activities.Answer) {
	delete(d.questions, q.ID)
	d.answered[q.ID] = true
	if q.forget != nil {
		q.forget()
	}
	n := activities.Notice{
		ID: q.ID, Type: q.Ask.Type, Message: q.Ask.Message, Answer: a.Answer,
		Cancelled: a.Cancelled, Expired: a.Expired, AskedAt: q.at, At: d.wall(ctx),
	}
	for _, o := range q.Ask.Options {
		if o.ID == a.Answer {
			n.Label = o.Label
		}
	}
	if len(q.Ask.Options) == 0 && len(q.Ask.AnswerSchema) > 0 {
		n.Label = run.FormWords(q.Ask.AnswerSchema, a.Answer)
	}
	d.tally.Notices = append(d.tally.Notices, n)
	if !d.paused.IsZero() {
		d.waited += d.wall(ctx).Sub(d.paused)
		d.paused = time.Time{}
		d.upsert(ctx, StatusRunning)
	}
}

// expire settles a question whose time is up, unless an answer came first: then
// its signal is on the way.
func (d *drive) expire(ctx workflow.Context, q *question) {
	if len(d.settle(ctx, run.Expired, q.ID)) > 0 {
		return
	}
	d.settled(ctx, q, activities.Answer{InterruptID: q.ID, Expired: true})
	d.done(ctx, d.outcomeOf(ctx, q), map[string]any{"expired": true})
}

// cancel stops a run at work, and answers null for one that waits (INT-09).
func (d *drive) cancel(ctx workflow.Context) {
	if ids := keys(d.questions); len(ids) > 0 {
		d.settle(ctx, run.Skipped, ids...)
		for _, id := range ids {
			q := d.questions[id]
			d.settled(ctx, q, activities.Answer{InterruptID: id, Cancelled: true})
			o := d.outcomeOf(ctx, q)
			o.Result = map[string]any{"answer": nil, "cancelled": true, "expired": false}
			d.keep(o)
		}
	}
	d.step(func() []graph.Effect { return d.run.Cancel(d.now(ctx)) })
	if _, ended := d.run.Outcome(); ended {
		d.leave(ctx)
	}
}

// settle closes questions' rows and gives those a person had answered before.
func (d *drive) settle(ctx workflow.Context, s run.InterruptStatus, ids ...string) []string {
	in := activities.SettleInput{Run: d.in, IDs: ids, Status: s}
	in.Run.Child = nil
	var out activities.Settled
	lctx := workflow.WithLocalActivityOptions(ctx, durable(5))
	if err := workflow.ExecuteLocalActivity(lctx, activities.NameSettle, in).Get(ctx, &out); err != nil {
		workflow.GetLogger(ctx).Warn("questions were not settled", "run", d.in.RunID, "error", err)
	}
	return out.Answered
}

// upsert shows in Temporal's lists whom a run waits for (INT-34). It costs an
// event, so it happens only when a person is asked and when they answered.
func (d *drive) upsert(ctx workflow.Context, status string) {
	if ctx == nil { // beside the workflow, which does
		return
	}
	updates := []temporal.SearchAttributeUpdate{AttributeStatus.ValueSet(status)}
	if len(d.opened.Pins) > 0 {
		pin := d.opened.Pins[0]
		updates = append(updates, AttributeArtifact.ValueSet(pin.Name), AttributeVersion.ValueSet(int64(pin.Version)))
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, updates...); err != nil {
		workflow.GetLogger(ctx).Warn("the status attribute was not set", "run", d.in.RunID, "error", err)
	}
}

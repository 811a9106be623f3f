package worker

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"liminal/activities"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/workflows"
)

const (
	// updateLimit is how long a run may take to take an answer in that comes as an
	// update: a worker that dies with it is noticed after taskTimeout, and another
	// one is given it then.
	updateLimit = taskTimeout + 2*time.Second
	// resendLimit is the same for an answer that is sent again, one after the other.
	resendLimit = time.Second
	// markEvery is for how long delivered answers are gathered to be marked in
	// one write.
	markEvery = time.Second
	// maxMarks bounds them. One more is sent again, and dropped by its run.
	maxMarks = 500
)

// errGone says that the run an answer is for has ended.
var errGone = errors.New("the run has ended")

// Send sends a question that was settled in the store to the run that asked, and
// does not wait for it. It may be called again: the run drops what it knows. What
// fails is sent again by the reconciler.
func (e *Engine) Send(ctx context.Context, q run.Interrupt) {
	ctx = context.WithoutCancel(ctx)
	e.sending.Go(func() { e.send(ctx, q) })
}

// Close waits until all that Send was given is sent, or given up, and marked, for
// two callLimits at most. Answers that no run has taken in by now are signalled.
func (e *Engine) Close() {
	e.leave()
	e.sending.Wait()
	e.mark()
}

func (e *Engine) send(ctx context.Context, q run.Interrupt) {
	if err := e.deliver(ctx, q, updateLimit); err != nil {
		e.o.Logger.WarnContext(ctx, "an answer was not delivered at once; it will be sent again", "interrupt", q.ID, "run", q.RunID, "error", err)
	}
}

// deliver sends an answer as an update, which costs a run two writes of the
// engine's less than a signal, and as a signal where no update reaches it within
// limit. An update is lost if the workflow task that takes it in does not come to
// its end, whatever the run has written until then; so an answer counts as
// delivered afterwards. errGone where the run has ended.
func (e *Engine) deliver(ctx context.Context, q run.Interrupt, limit time.Duration) error {
	err := e.update(ctx, q, limit)
	if refused, ok := errors.AsType[*temporal.ApplicationError](err); err == nil || ok && refused.Type() == workflows.TypeAnswered {
		e.noteDelivered(q.ID)
		return nil
	}
	e.o.Logger.DebugContext(ctx, "an answer is signalled, since it was not taken as an update", "interrupt", q.ID, "run", q.RunID, "error", err)
	ctx, cancel := detached(ctx)
	defer cancel()
	return e.signal(ctx, q)
}

// update sends an answer and returns when the run has it for good. Its id is one
// nobody can know: Temporal takes an update of an id that was there for done, and a
// stranger's would stand for the true one.
func (e *Engine) update(ctx context.Context, q run.Interrupt, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(e.leaving, cancel)()
	u, err := e.o.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: q.WorkflowID, UpdateName: workflows.UpdateAnswer,
		Args:         []any{activities.Answer{InterruptID: q.ID}},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return u.Get(ctx, nil) // a refusal is here
}

// signal signals a settled question to the run that asked; errGone where that
// has ended. The run marks it as delivered.
func (e *Engine) signal(ctx context.Context, q run.Interrupt) error {
	a := activities.Answer{InterruptID: q.ID, Cancelled: q.Status == run.Skipped, Expired: q.Status == run.Expired}
	if q.Status == run.Answered {
		if err := json.Unmarshal(q.Answer, &a.Answer); err != nil {
			return err
		}
	}
	err := e.o.Client.SignalWorkflow(ctx, q.WorkflowID, "", workflows.SignalAnswer, a)
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return errGone
	}
	return err
}

// marking are the answers that runs have for good, and whose rows do not say so
// yet.
type marking struct {
	mu  sync.Mutex
	ids []string
}

// noteDelivered has an answer marked as delivered soon.
func (e *Engine) noteDelivered(id string) {
	m := &e.marking
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.ids) == 0 {
		time.AfterFunc(markEvery, e.mark)
	}
	if len(m.ids) < maxMarks {
		m.ids = append(m.ids, id)
	}
}

// mark marks the answers that runs have. What cannot be marked is sent again, and
// dropped by its run.
func (e *Engine) mark() {
	m := &e.marking
	m.mu.Lock()
	ids := m.ids
	m.ids = nil
	m.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	ctx, cancel := detached(context.Background())
	defer cancel()
	if err := e.o.Interrupts.Delivered(ctx, identity.System(), ids...); err != nil {
		e.complain(ctx, "delivered answers were not marked, and will be sent again", err)
	}
}

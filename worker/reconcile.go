package worker

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/converter"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
)

const (
	// settleTime is how old a run or an answer must be before the reconciler
	// looks at it: younger ones are still on their ordinary way.
	settleTime = 5 * time.Second
	// maxPatience is the longest pause between two looks at a run that is well.
	maxPatience = 10 * time.Minute
	// hopeless is how many attempts at one step a workflow may fail before it
	// counts as stuck; the server waits ever longer between them.
	hopeless = 5
	// turnKey names the turn of a reconciler among all processes.
	turnKey = "engine:reconcile:"
)

// look is when a run that was well is looked at again, and since when it is not.
type look struct {
	next  time.Time
	pause time.Duration
	stuck time.Time // zero: it is well
}

// Reconcile makes up for what crashes leave undone, once at once and then
// after each pause, until ctx ends: rows whose workflow never started are
// started, rows whose workflow is gone are closed, answers whose signal was
// lost are sent again. Processes that share a cache take turns; each thing it
// does may be done by several of them at once without harm.
func (e *Engine) Reconcile(ctx context.Context, pause time.Duration) {
	well := map[string]look{}
	// What an earlier process left is looked at whatever its age.
	age := time.Duration(0)
	for first := true; ; first = false {
		mine := e.turn(ctx, pause)
		if mine || first { // the turn may be one's that was killed
			e.forget(ctx)
		}
		if mine {
			e.pass(ctx, well, pause, age)
			age = settleTime
		}
		select {
		case <-time.After(pause + rand.N(pause/10+1)):
		case <-ctx.Done():
			return
		}
	}
}

// turn reports whether this process passes now: of those that share a cache,
// one in each pause. Without a cache, or when it is down, every one does.
func (e *Engine) turn(ctx context.Context, pause time.Duration) bool {
	if e.o.Cache == nil {
		return true
	}
	mine, err := e.o.Cache.Add(ctx, turnKey+e.o.Queue, []byte("taken"), pause)
	return mine || err != nil
}

// pass is one look at everything that is open. A run that is well is looked at
// ever more rarely: thousands may wait for people.
func (e *Engine) pass(ctx context.Context, well map[string]look, pause, age time.Duration) {
	open, err := e.o.Runs.Unfinished(ctx, identity.System(), age)
	if err != nil {
		e.complain(ctx, "the open runs cannot be listed", err)
		return
	}
	began := time.Now()
	seen := make(map[string]look, len(open))
	for _, r := range open {
		last := well[r.ID]
		if began.Before(last.next) {
			seen[r.ID] = last
			continue
		}
		stuck, err := e.reconcile(ctx, r, last.stuck)
		if err != nil {
			e.complain(ctx, "a run cannot be reconciled", err, "run", r.ID)
			continue
		}
		p := min(max(2*last.pause, pause), maxPatience)
		if !stuck.IsZero() {
			p = pause
		}
		seen[r.ID] = look{next: began.Add(p), pause: p, stuck: stuck}
	}
	clear(well)
	maps.Copy(well, seen)
	// What was answered while this looked at the runs is on its ordinary way.
	e.resend(ctx, age+time.Since(began))
}

// forget deletes what is left of runs of which nothing is kept. It is done here and
// not where a run ends, so that no crash can keep it from being done.
func (e *Engine) forget(ctx context.Context) {
	if e.o.Forget == nil {
		return
	}
	for {
		n, err := e.o.Forget(ctx, identity.System())
		if err != nil {
			e.complain(ctx, "runs of which nothing is kept are not forgotten yet", err)
		}
		if err != nil || n == 0 {
			return
		}
	}
}

func (e *Engine) complain(ctx context.Context, what string, err error, args ...any) {
	if ctx.Err() == nil {
		e.o.Logger.WarnContext(ctx, what, append(args, "error", err)...)
	}
}

// resend sends answers again of which it is not known that their run has them. One
// that has is told apart by the update: a signal it would only drop, each time.
func (e *Engine) resend(ctx context.Context, age time.Duration) {
	lost, err := e.o.Interrupts.Undelivered(ctx, identity.System(), age)
	if err != nil {
		e.complain(ctx, "undelivered answers cannot be listed", err)
		return
	}
	limit := resendLimit
	for _, q := range lost {
		began := time.Now()
		err := e.deliver(ctx, q, limit)
		if time.Since(began) >= resendLimit { // the others need not wait for it as well
			limit = 0
		}
		if errors.Is(err, errGone) { // its row is closed by the pass over the runs
			e.noteDelivered(q.ID)
			continue
		}
		if err != nil {
			e.complain(ctx, "an answer was not delivered", err, "interrupt", q.ID)
		}
	}
}

// reconcile brings one run's row and its workflow together. since is when the
// run was first found stuck, zero if it was not; so is what it returns.
func (e *Engine) reconcile(ctx context.Context, r run.Run, since time.Time) (stuck time.Time, err error) {
	if r.Status == run.Queued {
		return stuck, nil
	}
	d, err := e.o.Client.DescribeWorkflowExecution(ctx, r.WorkflowID, "")
	_, missing := errors.AsType[*serviceerror.NotFound](err)
	if err != nil && !missing {
		return stuck, err
	}
	info := d.GetWorkflowExecutionInfo()
	of := runOf(info.GetMemo())
	if !missing && info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		if r.Kind == run.KindPatch && of != "" && of != r.ID {
			return stuck, e.instead(ctx, r)
		}
		return e.patient(ctx, r, since, d.GetPendingWorkflowTask().GetAttempt())
	}
	// The row was read before the workflow was looked at: by now the workflow
	// may have closed it, or another process.
	if row, err := e.o.Runs.Run(ctx, ownerOf(r), r.ID); err != nil || row.Status.Ended() {
		return stuck, err
	}
	if missing {
		return stuck, e.restart(ctx, r)
	}
	if of != "" && of != r.ID {
		return stuck, e.restart(ctx, r) // that was an earlier run of the same document
	}
	return stuck, e.abandon(ctx, r, "The run was ended from outside before it had a result. Ask again.")
}

// instead starts the run of a patch where that of another one is still there:
// the store was put back to a time before that one, and gave its number again.
// That one would wait for weeks for people who cannot see it.
func (e *Engine) instead(ctx context.Context, r run.Run) error {
	err := e.o.Client.TerminateWorkflow(ctx, r.WorkflowID, "", "its patch is not there any more")
	if _, gone := errors.AsType[*serviceerror.NotFound](err); err != nil && !gone {
		return err
	}
	return e.restart(ctx, r)
}

// patient waits for a run whose workflow fails again and again at the same
// step, which is this program's fault and may be mended by its next version;
// after Patience it ends the run.
func (e *Engine) patient(ctx context.Context, r run.Run, since time.Time, attempt int32) (stuck time.Time, err error) {
	if attempt < hopeless {
		return time.Time{}, nil
	}
	now := time.Now()
	if since.IsZero() {
		e.o.Logger.ErrorContext(ctx, "a run is stuck: its workflow task fails again and again", "run", r.ID, "workflow", r.WorkflowID, "attempt", attempt)
		since = now
	}
	if now.Sub(since) < e.o.Patience {
		return since, nil
	}
	const reason = "its workflow task failed again and again"
	err = e.o.Client.TerminateWorkflow(ctx, r.WorkflowID, "", reason)
	if _, gone := errors.AsType[*serviceerror.NotFound](err); err != nil && !gone {
		return since, err
	}
	return time.Time{}, e.abandon(ctx, r, "The run could not go on: a step failed on our side each time it was tried. Ask again.")
}

func ownerOf(r run.Run) identity.Viewer {
	if r.UserID == identity.SystemAccount {
		return identity.Steward()
	}
	return identity.Viewer{UserID: r.UserID, Role: identity.RoleUser}
}

func runOf(m *commonpb.Memo) string {
	var of string
	if p, ok := m.GetFields()[memoRun]; ok {
		_ = converter.GetDefaultDataConverter().FromPayload(p, &of) // not ours: ""
	}
	return of
}

// restart starts a run that is not there. That of somebody who may not act any
// more ends instead.
func (e *Engine) restart(ctx context.Context, r run.Run) error {
	v, err := e.viewer(ctx, r.UserID)
	if errors.Is(err, fault.NotFound) {
		return e.abandon(ctx, r, "The run was not begun: its account may not use this place any more.")
	}
	if err != nil {
		return err
	}
	err = e.start(ctx, v, r, "")
	if errors.Is(err, fault.NotFound) { // of its access key
		return e.abandon(ctx, r, "The run was not begun: the access key it was asked for with is not there any more.")
	}
	return err
}

// abandon closes the row of a run whose workflow is gone without having closed
// it, such as one an operator terminated. sentence tells the person.
func (e *Engine) abandon(ctx context.Context, r run.Run, sentence string) error {
	last, err := stream.New("", stream.RunError{Code: string(fault.Internal), Message: sentence, Said: fault.Say(sentence)})
	if err != nil {
		return err
	}
	v := ownerOf(r)
	end := run.End{Status: run.Failed, Error: last.Data}
	var next *run.Run
	if r.Kind == run.KindChat {
		closed, err := e.o.Turns.CloseTurn(ctx, v, chat.Close{RunID: r.ID, End: end})
		if err != nil {
			return err
		}
		next = closed.Next
	} else if err := e.o.Runs.EndRun(ctx, v, r.ID, end); err != nil {
		return err
	}
	return e.announceEnd(ctx, v, r, next, last)
}

// announceEnd ends the stream of a run that was closed here, and starts the next.
func (e *Engine) announceEnd(ctx context.Context, v identity.Viewer, r run.Run, next *run.Run, last stream.Event) error {
	last.Key, last.Attempt = "end", 1
	if _, err := e.o.Log.Append(ctx, r.ID, last); err != nil {
		return err
	}
	if err := e.o.Log.Finish(ctx, r.ID, run.KeepStream(r.ID)); err != nil {
		return err
	}
	if next == nil {
		return nil
	}
	full, err := e.viewer(ctx, next.UserID)
	switch {
	case errors.Is(err, fault.NotFound):
		return nil // the reconciler ends it in its turn
	case err == nil:
		v = full
	}
	return e.start(ctx, v, *next, "")
}

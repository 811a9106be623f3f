package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"liminal/activities"
	"liminal/internal/chat"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/workflows"
)

// memoRun is the memo that says which run an execution belongs to: workflow
// ids of documents are used again.
const memoRun = "run_id"

// taskTimeout is how long a worker may have a step of a run in hand without a
// sign of life: what it costs when it dies with it (OPS-09). Local activities
// that take longer make signs by themselves.
const taskTimeout = 4 * time.Second

// callLimit bounds what is done at Temporal for a caller who may be gone. A
// person waits no longer for an acknowledgement that needs none of it, and a
// process no longer to end: the reconciler makes up for it.
const callLimit = 4 * time.Second

// detached is ctx without its end, for callLimit.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), callLimit)
}

// StartNext starts a run whose row is there.
func (e *Engine) StartNext(ctx context.Context, v identity.Viewer, r run.Run) error {
	return e.start(ctx, v, r, "")
}

// Launch starts a run whose row is there, on behalf of whose it is, as far as
// that is possible now.
func (e *Engine) Launch(ctx context.Context, r run.Run) {
	v, err := e.viewer(ctx, r.UserID)
	if err != nil {
		e.o.Logger.WarnContext(ctx, "a run did not start at once; it will be started again", "run", r.ID, "error", err)
		return
	}
	e.launch(ctx, v, r, "")
}

// viewer is who a person is now; the account of the system is the system.
func (e *Engine) viewer(ctx context.Context, userID string) (identity.Viewer, error) {
	if userID == identity.SystemAccount {
		return identity.Steward(), nil
	}
	return e.o.Viewer(ctx, userID)
}

// summaryOf is how a run reads in Temporal's UI where its starter says nothing.
func summaryOf(r run.Run) string {
	if r.Kind != run.KindPatch {
		return ""
	}
	var in struct{ Title string }
	_ = json.Unmarshal(r.Input, &in) // most have none
	s := "patch " + strconv.FormatInt(patchOf(r), 10)
	if in.Title != "" {
		s += ": " + chat.TitleOf(in.Title)
	}
	return s
}

// launch starts a run as far as that is possible now.
func (e *Engine) launch(ctx context.Context, v identity.Viewer, r run.Run, summary string) {
	if err := e.start(ctx, v, r, summary); err != nil {
		e.o.Logger.WarnContext(ctx, "a run did not start at once; it will be started again", "run", r.ID, "error", err)
	}
}

// start starts a run's workflow. Temporal refuses a second start of the same
// turn, so starting again is no error and changes nothing (GRAPH-17).
func (e *Engine) start(ctx context.Context, v identity.Viewer, r run.Run, summary string) error {
	v, err := e.holder(ctx, v, r)
	if err != nil {
		return err
	}
	in := activities.RunInput{RunID: r.ID, Viewer: v, Kind: r.Kind, Queued: r.Kind == run.KindTool || r.Kind == run.KindGraph, Direct: true}
	if in.Seal, err = e.o.seals().Start(r.WorkflowID, in, nil); err != nil {
		return err
	}
	// The request that starts a run may end before it has: the start is the
	// run's, not the request's.
	ctx, cancel := detached(ctx)
	defer cancel()
	_, err = e.o.Client.ExecuteWorkflow(ctx, e.startOptions(v, r, summary), workflows.TypeOf(r.Kind), in)
	if _, already := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); already {
		return nil
	}
	return err
}

// holder is on whose behalf a run goes: its person, held to the access key it
// was asked for with, whoever starts it. A turn that waited is started by the one
// before it, which may have been asked for with another key or in a session.
func (e *Engine) holder(ctx context.Context, v identity.Viewer, r run.Run) (identity.Viewer, error) {
	if r.KeyID == "" && r.Kind != run.KindChat {
		r.KeyID = v.KeyID() // its row says so already
	}
	if v.Grant.Same(r.KeyID) {
		return v, nil
	}
	now, err := e.viewer(ctx, r.UserID)
	if err != nil {
		return now, err
	}
	return e.o.Granted(ctx, now, r.KeyID)
}

func (e *Engine) startOptions(v identity.Viewer, r run.Run, summary string) client.StartWorkflowOptions {
	attributes := []temporal.SearchAttributeUpdate{
		workflows.AttributeUser.ValueSet(v.UserID),
		workflows.AttributeStatus.ValueSet(workflows.StatusRunning),
	}
	if r.ConversationID != "" {
		attributes = append(attributes, workflows.AttributeConversation.ValueSet(r.ConversationID))
	}
	o := client.StartWorkflowOptions{
		ID: r.WorkflowID, TaskQueue: e.o.Queue, EnableEagerStart: true,
		WorkflowTaskTimeout:                      taskTimeout,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		TypedSearchAttributes:                    temporal.NewSearchAttributes(attributes...),
		StaticSummary:                            cmp.Or(summary, summaryOf(r)),
		// Where tasks wait in a queue, people take turns, whatever each of them
		// has there. Children and activities inherit it.
		Priority: temporal.Priority{FairnessKey: v.UserID},
	}
	// Documents come in again, jobs that failed are trained again, histories that grow are asked about again; and
	// the numbers of patches begin anew in a store that was put back.
	if r.Kind == run.KindIngest || r.Kind == run.KindPatch || r.Kind == run.KindTrain || r.Kind == run.KindPalace {
		o.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
		o.Memo = map[string]any{memoRun: r.ID}
	}
	return o
}

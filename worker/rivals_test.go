package worker

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// A turn is accepted by one process and cancelled through another before the
// first has started it.
//
// Requirements: INT-09 (resumes with null; defaults; the run reaches its end), CHAT-18
func TestACancelReachesARunThatHasNotStartedYet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.turn(run.Running)
	delete(b.front.status, r.WorkflowID)
	if _, err := b.engine.Cancel(t.Context(), viewer, r.ID); err != nil {
		t.Fatal(err)
	}
	want := []string{"describe " + r.WorkflowID, "start " + r.WorkflowID, "cancel " + r.WorkflowID}
	if !slices.Equal(b.calls(), want) {
		t.Errorf("Temporal was called %v, want %v", b.calls(), want)
	}
}

// promoting is Turns that let a queued turn begin just before it is closed, as
// the process does in which the turn before it ends.
type promoting struct {
	chat.Turns
	row  *run.Run
	then func()
}

func (p promoting) CloseTurn(ctx context.Context, v identity.Viewer, c chat.Close) (chat.Closed, error) {
	if p.row.Status == run.Queued {
		p.row.Status = run.Running
		p.then()
	}
	return p.Turns.CloseTurn(ctx, v, c)
}

// Requirements: INT-09 (resumes with null; defaults; the run reaches its end), CHAT-18
func TestACancelReachesAQueuedTurnThatBeginsMeanwhile(t *testing.T) {
	t.Parallel()
	for name, started := range map[string]bool{"it has started": true, "it is about to start": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			r := b.turn(run.Queued)
			b.engine.o.Turns = promoting{b.engine.o.Turns, r, func() {
				if started {
					b.front.status[r.WorkflowID] = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
				}
			}}
			if _, err := b.engine.Cancel(t.Context(), viewer, r.ID); err != nil {
				t.Fatal(err)
			}
			if r.Status != run.Running || !slices.Contains(b.calls(), "cancel "+r.WorkflowID) {
				t.Errorf("its row is %s, and Temporal was called %v: it goes on behind a closed row", r.Status, b.calls())
			}
		})
	}
}

// late is Runs in which another process makes the run of a request between our
// look for it and our own.
type late struct {
	run.Runs
	rival *run.Run
}

func (l late) RunByRequest(ctx context.Context, v identity.Viewer, request string) (run.Run, error) {
	if l.rival.ID == "" {
		return run.Run{}, fault.New(fault.NotFound, "There is no such run.")
	}
	return *l.rival, nil
}

func (l late) CreateRun(_ context.Context, _ identity.Viewer, r run.Run) error {
	*l.rival = run.Run{ID: "the rival's", RequestID: r.RequestID, Kind: r.Kind, Input: r.Input}
	return fault.New(fault.Conflict, "Another entry has the same request_id.")
}

// Requirements: GRAPH-17
func TestTheSameRequestToTwoProcessesAtOnceIsOneRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.o.Runs = late{b.engine.o.Runs, new(run.Run)}
	r, err := b.engine.RunTool(t.Context(), viewer, "t", nil, "r1")
	if err != nil || r.ID != "the rival's" || len(b.calls()) != 0 {
		t.Errorf("it is run %q (%v) after %v", r.ID, err, b.calls())
	}
}

// silent is a frontend that takes calls and never answers.
type silent struct{ *frontend }

func (silent) ExecuteWorkflow(ctx context.Context, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (silent) SignalWorkflow(ctx context.Context, _, _, _ string, _ any) error {
	<-ctx.Done()
	return ctx.Err()
}

func (silent) UpdateWorkflow(ctx context.Context, _ client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestATemporalThatDoesNotAnswerHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.engine = NewEngine(Options{Client: silent{b.front}, Activities: b.set})
		q := b.ask(t, b.turn(run.Waiting), run.Interrupt{Type: "text_input"})
		gone, leave := context.WithCancel(t.Context())
		leave() // whoever asked does not wait; what they asked for is begun all the same
		began := time.Now()
		if _, err := b.engine.RunTool(gone, viewer, "t", nil, "r1"); err != nil {
			t.Errorf("a run is refused with %v; its row would be started later", err)
		}
		if _, err := b.engine.Answer(gone, viewer, q.ID, run.Answer{Value: "yes"}); err != nil {
			t.Errorf("an answer is refused with %v; it would be sent later", err)
		}
		if took := time.Since(began); took > 2*callLimit {
			t.Errorf("both took %s", took)
		}
		b.engine.Close()
	})
}

// An account is switched off, or deleted, between a turn and its start, or
// while another turn waits behind it.
func TestARunOfSomebodyWhoMayNotActAnyMoreIsEnded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.o.Viewer = func(context.Context, string) (identity.Viewer, error) {
		return identity.Viewer{}, fault.New(fault.NotFound, "There is no such account.")
	}
	first, next := b.turn(run.Running), b.turn(run.Running)
	delete(b.front.status, first.WorkflowID)
	b.front.status[next.WorkflowID] = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	b.world.Next = &run.Run{ID: "queued", WorkflowID: "chat:queued", UserID: first.UserID}
	b.engine.pass(t.Context(), map[string]look{}, time.Second, 0)
	if first.Status != run.Failed || next.Status != run.Running || len(b.front.started) != 0 {
		t.Errorf("the runs are %s and %s, and started were %v", first.Status, next.Status, b.front.started)
	}
}

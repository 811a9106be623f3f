package worker

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/workflows"
)

// patch makes the row of patch 42's run, which has one question open.
func (b *bundle) patch(t *testing.T) (*run.Run, run.Interrupt) {
	t.Helper()
	in := b.world.House(run.KindPatch, map[string]any{"patch_id": 42, "title": "default v7 → v8"})
	r := b.world.Runs[in.RunID]
	r.Status = run.Waiting
	b.front.status[r.WorkflowID] = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	q := run.Interrupt{ID: "q-" + r.ID, RunID: r.ID, WorkflowID: r.WorkflowID, UserID: r.UserID, Type: "action_choice", Status: run.Pending}
	if err := b.set.Interrupts.Ask(t.Context(), identity.Steward(), true, q); err != nil {
		t.Fatal(err)
	}
	return r, q
}

var admin = identity.Viewer{UserID: "an administrator", Role: identity.RoleAdmin}

// Requirements: CFG-04, CFG-15, CFG-16
func TestAPatchIsDecidedAtItsDeskAndNowhereElse(t *testing.T) {
	t.Parallel()
	for name, try := range map[string]func(*Engine, run.Run, run.Interrupt) error{
		"an answer": func(e *Engine, _ run.Run, q run.Interrupt) error {
			_, err := e.Answer(context.Background(), admin, q.ID, run.Answer{Value: "approve"})
			return err
		},
		"a skip": func(e *Engine, _ run.Run, q run.Interrupt) error {
			_, err := e.Answer(context.Background(), admin, q.ID, run.Answer{Cancel: true})
			return err
		},
		"a cancel": func(e *Engine, r run.Run, _ run.Interrupt) error {
			_, err := e.Cancel(context.Background(), admin, r.ID)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			r, q := b.patch(t)
			r.ID = q.RunID
			err := try(b.engine, *r, q)
			if !errors.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "decide it at /v1/config/patches/42") {
				t.Errorf("it gives %v", err)
			}
			if got, _ := b.set.Interrupts.Interrupt(t.Context(), identity.Steward(), q.ID); got.Status != run.Pending || len(b.calls()) != 0 {
				t.Errorf("the question is %s, Temporal was called %v", got.Status, b.calls())
			}
		})
	}
}

// Requirements: CFG-15
func TestASettledQuestionIsSentAndSentAgainWhenThatFailed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, q := b.patch(t)
	settled, err := b.set.Interrupts.Answer(t.Context(), identity.Steward(), q.ID, run.Answered, json.RawMessage(`"approve"`))
	if err != nil {
		t.Fatal(err)
	}
	b.front.down = errors.New("connection refused")
	b.engine.Send(t.Context(), settled)
	b.engine.sending.Wait()
	b.front.down = nil
	b.engine.pass(t.Context(), map[string]look{}, time.Second, 0)
	if len(b.signals()) != 1 || b.signals()[0].Answer != "approve" || b.signals()[0].InterruptID != q.ID {
		t.Errorf("the signals are %+v", b.signals())
	}
}

// The account of the system is nobody who signs in: whoever is asked who that
// is would say that there is none.
//
// Requirements: CFG-15, OPS-09
func TestTheSystemsRunsAreStartedForTheSystem(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*Engine, run.Run){
		"by who made the row": func(e *Engine, r run.Run) { e.Launch(context.Background(), r) },
		"by the reconciler":   func(e *Engine, _ run.Run) { e.pass(context.Background(), map[string]look{}, time.Second, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.engine.o.Viewer = func(context.Context, string) (identity.Viewer, error) {
				return identity.Viewer{}, fault.New(fault.NotFound, "There is no such account.")
			}
			r, _ := b.patch(t)
			delete(b.front.status, r.WorkflowID)
			start(b.engine, *r)
			o, ok := b.front.started[r.WorkflowID]
			if !ok || o.StaticSummary != "patch 42: default v7 → v8" {
				t.Fatalf("it was started as %+v; Temporal was called %v", o, b.calls())
			}
			if user, _ := o.TypedSearchAttributes.GetKeyword(workflows.AttributeUser); user != identity.SystemAccount {
				t.Errorf("it is found as a run of %q", user)
			}
			if r.Status.Ended() {
				t.Errorf("its row is %s", r.Status)
			}
		})
	}
}

// Requirements: CFG-13
func TestTheArchitectRunsOnceForATime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	since := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	first, err := b.engine.Architect(t.Context(), since)
	if err != nil || first.Kind != run.KindArchitect || first.UserID != identity.SystemAccount || string(first.Input) != `{"since":"2026-11-20T00:00:00Z"}` {
		t.Fatalf("the run is %+v, %v", first, err)
	}
	again, err := b.engine.Architect(t.Context(), since)
	if err != nil || again.ID != first.ID || !slices.Equal(b.calls(), []string{"start " + first.WorkflowID}) {
		t.Errorf("the second look is run %s (%v) after %v", again.ID, err, b.calls())
	}
}

// Requirements: CFG-15
func TestARunOfTheSystemThatIsGoneIsClosed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, _ := b.patch(t)
	b.front.status[r.WorkflowID] = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	b.engine.pass(t.Context(), map[string]look{}, time.Second, 0)
	if r.Status != run.Failed {
		t.Errorf("the run is %s", r.Status)
	}
}

// terminating is a frontend on which workflows can be terminated.
type terminating struct{ *frontend }

func (f terminating) TerminateWorkflow(_ context.Context, id, _, _ string, _ ...any) error {
	f.calls = append(f.calls, "terminate "+id)
	f.status[id] = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	return nil
}

// A store that was put back gives numbers of patches again, while workflows of
// those that are no more still wait under them.
//
// Requirements: CFG-15, OPS-09
func TestAPatchIsNotKeptOutByOneThatIsNoMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, _ := b.patch(t)
	of, err := converter.GetDefaultDataConverter().ToPayload("another run")
	if err != nil {
		t.Fatal(err)
	}
	b.front.memo = map[string]*commonpb.Memo{r.WorkflowID: {Fields: map[string]*commonpb.Payload{memoRun: of}}}
	b.engine.o.Client = terminating{b.front}
	b.engine.pass(t.Context(), map[string]look{}, time.Second, 0)
	if want := []string{"terminate " + r.WorkflowID, "start " + r.WorkflowID}; len(b.calls()) != 3 || !slices.Equal(b.calls()[1:], want) {
		t.Errorf("Temporal was called %v", b.calls())
	}
}

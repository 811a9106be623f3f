package record

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/worker"
	"liminal/workflows"
)

// patch is a change of workflow code as a next version may make one: runs that
// began with it wait a moment first.
const patch = "wait-a-moment-first"

type turnFunc func(workflow.Context, activities.RunInput, *workflows.Carry) (activities.Result, error)

// patched is that version, with its change behind a marker as ADR 0007 asks,
// or without.
func patched(marked bool) turnFunc {
	flows := workflows.New(workflows.Options{})
	return func(ctx workflow.Context, in activities.RunInput, c *workflows.Carry) (activities.Result, error) {
		if !marked || workflow.GetVersion(ctx, patch, workflow.DefaultVersion, 1) == 1 {
			if err := workflow.Sleep(ctx, 10*time.Millisecond); err != nil {
				return activities.Result{}, err
			}
		}
		return flows.ChatTurn(ctx, in, c)
	}
}

// deploy starts a worker of that version instead of ours.
func (s *stage) deploy(turn turnFunc) {
	s.Helper()
	s.set.Queues = activities.Queues{}
	w := sdk.New(s.client, s.queue, sdk.Options{Interceptors: []interceptor.WorkerInterceptor{worker.NewFaults(nil)}})
	w.RegisterWorkflowWithOptions(turn, workflow.RegisterOptions{Name: workflows.ChatTurnType})
	for name, f := range s.set.Named() {
		w.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	if err := w.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(w.Stop)
}

// Requirements: OPS-09, PLAT-08
func TestAPausedRunGoesOnInAVersionWithAPatch(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(asking).Tool("llm", inline, echo))
	old := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(old.ID, run.Waiting)
	s.stop()
	s.deploy(patched(true))
	s.answer(0, run.Answer{Type: "text_input", Value: "x"})
	s.until(old.ID, run.Done)
	s.closed(old.WorkflowID)
	young := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(young.ID, run.Waiting)
	s.answer(1, run.Answer{Type: "text_input", Value: "y"})
	s.until(young.ID, run.Done)
	s.closed(young.WorkflowID)
	if n := s.freeze("", old.WorkflowID, "")[timer]; n != 0 {
		t.Errorf("the run that began before waits %d times", n)
	}
	if n := s.freeze("", young.WorkflowID, "")[timer]; n != 1 {
		t.Errorf("the run that began after waits %d times, want once", n)
	}
}

// nondeterminism is the code of Temporal's error for code that does not fit its
// history.
const nondeterminism = "TMPRL1100"

// What TestReplay is for: it must notice a change that has no marker.
//
// Requirements: PLAT-08
func TestAFrozenHistoryNoticesAChangeWithoutAMarker(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "histories", "chat_turn*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are %d histories (%v)", len(files), err)
	}
	for _, file := range files {
		for _, marked := range []bool{true, false} {
			r := sdk.NewWorkflowReplayer()
			workflows.New(workflows.Options{}).Register(except{r})
			r.RegisterWorkflowWithOptions(patched(marked), workflow.RegisterOptions{Name: workflows.ChatTurnType})
			err := r.ReplayWorkflowHistoryFromJSONFile(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)), file)
			if marked && err != nil {
				t.Errorf("%s does not replay behind a marker: %v", filepath.Base(file), err)
			}
			if !marked && (err == nil || !strings.Contains(err.Error(), nondeterminism)) {
				t.Errorf("%s replays a change without a marker (%v)", filepath.Base(file), err)
			}
		}
	}
}

// except registers all but the turn.
type except struct{ workflows.Registry }

func (e except) RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions) {
	if o.Name != workflows.ChatTurnType {
		e.Registry.RegisterWorkflowWithOptions(w, o)
	}
}

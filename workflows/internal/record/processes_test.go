package record

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/worker"
	"liminal/workflows"
)

// A server without workers starts, answers and cancels what workers elsewhere
// carry out.
//
// Requirements: OPS-09
func TestAnEngineWithoutWorkersRulesRunsOfOthers(t *testing.T) {
	t.Parallel()
	s := emptyStage(t, activitiestest.New(asking).Tool("llm", model, echo), nil)
	far := s.world.Set()
	s.hire(s.options(far))
	answered := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(answered.ID, run.Waiting)
	s.answer(0, run.Answer{Type: "text_input", Value: "x"})
	s.until(answered.ID, run.Done)
	skipped := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(skipped.ID, run.Waiting)
	s.cancel(skipped.ID)
	s.until(skipped.ID, run.Done)
}

// Requirements: STREAM-08, OPS-09
func TestACancelReachesACallInAnotherProcessWithItsHeartbeat(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 9) // a call may be made again
	s := emptyStage(t, activitiestest.New(oneModel).Tool("llm", model, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		c.Emit(stream.TokenData("Half"))
		began <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}), nil)
	s.hire(s.options(s.world.Set())) // another process: the engine has no hold on its calls
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	<-began
	at := time.Now()
	s.cancel(r.RequestID)
	s.until(r.ID, run.Cancelled)
	took := time.Since(at)
	t.Logf("the cancel took %s", took)
	if took > promised(2500*time.Millisecond) {
		t.Errorf("the cancel took %s; a heartbeat comes every second", took)
	}
}

// Requirements: OPS-09
func TestAPausedRunIsGoneOnWithByAnotherWorker(t *testing.T) {
	t.Parallel()
	s := emptyStage(t, activitiestest.New(asking).Tool("llm", model, echo), nil)
	first := s.hire(s.options(s.world.Set()))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	before := s.world.Count("before")
	s.hire(s.options(s.world.Set()))
	first.Stop()
	at := time.Now()
	s.answer(0, run.Answer{Type: "text_input", Value: "x"})
	s.until(r.ID, run.Done)
	if took := time.Since(at); took > promised(5*time.Second) {
		t.Errorf("it took %s", took)
	}
	if n := s.world.Count("before"); n != before {
		t.Errorf("the step before the question ran %d times, %d of them before it", n, before)
	}
}

// Requirements: OPS-09
func TestManyReconcilersStartARunOnce(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	s := emptyStage(t, activitiestest.New(oneModel).Tool("llm", model, func(context.Context, *tool.Call) (map[string]any, error) {
		calls.Add(1)
		return map[string]any{"answer": "once"}, nil
	}), nil)
	var rows []string
	for range 5 {
		rows = append(rows, s.world.Chat("never started", chat.TurnInput{}).RunID)
	}
	var all sync.WaitGroup
	for range 4 {
		set := s.world.Set()
		all.Go(func() { s.hire(s.options(set)) })
	}
	all.Wait()
	var workflowIDs []string
	for _, id := range rows {
		s.until(id, run.Done)
		workflowIDs = append(workflowIDs, s.row(id).WorkflowID)
		s.closed(s.row(id).WorkflowID)
	}
	if n := calls.Load(); (n != int32(len(rows)) || len(s.world.Closed) != len(rows)) && s.steady(workflowIDs...) {
		t.Errorf("%d runs called the model %d times and were closed %d times", len(rows), n, len(s.world.Closed))
	}
}

// broken is a version of this program whose workflows fail on every step.
func broken(s *stage) {
	s.Helper()
	w := sdk.New(s.client, s.queue, sdk.Options{})
	w.RegisterWorkflowWithOptions(func(workflow.Context, activities.RunInput, *workflows.Carry) (activities.Result, error) {
		panic("a bug of ours")
	}, workflow.RegisterOptions{Name: workflows.ChatTurnType})
	w.RegisterActivityWithOptions(s.set.OpenDirect, activity.RegisterOptions{Name: activities.NameOpen})
	if err := w.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(w.Stop)
}

// A step this program fails at may be mended by its next version; only when it
// is not is the run ended, with a sentence.
//
// Requirements: OPS-09
func TestARunThatAVersionFailsAtIsEndedAfterAWhile(t *testing.T) {
	t.Parallel()
	s := emptyStage(t, activitiestest.New(oneModel).Tool("llm", model, echo), nil)
	broken(s)
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	o := s.options(nil)
	o.Turns, o.Runs, o.Interrupts, o.Log = s.set.Turns, s.set.Runs, s.set.Interrupts, s.set.Log
	o.Patience = time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	var over sync.WaitGroup
	over.Go(func() { worker.NewEngine(o).Reconcile(ctx, 20*time.Millisecond) })
	defer over.Wait()
	defer stop()
	end := time.Now().Add(90 * time.Second)
	for s.row(r.ID).Status != run.Failed {
		if time.Now().After(end) {
			d, err := s.client.DescribeWorkflowExecution(t.Context(), r.WorkflowID, "")
			t.Fatalf("it is still %s: %v %v", s.row(r.ID).Status, d.GetPendingWorkflowTask(), err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	d, err := s.client.DescribeWorkflowExecution(t.Context(), r.WorkflowID, "")
	if err != nil || d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED {
		t.Errorf("the workflow is %s (%v)", d.GetWorkflowExecutionInfo().GetStatus(), err)
	}
	s.eventually("the person to be told", func() bool {
		message, _ := s.world.Event(stream.Error)["message"].(string)
		return message != ""
	})
}

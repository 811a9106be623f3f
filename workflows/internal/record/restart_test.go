package record

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/graph"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// Requirements: INT-03, INT-05
func TestAPausedRunOutlivesItsWorker(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(asking).Tool("llm", model, echo))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	before := s.world.Count("before")
	s.stop()
	s.answer(0, run.Answer{Type: "text_input", Value: "given while nobody worked"})
	s.work()
	s.until(r.ID, run.Done)
	if n := s.world.Count("before"); n != before {
		t.Errorf("the step before the question ran %d times, %d of them before it", n, before)
	}
}

// A call of a tool that the run's caller brought waits as any question does: the worker
// that asked may end, and what came of the call is delivered while nobody works.
//
// Requirements: INT-03, INT-05, INT-32
func TestACallOfTheCallersToolOutlivesItsWorker(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"agent","nodes":[
		{"id":"agent","type":"agent","inputs":{"message":"${input.message}"},"tools":["caller.*"],"save_as":"said","next":"end"},
		{"id":"end","type":"end","response":"${vars.said.text}"}]}`)
	w.Tool(graph.StepTool, model, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		list, _ := c.Inputs["transcript"].([]any)
		if len(list) == 0 {
			return map[string]any{"text": "", "stop": "tool_use", "tool_calls": []any{map[string]any{"id": "1", "name": graph.CallerTool("clock"), "arguments": map[string]any{"zone": "UTC"}}}}, nil
		}
		told, err := json.Marshal(list[len(list)-1])
		return map[string]any{"text": "told " + string(told), "tool_calls": []any{}}, err
	})
	s := newStage(t, w)
	clock := map[string]any{"name": "clock", "description": "The time.", "parameters": map[string]any{"type": "object"}}
	r := s.start(w.Chat("What time is it?", chat.TurnInput{Fields: map[string]any{graph.CallerInput: []any{clock}}}))
	s.until(r.ID, run.Waiting)
	if q := s.question(0); q.Type != graph.AskClientCall || !strings.Contains(string(q.AnswerSchema), `"name":"clock"`) {
		t.Fatalf("asked is %+v", q)
	}
	s.stop()
	s.answer(0, run.Answer{Value: map[string]any{"1": map[string]any{"content": "noon exactly"}}})
	s.work()
	s.until(r.ID, run.Done)
	s.closed(r.WorkflowID)
	if done := s.world.Event(stream.MessageDone); !strings.Contains(fmt.Sprint(done["content"]), "noon exactly") {
		t.Errorf("the answer is %v", done["content"])
	}
	s.freeze("chat_turn_client_call", r.WorkflowID, "")
}

// Requirements: GRAPH-26
func TestAPausedRunCanBeLookedInto(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(asking).Tool("llm", model, echo))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	state, err := s.engine.State(t.Context(), activitiestest.Viewer, r.ID)
	if err != nil || !strings.Contains(string(state), `"says":"Which one?"`) {
		t.Errorf("the state is %s (%v)", state, err)
	}
	s.answer(0, run.Answer{Value: "x"})
	s.until(r.ID, run.Done)
}

// Requirements: STREAM-32, PLAT-02 (chat turns)
func TestACallCutOffByItsWorkerIsMadeAgain(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	began := make(chan struct{})
	s := newStage(t, activitiestest.New(oneModel).Tool("llm", model, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		if calls.Add(1) == 1 {
			c.Emit(stream.TokenData("Half an ans"))
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		c.Emit(stream.TokenData("A whole answer"))
		return map[string]any{"answer": "A whole answer"}, nil
	}))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	<-began
	s.stop()
	s.work()
	s.closed(r.WorkflowID) // what is said of the end follows the row's
	if done := s.world.Event(stream.MessageDone); done["content"] != "A whole answer" {
		t.Errorf("message_done is %v", done)
	}
	kinds := s.world.Kinds()
	reset := false
	for _, k := range kinds {
		reset = reset || k == stream.Reset
	}
	if !reset {
		t.Errorf("the stream has %v; the half answer is not dropped", kinds)
	}
}

// A model of this process is called beside its workflow, by the same worker.
//
// Requirements: STREAM-32, PLAT-02 (chat turns)
func TestAModelInProcessThatIsCutOffByItsWorkerIsAskedAgain(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	began := make(chan struct{})
	here := func(set *activities.Set) { set.ModelInProcess = true }
	s := newStage(t, activitiestest.New(oneModel).Tool("llm", model, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		if calls.Add(1) == 1 {
			c.Emit(stream.TokenData("Half an ans"))
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		c.Emit(stream.TokenData("A whole answer"))
		return map[string]any{"answer": "A whole answer"}, nil
	}), here)
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	<-began
	s.stop()
	s.work()
	s.closed(r.WorkflowID) // what is said of the end follows the row's
	if done := s.world.Event(stream.MessageDone); done["content"] != "A whole answer" {
		t.Errorf("message_done is %v", done)
	}
	shown := ""
	for _, e := range s.world.Events {
		switch e.Kind {
		case stream.Token:
			var piece string
			_ = json.Unmarshal(e.Data, &piece)
			shown += piece
		case stream.Reset:
			shown = ""
		}
	}
	if shown != "A whole answer" {
		t.Errorf("a reader has %q after %v", shown, s.world.Kinds())
	}
}

// A request that ends before its run has must not take the run with it.
//
// Requirements: STREAM-29
func TestARunOutlivesTheRequestThatStartedIt(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(oneModel).Tool("llm", model, echo))
	in := s.world.Chat("hello", chat.TurnInput{})
	ctx, gone := context.WithCancel(t.Context())
	gone()
	s.eventually("the start", func() bool { return s.engine.StartNext(ctx, in.Viewer, s.row(in.RunID)) == nil })
	s.until(in.RunID, run.Done)
}

// What an operator terminates leaves a row behind: the reconciler closes it.
func TestATerminatedWorkflowsRowIsClosed(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(asking).Tool("llm", model, echo))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	if err := s.client.TerminateWorkflow(t.Context(), r.WorkflowID, "", "by hand"); err != nil {
		t.Fatal(err)
	}
	s.eventually("the workflow to be terminated", func() bool {
		d, err := s.client.DescribeWorkflowExecution(t.Context(), r.WorkflowID, "")
		return err == nil && d.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	})
	s.stop()
	s.work() // a worker reconciles when it starts
	s.until(r.ID, run.Failed)
}

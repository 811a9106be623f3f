package record

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/workflows"
)

var (
	inline = tool.Spec{Runs: tool.Inline}
	model  = tool.Spec{Runs: tool.Activity, Queue: tool.QueueModels}
	ingest = tool.Spec{Runs: tool.Activity, Queue: tool.QueueIngest}
)

func echo(_ context.Context, c *tool.Call) (map[string]any, error) {
	return map[string]any{"answer": fmt.Sprint("at ", c.Node)}, nil
}

const (
	started   = enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED
	scheduled = enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
	marker    = enumspb.EVENT_TYPE_MARKER_RECORDED
	timer     = enumspb.EVENT_TYPE_TIMER_STARTED
	updated   = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED
	signalled = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
	upserted  = enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES
)

const oneModel = `{"kind":"workflow.chat","entrypoint":"answer","nodes":[
	{"id":"answer","type":"tool_call","tool":"llm","inputs":{"message":"${input.message}"},"description":"Answering..."}]}`

// Requirements: PLAT-02 (chat turns; found by id and type)
func TestADefaultTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(oneModel).Tool("llm", model, echo))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	got := s.freeze("chat_turn", r.WorkflowID, "")
	if s.steady(r.WorkflowID) && (got[started] != 2 || got[scheduled] != 1 || got[marker] != 2 || got[upserted] != 0 || got[timer] != 0) {
		t.Errorf("a default turn has %v; want two workflow tasks around one activity, and nothing else", got)
	}
	d, err := s.client.DescribeWorkflowExecution(t.Context(), r.WorkflowID, "")
	if err != nil || d.GetWorkflowExecutionInfo().GetType().GetName() != workflows.ChatTurnType {
		t.Errorf("the run is found as %v (%v)", d.GetWorkflowExecutionInfo().GetType(), err)
	}
}

// Requirements: PLAT-02 (chat turns)
func TestADefaultTurnOfAModelInProcess(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(oneModel).Tool("llm", model, echo), func(set *activities.Set) { set.ModelInProcess = true })
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	got := s.freeze("chat_turn_direct", r.WorkflowID, "")
	if got[scheduled] != 0 || s.steady(r.WorkflowID) && (got[started] != 1 || got[marker] != 1) {
		t.Errorf("the turn has %v; want one workflow task with one marker, and no activity that waits in a queue", got)
	}
	if s.steady(r.WorkflowID) && slices.Contains(s.world.Kinds(), stream.Reset) {
		t.Errorf("its readers are told %v", s.world.Kinds())
	}
}

// Requirements: GRAPH-29 (in Temporal's history)
func TestFiveInlineNodesStayInOneWorkflowTask(t *testing.T) {
	t.Parallel()
	nodes := ""
	for i := range 5 {
		nodes += fmt.Sprintf(`{"id":"n%d","type":"tool_call","tool":"noop","quiet":true,"next":"n%d"},`, i, i+1)
	}
	s := newStage(t, activitiestest.New(`{"kind":"workflow.chat","entrypoint":"n0","nodes":[`+nodes+`{"id":"n5","type":"end","response":"done"}]}`).
		Tool("noop", inline, echo))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.closed(r.WorkflowID)
	got := s.freeze("chat_turn_direct_five", r.WorkflowID, "")
	if s.steady(r.WorkflowID) && (got[started] != 1 || got[marker] != 1) {
		t.Errorf("five inline nodes make %v; want one workflow task with one marker", got)
	}
}

// Requirements: INT-30
func TestAnAnswerIsGoneOnWithInOneStep(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(asking).Tool("llm", inline, echo))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	// Once: a second answer may come while the step is made, and have it made again.
	at := time.Now()
	if _, err := s.engine.Answer(t.Context(), activitiestest.Viewer, s.question(0).ID, run.Answer{Type: "text_input", Value: "the first"}); err != nil {
		t.Fatal(err)
	}
	quick := time.Since(at) < 2*time.Second // else it may have been sent once more
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	got := s.freeze("chat_turn_direct_updated", r.WorkflowID, "")
	if got[upserted] != 2 || quick && s.steady(r.WorkflowID) && (got[marker] != 3 || got[updated] != 1 || got[signalled] != 0 || got[started] != 2 || s.world.Count("after") != 1) {
		t.Errorf("it has %v; want a marker each for what opened, asked and delivered", got)
	}
}

const asking = `{"kind":"workflow.chat","entrypoint":"before","nodes":[
	{"id":"before","type":"tool_call","tool":"llm","next":"ask"},
	{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Which one?","next":"after"},
	{"id":"after","type":"tool_call","tool":"llm","inputs":{"which":"${vars.ask?}"}}]}`

// Requirements: INT-03, INT-34, INT-30, INT-32
func TestAPausedTurnGoesOnWithItsAnswerOnTheSameWorkflow(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(asking).Tool("llm", model, echo))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	before := s.world.Count("before")
	q := s.question(0)
	stranger := activitiestest.Viewer
	stranger.UserID = "someone else"
	if _, err := s.engine.Answer(t.Context(), stranger, q.ID, run.Answer{Type: "text_input", Value: "mine"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a stranger's answer gives %v, want not_found", err)
	}
	if _, err := s.engine.Answer(t.Context(), activitiestest.Viewer, q.ID, run.Answer{Type: "doc_choice", Value: "x"}); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("an answer of another type gives %v, want validation_error", err)
	}
	s.answer(0, run.Answer{Type: "text_input", Value: "the first"})
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	got := s.freeze("chat_turn_updated", r.WorkflowID, "")
	if got[updated] == 0 || got[upserted] != 2 {
		t.Errorf("a question makes %v; want an update and the status there and back", got)
	}
	if n := s.world.Count("before"); n != before {
		t.Errorf("the step before the question ran %d times, %d of them before it", n, before)
	}
}

// Requirements: STREAM-32, STREAM-08
func TestASignalledCancelStopsTheModelAndKeepsItsText(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]tool.Spec{"chat_turn_cancel": model, "chat_turn_direct_cancelled": inline} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := make(chan struct{}, 9) // a call may be made again
			s := newStage(t, activitiestest.New(oneModel).Tool("llm", spec, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
				c.Emit(stream.TokenData("Half an answer"))
				began <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			}))
			r := s.start(s.world.Chat("hello", chat.TurnInput{}))
			<-began
			// Past the engine, which would also stop the call in this very process.
			if err := s.client.SignalWorkflow(t.Context(), r.WorkflowID, "", workflows.SignalCancel, nil); err != nil {
				t.Fatal(err)
			}
			s.closed(r.WorkflowID)
			s.until(r.ID, run.Cancelled)
			if ack := s.world.Event(stream.CancelAck); ack["content"] != "Half an answer" {
				t.Errorf("cancel_ack is %v", ack)
			}
			s.freeze(name, r.WorkflowID, "")
		})
	}
}

// Requirements: STREAM-08
func TestTheEnginesCancelStopsACallInItsOwnProcessAtOnce(t *testing.T) {
	t.Parallel()
	began := make(chan context.Context, 9) // a call may be made again
	s := newStage(t, activitiestest.New(oneModel).Tool("llm", model, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		c.Emit(stream.TokenData("Half"))
		began <- ctx
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	call := <-began
	s.cancel(r.RequestID)
	if call.Err() == nil {
		t.Error("the call goes on; it waits for a heartbeat")
	}
	s.until(r.ID, run.Cancelled)
}

// Requirements: INT-09 (resumes with null; defaults; the run reaches its end), INT-10, INT-33
func TestCancelOfAPausedTurnAnswersNull(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(asking).Tool("llm", model, echo))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	s.cancel(r.ID)
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	if done := s.world.Event(stream.MessageDone); done["suppressed"] != true {
		t.Errorf("message_done is %v, want suppressed", done)
	}
	s.freeze("chat_turn_skipped", r.WorkflowID, "")
}

// Temporal's own cancel, such as its UI's button, is a person's cancel.
func TestTemporalsCancelClosesTheRowToo(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(asking).Tool("llm", model, echo))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	if err := s.client.CancelWorkflow(t.Context(), r.WorkflowID, ""); err != nil {
		t.Fatal(err)
	}
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	s.freeze("chat_turn_cancelled_by_temporal", r.WorkflowID, "")
}

func TestRetriesAndFailures(t *testing.T) {
	t.Parallel()
	down := func(context.Context, *tool.Call) (map[string]any, error) {
		return nil, fault.New(fault.Internal, "The model does not answer.")
	}
	s := newStage(t, activitiestest.New(`{"kind":"workflow.chat","entrypoint":"a","nodes":[
		{"id":"a","type":"tool_call","tool":"llm","backoff_ms":10,"max_retries":2,"on_error":"b"},
		{"id":"b","type":"tool_call","tool":"inline","backoff_ms":10,"max_retries":1}]}`).
		Tool("llm", model, down).Tool("inline", inline, down))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Failed)
	got := s.freeze("chat_turn_failed", r.WorkflowID, "")
	if s.steady(r.WorkflowID) && (got[scheduled] != 3 || got[timer] != 3) {
		t.Errorf("two and one retries make %v", got)
	}
}

func TestAQuestionExpires(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(`{"kind":"workflow.chat","entrypoint":"ask","nodes":[
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Quick?","timeout_ms":1000,"next":"end"},
		{"id":"end","type":"end","response":"${vars.ask?}"}]}`))
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	s.freeze("chat_turn_expired", r.WorkflowID, "")
}

// Requirements: PLAT-14
func TestARunContinuesAsNewAroundItsQuestion(t *testing.T) {
	t.Parallel()
	s := newStage(t, activitiestest.New(asking).Tool("llm", model, echo), func(set *activities.Set) { set.MaxEffects = 1 })
	r := s.start(s.world.Chat("hello", chat.TurnInput{}))
	s.until(r.ID, run.Waiting)
	before := s.world.Count("before")
	first, err := s.client.DescribeWorkflowExecution(t.Context(), r.WorkflowID, "")
	if err != nil {
		t.Fatal(err)
	}
	s.answer(0, run.Answer{Type: "text_input", Value: "the first"})
	s.until(r.ID, run.Done)
	s.closed(r.WorkflowID)
	s.freeze("chat_turn_continued_paused", r.WorkflowID, first.GetWorkflowExecutionInfo().GetExecution().GetRunId())
	s.freeze("chat_turn_continued_first", r.WorkflowID, first.GetWorkflowExecutionInfo().GetFirstRunId())
	s.freeze("chat_turn_continued_last", r.WorkflowID, "")
	if b, a := s.world.Count("before"), s.world.Count("after"); b != before || a != 1 && s.steady(r.WorkflowID) {
		t.Errorf("the step before the question ran %d times, %d of them before it, and the one after it %d times", b, before, a)
	}
}

func TestChildrenBranchesMapsAndAgents(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"both","nodes":[
		{"id":"both","type":"parallel","branches":[{"next":"left"},{"next":"right"}],"next":"each"},
		{"id":"left","type":"tool_call","tool":"llm","next":"each"},
		{"id":"right","type":"tool_call","tool":"noop","next":"each"},
		{"id":"each","type":"map","over":["x","y","z"],"as":"it","body":"one","concurrency":2,"next":"agent"},
		{"id":"one","type":"tool_call","tool":"llm","next":"agent"},
		{"id":"agent","type":"agent","tools":["noop"],"next":"sub"},
		{"id":"sub","type":"workflow","workflow":"child","next":"end"},
		{"id":"end","type":"end","response":"${vars.sub.answer}"}]}`)
	w.Workflows["child"] = asking
	w.Tool("llm", model, echo).Tool("noop", inline, echo)
	w.Tool(graph.StepTool, model, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		if list, _ := c.Inputs["transcript"].([]any); len(list) == 0 {
			return map[string]any{"text": "", "tool_calls": []any{map[string]any{"id": "1", "name": "noop", "arguments": map[string]any{}}}}, nil
		}
		return map[string]any{"text": "looked", "tool_calls": []any{}}, nil
	})
	s := newStage(t, w)
	r := s.start(w.Chat("hello", chat.TurnInput{}))
	q := s.question(0)
	s.until(r.ID, run.Waiting)
	s.answer(0, run.Answer{Type: "text_input", Value: "the first"})
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	s.freeze("chat_turn_everything", r.WorkflowID, "")
	s.freeze("run_workflow_child", q.WorkflowID, "")
}

// Requirements: PLAT-02 (ingestion), GRAPH-03
func TestTheOtherKindsOfRun(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneModel).Tool("llm", model, echo).Tool("parse", ingest, echo).Tool("noop", inline, echo)
	w.Workflows["ingest"] = `{"kind":"workflow.chat","entrypoint":"parse","nodes":[
		{"id":"parse","type":"tool_call","tool":"parse","inputs":{"document_id":"${input.document_id}"}}]}`
	w.Workflows["alone"] = `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"noop","inputs":{"v":"${vars.b}"}}],"persist":["b"]}`
	s := newStage(t, w)
	v, document := activitiestest.Viewer, id.New()
	for name, begin := range map[string]func() (run.Run, error){
		"ingest":   func() (run.Run, error) { return s.engine.Ingest(t.Context(), v, document) },
		"tool_run": func() (run.Run, error) { return s.engine.RunTool(t.Context(), v, "noop", map[string]any{"a": 1}, "r1") },
		"run_workflow": func() (run.Run, error) {
			return s.engine.RunWorkflow(t.Context(), v, "alone", nil, map[string]any{"b": 2}, "r2")
		},
	} {
		r, err := begin()
		if err != nil {
			t.Fatal(err)
		}
		s.launch(r)
		s.closed(r.WorkflowID)
		s.until(r.ID, run.Done)
		s.freeze(name, r.WorkflowID, "")
	}
	again, err := s.engine.RunTool(t.Context(), v, "noop", map[string]any{"a": 1}, "r1")
	if err != nil || again.Status != run.Done {
		t.Errorf("the same request again gives %+v, %v; want the run that is done", again, err)
	}
	if r, err := s.engine.Ingest(t.Context(), v, document); err != nil {
		t.Errorf("a document cannot be ingested again: %v", err)
	} else {
		s.Cleanup(func() { s.told(r.WorkflowID) })
		s.until(r.ID, run.Done)
	}
}

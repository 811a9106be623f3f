package worker

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/workflows"
)

var viewer = activitiestest.Viewer

// frontend is a Temporal frontend that only remembers.
type frontend struct {
	client.Client
	mu      sync.Mutex
	calls   []string                                   // in order
	started map[string]client.StartWorkflowOptions     // by workflow id
	inputs  map[string]activities.RunInput             // of those
	status  map[string]enumspb.WorkflowExecutionStatus // of those there are
	memo    map[string]*commonpb.Memo                  //
	signals []activities.Answer                        //
	down    error                                      // every call fails with it
	updates bool                                       // it can update workflows
	refusal error                                      // of every update
}

func newFrontend() *frontend {
	return &frontend{
		started: map[string]client.StartWorkflowOptions{}, inputs: map[string]activities.RunInput{}, status: map[string]enumspb.WorkflowExecutionStatus{},
		memo: map[string]*commonpb.Memo{},
	}
}

func (f *frontend) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, kind any, args ...any) (client.WorkflowRun, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return nil, f.down
	}
	f.calls = append(f.calls, "start "+o.ID)
	if _, there := f.status[o.ID]; there && o.WorkflowIDReusePolicy == enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE {
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("already", "", "")
	}
	f.inputs[o.ID], _ = args[0].(activities.RunInput)
	f.started[o.ID], f.status[o.ID] = o, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	return nil, nil
}

func (f *frontend) SignalWorkflow(_ context.Context, id, _, signal string, arg any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return f.down
	}
	if f.status[id] != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return serviceerror.NewNotFound("no such workflow")
	}
	f.calls = append(f.calls, signal+" "+id)
	if a, ok := arg.(activities.Answer); ok {
		f.signals = append(f.signals, a)
	}
	return nil
}

func (f *frontend) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.down != nil:
		return nil, f.down
	case !f.updates:
		return nil, serviceerror.NewUnimplemented("no updates here")
	case f.status[o.WorkflowID] != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	f.calls = append(f.calls, "update "+o.WorkflowID)
	return outcome{err: f.refusal}, nil
}

// outcome is that of an update.
type outcome struct {
	client.WorkflowUpdateHandle
	err error
}

func (o outcome) Get(context.Context, any) error { return o.err }

func (f *frontend) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "describe "+id)
	status, there := f.status[id]
	if !there {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Status: status, Memo: f.memo[id]},
	}, nil
}

// bundle is an engine over a world and a frontend.
type bundle struct {
	world  *activitiestest.World
	front  *frontend
	engine *Engine
	set    *activities.Set
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{world: activitiestest.New(""), front: newFrontend()}
	b.set = b.world.Set()
	b.engine = NewEngine(Options{Client: b.front, Activities: b.set})
	return b
}

// calls are the calls of Temporal, when what was to be sent is sent.
func (b *bundle) calls() []string {
	b.engine.sending.Wait()
	return b.front.calls
}

// signals are the answers that were signalled.
func (b *bundle) signals() []activities.Answer {
	b.engine.sending.Wait()
	return b.front.signals
}

// turn makes the row of a turn in a state.
func (b *bundle) turn(status run.Status) *run.Run {
	in := b.world.Chat("hello", chat.TurnInput{})
	r := b.world.Runs[in.RunID]
	r.Status = status
	if status == run.Running || status == run.Waiting {
		b.front.status[r.WorkflowID] = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	}
	return r
}

// ask stores a question of a run.
func (b *bundle) ask(t *testing.T, r *run.Run, q run.Interrupt) run.Interrupt {
	t.Helper()
	q.ID, q.RunID, q.WorkflowID, q.UserID, q.Status = "q-"+r.ID, r.ID, r.WorkflowID, viewer.UserID, run.Pending
	if err := b.set.Interrupts.Ask(t.Context(), viewer, true, q); err != nil {
		t.Fatal(err)
	}
	return q
}

// accepting is Turns with a ready answer to Accept.
type accepting struct {
	chat.Turns
	accepted chat.Accepted
	err      error
}

func (a accepting) Accept(context.Context, identity.Viewer, chat.NewTurn) (chat.Accepted, error) {
	return a.accepted, a.err
}

// Requirements: GRAPH-17, API-18
func TestATurnIsStartedOnceUnderTheIdOfItsRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.turn(run.Running)
	delete(b.front.status, r.WorkflowID)
	b.engine.o.Turns = accepting{accepted: chat.Accepted{Run: *r}}
	for range 2 {
		if _, err := b.engine.Chat(t.Context(), viewer, chat.NewTurn{Message: "What is\na title?"}); err != nil {
			t.Fatal(err)
		}
	}
	o := b.front.started[r.WorkflowID]
	if !strings.HasSuffix(o.ID, ":"+r.RequestID) || o.StaticSummary != "What is a title?" || !o.EnableEagerStart {
		t.Errorf("it was started with %+v", o)
	}
	if user, ok := o.TypedSearchAttributes.GetKeyword(workflows.AttributeUser); !ok || user != viewer.UserID {
		t.Errorf("the run cannot be found by its user")
	}
}

func TestATurnIsAcceptedWhileTemporalIsDown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.turn(run.Running)
	b.front.down = errors.New("connection refused")
	b.engine.o.Turns = accepting{accepted: chat.Accepted{Run: *r}}
	if _, err := b.engine.Chat(t.Context(), viewer, chat.NewTurn{}); err != nil {
		t.Errorf("the turn is refused with %v; its row would be started later", err)
	}
}

// Requirements: INT-12, INT-33, CHAT-18
func TestANewTurnMakesWayForItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status    run.Status
		multitask string
		want      string // the signal to the turn in the way
		skipped   bool
	}{
		"a paused turn is answered null":              {run.Waiting, "reject", workflows.SignalAnswer, true},
		"a paused turn is, even when it could queue":  {run.Waiting, "enqueue", workflows.SignalAnswer, true},
		"a running turn is left alone":                {run.Running, "enqueue", "", false},
		"a running turn is cancelled when asked for":  {run.Running, "interrupt", workflows.SignalCancel, false},
		"one that was just answered goes on":          {run.Waiting, "enqueue", "", false},
		"and so it does for one that would not queue": {run.Waiting, "reject", "", false},
		"it is cancelled when asked for":              {run.Waiting, "interrupt", workflows.SignalCancel, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			blocking := b.turn(c.status)
			a := chat.Accepted{Run: run.Run{ID: "new", Status: run.Queued}, Blocking: blocking}
			if c.skipped {
				a.Open = []run.Interrupt{b.ask(t, blocking, run.Interrupt{Type: "text_input"})}
			}
			b.engine.o.Turns = accepting{accepted: a}
			if _, err := b.engine.Chat(t.Context(), viewer, chat.NewTurn{Multitask: c.multitask}); err != nil {
				t.Fatal(err)
			}
			var want []string
			if c.want != "" {
				want = []string{c.want + " " + blocking.WorkflowID}
			}
			if !slices.Equal(b.calls(), want) {
				t.Errorf("Temporal was called %v, want %v", b.calls(), want)
			}
			if c.skipped && (len(b.signals()) != 1 || !b.signals()[0].Cancelled) {
				t.Errorf("the answer is %+v, want null", b.signals())
			}
		})
	}
}

// announced keeps what the other processes were told.
type announced struct {
	runs []string
	err  error
}

func (a *announced) Announce(_ context.Context, runID string) error {
	a.runs = append(a.runs, runID)
	return a.err
}

func (*announced) Listen(context.Context, func(string)) {}

// Requirements: PLAT-07 (what a document asks for is bounded)
func TestACancelIsAnnouncedAndHoldsWithoutThat(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"they hear": nil, "they do not": errors.New("Redis is away")} {
		t.Run(name, func(t *testing.T) {
			b, others := setup(t), &announced{err: err}
			b.engine = NewEngine(Options{Client: b.front, Activities: b.set, Stops: others})
			r := b.turn(run.Running)
			if _, err := b.engine.Cancel(t.Context(), viewer, r.ID); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(others.runs, []string{r.ID}) || !slices.Equal(b.calls(), []string{"cancel " + r.WorkflowID}) {
				t.Errorf("the others were told of %q, the engine of %q", others.runs, b.calls())
			}
		})
	}
}

// Requirements: INT-09 (resumes with null; defaults; the run reaches its end)
func TestCancelMeansWhatTheRunsStateNeeds(t *testing.T) {
	t.Parallel()
	t.Run("waiting", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		r := b.turn(run.Waiting)
		q := b.ask(t, r, run.Interrupt{Type: "text_input"})
		if _, err := b.engine.Cancel(t.Context(), viewer, r.RequestID); err != nil {
			t.Fatal(err)
		}
		if got, _ := b.set.Interrupts.Interrupt(t.Context(), viewer, q.ID); got.Status != run.Skipped {
			t.Errorf("the question is %s", got.Status)
		}
		if len(b.signals()) != 1 || !b.signals()[0].Cancelled {
			t.Errorf("the signals are %+v", b.signals())
		}
	})
	t.Run("running", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		r := b.turn(run.Running)
		if _, err := b.engine.Cancel(t.Context(), viewer, r.ID); err != nil {
			t.Fatal(err)
		}
		if want := []string{"cancel " + r.WorkflowID}; !slices.Equal(b.calls(), want) {
			t.Errorf("Temporal was called %v, want %v", b.calls(), want)
		}
	})
	t.Run("queued", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		r := b.turn(run.Queued)
		got, err := b.engine.Cancel(t.Context(), viewer, r.ID)
		if err != nil || got.Status != run.Cancelled || len(b.calls()) != 0 {
			t.Errorf("it is %s (%v) after %v", got.Status, err, b.calls())
		}
		if kinds := b.world.Kinds(); !slices.Equal(kinds, []stream.Kind{stream.CancelAck}) {
			t.Errorf("the stream has %v", kinds)
		}
	})
	t.Run("ended", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		r := b.turn(run.Done)
		if got, err := b.engine.Cancel(t.Context(), viewer, r.ID); err != nil || got.Status != run.Done {
			t.Errorf("it is %s (%v)", got.Status, err)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		if _, err := b.engine.Cancel(t.Context(), viewer, "nothing"); !errors.Is(err, fault.NotFound) {
			t.Errorf("it gives %v", err)
		}
	})
}

// Requirements: INT-07, INT-32
func TestAnAnswerMustFitItsQuestion(t *testing.T) {
	t.Parallel()
	options := []run.Option{{ID: "a", Label: "A"}, {ID: "all", Label: "All of these"}}
	schema := json.RawMessage(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)
	for name, c := range map[string]struct {
		q  run.Interrupt
		a  run.Answer
		ok bool
	}{
		"a text":                       {run.Interrupt{Type: "text_input"}, run.Answer{Type: "text_input", Value: "x"}, true},
		"no text":                      {run.Interrupt{Type: "text_input"}, run.Answer{Type: "text_input", Value: " "}, false},
		"null that is no cancel":       {run.Interrupt{Type: "text_input"}, run.Answer{Type: "text_input"}, false},
		"another type":                 {run.Interrupt{Type: "text_input"}, run.Answer{Type: "doc_choice", Value: "x"}, false},
		"an offered option":            {run.Interrupt{Type: "doc_choice", Options: options}, run.Answer{Type: "doc_choice", Value: "all"}, true},
		"an option's label":            {run.Interrupt{Type: "doc_choice", Options: options}, run.Answer{Type: "doc_choice", Value: "A"}, false},
		"two options":                  {run.Interrupt{Type: "doc_choice", Options: options}, run.Answer{Type: "doc_choice", Value: []any{"a", "all"}}, false},
		"retrieval_low":                {run.Interrupt{Type: "retrieval_low", Options: options}, run.Answer{Type: "retrieval_low", Value: "a"}, true},
		"action_choice":                {run.Interrupt{Type: "action_choice", Options: options}, run.Answer{Type: "action_choice", Value: "a"}, true},
		"what the schema allows":       {run.Interrupt{Type: "text_input", AnswerSchema: schema}, run.Answer{Value: map[string]any{"n": 3}}, true},
		"what the schema refuses":      {run.Interrupt{Type: "text_input", AnswerSchema: schema}, run.Answer{Value: map[string]any{"n": "3"}}, false},
		"a form":                       {run.Interrupt{Type: "text_input", AnswerSchema: schema}, run.Answer{Type: TypeForm, Value: map[string]any{"n": 3}}, true},
		"a form that does not fit":     {run.Interrupt{Type: "text_input", AnswerSchema: schema}, run.Answer{Type: TypeForm, Value: map[string]any{}}, false},
		"a form nobody asked for":      {run.Interrupt{Type: "text_input"}, run.Answer{Type: TypeForm, Value: "x"}, false},
		"a form instead of an option":  {run.Interrupt{Type: "doc_choice", Options: options, AnswerSchema: schema}, run.Answer{Type: TypeForm, Value: "a"}, false},
		"a schema of another document": {run.Interrupt{Type: "text_input", AnswerSchema: json.RawMessage(`{"$ref":"file:///etc/passwd"}`)}, run.Answer{Value: "x"}, false},
		"too much":                     {run.Interrupt{Type: "text_input"}, run.Answer{Value: strings.Repeat("x", maxAnswer)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			r := b.turn(run.Waiting)
			q := b.ask(t, r, c.q)
			_, err := b.engine.Answer(t.Context(), viewer, q.ID, c.a)
			row, _ := b.set.Interrupts.Interrupt(t.Context(), viewer, q.ID)
			switch {
			case c.ok && (err != nil || row.Status != run.Answered || len(b.signals()) != 1):
				t.Errorf("it is refused with %v; the question is %s", err, row.Status)
			case !c.ok && (err == nil || row.Status != run.Pending || len(b.signals()) != 0):
				t.Errorf("it is accepted (%v); the question is %s", err, row.Status)
			case !c.ok && !strings.Contains(name, "another document") && !errors.Is(err, fault.Invalid):
				t.Errorf("it is refused with %v, want validation_error", err)
			}
		})
	}
}

// Requirements: INT-07, INT-09 (resumes with null; defaults; the run reaches its end)
func TestAnAnswerOfTypeCancelSkipsAnyQuestion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	q := b.ask(t, b.turn(run.Waiting), run.Interrupt{Type: "doc_choice", Options: []run.Option{{ID: "a"}}})
	if _, err := b.engine.Answer(t.Context(), viewer, q.ID, run.Answer{Type: "cancel"}); err != nil {
		t.Fatal(err)
	}
	if len(b.signals()) != 1 || !b.signals()[0].Cancelled || b.signals()[0].Answer != nil {
		t.Errorf("the signals are %+v", b.signals())
	}
}

// Requirements: INT-30, INT-31
func TestOnlyTheOwnersFirstAnswerCounts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	q := b.ask(t, b.turn(run.Waiting), run.Interrupt{Type: "text_input"})
	stranger := identity.Viewer{UserID: "stranger", Role: identity.RoleUser}
	if _, err := b.engine.Answer(t.Context(), stranger, q.ID, run.Answer{Value: "x"}); !errors.Is(err, fault.NotFound) {
		t.Errorf("a stranger gets %v", err)
	}
	if _, err := b.engine.Answer(t.Context(), viewer, q.ID, run.Answer{Value: "first"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.engine.Answer(t.Context(), viewer, q.ID, run.Answer{Value: "second"}); !errors.Is(err, fault.Conflict) {
		t.Errorf("the second answer gives %v", err)
	}
	if len(b.signals()) != 1 || b.signals()[0].Answer != "first" {
		t.Errorf("the signals are %+v", b.signals())
	}
}

func TestAClaimedAnswerWhoseSignalWasLostIsSentAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.turn(run.Waiting)
	q := b.ask(t, r, run.Interrupt{Type: "text_input"})
	b.front.down = errors.New("connection refused")
	if _, err := b.engine.Answer(t.Context(), viewer, q.ID, run.Answer{Value: "kept"}); err != nil {
		t.Fatalf("the claimed answer is refused: %v", err)
	}
	b.engine.sending.Wait()
	b.front.down = nil
	b.engine.pass(t.Context(), map[string]look{}, time.Second, 0)
	if len(b.signals()) != 1 || b.signals()[0].Answer != "kept" {
		t.Errorf("the signals are %+v", b.signals())
	}
}

func TestTheReconcilerBringsRowsAndWorkflowsTogether(t *testing.T) {
	t.Parallel()
	t.Run("a row whose workflow never started is started", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		r := b.turn(run.Running)
		delete(b.front.status, r.WorkflowID)
		b.engine.pass(t.Context(), map[string]look{}, time.Second, 0)
		if _, ok := b.front.started[r.WorkflowID]; !ok {
			t.Errorf("Temporal was called %v", b.calls())
		}
	})
	t.Run("a row whose workflow is gone is closed", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		r := b.turn(run.Running)
		b.front.status[r.WorkflowID] = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
		b.engine.pass(t.Context(), map[string]look{}, time.Second, 0)
		if r.Status != run.Failed || b.world.Event(stream.Error)["code"] != "server_error" || !b.world.Finished {
			t.Errorf("the run is %s with the events %v", r.Status, b.world.Kinds())
		}
	})
	t.Run("a run that is well is looked at ever more rarely", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.turn(run.Waiting)
		well := map[string]look{}
		for range 5 {
			b.engine.pass(t.Context(), well, time.Hour, 0)
		}
		if len(b.calls()) != 1 {
			t.Errorf("it was looked at %d times at once", len(b.calls()))
		}
	})
	t.Run("a document's earlier run does not close the new one", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		r, err := b.engine.Ingest(t.Context(), viewer, "d1")
		if err != nil {
			t.Fatal(err)
		}
		p, err := converter.GetDefaultDataConverter().ToPayload("an earlier run")
		if err != nil {
			t.Fatal(err)
		}
		b.front.status[r.WorkflowID] = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
		b.front.memo[r.WorkflowID] = &commonpb.Memo{Fields: map[string]*commonpb.Payload{memoRun: p}}
		b.front.calls = nil
		b.engine.pass(t.Context(), map[string]look{}, time.Second, 0)
		if want := []string{"describe ingest:d1", "start ingest:d1"}; !slices.Equal(b.calls(), want) {
			t.Errorf("Temporal was called %v, want %v", b.calls(), want)
		}
	})
}

func TestARunIsCreatedOnceForARequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, err := b.engine.RunTool(t.Context(), viewer, "t", map[string]any{"a": 1}, "r1")
	if err != nil || first.WorkflowID != "tool:"+first.ID {
		t.Fatalf("the run is %+v, %v", first, err)
	}
	again, err := b.engine.RunTool(t.Context(), viewer, "t", map[string]any{"a": 1}, "r1")
	if err != nil || again.ID != first.ID || len(b.calls()) != 1 {
		t.Errorf("the second request gives run %s (%v) after %v", again.ID, err, b.calls())
	}
	if _, err := b.engine.Ingest(t.Context(), viewer, "d"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.engine.Ingest(t.Context(), viewer, "d"); !errors.Is(err, fault.Conflict) {
		t.Errorf("a document on its way in is ingested twice: %v", err)
	}
}

// Ids of requests are shared by turns, tools and workflows: one that was used
// for something else answers nothing.
//
// Requirements: API-05
func TestTheRequestOfAnotherRunIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	turn := b.turn(run.Running)
	turn.RequestID = "r1"
	if _, err := b.engine.RunTool(t.Context(), viewer, "t", map[string]any{"a": 1}, "r2"); err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func() (run.Run, error){
		"a turn's as a tool's":     func() (run.Run, error) { return b.engine.RunTool(t.Context(), viewer, "t", nil, "r1") },
		"a turn's as a workflow's": func() (run.Run, error) { return b.engine.RunWorkflow(t.Context(), viewer, "w", nil, nil, "r1") },
		"a tool's as a workflow's": func() (run.Run, error) {
			return b.engine.RunWorkflow(t.Context(), viewer, "t", map[string]any{"a": 1}, nil, "r2")
		},
		"another tool's": func() (run.Run, error) {
			return b.engine.RunTool(t.Context(), viewer, "u", map[string]any{"a": 1}, "r2")
		},
		"another input's": func() (run.Run, error) {
			return b.engine.RunTool(t.Context(), viewer, "t", map[string]any{"a": 2}, "r2")
		},
	} {
		if r, err := try(); !errors.Is(err, fault.Invalid) || r.ID != "" {
			t.Errorf("%s: run %q (the turn's is %s), %v", name, r.ID, turn.ID, err)
		}
	}
	if _, err := b.engine.RunTool(t.Context(), viewer, "t", map[string]any{"a": 1}, "r2"); err != nil {
		t.Errorf("the same again: %v", err)
	}
}

package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/workflows"
)

// failing is a tool that fails so often before it answers.
func failing(times int32, err error) activitiestest.Func {
	var calls atomic.Int32
	return func(context.Context, *tool.Call) (map[string]any, error) {
		if calls.Add(1) <= times {
			return nil, err
		}
		return map[string]any{"answer": "at last"}, nil
	}
}

var errDown = fault.New(fault.Internal, "The model does not answer.")

// Requirements: GRAPH-13 (2 retries after 1 s and 4 s)
func TestAFailedStepIsTriedAgainAfterOneAndFourSeconds(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]tool.Spec{"inline": inline, "apart": apart} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, activitiestest.New(oneNode).Tool("say", spec, failing(2, errDown)))
			began := b.env.Now()
			b.chat("hello")
			b.answered("at last")
			if waited := b.env.Now().Sub(began); waited < 5*time.Second || waited > 6*time.Second {
				t.Errorf("the retries took %s, want 1 s + 4 s", waited)
			}
			if n := b.world.Count("answer"); n != 3 {
				t.Errorf("the tool was called %d times, want 3", n)
			}
		})
	}
}

// Requirements: CHAT-28
func TestAStepOfAWorkerThatWasStoppedIsTriedAgainAtOnce(t *testing.T) {
	t.Parallel()
	stopped := temporal.NewApplicationError("The worker that ran the step was stopped.", activities.TypeStopped)
	b := setup(t, activitiestest.New(oneNode).Tool("say", apart, failing(2, stopped)))
	began := b.env.Now()
	b.chat("hello")
	b.answered("at last")
	if waited := b.env.Now().Sub(began); waited > time.Second {
		t.Errorf("the retries took %s, want less than a second", waited)
	}
}

// On a machine with no time to spare heartbeats come too late again and again,
// and a person reads the end of it beside their file.
//
// Requirements: CHAT-28
func TestAStepWhoseWorkerIsNeverHeardOfSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"no heartbeat": temporal.NewHeartbeatTimeoutError(),
		"given up":     temporal.NewApplicationError(activities.StoppedMessage, activities.TypeStopped),
	} {
		if f := workflows.Failure(err); f.Message != activities.StoppedMessage || !f.Retryable || !f.Soon {
			t.Errorf("%s: it is %+v", name, f)
		}
	}
}

// A sentence stays apart from its values on the way through the engine: out of an
// activity, whose other details are kept, and out of a child run.
//
// Requirements: GRND-37 (errors)
func TestWhyAStepFailedCanBeSaidInAnotherLanguage(t *testing.T) {
	t.Parallel()
	type counted struct {
		Rule string `json:"rule"`
	}
	for name, details := range map[string]any{"none": nil, "an object": map[string]any{"reason": fault.Upstream}, "a list": []string{"x"}, "a structure": counted{"chat"}} {
		cause := fault.New(fault.Internal, "%s cannot be reached.", "models.example").With(details)
		f := workflows.Failure(activities.AsTemporal(t.Context(), slog.New(slog.DiscardHandler), cause))
		if f.Said == nil || f.Said.Text != "{1} cannot be reached." || !slices.Equal(f.Said.Values, []string{"models.example"}) {
			t.Errorf("with %s it is said as %+v", name, f.Said)
		}
		if _, object := details.(map[string]any); object != (f.Code == fault.Upstream) {
			t.Errorf("with %s its code is %s", name, f.Code)
		}
	}
	said := fault.Say("the citations of node %q are no list", "end")
	child := temporal.NewNonRetryableApplicationError("node end: …", string(fault.Invalid), nil, activities.Result{Said: said})
	if f := workflows.Failure(child); !reflect.DeepEqual(f.Said, said) {
		t.Errorf("of a child it is said as %+v", f.Said)
	}
}

// Requirements: CHAT-27, GRAPH-16 (error event; structured error), STREAM-15
func TestAProviderThatIsDownEndsTheTurnWithOneErrorEvent(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(oneNode).Tool("say", models, failing(99, errDown)))
	b.chat("hello")
	c := b.closed()
	if c.End.Status != run.Failed || c.Message != nil {
		t.Errorf("the turn ended %s with message %+v; want failed without one", c.End.Status, c.Message)
	}
	if len(b.world.Messages) != 1 {
		t.Errorf("there are %d messages, want only the person's", len(b.world.Messages))
	}
	last := b.world.Event(stream.Error)
	if last["code"] != string(fault.Internal) || last["message"] != errDown.Message || last["node"] != "answer" {
		t.Errorf("the error event is %v", last)
	}
	ends := 0
	for _, k := range b.world.Kinds() {
		if k.Ends() {
			ends++
		}
	}
	if ends != 1 || !b.world.Finished {
		t.Errorf("the stream has %d ending events (finished: %t), want exactly one", ends, b.world.Finished)
	}
	if b.env.GetWorkflowError() == nil {
		t.Error("a failed turn shows as a success in Temporal")
	}
}

// Requirements: GRAPH-16 (on_error runs instead)
func TestOnErrorTakesOverWhenRetriesAreSpent(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(`{"kind":"workflow.chat","entrypoint":"a","nodes":[
		{"id":"a","type":"tool_call","tool":"breaks","max_retries":1,"on_error":"b"},
		{"id":"b","type":"end","response":"${vars.error.node} said: ${vars.error.message}"}]}`).
		Tool("breaks", inline, failing(99, errDown)))
	b.chat("hello")
	b.answered("a said: " + errDown.Message)
	if n := b.world.Count("a"); n != 2 {
		t.Errorf("the tool was called %d times, want 2", n)
	}
}

// A refusal is no accident: trying again would only cost time.
func TestARefusedInputIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(oneNode).Tool("say", inline, failing(1, fault.New(fault.Invalid, "The message is empty."))))
	b.chat("")
	var f struct{ Code, Message string }
	if err := json.Unmarshal(b.closed().End.Error, &f); err != nil || f.Code != "validation_error" || f.Message != "The message is empty." {
		t.Errorf("the run's error is %+v", f)
	}
	if n := b.world.Count("answer"); n != 1 {
		t.Errorf("the tool was called %d times, want once", n)
	}
}

// Requirements: GRAPH-12 (time for a person is free)
func TestTimePausedForAPersonDoesNotCountAgainstTheRun(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(`{"kind":"workflow.chat","entrypoint":"ask","timeout_ms":600000,"nodes":[
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Well?","next":"answer"},
		{"id":"answer","type":"tool_call","tool":"say"}]}`).Tool("say", inline, say("done")))
	b.env.RegisterDelayedCallback(func() { b.answer(0, "yes") }, 72*time.Hour)
	b.chat("hello")
	b.answered("done")
}

// Requirements: GRAPH-12 (past it the run fails)
func TestARunThatTakesTooLongFails(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(`{"kind":"workflow.chat","entrypoint":"a","timeout_ms":3000,"nodes":[
		{"id":"a","type":"tool_call","tool":"breaks"}]}`).Tool("breaks", inline, failing(99, errDown)))
	b.chat("hello")
	var f struct{ Code, Reason string }
	if err := json.Unmarshal(b.closed().End.Error, &f); err != nil || f.Reason != "timeout" || f.Code != "server_error" {
		t.Errorf("the run's error is %s, want a timeout", b.closed().End.Error)
	}
}

// A turn whose workflow its viewer may not see is refused like one that does
// not exist, and its row does not stay open.
//
// Requirements: GRAPH-23
func TestAWorkflowThatIsNotTheViewersIsNotFound(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("say", inline, say("mine"))
	w.Workflows["theirs"], w.Hidden["theirs"] = oneNode, true
	b := setup(t, w)
	b.turn(w.Chat("hello", chat.TurnInput{WorkflowID: "theirs"}))
	if end := b.closed().End; end.Status != run.Failed || !strings.Contains(string(end.Error), `"not_found"`) {
		t.Errorf("the turn ended %s with %s, want not_found", end.Status, end.Error)
	}
}

// Requirements: GRAPH-23, GRAPH-21
func TestTheRequestsWorkflowOverridesTheDefault(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("say", inline, say("by default"))
	w.Workflows["other"] = `{"kind":"workflow.chat","entrypoint":"e","nodes":[{"id":"e","type":"end","response":"by request"}]}`
	b := setup(t, w)
	b.turn(w.Chat("hello", chat.TurnInput{WorkflowID: "other"}))
	b.answered("by request")
	b = setup(t, w)
	w.Closed = nil
	b.turn(w.Chat("hello", chat.TurnInput{}))
	b.answered("by default")
}

// A row must not stay open because the store refused the message.
func TestAnEndTheStoreRefusesIsWrittenAsAFailure(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("say", inline, say("hello"))
	w.FailClose = []error{errors.New("the disk is busy"), fault.New(fault.Invalid, "The message is too long."), nil}
	b := setup(t, w)
	b.chat("hello")
	if c := b.closed(); c.End.Status != run.Failed || c.Message != nil || !strings.Contains(string(c.End.Error), "too long") {
		t.Errorf("the turn ended %s with %s", c.End.Status, c.End.Error)
	}
}

// A graph that loops is stopped by the machine, not by the process.
func TestALoopEndsTheRunWithAStructuredError(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(`{"kind":"workflow.chat","entrypoint":"a","max_visits":5,"nodes":[
		{"id":"a","type":"tool_call","tool":"say","next":"a"}]}`).Tool("say", inline, say("again")))
	b.chat("hello")
	if n := b.world.Count("a"); n != 5 {
		t.Errorf("the tool was called %d times, want 5", n)
	}
	if !strings.Contains(string(b.closed().End.Error), `"limit"`) {
		t.Errorf("the run's error is %s", b.closed().End.Error)
	}
}

// What a person's graph does beyond its bounds is for whoever wrote it to
// repair; what everybody's does, for whoever runs the server.
//
// Requirements: API-03, GRAPH-12 (past it the run fails)
func TestAGraphThatEndsByItsOwnBoundsIsTheFaultOfWhoeverWroteIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		document, reason string
		fails            error
		theirs           fault.Code
	}{
		"a loop": {reason: "limit", theirs: fault.Invalid, document: `{"kind":"workflow.chat","entrypoint":"a","max_visits":5,"nodes":[
			{"id":"a","type":"tool_call","tool":"say","next":"a"}]}`},
		"no branch": {reason: "no_branch", theirs: fault.Invalid, document: `{"kind":"workflow.chat","entrypoint":"a","nodes":[
			{"id":"a","type":"switch","branches":[{"when":"input.message == 'other'","next":"b"}]},{"id":"b","type":"end"}]}`},
		"its time": {reason: "timeout", theirs: fault.Invalid, fails: errDown, document: `{"kind":"workflow.chat","entrypoint":"a","timeout_ms":3000,"nodes":[
			{"id":"a","type":"tool_call","tool":"say"}]}`},
		"what it called": {theirs: fault.Internal, fails: errDown, document: oneNode},
	} {
		for _, own := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " own ", own), func(t *testing.T) {
				t.Parallel()
				tell := say("again")
				if c.fails != nil {
					tell = failing(99, c.fails)
				}
				w := activitiestest.New(c.document).Tool("say", inline, tell)
				w.Own = own
				b := setup(t, w)
				b.chat("hello")
				var row, told stream.RunError
				if err := json.Unmarshal(b.closed().End.Error, &row); err != nil {
					t.Fatal(err)
				}
				last := b.world.Events[len(b.world.Events)-1]
				if err := json.Unmarshal(last.Data, &told); err != nil || last.Kind != stream.Error {
					t.Fatalf("the stream ended with %s %s", last.Kind, last.Data)
				}
				want := fault.Internal
				if own {
					want = c.theirs
				}
				if !reflect.DeepEqual(row, told) || row.Code != string(want) || row.Reason != c.reason || row.Message == "" || row.Said == nil {
					t.Errorf("the row says %+v and the stream %+v, want %s with reason %q", row, told, want, c.reason)
				}
			})
		}
	}
}

// Whatever keeps a run from beginning, its row does not stay open.
func TestARunThatCannotOpenIsClosedAsFailed(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"nowhere","nodes":[]}`)
	b := setup(t, w)
	b.chat("hello")
	if c := b.closed(); c.End.Status != run.Failed || !strings.Contains(string(c.End.Error), `"validation_error"`) {
		t.Errorf("the turn with a bad graph ended %s with %s", c.End.Status, c.End.Error)
	}
	w = activitiestest.New(oneNode)
	w.FailRunRow = fault.New(fault.Forbidden, "This is not yours.")
	b = setup(t, w)
	b.chat("hello")
	if c := b.closed(); c.End.Status != run.Failed || !strings.Contains(string(c.End.Error), "This is not yours.") {
		t.Errorf("the turn that may not be read ended %s with %s", c.End.Status, c.End.Error)
	}
}

// A panic in a tool is that call's failure.
func TestAPanicInAnActivityFailsItsNodeOnly(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(`{"kind":"workflow.chat","entrypoint":"a","nodes":[
		{"id":"a","type":"tool_call","tool":"panics","max_retries":0,"on_error":"b"},
		{"id":"b","type":"end","response":"went on"}]}`).
		Tool("panics", apart, func(context.Context, *tool.Call) (map[string]any, error) { panic("at the disco") }))
	b.chat("hello")
	b.answered("went on")
}

// Requirements: LORA-25 (a rate limit is tried again)
func TestAStepThatAsksForAPauseGetsIt(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]tool.Spec{"inline": inline, "apart": apart} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			busy := fault.New(fault.RateLimited, "Wait.").With(map[string]any{"reason": fault.Upstream, "retry_after_ms": int64(7000)})
			b := setup(t, activitiestest.New(oneNode).Tool("say", spec, failing(1, busy)))
			began := b.env.Now()
			b.chat("hello")
			b.answered("at last")
			if waited := b.env.Now().Sub(began); waited < 7*time.Second || waited > 8*time.Second {
				t.Errorf("the retry came after %s, want 7 s", waited)
			}
		})
	}
	odd := fault.New(fault.RateLimited, "Wait.").With([]string{"no object"})
	b := setup(t, activitiestest.New(oneNode).Tool("say", inline, failing(1, odd)))
	b.chat("hello")
	b.answered("at last")
}

// What was shown of an answer that failed is taken back before another node
// answers in its place.
//
// Requirements: STREAM-32
func TestHalfAnAnswerIsTakenBackWhenAnotherNodeAnswers(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]tool.Spec{"inline": inline, "apart": apart} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"a","nodes":[
				{"id":"a","type":"tool_call","tool":"breaks","max_retries":0,"on_error":"b"},
				{"id":"b","type":"tool_call","tool":"say"}]}`).
				Tool("breaks", spec, func(_ context.Context, c *tool.Call) (map[string]any, error) {
					c.Emit(stream.TokenData("The answer is "))
					return nil, fault.New(fault.Invalid, "It broke off.")
				}).
				Tool("say", spec, func(_ context.Context, c *tool.Call) (map[string]any, error) {
					c.Emit(stream.TokenData("not known."))
					return map[string]any{"answer": "not known."}, nil
				})
			b := setup(t, w)
			b.chat("hello")
			b.answered("not known.")
			if got := w.Kinds(); !slices.Contains(got, stream.Reset) {
				t.Errorf("the stream has %v, want a reset between the two texts", got)
			}
		})
	}
}

package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdk "go.temporal.io/sdk/worker"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/worker"
)

// inQueue is a worker's activities as a task queue reaches them.
func inQueue(t *testing.T, seals *activities.Seals) (*activitiestest.World, *testsuite.TestActivityEnvironment) {
	t.Helper()
	w := activitiestest.New("{}").Tool("say", tool.Spec{Runs: tool.Activity, Queue: tool.QueueTools}, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"answer": c.Viewer.UserID}, nil
	})
	set := w.Set()
	set.Seals = seals
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(time.Minute) // of a busy machine
	env.SetWorkerOptions(sdk.Options{Interceptors: []interceptor.WorkerInterceptor{worker.NewFaults(nil)}})
	for name, f := range set.Named() {
		env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	return w, env
}

func refusedStep(t *testing.T, what string, err error) {
	t.Helper()
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != string(fault.Forbidden) || !app.NonRetryable() {
		t.Errorf("%s: %v", what, err)
	}
}

// Whoever reaches Temporal can schedule an activity on the workers' queue.
func TestACallThatNoRunOfOursMadeIsRefused(t *testing.T) {
	t.Parallel()
	seals, err := activities.NewSeals([]byte("a secret"), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := activities.NewSeals([]byte("another secret"), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	w, env := inQueue(t, seals)
	in := w.Chat("hello", chat.TurnInput{})
	call := activities.CallInput{
		Run: in, Tool: run.Pin{Name: "say", Version: 1}, Effect: "a#1", Node: "a", Attempt: 1,
		Inputs: map[string]any{"n": int64(9007199254740993), "x": "<&>\xff", "f": 1e30},
	}
	const workflowID = "default-test-workflow-id"
	sealed := func(s *activities.Seals, workflowID string, c activities.CallInput) string {
		seal, err := s.Call(workflowID, c)
		if err != nil {
			t.Fatal(err)
		}
		return seal
	}
	ours := sealed(seals, workflowID, call)
	admin, other, later := call, call, call
	admin.Run.Viewer = identity.Viewer{UserID: "boss", Role: identity.RoleAdmin}
	other.Inputs, later.Effect = map[string]any{"n": 1}, "b#1"
	for name, c := range map[string]struct {
		in   activities.CallInput
		seal string
	}{
		"no seal":                     {call, ""},
		"one of another secret":       {call, sealed(theirs, workflowID, call)},
		"one of another workflow":     {call, sealed(seals, "chat:elsewhere", call)},
		"as somebody else":            {admin, ours},
		"with other inputs":           {other, ours},
		"of another effect":           {later, ours},
		"the seal of a start instead": {call, must(seals.Start(workflowID, in, nil))(t)},
	} {
		_, err := env.ExecuteActivity(activities.NameCall, c.in, c.seal)
		refusedStep(t, name, err)
	}
	if len(w.Calls) > 0 {
		t.Fatalf("%d calls were made", len(w.Calls))
	}
	if _, err := env.ExecuteActivity(activities.NameCall, call, ours); err != nil || len(w.Calls) != 1 {
		t.Errorf("our own call: %v, %d calls", err, len(w.Calls))
	}
	// What an older program put in the queue has no seal.
	seals, err = activities.NewSeals([]byte("a secret"), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	w, env = inQueue(t, seals)
	if _, err := env.ExecuteActivity(activities.NameCall, call); err != nil || len(w.Calls) != 1 {
		t.Errorf("a call from before: %v, %d calls", err, len(w.Calls))
	}
	_, err = env.ExecuteActivity(activities.NameCall, call, "1.AAAA")
	refusedStep(t, "a wrong seal, whenever", err)
}

func must(seal string, err error) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return seal
	}
}

func TestWhatWorkflowsDoLocallyDoesNotComeThroughAQueue(t *testing.T) {
	t.Parallel()
	w, env := inQueue(t, nil)
	in := w.Chat("hello", chat.TurnInput{})
	for name, input := range map[string]any{
		activities.NameOpen: in, activities.NameAsk: activities.AskInput{Run: in}, activities.NameDeliver: activities.DeliverInput{Run: in},
		activities.NameSettle: activities.SettleInput{Run: in, Status: run.Skipped}, activities.NameClose: activities.CloseInput{Run: in},
	} {
		_, err := env.ExecuteActivity(name, input)
		refusedStep(t, name, err)
	}
	if len(w.Log) > 0 {
		t.Errorf("it did %v", w.Log)
	}
}

// Of a question the store decides whether and what was answered, and of whose
// run it is.
func TestDeliverGivesWhatWasAnswered(t *testing.T) {
	t.Parallel()
	w := activitiestest.New("{}")
	in, another := w.Chat("hello", chat.TurnInput{}), w.Chat("another", chat.TurnInput{})
	set := w.Set()
	q := run.Interrupt{ID: "q", RunID: in.RunID, UserID: in.Viewer.UserID, Status: run.Pending}
	if err := set.Interrupts.Ask(t.Context(), in.Viewer, true, q); err != nil {
		t.Fatal(err)
	}
	deliver := func(in activities.RunInput) (activities.Delivered, error) {
		return set.Deliver(t.Context(), activities.DeliverInput{Run: in, IDs: []string{"q"}})
	}
	unanswered := func(err error) {
		t.Helper()
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || app.Type() != activities.TypeUnanswered || !app.NonRetryable() {
			t.Errorf("it gives %v", err)
		}
	}
	_, err := deliver(in)
	unanswered(err)
	if _, err := set.Interrupts.Answer(t.Context(), in.Viewer, "q", run.Answered, json.RawMessage(`{"a":[1]}`)); err != nil {
		t.Fatal(err)
	}
	_, err = deliver(another)
	unanswered(err)
	got, err := deliver(in)
	if answer, _ := json.Marshal(got.Answers["q"]); err != nil || string(answer) != `{"interrupt_id":"q","answer":{"a":[1]}}` {
		t.Errorf("%s, %v", answer, err)
	}
}

func BenchmarkSealOfACall(b *testing.B) {
	seals, err := activities.NewSeals([]byte("a secret"), time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	text := make([]byte, 10<<10)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	call := activities.CallInput{Run: activities.RunInput{RunID: "r", Viewer: activitiestest.Viewer}, Effect: "a#1", Inputs: map[string]any{"context": string(text)}}
	raw, err := json.Marshal(call)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := seals.Call("chat:x", call); err != nil {
			b.Fatal(err)
		}
		var back activities.CallInput
		if err := json.Unmarshal(raw, &back); err != nil {
			b.Fatal(err)
		}
		if _, err := seals.Call("chat:x", back); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSealOfAStart(b *testing.B) {
	seals, err := activities.NewSeals([]byte("a secret"), time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	in := activities.RunInput{RunID: "00000000-0000-7000-8000-00000000000a", Viewer: activitiestest.Viewer, Kind: run.KindChat}
	for b.Loop() {
		if in.Seal, err = seals.Start("chat:x", in, nil); err != nil || seals.Admit("chat:x", time.Now(), in, nil) != nil {
			b.Fatal(err)
		}
	}
}

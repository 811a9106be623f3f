package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/workflows"
)

// here is the workflow id of a test environment.
const here = "default-test-workflow-id"

func sealer(t *testing.T, since time.Time) *activities.Seals {
	t.Helper()
	s, err := activities.NewSeals([]byte("the secret of an installation...."), since)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// begun is in as the engine begins it under a workflow id.
func begun(t *testing.T, s *activities.Seals, workflowID string, in activities.RunInput) activities.RunInput {
	t.Helper()
	var err error
	if in.Seal, err = s.Start(workflowID, in, nil); err != nil {
		t.Fatal(err)
	}
	return in
}

// refusedRun says that an execution ended before anything was done for it.
func (b *bundle) refusedRun(what string) {
	b.Helper()
	var app *temporal.ApplicationError
	if err := b.env.GetWorkflowError(); !errors.As(err, &app) || app.Type() != string(fault.Forbidden) || !app.NonRetryable() {
		b.Errorf("%s: the workflow ended with %v", what, err)
	}
	if len(b.world.Log) > 0 || len(b.world.Calls) > 0 || len(b.world.Closed) > 0 || len(b.world.Ended) > 0 {
		b.Errorf("%s: it did %v, %d calls", what, b.world.Log, len(b.world.Calls))
	}
}

func TestARunThatNobodyHereBeganIsRefusedBeforeItDoesAnything(t *testing.T) {
	t.Parallel()
	seals := sealer(t, time.Time{})
	child := func(in activities.RunInput) activities.RunInput {
		in.Kind, in.Child = run.KindGraph, &activities.ChildInput{Workflow: "default", Inputs: map[string]any{"message": "x"}, EffectID: "a#1"}
		return in
	}
	for name, forge := range map[string]func(w *activitiestest.World, mine activities.RunInput) activities.RunInput{
		"without a seal": func(_ *activitiestest.World, mine activities.RunInput) activities.RunInput {
			mine.Seal = ""
			return mine
		},
		"with a seal of nothing": func(_ *activitiestest.World, mine activities.RunInput) activities.RunInput {
			mine.Seal = "1.AAAA"
			return mine
		},
		"with the seal of another run": func(w *activitiestest.World, mine activities.RunInput) activities.RunInput {
			other := w.Chat("another", chatInput())
			other.Seal = mine.Seal
			return other
		},
		"as somebody else": func(_ *activitiestest.World, mine activities.RunInput) activities.RunInput {
			mine.Viewer.UserID = "00000000-0000-7000-8000-00000000000b"
			return mine
		},
		"as an administrator": func(_ *activitiestest.World, mine activities.RunInput) activities.RunInput {
			mine.Viewer.Role = identity.RoleAdmin
			return mine
		},
		"as the system": func(_ *activitiestest.World, mine activities.RunInput) activities.RunInput {
			mine.Viewer = identity.Steward()
			return mine
		},
		"on another plan": func(_ *activitiestest.World, mine activities.RunInput) activities.RunInput {
			mine.Viewer.Plan = "team"
			return mine
		},
		"as of another kind": func(_ *activitiestest.World, mine activities.RunInput) activities.RunInput {
			mine.Kind = run.KindTool
			return mine
		},
		"as a child of ours": func(_ *activitiestest.World, mine activities.RunInput) activities.RunInput { return child(mine) },
		"as an unsealed child": func(_ *activitiestest.World, mine activities.RunInput) activities.RunInput {
			mine.Seal = ""
			return child(mine)
		},
		"as a child with other inputs": func(_ *activitiestest.World, mine activities.RunInput) activities.RunInput {
			mine = begun(t, seals, here, child(mine))
			mine.Child.Inputs["message"] = "y"
			return mine
		},
		"as a child of another workflow": func(_ *activitiestest.World, mine activities.RunInput) activities.RunInput {
			mine = begun(t, seals, here, child(mine))
			mine.Child.Workflow = "theirs"
			return mine
		},
		"under another workflow id": func(_ *activitiestest.World, mine activities.RunInput) activities.RunInput {
			return begun(t, seals, "chat:elsewhere", mine)
		},
	} {
		w := activitiestest.New(oneNode).Tool("say", apart, say("it ran"))
		b := setupSealed(t, w, seals)
		in := forge(w, begun(t, seals, here, w.Chat("hello", chatInput())))
		b.env.ExecuteWorkflow(workflows.RunWorkflowType, in)
		b.refusedRun(name)
	}
}

// A carry is what a run goes on from: the graph, the tools, the values.
func TestARunGoesOnOnlyFromWhatItCarriedItself(t *testing.T) {
	t.Parallel()
	seals := sealer(t, time.Time{})
	w := activitiestest.New(longRun).Tool("say", apart, counting())
	answered := false
	n := sealedExecutions(t, w, seals, begun(t, seals, here, w.Chat("hello", chatInput())), 1, func(b *bundle, _ int) {
		b.env.RegisterDelayedCallback(func() {
			if _, ok := w.Question(0); ok && !answered {
				answered = true
				b.answer(0, "!")
			}
		}, time.Hour)
	})
	if c := w.Closed[0]; n < 2 || c.Message == nil || c.Message.Content != "ab!c" {
		t.Errorf("after %d executions the turn ended with %+v", n, c)
	}
	for name, forged := range map[string]workflows.Carry{
		"anything":    {Opened: activities.Opened{Graph: json.RawMessage(oneNode), Digest: "x"}},
		"empty":       {},
		"a snapshot…": {Snapshot: []byte("x")},
	} {
		w := activitiestest.New(oneNode).Tool("say", apart, say("it ran"))
		b := setupSealed(t, w, seals)
		b.env.ExecuteWorkflow(workflows.ChatTurnType, begun(t, seals, here, w.Chat("hello", chatInput())), forged)
		b.refusedRun(name)
	}
}

func TestSealedRunsAndTheirChildrenDoTheirWork(t *testing.T) {
	t.Parallel()
	for name, seals := range map[string]*activities.Seals{"sealed": sealer(t, time.Time{}), "nobody looks": nil} {
		w := activitiestest.New(parent).Tool("say", apart, say("hello"))
		w.Workflows["child"] = `{"kind":"workflow.chat","entrypoint":"say","nodes":[{"id":"say","type":"tool_call","tool":"say","inputs":{"n":9007199254740993,"x":"<&>"}}]}`
		b := setupSealed(t, w, seals)
		b.turn(begun(t, seals, here, w.Chat("engines", chatInput())))
		if c := b.closed(); c.Message == nil || c.Message.Content != "child says hello" {
			t.Errorf("%s: the turn ended with %+v, %s", name, c.Message, c.End.Error)
		}
	}
}

func TestARunFromBeforeThereWereSealsGoesOn(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(parent).Tool("say", apart, say("hello"))
	w.Workflows["child"] = `{"kind":"workflow.chat","entrypoint":"say","nodes":[{"id":"say","type":"tool_call","tool":"say"}]}`
	b := setupSealed(t, w, sealer(t, time.Now().Add(1000*time.Hour)))
	b.chat("engines")
	b.answered("child says hello")
	forged := w.Chat("hello", chatInput())
	forged.Seal = "1.AAAA"
	b = setupSealed(t, activitiestest.New(oneNode), sealer(t, time.Now().Add(1000*time.Hour)))
	b.env.ExecuteWorkflow(workflows.ChatTurnType, forged)
	b.refusedRun("with a seal that is wrong")
}

// What has ended can be started again with the input it had.
func TestARunThatHasEndedDoesNothingASecondTime(t *testing.T) {
	t.Parallel()
	seals := sealer(t, time.Time{})
	w := activitiestest.New(oneNode).Tool("say", apart, say("it ran"))
	in := begun(t, seals, here, w.Chat("hello", chatInput()))
	setupSealed(t, w, seals).turn(in)
	setupSealed(t, w, seals).turn(in)
	if len(w.Calls) != 1 {
		t.Errorf("its tool was called %d times", len(w.Calls))
	}
}

// Whoever reaches Temporal can send the signal; only the engine claims the
// question.
func TestASignalThatNobodyAnsweredWithLeavesTheRunWaiting(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneQuestion).Tool("say", inline, say("seen"))
	b := setup(t, w)
	forge := func(a activities.Answer) func() {
		return func() {
			q, _ := w.Question(0)
			a.InterruptID = q.ID
			b.env.SignalWorkflow(workflows.SignalAnswer, a)
		}
	}
	b.env.RegisterDelayedCallback(forge(activities.Answer{Answer: "forged"}), time.Hour)
	b.env.RegisterDelayedCallback(forge(activities.Answer{Cancelled: true}), 2*time.Hour)
	b.env.RegisterDelayedCallback(forge(activities.Answer{Expired: true}), 3*time.Hour)
	b.env.RegisterDelayedCallback(func() {
		if q, _ := w.Question(0); q.Status != run.Pending || q.Delivered || w.Runs[q.RunID].Status != run.Waiting {
			t.Errorf("after forged signals the question is %+v, its run %s", q, w.Runs[q.RunID].Status)
		}
		b.answer(0, "compare")
	}, 4*time.Hour)
	b.chat("do both")
	b.answered("chosen: compare")
}

// A signal may come first that says something else than the answer does.
func TestWhatWasAnsweredIsWhatTheStoreHas(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneQuestion).Tool("say", inline, say("seen"))
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() {
		a := w.Claim(0, "compare", false)
		a.Answer = "forged"
		b.env.SignalWorkflow(workflows.SignalAnswer, a)
	}, time.Hour)
	b.chat("do both")
	b.answered("chosen: compare")
}

// One kept for a question that is not put yet must not stand in the way of its
// expiry, nor of the answer.
func TestAForgedSignalThatComesEarlyStopsNothing(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"say","nodes":[
		{"id":"say","type":"tool_call","tool":"say","next":"ask"},
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Well?","timeout_ms":60000,"next":"end"},
		{"id":"end","type":"end","response":"said: ${vars.ask?}"}]}`)
	b := setup(t, w)
	in := w.Chat("hello", chatInput())
	w.Tool("say", apart, func(context.Context, *tool.Call) (map[string]any, error) {
		b.env.SignalWorkflow(workflows.SignalAnswer, activities.Answer{InterruptID: id.Derive(in.RunID, "ask#1"), Answer: "forged"})
		return map[string]any{"answer": "x"}, nil
	})
	b.turn(in)
	b.answered("said: ")
}

package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/activities/activitiestest"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/workflows"
)

// patchWay is the way of a patch: decided, applied, watched.
const patchWay = `{"kind":"workflow.chat","entrypoint":"check","nodes":[
	{"id":"check","type":"tool_call","tool":"check","inputs":{"patch_id":"${input.patch_id}"},"next":"sound"},
	{"id":"sound","type":"switch","branches":[{"when":"vars.check.ok","next":"decide"},{"when":"true","next":"end"}]},
	{"id":"decide","type":"interrupt","interrupt_type":"action_choice","message":"Approve patch ${input.patch_id}?",
	 "options":[{"id":"approve","label":"Approve"},{"id":"reject","label":"Reject"}],"timeout_ms":1209600000,"save_as":"decision","next":"decided"},
	{"id":"decided","type":"switch","branches":[
		{"when":"vars.decision == 'approve'","next":"apply"},{"when":"vars.decision == null","next":"expire"},{"when":"true","next":"end"}]},
	{"id":"apply","type":"interrupt","interrupt_type":"action_choice","message":"Apply it?",
	 "options":[{"id":"apply","label":"Apply"},{"id":"withdraw","label":"Withdraw"}],"timeout_ms":1209600000,"save_as":"applied","next":"begun"},
	{"id":"begun","type":"switch","branches":[
		{"when":"vars.applied == 'apply'","next":"watch"},{"when":"vars.applied == null","next":"expire"},{"when":"true","next":"end"}]},
	{"id":"watch","type":"interrupt","interrupt_type":"action_choice","message":"Keep it?",
	 "options":[{"id":"keep","label":"Keep"},{"id":"roll_back","label":"Roll back"}],"timeout_ms":3600000,"save_as":"kept","next":"watched"},
	{"id":"watched","type":"switch","branches":[{"when":"vars.kept == null","next":"figures"},{"when":"true","next":"end"}]},
	{"id":"figures","type":"tool_call","tool":"watch","inputs":{"patch_id":"${input.patch_id}"},"next":"over"},
	{"id":"over","type":"switch","branches":[{"when":"vars.figures.over","next":"end"},{"when":"true","next":"watch"}]},
	{"id":"expire","type":"tool_call","tool":"expire","inputs":{"patch_id":"${input.patch_id}"},"next":"end"},
	{"id":"end","type":"end","response":"${vars.decision?} ${vars.applied?} ${vars.kept?}"}]}`

// house is a world with the way of a patch; it is watched for so many hours.
func house(hours int) *activitiestest.World {
	w := activitiestest.New(oneNode).
		Tool("check", jobs, func(context.Context, *tool.Call) (map[string]any, error) { return map[string]any{"ok": true}, nil }).
		Tool("expire", jobs, func(context.Context, *tool.Call) (map[string]any, error) {
			return map[string]any{"status": "expired"}, nil
		}).
		Tool("watch", jobs, func(context.Context, *tool.Call) (map[string]any, error) {
			hours--
			return map[string]any{"over": hours == 0}, nil
		})
	w.Workflows["config_patch"] = patchWay
	return w
}

var jobs = tool.Spec{Runs: tool.Activity, Queue: tool.QueueIngest, Privileged: true}

// patch runs patch 42 to its end.
func (b *bundle) patch() run.End {
	b.Helper()
	in := b.world.House(run.KindPatch, map[string]any{"patch_id": 42})
	b.env.ExecuteWorkflow(workflows.ConfigPatchType, in)
	if !b.env.IsWorkflowCompleted() {
		b.Fatal("the workflow did not complete")
	}
	return b.world.Ended[in.RunID]
}

func (b *bundle) said(end run.End, want string) {
	b.Helper()
	if end.Status != run.Done || !strings.Contains(string(end.Result), `"response":"`+want+`"`) {
		b.Errorf("the run ended %s with %s %s; want the response %q", end.Status, end.Result, end.Error, want)
	}
}

// Requirements: CFG-15, CFG-04, CFG-05
func TestAPatchWaitsForItsDecisionAndIsThenAppliedAndWatched(t *testing.T) {
	t.Parallel()
	w := house(24)
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() {
		q, _ := w.Question(0)
		if q.UserID != identity.SystemAccount || q.Message != "Approve patch 42?" || q.Status != run.Pending || len(q.Options) != 2 {
			t.Errorf("the decision is asked as %+v", q)
		}
		first := w.Claim(0, "approve", false)
		b.signal(first)
		b.signal(first) // sent again, as after a crash: it is dropped
	}, 13*24*time.Hour)
	b.env.RegisterDelayedCallback(func() { b.answer(1, "apply") }, 26*24*time.Hour)
	began := b.env.Now()
	end := b.patch()
	b.said(end, "approve apply ")
	if took := b.env.Now().Sub(began); took < 27*24*time.Hour || took > 27*24*time.Hour+time.Hour {
		t.Errorf("it took %s; want 26 days of waiting and one of watching", took)
	}
	if n := w.Count("figures"); n != 24 || w.Count("check") != 1 || w.Count("expire") != 0 {
		t.Errorf("the calls were %d of watch, %d of check, %d of expire", n, w.Count("check"), w.Count("expire"))
	}
	if q, _ := w.Question(1); !q.Delivered || q.Status != run.Answered {
		t.Errorf("the second decision is %+v", q)
	}
	if end.Pins != nil && end.Pins[0].Name != "config_patch" {
		t.Errorf("the run is pinned to %+v", end.Pins)
	}
}

// Requirements: CFG-15, CFG-04
func TestAPatchEndsWithWhatItsPeopleSay(t *testing.T) {
	t.Parallel()
	for answers, want := range map[string]string{
		"reject":                  "reject  ",
		"withdraw":                "withdraw  ",
		"superseded":              "superseded  ",
		"approve withdraw":        "approve withdraw ",
		"approve apply roll_back": "approve apply roll_back",
		"approve apply keep":      "approve apply keep",
	} {
		t.Run(answers, func(t *testing.T) {
			t.Parallel()
			b := setup(t, house(24))
			for i, answer := range strings.Fields(answers) {
				b.env.RegisterDelayedCallback(func() { b.answer(i, answer) }, time.Duration(i+1)*30*time.Minute)
			}
			b.said(b.patch(), want)
		})
	}
}

// Requirements: CFG-15
func TestAPatchNobodyDecidesOrAppliesExpires(t *testing.T) {
	t.Parallel()
	for _, answers := range [][]string{nil, {"approve"}} {
		t.Run(fmt.Sprint(answers), func(t *testing.T) {
			t.Parallel()
			w := house(24)
			b := setup(t, w)
			for i, answer := range answers {
				b.env.RegisterDelayedCallback(func() { b.answer(i, answer) }, time.Hour)
			}
			began := b.env.Now()
			b.patch()
			if q, _ := w.Question(len(answers)); q.Status != run.Expired || w.Count("expire") != 1 || w.Count("figures") != 0 {
				t.Errorf("the question is %s after %d calls of expire", q.Status, w.Count("expire"))
			}
			want := 14*24*time.Hour + time.Duration(len(answers))*time.Hour
			if took := b.env.Now().Sub(began); took < want || took > want+time.Minute {
				t.Errorf("it expired after %s, want %s", took, want)
			}
		})
	}
}

// Requirements: CFG-15
func TestAnAnswerThatComesBeforeAPatchAsksIsKeptForItsQuestion(t *testing.T) {
	t.Parallel()
	w := house(24)
	b := setup(t, w)
	in := w.House(run.KindPatch, map[string]any{"patch_id": 42})
	w.Tool("check", jobs, func(context.Context, *tool.Call) (map[string]any, error) {
		b.env.SignalWorkflow(workflows.SignalAnswer, w.Early(in.RunID, "decide#1", "reject"))
		return map[string]any{"ok": true}, nil
	})
	b.env.ExecuteWorkflow(workflows.ConfigPatchType, in)
	b.said(w.Ended[in.RunID], "reject  ")
}

// The system's runs follow what ships with the program, in the background, and
// never a person's artifact of the same name.
//
// Requirements: CFG-13, CFG-15
func TestTheSystemsRunsAreItsOwn(t *testing.T) {
	t.Parallel()
	t.Run("the architect's", func(t *testing.T) {
		t.Parallel()
		w := activitiestest.New(oneNode).Tool("look", jobs, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			return map[string]any{"answer": fmt.Sprint("since ", c.Inputs["since"], " as ", c.Viewer.Role)}, nil
		})
		w.Workflows["architect"] = `{"kind":"workflow.chat","entrypoint":"look","nodes":[
			{"id":"look","type":"tool_call","tool":"look","inputs":{"since":"${input.since}"},"timeout_ms":3600000}]}`
		b := setup(t, w)
		b.set.Who = func(context.Context, string) (identity.Viewer, error) {
			t.Error("the system was asked whether it still has an account")
			return identity.Viewer{}, nil
		}
		in := w.House(run.KindArchitect, map[string]any{"since": "monday"})
		b.env.ExecuteWorkflow(workflows.ArchitectType, in)
		b.said(w.Ended[in.RunID], "since monday as system")
	})
	t.Run("a person's run of that kind is refused", func(t *testing.T) {
		t.Parallel()
		w := house(1)
		b := setup(t, w)
		in := w.House(run.KindPatch, map[string]any{"patch_id": 42})
		in.Viewer = activitiestest.Viewer
		b.env.ExecuteWorkflow(workflows.ConfigPatchType, in)
		if end := w.Ended[in.RunID]; end.Status != run.Failed || len(w.Calls) != 0 {
			t.Errorf("it ended %s after %d calls", end.Status, len(w.Calls))
		}
	})
	t.Run("a missing graph ends the run", func(t *testing.T) {
		t.Parallel()
		w := house(1)
		delete(w.Workflows, "config_patch")
		b := setup(t, w)
		if end := b.patch(); end.Status != run.Failed {
			t.Errorf("it ended %s", end.Status)
		}
	})
}

// Requirements: PLAT-08, CFG-15
func TestARunInFlightKeepsItsVersionWhileAPatchIsAppliedAndTakenBack(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneQuestion).Tool("say", inline, say("seen"))
	b := setup(t, w)
	b.set.Record = true
	b.env.RegisterDelayedCallback(func() {
		w.Apply("default", oneNode) // all new runs take it
	}, time.Hour)
	b.env.RegisterDelayedCallback(func() { w.Apply("default", oneQuiet) }, 2*time.Hour)
	b.env.RegisterDelayedCallback(func() { b.answer(0, "compare") }, 3*time.Hour)
	b.chat("hello")
	b.answered("chosen: compare")
	if pins := b.closed().End.Pins; len(pins) > 0 && pins[0].Version != 1 {
		t.Errorf("the run ended on %+v", pins)
	}
	head, rec := recordingOf(t, w)
	if head.Graph.Version != 1 || !slices.Equal(rehearsed(t, w, oneQuestion, rec).Path, []string{"before", "ask", "end"}) {
		t.Errorf("the run is recorded at version %d", head.Graph.Version)
	}
	again := setup(t, w)
	again.env.ExecuteWorkflow(workflows.ChatTurnType, w.Chat("hello", chatInput()))
	if c := w.Closed[1]; c.End.Status != run.Done || c.End.Pins[0].Version != 3 {
		t.Errorf("the next turn ended %s on %+v", c.End.Status, c.End.Pins)
	}
}

package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/workflows"
)

// executions runs a turn through as many executions as it asks for, and gives
// their number. during is called once in each.
func executions(t *testing.T, w *activitiestest.World, most int, during func(*bundle, int)) int {
	t.Helper()
	return sealedExecutions(t, w, nil, w.Chat("hello", chatInput()), most, during)
}

func sealedExecutions(t *testing.T, w *activitiestest.World, seals *activities.Seals, in activities.RunInput, most int, during func(*bundle, int)) int {
	t.Helper()
	var carry *workflows.Carry
	for n := 1; n < 50; n++ {
		b := setupSealed(t, w, seals)
		b.set.MaxEffects = most
		during(b, n)
		b.env.ExecuteWorkflow(workflows.ChatTurnType, in, carry)
		var next *workflow.ContinueAsNewError
		if !errors.As(b.env.GetWorkflowError(), &next) {
			b.closed()
			return n
		}
		carry = new(workflows.Carry)
		if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &in, carry); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the run never ends")
	return 0
}

const longRun = `{"kind":"workflow.chat","entrypoint":"a","nodes":[
	{"id":"a","type":"tool_call","tool":"say","next":"b"},
	{"id":"b","type":"tool_call","tool":"say","next":"ask"},
	{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Well?","next":"c"},
	{"id":"c","type":"tool_call","tool":"say","next":"end"},
	{"id":"end","type":"end","response":"${vars.a.answer}${vars.b.answer}${vars.ask}${vars.c.answer}"}]}`

func counting() activitiestest.Func {
	return func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"answer": c.Node, "usage": map[string]any{"output_tokens": 1.0}}, nil
	}
}

// Requirements: PLAT-14
func TestARunGoesOnAsNewBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			w := activitiestest.New(longRun).Tool("say", apart, counting())
			answered := false
			n := executions(t, w, most, func(b *bundle, _ int) {
				b.env.RegisterDelayedCallback(func() {
					if q, ok := w.Question(0); ok && !answered {
						answered = q.ID != ""
						b.answer(0, "!")
					}
				}, time.Hour)
			})
			if n < 2 {
				t.Errorf("the run took %d executions", n)
			}
			c := w.Closed[0]
			if c.Message.Content != "ab!c" || c.Message.TokensOut != 3 || len(c.Notices) != 2 {
				t.Errorf("the turn ended with %q, %d tokens, %d notices", c.Message.Content, c.Message.TokensOut, len(c.Notices))
			}
			for _, node := range []string{"a", "b", "c"} {
				if calls := w.Count(node); calls != 1 {
					t.Errorf("%s ran %d times, want once", node, calls)
				}
			}
			paused := 0
			for _, k := range w.Kinds() {
				if k == stream.Paused {
					paused++
				}
			}
			if paused != 1 {
				t.Errorf("the stream says %d times that the run is paused, want once", paused)
			}
		})
	}
}

// The server suggests a new execution while a person is waited for; what is
// signalled meanwhile must not be left behind.
func TestARunThatIsContinuedInAPauseTakesTheAnswerWithIt(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneQuestion).Tool("say", inline, say("seen"))
	n := executions(t, w, 0, func(b *bundle, n int) {
		if n > 1 {
			b.env.RegisterDelayedCallback(func() { b.answer(0, "compare") }, time.Hour)
			return
		}
		b.env.RegisterDelayedCallback(func() {
			b.env.SetContinueAsNewSuggested(true)
			// Any signal wakes the run; this one answers nothing.
			b.env.SignalWorkflow(workflows.SignalAnswer, activities.Answer{InterruptID: "unknown"})
		}, time.Hour)
	})
	if n != 2 || w.Closed[0].Message.Content != "chosen: compare" {
		t.Errorf("after %d executions the turn ended with %+v", n, w.Closed[0].Message)
	}
}

func TestAQuestionsExpiryOutlivesAContinueAsNew(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(strings.Replace(longRun, `"message":"Well?"`, `"message":"Well?","timeout_ms":60000`, 1)).Tool("say", inline, counting())
	w.Workflows["default"] = strings.Replace(w.Workflows["default"], "${vars.ask}", "${vars.ask?}", 1)
	executions(t, w, 1, func(*bundle, int) {})
	if got := w.Closed[0].Message.Content; got != "abc" {
		t.Errorf("the turn ended with %q, want abc", got)
	}
}

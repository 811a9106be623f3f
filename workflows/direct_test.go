package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"

	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// localActivities are the local activities that the environment starts.
func (b *bundle) localActivities() *[]string {
	var names []string
	var mu sync.Mutex
	b.env.SetOnLocalActivityStartedListener(func(info *activity.Info, _ context.Context, _ []any) {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, info.ActivityType.Name)
	})
	return &names
}

const fiveNodes = `{"kind":"workflow.chat","entrypoint":"a","nodes":[
	{"id":"a","type":"tool_call","tool":"say","next":"b"},
	{"id":"b","type":"set","values":{"n":"${vars.a.answer}"},"next":"c"},
	{"id":"c","type":"tool_call","tool":"say","inputs":{"n":"${vars.n}"},"next":"d"},
	{"id":"d","type":"tool_call","tool":"say","next":"e"},
	{"id":"e","type":"end","response":"${vars.d.answer}"}]}`

// What nothing but calls in this process is made of is one step for the engine.
//
// Requirements: PLAT-03 (chat turns)
func TestATurnOfInlineCallsIsOneLocalActivity(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(fiveNodes).Tool("say", inline, say("well")))
	steps := b.localActivities()
	b.chat("hello")
	b.answered("well")
	if n := b.world.Count("c"); n != 1 || len(*steps) != 1 {
		t.Errorf("the turn took %q, and called a tool %d times; want one of each", *steps, n)
	}
}

// Requirements: INT-05
func TestAnAnswerIsGoneOnWithInOneLocalActivity(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(oneQuestion).Tool("say", inline, say("seen")))
	steps := b.localActivities()
	b.env.RegisterDelayedCallback(func() { b.answer(0, "compare") }, time.Hour)
	b.chat("do both")
	b.answered("chosen: compare")
	if len(*steps) != 3 {
		t.Errorf("the turn took %d local activities, want those that open, ask and deliver", len(*steps))
	}
}

// everyTool gives a world tools that end in every way there is.
func everyTool(w *activitiestest.World) {
	var calls atomic.Int32
	for name, one := range map[string]struct {
		spec tool.Spec
		f    activitiestest.Func
	}{
		"say": {inline, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			return map[string]any{"answer": fmt.Sprint("at ", c.Node), "n": 3, "list": []string{"a", "b"}, "usage": map[string]any{"input_tokens": 3, "output_tokens": 5}}, nil
		}},
		"far": {models, say("from afar")},
		"refuse": {inline, func(context.Context, *tool.Call) (map[string]any, error) {
			return nil, fault.New(fault.Invalid, "Not so.")
		}},
		"shaky": {inline, func(context.Context, *tool.Call) (map[string]any, error) {
			if calls.Add(1)%2 == 1 {
				return nil, fault.New(fault.RateLimited, "Wait.").With(map[string]any{"retry_after_ms": 7000})
			}
			return map[string]any{"answer": "at last"}, nil
		}},
		"panics": {inline, func(context.Context, *tool.Call) (map[string]any, error) { panic("a bug") }},
		"fails":  {inline, func(context.Context, *tool.Call) (map[string]any, error) { return nil, errors.New("no sentence") }},
	} {
		w.Tool(name, one.spec, one.f)
	}
}

// In one step or in many, a run takes the same way to the same end.
//
// Requirements: GRAPH-18 (order; retries; errors)
func TestARunEndsTheSameInOneStepAndInMany(t *testing.T) {
	t.Parallel()
	for name, graph := range map[string]string{
		"five":     fiveNodes,
		"numbers":  `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"say","next":"b"},{"id":"b","type":"switch","branches":[{"when":"vars.a.n == 3 && size(vars.a.list) == 2","next":"c"}],"default":"d"},{"id":"c","type":"end","response":"three"},{"id":"d","type":"end","response":"other"}]}`,
		"then far": `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"say","next":"b"},{"id":"b","type":"tool_call","tool":"far","next":"c"},{"id":"c","type":"tool_call","tool":"say"}]}`,
		"refused":  `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"say","next":"b"},{"id":"b","type":"tool_call","tool":"refuse"}]}`,
		"caught":   `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"refuse","on_error":"b"},{"id":"b","type":"end","response":"${vars.error.message}"}]}`,
		"again":    `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"shaky","max_retries":2}]}`,
		"panic":    `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"panics","max_retries":0}]}`,
		"plain":    `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"fails","max_retries":0}]}`,
		"parallel": `{"kind":"workflow.chat","entrypoint":"both","nodes":[{"id":"both","type":"parallel","branches":[{"next":"l"},{"next":"r"}],"next":"end"},{"id":"l","type":"tool_call","tool":"say","next":"end"},{"id":"r","type":"tool_call","tool":"say","next":"end"},{"id":"end","type":"end","response":"joined"}]}`,
		"endless":  `{"kind":"workflow.chat","entrypoint":"a","max_visits":20,"nodes":[{"id":"a","type":"tool_call","tool":"say","next":"a"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play := func(direct bool) (status run.Status, message, failure string, way []string) {
				w := activitiestest.New(graph)
				everyTool(w)
				b := setup(t, w)
				in := w.Chat("hello", chat.TurnInput{})
				in.Direct = direct
				b.turn(in)
				c := b.closed()
				if c.Message != nil {
					message = c.Message.Content
				}
				var trace run.Trace
				if err := json.Unmarshal(c.End.Trace, &trace); err != nil {
					t.Fatal(err)
				}
				var steps []struct {
					Node    string `json:"node"`
					Outcome string `json:"outcome"`
					Attempt int    `json:"attempt"`
				}
				raw, _ := json.Marshal(trace.Steps)
				if err := json.Unmarshal(raw, &steps); err != nil {
					t.Fatal(err)
				}
				for _, s := range steps {
					way = append(way, fmt.Sprint(s))
				}
				for _, c := range trace.Calls {
					way = append(way, fmt.Sprint(c.Effect, c.Attempt, c.Node, c.Tool, c.Status, c.Error, string(c.Args), string(c.Result)))
				}
				if name == "parallel" { // which branch comes back first is nobody's promise
					slices.Sort(way)
				}
				return c.End.Status, message, string(c.End.Error), way
			}
			s1, m1, f1, w1 := play(false)
			s2, m2, f2, w2 := play(true)
			if s1 != s2 || m1 != m2 || f1 != f2 || !reflect.DeepEqual(w1, w2) {
				t.Errorf("in many steps it ended %s with %q %s by\n%q\nand in one %s with %q %s by\n%q", s1, m1, f1, w1, s2, m2, f2, w2)
			}
		})
	}
}

// An end that is refused at once is written by the workflow, which goes on
// trying.
func TestAnEndThatIsNotWrittenAtOnceIsWrittenLater(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("say", inline, say("well"))
	w.FailClose = []error{errDown, errDown}
	b := setup(t, w)
	steps := b.localActivities()
	b.chat("hello")
	b.answered("well")
	if n := w.Count("answer"); n != 1 || len(*steps) < 2 {
		t.Errorf("the tool was called %d times, in %d local activities", n, len(*steps))
	}
}

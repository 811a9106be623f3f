package workflows_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"liminal/activities/activitiestest"
	"liminal/internal/graph"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// winding are graphs that do everything a graph can do.
var winding = map[string]string{
	"branches": `{"kind":"workflow.chat","entrypoint":"both","nodes":[
		{"id":"both","type":"parallel","branches":[{"next":"a"},{"next":"b"},{"next":"ask"}],"next":"last","on_error":"sorry"},
		{"id":"a","type":"tool_call","tool":"far","next":"a2"},
		{"id":"a2","type":"tool_call","tool":"near"},
		{"id":"b","type":"tool_call","tool":"near","next":"b2"},
		{"id":"b2","type":"tool_call","tool":"far","max_retries":2},
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Which?","timeout_ms":3600000,"next":"ask2"},
		{"id":"ask2","type":"tool_call","tool":"far"},
		{"id":"last","type":"tool_call","tool":"near","next":"end"},
		{"id":"sorry","type":"end","response":"sorry ${vars.error.code}"},
		{"id":"end","type":"end","response":"${vars.last.n}"}]}`,
	"lists": `{"kind":"workflow.chat","entrypoint":"each","nodes":[
		{"id":"each","type":"map","over":[1,2,3,4,5,6,7],"as":"n","body":"look","concurrency":3,"next":"end","on_error":"sorry"},
		{"id":"look","type":"tool_call","tool":"far","max_retries":1,"next":"which"},
		{"id":"which","type":"switch","branches":[{"when":"look.n > 6","next":"ask"},{"when":"look.n > 3","next":"more"},{"when":"true","next":"stop"}]},
		{"id":"more","type":"tool_call","tool":"near","on_error":"stop"},
		{"id":"ask","type":"interrupt","interrupt_type":"action_choice","message":"?","options":["x","y"],"timeout_ms":7200000},
		{"id":"stop","type":"end","data":{"n":1}},
		{"id":"sorry","type":"end","response":"sorry ${vars.error.code}"},
		{"id":"end","type":"end","response":"${vars.each}"}]}`,
	"loop": `{"kind":"workflow.chat","entrypoint":"ask","nodes":[
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"?","timeout_ms":3600000,"next":"look"},
		{"id":"look","type":"tool_call","tool":"far","next":"which"},
		{"id":"which","type":"switch","branches":[{"when":"look.n > 6","next":"end"},{"when":"true","next":"ask"}]},
		{"id":"end","type":"end","response":"${vars.ask?}"}]}`,
	"children": `{"kind":"workflow.chat","entrypoint":"both","nodes":[
		{"id":"both","type":"parallel","branches":[{"next":"sub"},{"next":"b"}],"next":"agent","on_error":"agent"},
		{"id":"sub","type":"workflow","workflow":"child","max_retries":1},
		{"id":"b","type":"tool_call","tool":"far"},
		{"id":"agent","type":"agent","tools":["near","far"],"system":"s"}]}`,
}

// chancy is a world whose tools answer and fail by chance.
func chancy(doc string, seed uint64) *activitiestest.World {
	var mu sync.Mutex
	chance := rand.New(rand.NewPCG(seed, 7))
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return chance.IntN(n)
	}
	answer := func(context.Context, *tool.Call) (map[string]any, error) {
		if draw(6) == 0 {
			return nil, errDown
		}
		return map[string]any{"n": float64(draw(10))}, nil
	}
	w := activitiestest.New(doc).Tool("near", inline, answer).Tool("far", apart, answer).
		Tool(graph.StepTool, models, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			if said, _ := c.Inputs["transcript"].([]any); len(said) > 6 || draw(3) == 0 {
				return map[string]any{"text": fmt.Sprint("done ", draw(9)), "tool_calls": []any{}, "stop": "end_turn", "model": "m1"}, nil
			}
			return map[string]any{"text": "", "content": []any{}, "tool_calls": []any{
				map[string]any{"id": "1", "name": []string{"near", "far"}[draw(2)], "arguments": map[string]any{}},
				map[string]any{"id": "2", "name": "near", "arguments": map[string]any{}},
			}}, nil
		})
	w.Workflows["child"] = `{"kind":"workflow.chat","entrypoint":"ask","nodes":[
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Who?","timeout_ms":3600000,"next":"near"},
		{"id":"near","type":"tool_call","tool":"near"}]}`
	return w
}

// people answer every question that is put to the run itself, but for some.
func (b *bundle) people(seed uint64) {
	for hour := range 200 {
		b.env.RegisterDelayedCallback(func() {
			for i := range len(b.world.Order) {
				q, ok := b.world.Question(i)
				if !ok || q.Status != run.Pending || (uint64(i)+seed)%4 == 0 {
					continue
				}
				a := b.world.Claim(i, "x", false)
				if q.EffectID[:3] == "sub" {
					_ = b.env.SignalWorkflowByID(q.WorkflowID, "answer", a) // a child that is gone needs none
					continue
				}
				b.signal(a)
			}
		}, time.Duration(hour+1)*20*time.Minute)
	}
}

// Whatever a run does, in whichever order things come, it leaves a recording by
// which the same graph goes the same way.
//
// Requirements: CFG-11, GRAPH-30
func TestEveryRunLeavesARecordingThatRehearsesToTheSameWay(t *testing.T) {
	t.Parallel()
	for name, doc := range winding {
		for seed := range uint64(30) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				t.Parallel()
				w := chancy(doc, seed)
				most := 0
				if seed%2 == 1 && (name == "branches" || name == "loop") {
					most = 3
				}
				executions(t, w, most, func(b *bundle, _ int) {
					b.set.Record = true
					b.people(seed)
				})
				head, rec := recordingOf(t, w)
				p := rehearsed(t, w, doc, rec)
				// Which of two items of a list comes first is no part of the way.
				if !slices.Equal(slices.Sorted(slices.Values(p.Path)), slices.Sorted(slices.Values(taken(rec.Steps)))) || len(p.Divergences) != 0 || len(p.Unused) != 0 {
					t.Errorf("rehearsed, the run goes %v with %v and leaves %v unused; it went %v (%s)", p.Path, p.Divergences, p.Unused, taken(rec.Steps), head.Status)
				}
				if p.Outcome.Response != rec.Outcome.Response || (p.Outcome.Err == nil) != (rec.Outcome.Err == nil) || p.Outcome.Cancelled != rec.Outcome.Cancelled {
					t.Errorf("rehearsed, the run ends %+v; it ended %+v", p.Outcome, rec.Outcome)
				}
			})
		}
	}
}

package graph_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"liminal/internal/graph"
)

func putOff(ms any, state any) map[string]any {
	return map[string]any{"later": map[string]any{"after_ms": ms, "state": state}}
}

// A tool that puts its answer off is called again after a pause that is none of
// the run's time, with what it wants back; what is seen of it is one step.
func TestAToolThatPutsItsAnswerOffIsCalledAgain(t *testing.T) {
	t.Parallel()
	g := parsed(t, `{"id":"a","type":"tool_call","tool":"echo","inputs":{"x":1},"outputs":["v"],"next":"end"},{"id":"end","type":"end","response":"${vars.v}"}`)
	r, effects := g.Start(graph.Input{Now: epoch})
	now := epoch
	for i := range 90 { // a minute each, and a run may take two
		e := effects[0]
		if want := map[bool]string{true: "a#1", false: "a#1.l" + strconv.Itoa(i)}[i == 0]; len(effects) != 1 || e.ID != want || e.Call == nil || e.Attempt != 1 || graph.FirstCall(e.ID) != "a#1" {
			t.Fatalf("call %d is %s", i, compact(effects))
		}
		if i > 0 && compact([]any{e.Call.Resume}) != compact([]any{map[string]any{"state": map[string]any{"seen": i}}}) {
			t.Fatalf("call %d resumes with %v", i, e.Call.Resume)
		}
		now = now.Add(time.Second)
		effects = r.Done(e.ID, putOff(60_000, map[string]any{"seen": i + 1}), now)
		r = again(t, g, r)
		if len(effects) != 1 || effects[0].Kind != graph.KindWait || !effects[0].Wait.Until.Equal(now.Add(time.Minute)) || r.Waiting() {
			t.Fatalf("after call %d: %s", i, compact(effects))
		}
		now = now.Add(time.Minute)
		effects = r.Done(effects[0].ID, nil, now)
		r = again(t, g, r)
	}
	r.Done(effects[0].ID, map[string]any{"v": "done"}, now)
	out, ended := r.Outcome()
	if !ended || out.Err != nil || out.Response != "done" {
		t.Fatalf("outcome %+v", out)
	}
	if trace := r.Trace(); len(trace) != 2 || trace[0].Effect != "a#1" || trace[0].Outcome != graph.ResultOK || trace[0].Ended.Sub(trace[0].Started) != 90*61*time.Second {
		t.Errorf("trace %+v", trace)
	}
}

func TestAPauseIsBoundedAndEndsWithTheRun(t *testing.T) {
	t.Parallel()
	g := parsed(t, `{"id":"a","type":"tool_call","tool":"echo"}`)
	for name, c := range map[string]struct {
		ms   any
		want string
	}{
		"no number": {"soon", "it is a number from 1 to 60000"}, "none": {0, "it is a number from 1 to 60000"},
		"too long": {60_001, "it is a number from 1 to 60000"}, "for ever": {60_000, "2h0m0s are allowed"}, "too often": {1, "at most 1000 times"},
	} {
		r, effects := g.Start(graph.Input{Now: epoch})
		for now := epoch; len(effects) > 0; {
			if effects[0].Wait != nil {
				now = effects[0].Wait.Until
			}
			effects = r.Done(effects[0].ID, putOff(c.ms, nil), now)
		}
		if out, ended := r.Outcome(); !ended || out.Err == nil || !strings.Contains(out.Err.Message, c.want) {
			t.Errorf("%s: %+v", name, out)
		}
	}
	r, effects := g.Start(graph.Input{Now: epoch})
	r.Done(effects[0].ID, putOff(1000, nil), epoch)
	r.Cancel(epoch)
	if out, ended := r.Outcome(); !ended || !out.Cancelled {
		t.Errorf("a cancel in a pause: %+v, %v", out, ended)
	}
	r, effects = g.Start(graph.Input{Now: epoch})
	effects = r.Done(effects[0].ID, putOff(1000, nil), epoch)
	effects = r.Done(effects[0].ID, nil, epoch.Add(time.Second))
	effects = r.Fail(effects[0].ID, graph.Failure{Code: "server_error", Message: "broke", Retryable: true}, epoch.Add(time.Second))
	if len(effects) != 1 || effects[0].ID != "a#1.l1~1" || effects[0].Kind != graph.KindWait {
		t.Errorf("a failure after a pause gives %s", compact(effects))
	}
}

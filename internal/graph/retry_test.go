package graph_test

import (
	"testing"
	"time"

	"liminal/internal/graph"
)

// givenUp is a failure that says nothing of what the call was given.
var givenUp = graph.Failure{Code: "internal", Message: "too busy", Retryable: true, Soon: true, GivenUp: true}

// What was given up counts as no attempt, up to a bound: those of the node's own
// are left. The pauses grow, and a snapshot keeps the count.
func TestAnAttemptThatWasGivenUpCountsAsNone(t *testing.T) {
	t.Parallel()
	doc := documentOf(`{"id":"a","type":"tool_call","tool":"echo","max_retries":1}`)
	g, err := graph.Parse([]byte(doc), registry([]graph.Tool{{Name: "echo", Idempotent: true}}), graph.JobLimits())
	if err != nil {
		t.Fatal(err)
	}
	r, effects := g.Start(graph.Input{Now: epoch})
	now, pauses := epoch, []time.Duration{}
	fail := func(f graph.Failure) {
		effects = r.Fail(effects[0].ID, f, now)
		r = again(t, g, r)
		if len(effects) != 1 || effects[0].Kind != graph.KindWait {
			return
		}
		pauses = append(pauses, effects[0].Wait.Until.Sub(now))
		now = effects[0].Wait.Until
		effects = r.Done(effects[0].ID, nil, now)
		r = again(t, g, r)
	}
	for range 12 {
		fail(givenUp)
	}
	if first, last := pauses[0], pauses[len(pauses)-1]; len(pauses) != 12 || first != 50*time.Millisecond || last != time.Minute {
		t.Fatalf("the pauses are %v", pauses)
	}
	fail(graph.Failure{Code: "internal", Message: "no", Retryable: true})
	if n := len(pauses); n != 13 || pauses[12] != time.Second {
		t.Fatalf("the node's own first retry comes after %v", pauses[12:])
	}
	fail(givenUp) // one too many: it counts
	if out, ended := r.Outcome(); !ended || out.Err == nil || out.Err.Message != "too busy" || out.Err.GivenUp {
		t.Fatalf("outcome %+v", out)
	}
}

// A call that may not be made twice is not made again for having been given up:
// nobody knows how far it came.
func TestWhatMayNotBeRepeatedIsNotRepeatedWhenItWasGivenUp(t *testing.T) {
	t.Parallel()
	g := parsed(t, `{"id":"a","type":"tool_call","tool":"echo","max_retries":0}`)
	r, effects := g.Start(graph.Input{Now: epoch})
	if effects = r.Fail(effects[0].ID, givenUp, epoch); len(effects) > 0 {
		t.Fatalf("it goes on with %s", compact(effects))
	}
	if out, ended := r.Outcome(); !ended || out.Err == nil {
		t.Errorf("outcome %+v", out)
	}
}

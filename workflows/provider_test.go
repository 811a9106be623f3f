package workflows_test

import (
	"testing"

	"liminal/activities/activitiestest"
	"liminal/internal/fault"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// Requirements: API-17
func TestWhyAProviderFailedReachesThePerson(t *testing.T) {
	t.Parallel()
	for reason, tries := range map[string]int{fault.Upstream: 3, fault.NotConfigured: 1} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			down := fault.New(fault.Internal, "The model is away.").With(map[string]any{"reason": reason})
			b := setup(t, activitiestest.New(oneNode).Tool("say", models, failing(99, down)))
			b.chat("hello")
			if c := b.closed(); c.End.Status != run.Failed {
				t.Errorf("the turn ended %s", c.End.Status)
			}
			last := b.world.Event(stream.Error)
			if last["code"] != string(fault.Internal) || last["reason"] != reason || last["message"] != down.Message {
				t.Errorf("the error event is %v", last)
			}
			if n := b.world.Count("answer"); n != tries {
				t.Errorf("the tool was called %d times, want %d", n, tries)
			}
		})
	}
}

// A call with half of its arguments is asked for again; where it stays so, the
// person is told what happened, and nothing was called.
//
// Requirements: CLAUDE-13, API-17
func TestACallWithTornArgumentsIsToldAfterThreeTries(t *testing.T) {
	t.Parallel()
	for _, wire := range []string{"openai", "anthropic"} {
		for name, c := range map[string]struct {
			answers []spoken
			want    run.Status
			asked   int
		}{
			"always": {[]spoken{{call: `{"status":"op`}}, run.Failed, 3},
			"once":   {[]spoken{{call: `{"status":"op`}, {call: `{"status":"open"}`}, {text: "Die Klageerwiderung."}}, run.Done, 3},
		} {
			t.Run(wire+", "+name, func(t *testing.T) {
				t.Parallel()
				b, p := groundedTurn(t, wire, c.answers...)
				b.chat("Was steht an?")
				if end := b.closed().End; end.Status != c.want || len(p.asked) != c.asked {
					t.Errorf("the turn is %s, the model was asked %d times", end.Status, len(p.asked))
				}
				if c.want == run.Done {
					return
				}
				last := b.world.Event(stream.Error)
				if last["reason"] != fault.Upstream || last["message"] != "The language model called the tool search_my_deadlines with arguments that are no JSON. Try again." {
					t.Errorf("the person is told %v", last)
				}
				if n := b.world.Count("ask"); n != 3 {
					t.Errorf("%d steps were made", n)
				}
			})
		}
	}
}

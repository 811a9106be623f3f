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

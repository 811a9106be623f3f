package workflows_test

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/run"
	"liminal/workflows"
)

// heard is what becomes of an update.
type heard struct {
	accepted bool
	err      error // it was refused
}

func (h *heard) Accept()             { h.accepted = true }
func (h *heard) Reject(err error)    { h.err = err }
func (h *heard) Complete(any, error) {}

// update claims the i-th question and sends its answer as an update.
func (b *bundle) update(i int, value any) *heard {
	b.Helper()
	a, h := b.world.Claim(i, value, false), &heard{}
	b.env.UpdateWorkflow(workflows.UpdateAnswer, "u", h, activities.Answer{InterruptID: a.InterruptID})
	return h
}

// What was answered is read from the row; the update says which question it is.
// Only its sender knows when it is the run's for good, so nothing here marks it.
//
// Requirements: INT-03, INT-06
func TestAnAnswerThatComesAsAnUpdateIsReadFromItsRowAndNotMarked(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneQuestion).Tool("say", models, say("seen"))
	b := setup(t, w)
	var first *heard
	b.env.RegisterDelayedCallback(func() { first = b.update(0, "summarize") }, time.Hour)
	b.chat("do both")
	b.answered("chosen: summarize")
	if !first.accepted || first.err != nil {
		t.Errorf("it was taken as %+v", first)
	}
	if q := w.Questions[w.Order[0]]; q.Delivered || q.Status != run.Answered {
		t.Errorf("the question is %s, delivered: %t; it is marked when Temporal has kept the step", q.Status, q.Delivered)
	}
}

// Whoever reaches Temporal can send a signal that is no answer. It must not keep
// the run from hearing the true one.
func TestASignalThatIsNoAnswerHoldsNoUpdateUp(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneQuestion).Tool("say", models, say("seen"))
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() { b.env.SignalWorkflow(workflows.SignalAnswer, "no answer") }, time.Hour)
	b.env.RegisterDelayedCallback(func() { b.update(0, "compare") }, 2*time.Hour)
	b.chat("do both")
	b.answered("chosen: compare")
}

func TestAnUpdateForAQuestionThatIsNotPutIsRefused(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneQuestion).Tool("say", models, say("seen"))
	b := setup(t, w)
	refused := &heard{}
	b.env.RegisterDelayedCallback(func() {
		b.env.UpdateWorkflow(workflows.UpdateAnswer, "u", refused, activities.Answer{InterruptID: "unknown"})
	}, time.Hour)
	b.env.RegisterDelayedCallback(func() { b.answer(0, "compare") }, 2*time.Hour)
	b.chat("do both")
	b.answered("chosen: compare")
	var refusal *temporal.ApplicationError
	if refused.accepted || !errors.As(refused.err, &refusal) || refusal.Type() != workflows.TypeNotAsked {
		t.Errorf("it was taken as %+v", refused)
	}
}

package worker

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/workflows"
)

// marks counts the writes that mark answers.
type marks struct {
	run.Interrupts
	writes chan int // how many each had
}

func (m marks) Delivered(ctx context.Context, v identity.Viewer, ids ...string) error {
	m.writes <- len(ids)
	return m.Interrupts.Delivered(ctx, v, ids...)
}

// Requirements: INT-06, OPS-09
func TestAnAnswerIsAnUpdateAndCountsWhenTheRunHasIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, writes := setup(t), make(chan int, 9)
		b.engine.o.Interrupts = marks{b.engine.o.Interrupts, writes}
		b.front.updates = true
		var want []string
		var asked []run.Interrupt
		for range 3 {
			r := b.turn(run.Waiting)
			asked = append(asked, b.ask(t, r, run.Interrupt{Type: "text_input"}))
			want = append(want, "update "+r.WorkflowID)
		}
		for _, q := range asked {
			if _, err := b.engine.Answer(t.Context(), viewer, q.ID, run.Answer{Value: "yes"}); err != nil {
				t.Fatal(err)
			}
		}
		calls := slices.Sorted(slices.Values(b.calls()))
		if slices.Sort(want); !slices.Equal(calls, want) {
			t.Errorf("Temporal was called %v, want %v", calls, want)
		}
		if len(writes) != 0 {
			t.Error("each answer is marked by a write of its own")
		}
		time.Sleep(markEvery)
		synctest.Wait()
		if n := <-writes; n != 3 || len(writes) != 0 {
			t.Errorf("marked were %d at first and then others, want three at once", n)
		}
		b.engine.pass(t.Context(), map[string]look{}, time.Second, 0)
		if n := len(b.signals()); n != 0 {
			t.Errorf("%d answers were sent again", n)
		}
	})
}

// Requirements: OPS-09
func TestAnAnswerThatIsNotTakenInTimeIsSignalled(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]bool{"when its time is up": false, "when the process ends": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.engine = NewEngine(Options{Client: deaf{b.front}, Activities: b.set})
				q := b.ask(t, b.turn(run.Waiting), run.Interrupt{Type: "text_input"})
				began := time.Now()
				if _, err := b.engine.Answer(t.Context(), viewer, q.ID, run.Answer{Value: "yes"}); err != nil || time.Since(began) > 0 {
					t.Fatalf("the person waited %s (%v)", time.Since(began), err)
				}
				if left {
					b.engine.Close()
				}
				if s := b.signals(); len(s) != 1 || s[0].Answer != "yes" {
					t.Errorf("the signals are %+v", s)
				}
				if took := time.Since(began); !left && took != updateLimit || left && took > 0 {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// A refusal is no error of the call. What a run has already is not sent to it for
// ever; what it does not wait for yet, as when the step that asked is made again,
// is signalled, and not taken for delivered.
//
// Requirements: OPS-09
func TestARefusedAnswerIsDeliveredOnlyIfTheRunHasIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refusal   string
		signals   int
		delivered bool
	}{
		"the run has it":          {workflows.TypeAnswered, 0, true},
		"the run has yet to ask":  {workflows.TypeNotAsked, 1, false},
		"the update is not known": {"", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, send := range []func(b *bundle, q run.Interrupt){
				func(b *bundle, q run.Interrupt) { b.engine.Send(t.Context(), q) },
				func(b *bundle, _ run.Interrupt) { b.engine.resend(t.Context(), 0) }, // a mark was lost
			} {
				b := setup(t)
				b.front.updates, b.front.refusal = true, temporal.NewApplicationError("refused", c.refusal)
				q := b.ask(t, b.turn(run.Waiting), run.Interrupt{Type: "text_input"})
				q, err := b.set.Interrupts.Answer(t.Context(), viewer, q.ID, run.Answered, []byte(`"yes"`))
				if err != nil {
					t.Fatal(err)
				}
				send(b, q)
				b.engine.Close()
				q, err = b.set.Interrupts.Interrupt(t.Context(), viewer, q.ID)
				if err != nil || q.Delivered != c.delivered || len(b.signals()) != c.signals {
					t.Errorf("delivered: %t (%v), with %d signals; want %t with %d", q.Delivered, err, len(b.signals()), c.delivered, c.signals)
				}
			}
		})
	}
}

// Requirements: OPS-09
func TestTheAnswerToARunThatIsGoneIsNotSentForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		r := b.turn(run.Waiting)
		q := b.ask(t, r, run.Interrupt{Type: "text_input"})
		delete(b.front.status, r.WorkflowID)
		if _, err := b.engine.Answer(t.Context(), viewer, q.ID, run.Answer{Value: "yes"}); err != nil {
			t.Fatal(err)
		}
		b.engine.sending.Wait()
		b.engine.resend(t.Context(), 0)
		time.Sleep(markEvery)
		synctest.Wait()
		if lost, err := b.set.Interrupts.Undelivered(t.Context(), identity.System(), 0); err != nil || len(lost) != 0 {
			t.Errorf("sent again for ever is %+v (%v)", lost, err)
		}
	})
}

// deaf is a frontend whose workflows take no updates in.
type deaf struct{ *frontend }

func (deaf) UpdateWorkflow(ctx context.Context, _ client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

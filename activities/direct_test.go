package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/temporal"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/tool"
)

const oneTool = `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"say"}]}`

// endless is a run that always wants the same call.
type endless struct {
	in    activities.RunInput
	began int
	last  error
	ended bool
}

func (e *endless) Start(activities.Opened, time.Time)                     {}
func (e *endless) Answer(map[string]activities.Answer, time.Time)         {}
func (e *endless) Called(_ activities.CallResult, err error, _ time.Time) { e.last = err }

func (e *endless) Next() (activities.CallInput, bool) {
	e.began++
	return activities.CallInput{Run: e.in, Tool: run.Pin{Name: "say"}, Effect: "a#1", Node: "a", Attempt: 1}, !e.ended
}

func (e *endless) End(time.Time) (activities.CloseInput, bool) {
	return activities.CloseInput{Run: e.in, Outcome: graph.Outcome{Response: "over"}}, e.ended
}

// One opening goes on with a run for a second, for so many calls, and for so many
// bytes: a worker that dies loses no more.
//
// Requirements: PLAT-03 (chat turns)
func TestAnOpeningGoesOnWithARunForABoundedWhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes time.Duration
		says  string
		want  int
	}{
		"calls": {0, "x", 64},
		"time":  {300 * time.Millisecond, "x", 4},
		"bytes": {0, strings.Repeat("x", 60<<10), 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := activitiestest.New(oneTool).Tool("say", tool.Spec{Runs: tool.Inline}, func(context.Context, *tool.Call) (map[string]any, error) {
					time.Sleep(c.takes)
					return map[string]any{"said": c.says}, nil
				})
				d := &endless{in: w.Chat("hello", chat.TurnInput{})}
				o, err := w.Set().OpenDirect(t.Context(), d.in, activities.Ahead{Driver: d, At: time.Unix(1e9, 0)})
				if err != nil || o.Direct == nil || len(o.Direct.Calls) != c.want || o.Direct.Closed != nil {
					t.Errorf("it made %d calls (%v), want %d", len(o.Direct.Calls), err, c.want)
				}
				if at := o.Direct.Calls[len(o.Direct.Calls)-1].At; at.Sub(time.Unix(1e9, 0)) != time.Duration(c.want)*c.takes {
					t.Errorf("the last call came back at %s by the workflow's clock", at)
				}
				synctest.Wait()
			})
		})
	}
}

// What a call failed with is the same when the history is read again.
func TestTheErrorOfADirectCallIsTheOneOfItsHistory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f     func() error
		kind  string
		final bool
	}{
		"a fault": {func() error {
			return fault.New(fault.RateLimited, "Wait.").With(map[string]any{"retry_after_ms": int64(7000)})
		}, "rate_limited", false},
		"a refusal":    {func() error { return fault.New(fault.Invalid, "Not so.") }, "validation_error", true},
		"any":          {func() error { return errors.New("secret") }, "server_error", false},
		"the engine's": {func() error { return temporal.NewApplicationError("Given up.", activities.TypeStopped) }, activities.TypeStopped, false},
		"a panic":      {func() error { panic("a bug") }, "PanicError", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := activitiestest.New(oneTool)
			d := &endless{in: w.Chat("hello", chat.TurnInput{})}
			w.Tool("say", tool.Spec{Runs: tool.Inline}, func(context.Context, *tool.Call) (map[string]any, error) {
				d.ended = true
				return nil, c.f()
			})
			o, err := w.Set().OpenDirect(t.Context(), d.in, activities.Ahead{Driver: d})
			if err != nil || len(o.Direct.Calls) != 1 {
				t.Fatalf("%+v, %v", o.Direct, err)
			}
			_, err = o.Direct.Calls[0].Returned()
			var app *temporal.ApplicationError
			if !errors.As(err, &app) || app.Type() != c.kind || app.NonRetryable() != c.final || strings.Contains(err.Error(), "secret") {
				t.Errorf("it failed with %v, want a %s", err, c.kind)
			}
			if d.last == nil || d.last.Error() != err.Error() {
				t.Errorf("the machine was told %v, the history has %v", d.last, err)
			}
			if o.Direct.Closed == nil || len(w.Closed) != 1 {
				t.Errorf("the run's end was written %d times", len(w.Closed))
			}
		})
	}
}

// hung is a store that answers after a while that it cannot.
type hung struct {
	run.Runs
	after time.Duration
}

func (h hung) Run(context.Context, identity.Viewer, string) (run.Run, error) {
	time.Sleep(h.after)
	return run.Run{}, fault.New(fault.Internal, "The database does not answer.")
}

// A store that is down is waited for as long as ever, though what opens a run may
// take longer now.
func TestAStoreThatStaysDownEndsTheOpening(t *testing.T) {
	t.Parallel()
	for after, final := range map[time.Duration]bool{time.Second: false, 2 * time.Minute: true} {
		synctest.Test(t, func(t *testing.T) {
			w := activitiestest.New(oneTool)
			set, in := w.Set(), w.Chat("hello", chat.TurnInput{})
			set.Runs = hung{set.Runs, after}
			_, err := set.OpenDirect(t.Context(), in, activities.Ahead{Driver: &endless{in: in}})
			var app *temporal.ApplicationError
			if err == nil || errors.As(err, &app) && app.NonRetryable() != final || final != (app != nil) {
				t.Errorf("after %s it gives %v", after, err)
			}
		})
	}
}

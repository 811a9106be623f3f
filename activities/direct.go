package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"liminal/internal/fault"
	"liminal/internal/graph"
)

// Driver drives a run's machine beside its workflow. It belongs to the worker
// that has the workflow in hand and never travels: a local activity is given
// its arguments as they are. One activity at a time uses it.
type Driver interface {
	// Start begins the run with what was found for it, as JSON has it. now is
	// the time of the workflow's clock, here and below.
	Start(o Opened, now time.Time)
	// Answer goes on with a run that waits for a person, with what was answered,
	// by the ids of questions.
	Answer(given map[string]Answer, now time.Time)
	// Next is the call that comes next; false when something else does, or
	// several things at once, or nothing.
	Next() (CallInput, bool)
	// Called hands what came of that call to the machine.
	Called(r CallResult, err error, now time.Time)
	// End is how the run ended, for Close; false while it has not, or where its
	// end is not an activity's to write.
	End(now time.Time) (CloseInput, bool)
}

// Ahead is how an activity goes on with a run; the zero value: not at all.
type Ahead struct {
	Driver Driver
	At     time.Time // of the workflow's clock when it asked
}

// Opening is what Open found, and how far the run has come since.
type Opening struct {
	Opened
	Direct *Direct `json:"direct,omitempty"` // nil: it was not gone on with
}

// Direct is how far an activity has come with a run by itself: what a local
// activity for each call, and one for the end, would have given the history one
// by one. The workflow's own machine takes it in, in order and by its times, and
// then stands where the activity left off.
type Direct struct {
	Began  time.Time    `json:"began"` // the run's graph, or its going on
	Calls  []DirectCall `json:"calls,omitempty"`
	Closed *Result      `json:"closed,omitempty"` // nil: the run's end is not written
}

// DirectCall is what came of one call.
type DirectCall struct {
	Effect string          `json:"effect"`           // as in CallInput
	Result json.RawMessage `json:"result,omitempty"` // a CallResult
	Failed *DirectFailure  `json:"failed,omitempty"` // instead
	At     time.Time       `json:"at"`               // it came back
}

// DirectFailure is the error of a call as it goes into the history.
type DirectFailure struct {
	Type    string          `json:"type,omitempty"`
	Message string          `json:"message"`
	Final   bool            `json:"final,omitempty"` // trying again would not help
	Details json.RawMessage `json:"details,omitempty"`
}

// Returned is what came of the call, the same now as when the history is read
// again.
func (c DirectCall) Returned() (r CallResult, err error) {
	if f := c.Failed; f != nil {
		o := temporal.ApplicationErrorOptions{NonRetryable: f.Final}
		var details any
		if json.Unmarshal(f.Details, &details) == nil {
			o.Details = []any{details}
		}
		return r, temporal.NewApplicationErrorWithOptions(f.Message, f.Type, o)
	}
	return r, json.Unmarshal(c.Result, &r)
}

const (
	// directTime is for how long an activity begins calls of a run by itself. A
	// worker that dies has them made again, and what a person cancels stops at
	// the next call.
	directTime = time.Second
	// directCalls bounds them, and directBytes their results together: they are
	// one value of the history.
	directCalls = 64
	directBytes = 256 << 10
)

// OpenDirect is Open for a worker, which goes on with the run at once, as far as
// nothing comes next but calls that this process makes itself: the default
// turn is one local activity, and not one for each of its steps (PLAT-03).
// Without a driver it only opens.
func (s *Set) OpenDirect(ctx context.Context, in RunInput, a Ahead) (Opening, error) {
	asked := scheduled(ctx)
	o, err := s.Open(ctx, in)
	out := Opening{Opened: o}
	if err != nil && time.Since(asked) > in.OpenLimit() { // the engine's own bound is for the calls too
		return out, temporal.NewNonRetryableApplicationError(fault.From(err).Message, string(fault.CodeOf(err)), nil)
	}
	if err != nil || a.Driver == nil {
		return out, err
	}
	read, err := o.asRead()
	if err != nil {
		return out, err
	}
	out.Direct = s.goOn(ctx, in, a.Driver, clock(a.At, asked), func(now time.Time) { a.Driver.Start(read, now) })
	return out, nil
}

// DeliverDirect is to Deliver as OpenDirect to Open.
func (s *Set) DeliverDirect(ctx context.Context, in DeliverInput, a Ahead) (Delivered, error) {
	asked := scheduled(ctx)
	out, err := s.deliverInTime(ctx, in)
	if err != nil {
		return out, err
	}
	if a.Driver == nil {
		return out, s.markRunning(ctx, in, &Direct{})
	}
	read, err := asRead(out)
	if err != nil {
		return out, err
	}
	out.Direct = s.goOn(ctx, in.Run, a.Driver, clock(a.At, asked), func(now time.Time) { a.Driver.Answer(read.Answers, now) })
	return out, s.markRunning(ctx, in, out.Direct)
}

// markRunning marks a run as running again that was given its answer by an update.
// One that has come to its end already is spared the write. Where it cannot be
// written and calls were made, they are not made again for it: the run waits by
// its row until its end is written.
func (s *Set) markRunning(ctx context.Context, in DeliverInput, done *Direct) error {
	if !in.Update || done.Closed != nil {
		return nil
	}
	err := s.Interrupts.Deliver(ctx, in.Run.Viewer, in.Run.RunID)
	if err != nil && len(done.Calls) > 0 {
		s.logger().WarnContext(ctx, "a run goes on while its row says that it waits", "run", in.Run.RunID, "error", err)
		return nil
	}
	return err
}

// asRead is v as the workflow will read it, which the run goes on with: numbers
// and lists are other types before they were JSON.
func asRead[T any](v T) (read T, err error) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &read)
	}
	return read, err
}

// asRead is asRead of the members that JSON may change, which spares a turn most
// of the work: the others come out of JSON as they went in. A parsed graph tells
// of the very bytes it was parsed from, so documents are written here as in the history.
func (o Opened) asRead() (Opened, error) {
	for _, m := range []*map[string]any{&o.Input, &o.Persisted, &o.Conversation, &o.User} {
		if *m == nil {
			continue
		}
		read, err := asRead(*m)
		if err != nil {
			return o, err
		}
		*m = read
	}
	for _, raw := range []*json.RawMessage{&o.Graph, &o.Routing, &o.Router} {
		if len(*raw) == 0 {
			continue
		}
		read, err := json.Marshal(*raw) // no spaces, and < > & as Marshal writes them
		if err != nil {
			return o, err
		}
		*raw = read
	}
	return o, nil
}

// deliverInTime bounds Deliver where the engine's bound is for more.
func (s *Set) deliverInTime(ctx context.Context, in DeliverInput) (Delivered, error) {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	return s.Deliver(ctx, in)
}

// scheduled is when a local activity was asked for: an earlier attempt may have
// waited for the store.
func scheduled(ctx context.Context) time.Time {
	if activity.IsActivity(ctx) {
		return activity.GetInfo(ctx).ScheduledTime
	}
	return time.Now()
}

// clock goes on from at, the time of the workflow's when it asked.
func clock(at, asked time.Time) func() time.Time {
	return func() time.Time { return at.Add(time.Since(asked)).UTC() }
}

// goOn begins, makes the calls that come next, and writes the run's end if it
// comes to it. What is not done here the workflow does.
func (s *Set) goOn(ctx context.Context, in RunInput, d Driver, clock func() time.Time, begin func(now time.Time)) *Direct {
	out := &Direct{Began: clock()}
	begin(out.Began)
	until, bytes := time.Now().Add(directTime), 0
	for len(out.Calls) < directCalls && bytes < directBytes && time.Now().Before(until) && ctx.Err() == nil {
		next, ok := d.Next()
		if !ok {
			break
		}
		s.ReleaseSlot(in) // each call waits for one of its own
		c := s.direct(ctx, next)
		c.At = clock()
		r, err := c.Returned()
		d.Called(r, err, c.At)
		out.Calls = append(out.Calls, c)
		bytes += len(c.Result)
	}
	end, ended := d.End(clock())
	if !ended || ctx.Err() != nil {
		return out
	}
	closed, err := s.Close(ctx, end)
	if err != nil {
		// The workflow writes it, and goes on trying.
		s.logger().WarnContext(ctx, "a run's end was not written at once", "run", in.RunID, "error", err)
		return out
	}
	out.Closed = &closed
	return out
}

// direct makes one call. A tool that panics fails its call.
func (s *Set) direct(ctx context.Context, in CallInput) (c DirectCall) {
	c.Effect = in.Effect
	defer func() {
		if p := recover(); p != nil {
			s.logger().ErrorContext(ctx, "a tool panicked", "tool", in.Tool.Name, "panic", p, "stack", string(debug.Stack()))
			c.Result, c.Failed = nil, &DirectFailure{Type: "PanicError", Message: fmt.Sprint(p), Final: true}
		}
	}()
	r, err := s.Call(ctx, in)
	if err == nil {
		c.Result, err = json.Marshal(r)
	}
	if err != nil {
		c.Failed = directFailure(AsTemporal(ctx, s.logger(), err))
	}
	return c
}

func directFailure(err error) *DirectFailure {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) { // a context that ended: its time was up, or the worker's
		f := &DirectFailure{Type: graph.CodeTimeout, Message: LateMessage}
		f.Details, _ = json.Marshal(WithSaid(nil, fault.Say(LateMessage)))
		return f
	}
	f := &DirectFailure{Type: app.Type(), Message: app.Message(), Final: app.NonRetryable()}
	var details any
	if app.HasDetails() && app.Details(&details) == nil {
		f.Details, _ = json.Marshal(details) // what JSON cannot say, no history has either
	}
	return f
}

package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/tool"
)

// heartbeatEvery is how often a call that takes long says that it lives. The
// worker's heartbeats are throttled to the same interval; a cancel reaches a
// call in another process with the next one.
const heartbeatEvery = time.Second

// TypeStopped is the type of the error of a call that its worker gave up
// because it was asked to end, or because the engine no longer heard of it.
// Nothing is wrong with the tool.
const TypeStopped = "worker_stopped"

// LateMessage is what a person reads of a step whose time was up.
const LateMessage = "The step took longer than it may."

// StoppedMessage is what a person reads where a step was given up that often
// that it is not tried again: of a file that was not read, or a turn that
// failed.
const StoppedMessage = "The program was too busy to finish this, or was stopped meanwhile. Nothing is wrong with what you gave it: try again."

// call is Call without the telling.
func (s *Set) call(ctx context.Context, in CallInput) (CallResult, error) {
	if err := s.stands(ctx, in.Run.Viewer); err != nil {
		return CallResult{}, err
	}
	bound, err := s.Artifacts.SpecAt(ctx, in.Run.Viewer, in.Tool, in.Under...)
	if err != nil {
		return CallResult{}, err
	}
	if in.Run.Viewer, err = s.caller(ctx, in.Run.Viewer, bound.Spec); err != nil {
		return CallResult{}, err
	}
	inputs, err := s.resolve(ctx, in.Run.Viewer, in.Inputs)
	if err != nil {
		return CallResult{}, err
	}
	ctx, release := s.calls.watch(ctx, in.Run.RunID)
	defer release()
	stop := pulse(ctx)
	defer stop()
	done, err := s.acquireCallSlot(ctx, in, bound.Spec)
	if err != nil {
		if stopped(ctx) {
			return CallResult{Stopped: true}, nil
		}
		return CallResult{}, err
	}
	defer done()
	ctx, cancel := within(ctx, max(in.Timeout, in.Longest))
	defer cancel()

	events := &callEvents{set: s, in: in, started: s.now(), kind: bound.ContentType, spec: &bound.Spec}
	arguments, _ := inputs.(map[string]any)
	events.begin(ctx, arguments)
	asked, meter := events.call(ctx, arguments), &usageMeter{set: s, in: in}
	asked.Afford, asked.Spent = meter.afford, meter.add
	lessons, err := s.choose(ctx, in, bound.Spec, asked)
	if err != nil {
		return CallResult{}, err
	}
	var reached reached
	out, err := s.act(reached.watch(ctx), in, bound, asked)
	meter.record(ctx)
	err = late(ctx, err)
	if stopped(ctx) {
		r := events.stopped(ctx, out)
		r.Lessons, r.Adapters = lessons, reached.trace()
		return r, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) && !(bound.ActsOnce() && s.Acts != nil) { // what came of an act stands
		// What a tool has by then may be half of an answer, and it takes the end
		// of its context for the person's wish; the call is made again.
		return CallResult{}, temporal.NewApplicationError(StoppedMessage, TypeStopped)
	}
	if err == nil {
		out, err = s.externalise(ctx, in.Run, in.Effect, out)
	}
	events.end(ctx, out, err)
	if err != nil {
		return CallResult{}, meter.withUsage(err)
	}
	r := CallResult{Output: out, MS: events.elapsed(), Spoke: events.spoke(), Redactions: events.redactions(), Strange: bound.Strange(), Lessons: lessons, Adapters: reached.trace()}
	if !in.Model && len(bound.Shows) > 0 {
		r.Summary = events.summary(out)
	}
	return r, nil
}

// within is ctx for as long as a call may take; 0 is without a bound of ours.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, limit)
}

// late says what the end of a call's time means where nobody has said it.
func late(ctx context.Context, err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	return fault.Wrap(fault.Internal, err, LateMessage).With(map[string]any{"reason": graph.CodeTimeout})
}

// caller is on whose behalf a tool is called. What only administrators may call
// looks whether they still are: a run may have waited for days. The system is
// nobody who could cease to be.
func (s *Set) caller(ctx context.Context, v identity.Viewer, spec tool.Spec) (identity.Viewer, error) {
	if !spec.Privileged || s.Who == nil || v.IsSystem() {
		return v, nil
	}
	now, err := s.Who(ctx, v.UserID)
	if errors.Is(err, fault.NotFound) {
		err = fault.New(fault.Forbidden, "The tool %s is privileged, and its caller's account is not active any more.", spec.Name)
	}
	return now.With(v.Grant), err
}

// Keys tells whether access keys stand.
type Keys interface {
	// KeyStands is Forbidden once a key was revoked.
	KeyStands(ctx context.Context, keyID string) error
}

// stands refuses each call of a run that was begun with an access key which was
// revoked since: a run may have waited for days, and whoever ends a key ends
// what it began. The run ends at its next call, with a sentence that says so.
func (s *Set) stands(ctx context.Context, v identity.Viewer) error {
	switch {
	case v.Grant == nil:
		return nil
	case s.Keys == nil:
		return fault.New(fault.Forbidden, "Nobody here knows the access key this run was begun with.")
	}
	return s.Keys.KeyStands(ctx, v.Grant.KeyID)
}

// call is what the tool is told.
func (e *callEvents) call(ctx context.Context, inputs map[string]any) *tool.Call {
	in := e.in
	silence := in.Timeout
	if in.Longest == 0 {
		silence = 0 // what the call may take bounds it
	}
	return &tool.Call{
		Longest: in.Longest, Silence: silence,
		Viewer: in.Run.Viewer, RunID: in.Run.RunID, Scope: in.Scope, Node: in.Node, EffectID: in.Effect,
		Attempt: in.Attempt, Final: in.Final, Inputs: inputs, Resume: in.Resume,
		Emit:      e.emitter(ctx),
		Redacted:  e.redacted(ctx),
		Heartbeat: func(details any) { recordHeartbeat(ctx, details) },
	}
}

// pulse heartbeats for a tool that waits in silence, such as for a model's
// first token. Local activities have no heartbeat.
func pulse(ctx context.Context) (stop func()) {
	if !activity.IsActivity(ctx) || inline(ctx) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(heartbeatEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// inline reports whether ctx is of a local activity, which runs beside its
// workflow.
func inline(ctx context.Context) bool {
	return activity.IsActivity(ctx) && activity.GetInfo(ctx).IsLocalActivity
}

func recordHeartbeat(ctx context.Context, details any) {
	if activity.IsActivity(ctx) && !inline(ctx) {
		activity.RecordHeartbeat(ctx, details)
	}
}

// stopped tells a person's cancel from a worker that shuts down and from time
// that is up: only the first ends the run.
func stopped(ctx context.Context) bool {
	if !errors.Is(ctx.Err(), context.Canceled) {
		return false
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, errStopped) || temporal.IsCanceledError(cause) {
		return true
	}
	return inline(ctx) && cause == context.Canceled //nolint:errorlint // a wrapped one has another cause
}

// codeOf is the code of a failed call for its record.
func codeOf(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout"
	}
	return string(fault.CodeOf(err))
}

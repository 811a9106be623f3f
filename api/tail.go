package api

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// How long a quiet stream waits before it asks the store whether the run has
// ended or waits for a person: soon at first, because a log that has
// forgotten the run is always quiet, then rarely.
const (
	firstLook = 250 * time.Millisecond
	mostLook  = 5 * time.Second
)

// tail reads a run's events from wherever they are: the log while it holds
// them, the store when it does not (STREAM-24). Every reader of the API goes
// through it.
type tail struct {
	log         stream.Log
	runs        Runs
	interrupts  Interrupts
	messages    Messages
	first, most time.Duration
}

// events yields what happened in r after seq, and then what happens. It ends
// after exactly one terminal event (STREAM-15), when ctx ends, or with an
// error. Events that come from the store have no Seq.
func (t tail) events(ctx context.Context, v identity.Viewer, r run.Run, after int64) iter.Seq2[stream.Event, error] {
	return func(yield func(stream.Event, error) bool) {
		requestOf(ctx).releaseBody()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		f := following{tail: t, viewer: v, run: r, after: after}
		f.read(ctx, yield)
	}
}

// following is one reader's place in one run.
type following struct {
	tail
	viewer identity.Viewer
	run    run.Run
	after  int64
	asked  []string // interrupts this reader has been shown
}

type logged struct {
	event stream.Event
	err   error
}

// pump follows the log into a channel that is closed when the log has no more.
func (f *following) pump(ctx context.Context) <-chan logged {
	out := make(chan logged)
	go func() {
		defer close(out)
		for e, err := range f.log.Follow(ctx, f.run.ID, f.after) {
			select {
			case out <- logged{e, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func (f *following) read(ctx context.Context, yield func(stream.Event, error) bool) {
	live, wait := f.pump(ctx), f.first
	look := time.NewTimer(wait)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case got, open := <-live:
			if open {
				if !f.pass(ctx, got, yield) {
					return
				}
				wait = f.first
				look.Reset(wait)
				continue
			}
			live = nil
			if wait == f.first { // the log has no more, but has not said how it ended
				look.Reset(0)
			}
		case <-look.C:
			if f.settle(ctx, yield) {
				return
			}
			if live == nil {
				live = f.pump(ctx)
			}
			wait = min(2*wait, f.most)
			look.Reset(wait)
		}
	}
}

// pass hands one logged event on and reports whether to go on.
func (f *following) pass(ctx context.Context, got logged, yield func(stream.Event, error) bool) bool {
	e := got.event
	if got.err != nil {
		if ctx.Err() == nil {
			yield(e, got.err)
		}
		return false
	}
	f.after = max(f.after, e.Seq)
	switch e.Kind {
	case stream.Interrupt:
		f.asked = append(f.asked, interruptIDs(e.Data)...)
	case stream.Paused:
		still, err := f.stillPaused(ctx, e)
		if err != nil {
			yield(e, err)
			return false
		}
		if !still {
			return true // the person has answered since: the run is behind this
		}
	default:
	}
	return yield(e, nil) && !e.Kind.Ends()
}

// stillPaused reports whether a question of a paused event is still open.
func (f *following) stillPaused(ctx context.Context, e stream.Event) (bool, error) {
	open, err := f.open(ctx)
	if err != nil {
		return false, err
	}
	named := interruptIDs(e.Data)
	return slices.ContainsFunc(open, func(q run.Interrupt) bool {
		return len(named) == 0 || slices.Contains(named, q.ID)
	}), nil
}

// interruptIDs reads the ids an interrupt, paused or resumed event names.
func interruptIDs(data json.RawMessage) []string {
	var named struct {
		ID  string   `json:"interrupt_id"`
		IDs []string `json:"interrupt_ids"`
	}
	if json.Unmarshal(data, &named) != nil {
		return nil
	}
	if named.ID != "" {
		named.IDs = append(named.IDs, named.ID)
	}
	return named.IDs
}

// open lists the run's pending questions.
func (f *following) open(ctx context.Context) ([]run.Interrupt, error) {
	pending, err := f.interrupts.PendingInterrupts(ctx, f.viewer, f.run.ConversationID)
	return slices.DeleteFunc(pending, func(q run.Interrupt) bool { return q.RunID != f.run.ID }), err
}

// settle asks the store, and when nothing more can come by itself yields how
// it stands and reports true.
func (f *following) settle(ctx context.Context, yield func(stream.Event, error) bool) bool {
	r, err := f.runs.Run(ctx, f.viewer, f.run.ID)
	if err != nil {
		if ctx.Err() == nil {
			yield(stream.Event{}, err)
		}
		return true
	}
	switch {
	case r.Status.Ended():
		e, err := f.ending(ctx, f.viewer, r)
		yield(e, err)
		return true
	case r.Status == run.Waiting:
		return f.waiting(ctx, yield)
	}
	return false
}

// waiting yields the questions that hold the run.
func (f *following) waiting(ctx context.Context, yield func(stream.Event, error) bool) bool {
	open, err := f.open(ctx)
	if err != nil {
		yield(stream.Event{}, err)
		return true
	}
	if len(open) == 0 {
		return false // answered; the run is about to go on
	}
	ids := make([]string, 0, len(open))
	for _, q := range open {
		ids = append(ids, q.ID)
		if !slices.Contains(f.asked, q.ID) && !yield(synthetic(stream.Interrupt, interruptView(q)), nil) {
			return true
		}
	}
	yield(synthetic(stream.Paused, map[string]any{"interrupt_ids": ids}), nil)
	return true
}

// ending is the terminal event of a run that has ended, from its row and its
// message.
func (t tail) ending(ctx context.Context, v identity.Viewer, r run.Run) (stream.Event, error) {
	if r.Status == run.Failed {
		return synthetic(stream.Error, runError(r)), nil
	}
	done, err := t.done(ctx, v, r)
	if r.Status == run.Cancelled {
		return synthetic(stream.CancelAck, done), err
	}
	return synthetic(stream.MessageDone, done), err
}

// done is the data of message_done: what the run's result says, and what the
// stored message says, which is the truth (STREAM-32).
func (t tail) done(ctx context.Context, v identity.Viewer, r run.Run) (map[string]any, error) {
	data := map[string]any{}
	if json.Unmarshal(r.Result, &data) != nil || data == nil {
		data = map[string]any{}
	}
	data["run_id"] = r.ID
	if r.Kind != run.KindChat {
		return data, nil
	}
	data["conversation_id"] = r.ConversationID
	m, err := t.messages.Message(ctx, v, answerID(r.ID, data))
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return data, nil // nothing was kept: a cancel before the first word
	case err != nil:
		return data, err
	}
	for key, value := range m.Meta {
		if _, known := data[key]; !known {
			data[key] = value
		}
	}
	data["message_id"], data["content"] = m.ID, m.Content
	data["workflow_trace"], data["routing"] = steps(r.Trace), routing(r.Trace)
	data["content_struct"], data["citations"] = m.Struct, []chat.Citation{}
	if m.Struct != nil {
		data["citations"] = m.Struct.Citations()
	}
	for key, empty := range map[string]any{"usage": map[string]any{}, "adapters": []any{}, "gates": map[string]any{}} {
		if data[key] == nil {
			data[key] = empty
		}
	}
	return data, nil
}

// steps is the machine's part of a run's trace, which is what the stream says.
func steps(trace json.RawMessage) any {
	var kept struct{ Steps json.RawMessage }
	if json.Unmarshal(trace, &kept) == nil && kept.Steps != nil {
		return kept.Steps
	}
	return orNull(trace)
}

// routing is the router's part of a run's trace.
func routing(trace json.RawMessage) any {
	var kept struct{ Routing json.RawMessage }
	if json.Unmarshal(trace, &kept) == nil && kept.Routing != nil {
		return kept.Routing
	}
	return map[string]any{}
}

// answerID is the id of a turn's answer: derived from its run, so that it is
// known before the answer is (CHAT-28).
func answerID(runID string, result map[string]any) string {
	if mid, ok := result["message_id"].(string); ok && id.Valid(mid) {
		return mid
	}
	return id.Derive(runID, "assistant")
}

// RunError is why a run failed.
type RunError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Node    string `json:"node,omitempty"`
	Reason  string `json:"reason,omitempty" doc:"not_configured or upstream: of whatever model should have answered"`
}

func runError(r run.Run) *RunError {
	if r.Status != run.Failed {
		return nil
	}
	var e RunError
	if json.Unmarshal(r.Error, &e) != nil || e.Message == "" {
		e.Message = "The run failed and left no reason."
	}
	if !slices.Contains(fault.Codes(), fault.Code(e.Code)) {
		e.Code = string(fault.Internal)
	}
	return &e
}

// synthetic is an event that no log holds.
func synthetic(kind stream.Kind, data any) stream.Event {
	raw, err := json.Marshal(data)
	if err != nil {
		raw = json.RawMessage("null")
	}
	return stream.Event{Kind: kind, Attempt: 1, Data: raw}
}

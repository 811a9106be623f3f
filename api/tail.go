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
		if slices.Contains(f.asked, q.ID) {
			continue
		}
		e, err := stream.New("", questionData(q))
		if !yield(e, err) || err != nil {
			return true
		}
	}
	yield(stream.New("", stream.PausedData{InterruptIDs: ids}))
	return true
}

// questionData is a question as a reader is told it whose log has forgotten it.
func questionData(q run.Interrupt) stream.InterruptData {
	d := chat.Asked(q)
	d.Status, d.PatchID = string(q.Status), patchOf(q.WorkflowID)
	return d
}

// ending is the terminal event of a run that has ended, from its row and its
// message.
func (t tail) ending(ctx context.Context, v identity.Viewer, r run.Run) (stream.Event, error) {
	if r.Status == run.Failed {
		return stream.New("", *runError(r))
	}
	m, err := t.answer(ctx, v, r)
	if err != nil {
		return stream.Event{}, err
	}
	if r.Status == run.Cancelled {
		ack, err := chat.CancelAck(r, m)
		if err != nil {
			return stream.Event{}, err
		}
		return stream.New("", ack)
	}
	done, err := chat.MessageDone(r, m)
	if err != nil {
		return stream.Event{}, err
	}
	return stream.New("", done)
}

// answer is the message a turn has left; nil: none was kept, as by a cancel
// before the first word, or the run is no turn.
func (t tail) answer(ctx context.Context, v identity.Viewer, r run.Run) (*chat.Message, error) {
	if r.Kind != run.KindChat {
		return nil, nil
	}
	m, err := t.messages.Message(ctx, v, answerID(r))
	if fault.CodeOf(err) == fault.NotFound {
		return nil, nil
	}
	return &m, err
}

// answerID is the id of a turn's answer: derived from its run, so that it is
// known before the answer is (CHAT-28).
func answerID(r run.Run) string {
	var kept chat.Result
	if json.Unmarshal(r.Result, &kept) == nil && id.Valid(kept.MessageID) {
		return kept.MessageID
	}
	return chat.AnswerID(r.ID)
}

// runError is why a run failed; nil of one that did not.
func runError(r run.Run) *stream.RunError {
	if r.Status != run.Failed {
		return nil
	}
	var e stream.RunError
	if json.Unmarshal(r.Error, &e) != nil || e.Message == "" {
		e.Message = "The run failed and left no reason."
	}
	if !slices.Contains(fault.Codes(), fault.Code(e.Code)) {
		e.Code = string(fault.Internal)
	}
	return &e
}

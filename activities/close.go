package activities

import (
	"context"
	"encoding/json"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/learning"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/telemetry"
)

// Close writes the end of a run, then tells the stream, then starts the
// conversation's next turn. In that order: nothing is published before it is
// committed, and a reader that saw the end finds the next turn not yet begun.
func (s *Set) Close(ctx context.Context, in CloseInput) (Result, error) {
	if err := local(ctx); err != nil {
		return Result{}, err
	}
	ctx = telemetry.WithRun(ctx, in.Run.RunID, in.Opened.RequestID)
	if err := s.readable(ctx, &in); err != nil {
		return Result{}, err
	}
	s.calls.end(in.Run.RunID) // of children that end with it
	c := closing{set: s, CloseInput: in, status: in.Status()}
	end, err := c.end()
	if err != nil {
		return Result{}, err
	}
	end.Recording = c.recording(ctx)
	closed, err := c.write(ctx, end)
	if err != nil && end.Recording != nil && ctx.Err() == nil {
		s.logger().WarnContext(ctx, "a run's end was refused with its recording, and is written without", "run", in.Run.RunID, "error", err)
		end.Recording = nil
		closed, err = c.write(ctx, end)
	}
	if err != nil {
		return Result{}, err
	}
	if err := c.tell(ctx, end, closed); err != nil {
		return Result{}, err
	}
	if err := s.Log.Finish(ctx, in.Run.RunID, run.KeepStream(in.Run.RunID)); err != nil {
		return Result{}, err
	}
	c.measure()
	c.log(ctx)
	if closed.Next != nil && s.Starter != nil {
		// The row is the promise: a start that fails here is made up for by
		// the reconciler.
		if err := s.Starter.StartNext(ctx, in.Run.Viewer, *closed.Next); err != nil {
			s.logger().WarnContext(ctx, "the next turn did not start", "run", closed.Next.ID, "error", err)
		}
	}
	s.remember(ctx, &c)
	s.heed(ctx, &c)
	s.used(ctx, &c)
	return Result{Status: c.status, MessageID: closed.MessageID}, nil
}

// Adapters counts the use of adapters.
type Adapters interface {
	// UsedAdapters counts a run's use of each; telling it again changes nothing.
	UsedAdapters(ctx context.Context, runID string, list ...learning.Used) error
}

// used counts the adapters a run's models were asked with (ROUTE-13). A count
// that fails is logged: the run has ended all the same.
func (s *Set) used(ctx context.Context, c *closing) {
	if s.Adapters == nil || len(c.Opened.Adapters) == 0 {
		return
	}
	list := make([]learning.Used, len(c.Opened.Adapters))
	for i, a := range c.Opened.Adapters {
		list[i] = learning.Used{AdapterID: a.ArtifactID, Version: a.Version, Weight: a.Weight}
	}
	if err := s.Adapters.UsedAdapters(ctx, c.Run.RunID, list...); err != nil {
		s.logger().WarnContext(ctx, "the use of adapters was not counted", "run", c.Run.RunID, "error", err)
	}
}

// readable replaces a response that is a reference by its text.
func (s *Set) readable(ctx context.Context, in *CloseInput) error {
	if !strings.HasPrefix(in.Outcome.Response, `{"`+refKey+`":`) {
		return nil
	}
	var object map[string]any
	if json.Unmarshal([]byte(in.Outcome.Response), &object) != nil {
		return nil // an answer may begin like that
	}
	value, err := s.resolve(ctx, in.Run.Viewer, object)
	if text, ok := value.(string); ok {
		in.Outcome.Response = text
	}
	return err
}

// closing is the work of one Close.
type closing struct {
	CloseInput
	set    *Set
	status run.Status
}

// FailureOf is f as people and rows see it, in the closed set of codes (API-03).
func FailureOf(f *graph.Failure) *stream.RunError {
	if f == nil {
		return nil
	}
	out := &stream.RunError{Code: string(fault.Internal), Message: f.Message, Node: f.Node, Reason: f.Code, RetryAt: f.RetryAt, Said: f.Said}
	for _, code := range fault.Codes() {
		if string(code) == f.Code {
			out.Code, out.Reason = f.Code, ""
		}
	}
	switch f.Code {
	case fault.Budget:
		out.Code = string(fault.RateLimited)
	case graph.CodeTokenCap:
		out.Code = string(fault.Invalid)
	}
	return out
}

// failure is why the run failed. What a person's own graph does beyond its
// bounds, or leaves undecided, is not a failure of ours; what a graph of
// everybody's does is.
func (c *closing) failure() *stream.RunError {
	f := FailureOf(c.Outcome.Err)
	if f != nil && c.Opened.Owned && byItself(c.Outcome.Err) {
		f.Code = string(fault.Invalid)
	}
	return f
}

// byItself reports whether a failure needed nobody but the graph.
func byItself(f *graph.Failure) bool {
	return f.Code == graph.CodeLimit || f.Code == graph.CodeNoBranch || f.Code == graph.CodeTimeout && f.Spent
}

func (c *closing) trace() run.Trace {
	return run.Trace{Path: c.Opened.Path, Routing: c.Opened.Routing, Steps: c.Steps, Calls: c.Tally.Calls()}
}

// Calls are the calls of tools so far, as a trace shows them.
func (t *Tally) Calls() []run.TraceCall {
	var calls []run.TraceCall
	for _, r := range t.Records {
		calls = append(calls, run.TraceCall{
			Effect: r.Effect, Attempt: r.Attempt, Node: r.Node, Tool: r.Tool,
			Args: small(r.Arguments), Result: small(r.Result), Status: r.Status, Error: r.Error, Said: r.Said, MS: r.MS, Adapters: r.Adapters,
		})
	}
	return calls
}

func (c *closing) end() (run.End, error) {
	trace, err := json.Marshal(c.trace())
	if err != nil {
		return run.End{}, err
	}
	end := run.End{Status: c.status, Trace: trace, Pins: c.Opened.Pins}
	if f := c.failure(); f != nil {
		end.Error, err = json.Marshal(f)
		return end, err
	}
	result, err := c.result()
	if err != nil {
		return end, err
	}
	end.Result, err = json.Marshal(result)
	return end, err
}

// result is what the row keeps.
func (c *closing) result() (chat.Result, error) {
	usage, err := json.Marshal(c.usage())
	if err != nil {
		return chat.Result{}, err
	}
	if c.Run.Kind == run.KindChat {
		return chat.Result{MessageID: chat.AnswerID(c.Run.RunID), Usage: usage, Heeded: c.heeded()}, nil
	}
	data, err := json.Marshal(c.Outcome.Data)
	return chat.Result{Response: &c.Outcome.Response, Data: data, Usage: usage}, err
}

// write commits the end, once: repeating it changes nothing (CHAT-28).
func (c *closing) write(ctx context.Context, end run.End) (chat.Closed, error) {
	if c.Run.Kind != run.KindChat {
		if a := c.audit(); a != nil {
			raw, err := json.Marshal(a)
			if err != nil {
				return chat.Closed{}, err
			}
			end.Audit = raw
		}
		return chat.Closed{}, c.set.Runs.EndRun(ctx, c.Run.Viewer, c.Run.RunID, end)
	}
	return c.set.Turns.CloseTurn(ctx, c.Run.Viewer, chat.Close{
		RunID: c.Run.RunID, End: end, Message: c.message(), Notices: c.notices(), Persist: c.Persist, Audit: c.audit(),
	})
}

// tell shows the trace and then ends the stream, once.
func (c *closing) tell(ctx context.Context, end run.End, closed chat.Closed) error {
	last, err := c.event(end, closed)
	if err != nil {
		return err
	}
	trace, err := stream.New("", stream.TraceData{RawMessage: end.Trace})
	if err != nil {
		return err
	}
	trace.Key, last.Key = "trace", "end"
	return c.set.tell(ctx, c.Run.RunID, trace, last)
}

// event is the one that ends the stream (STREAM-15).
func (c *closing) event(end run.End, closed chat.Closed) (stream.Event, error) {
	if c.status == run.Failed {
		return stream.New(c.Outcome.Err.Node, *c.failure())
	}
	if c.status == run.Cancelled {
		ack := stream.CancelAckData{RunID: c.Run.RunID, Content: c.text()}
		if closed.MessageID != "" {
			ack.MessageID = &closed.MessageID
		}
		return stream.New("", ack)
	}
	done, err := c.done(end, closed)
	if err != nil {
		return stream.Event{}, err
	}
	return stream.New("", done)
}

// done is the answer on the stream, made of what was written.
func (c *closing) done(end run.End, closed chat.Closed) (stream.MessageDoneData, error) {
	row := run.Run{ID: c.Run.RunID, Kind: c.Run.Kind, ConversationID: c.Opened.ConversationID, Result: end.Result, Trace: end.Trace}
	if c.Run.Kind != run.KindChat {
		return chat.MessageDone(row, nil)
	}
	m := c.message()
	m.ID = closed.MessageID
	return chat.MessageDone(row, m)
}

// small is a record's arguments or result as JSON, cut to what a page shows.
func small(object map[string]any) json.RawMessage {
	if object == nil {
		return nil
	}
	raw, err := json.Marshal(trim(object))
	if err != nil {
		return nil
	}
	return raw
}

// maxShown bounds one value of a record, in bytes of JSON.
const maxShown = 1 << 10

// trim cuts each value. It runs in workflows too; no order comes of the range.
//
//workflowcheck:ignore
func trim(object map[string]any) map[string]any {
	if object == nil {
		return nil
	}
	out := make(map[string]any, len(object))
	for key, value := range object {
		out[key] = cut(value, maxShown)
	}
	return out
}

// Package stream is a run's event log: what its readers see while it runs.
//
// Delivery: within one process life every event is kept in order and none is
// lost or repeated; deltas (Token) are not durable, and after a crash a reader
// sees a Reset and the text again from the start; what must survive (answers,
// questions) is committed to the store before its event is appended. It may
// import the standard library only.
package stream

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Kind is the vocabulary of the kernel's log (STREAM-01, STREAM-31). Encoders
// translate it; nothing else invents kinds.
type Kind string

// The kinds of event. What each says is its payload, a type of this package.
const (
	Status      Kind = "status"       // StatusData: a step began, or ended
	ToolCall    Kind = "tool_call"    // ToolCallData
	ToolResult  Kind = "tool_result"  // ToolResultData
	Token       Kind = "token"        // TokenData: a piece of the answer
	Reset       Kind = "reset"        // ResetData: drop the answer's text so far
	Chip        Kind = "chip"         // ChipData: a link that goes with the answer; a Reset drops those before it
	Progress    Kind = "progress"     // ProgressData: long work
	Interrupt   Kind = "interrupt"    // InterruptData: a question
	Paused      Kind = "paused"       // PausedData: only a person can move the run now
	Resumed     Kind = "resumed"      // ResumedData
	Trace       Kind = "trace"        // TraceData: the router's and the workflow's trace
	MessageDone Kind = "message_done" // MessageDoneData: the run is done
	Error       Kind = "error"        // RunError: the run failed
	CancelAck   Kind = "cancel_ack"   // CancelAckData: a person stopped the run
)

// Ends reports whether a reader's stream ends with this kind: the answer, a
// failure, an acknowledged cancel, or a question that holds the whole run
// (STREAM-15).
func (k Kind) Ends() bool {
	return k == MessageDone || k == Error || k == CancelAck || k == Paused
}

// Event is one entry of a log.
type Event struct {
	Seq     int64           // grows within a run, also over restarts; not dense
	Kind    Kind            //
	Attempt int             // of the step that produced it; 1 is the first
	Node    string          // the step, empty for the run itself
	Key     string          // not empty: the log keeps the first event of this key only
	Call    string          // what Attempt counts; not kept. Empty: nothing
	Again   bool            // kept only where this Attempt of the Call has said something before; not kept itself
	Time    time.Time       //
	Data    json.RawMessage // of its kind's payload; New makes it, Read reads it
}

// Log keeps the events of runs.
type Log interface {
	// Append adds events in order and returns the last one's Seq. Seq and Time
	// are set by the log. An event whose Key the run already holds is dropped,
	// and so is one of an attempt of a Call that a later attempt has followed: a
	// worker that was thought dead may still be writing (STREAM-32).
	Append(ctx context.Context, run string, events ...Event) (int64, error)
	// Follow yields the events after seq, those there are and then those to
	// come, until ctx ends or the caller stops. When the log no longer holds
	// everything after seq it first yields a Reset with reason "gap".
	Follow(ctx context.Context, run string, after int64) iter.Seq2[Event, error]
	// Finish says that no more events will come: the log may forget the run
	// after keep. Followers that have read everything end.
	Finish(ctx context.Context, run string, keep time.Duration) error
}

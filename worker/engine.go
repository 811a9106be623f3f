package worker

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"

	"liminal/activities"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/workflows"
)

// Engine starts, answers and cancels runs. It never waits for one: what a run
// says is on its stream, and what it leaves is in its row.
type Engine struct {
	o       Options
	sending sync.WaitGroup // of answers to their runs
	leaving context.Context
	leave   context.CancelFunc
	marking marking
}

// NewEngine makes an engine; it needs no worker in its process.
func NewEngine(o Options) *Engine {
	e := &Engine{o: o.withDefaults()}
	e.leaving, e.leave = context.WithCancel(context.Background())
	return e
}

// Chat accepts a turn and starts it, or makes way for it. A turn that waits
// for a person is always answered null first (INT-33); one at work is cancelled
// only when t asks for it. The row that Accept wrote is the promise: a start
// that fails now is made up for by the reconciler.
func (e *Engine) Chat(ctx context.Context, v identity.Viewer, t chat.NewTurn) (chat.Accepted, error) {
	if e.o.Surfaces != nil {
		var err error
		if t.Surfaces, err = e.o.Surfaces(ctx); err != nil {
			return chat.Accepted{}, err
		}
	}
	a, err := e.o.Turns.Accept(ctx, v, t)
	if err != nil || a.Duplicate {
		return a, err
	}
	if a.Run.Status == run.Running {
		summary := chat.TitleOf(t.Message)
		if id.Unkept(a.Run.ID) {
			summary = ""
		}
		e.launch(ctx, v, a.Run, summary)
		return a, nil
	}
	if b := a.Blocking; b != nil {
		err = e.makeWay(ctx, v, *b, a.Open, t.Multitask)
	}
	return a, err
}

func (e *Engine) makeWay(ctx context.Context, v identity.Viewer, blocking run.Run, open []run.Interrupt, multitask string) error {
	if blocking.Status == run.Waiting && len(open) > 0 {
		return e.skip(ctx, v, blocking, open)
	}
	// One that waits with no question left has its answer on the way, and ends
	// by itself (INT-12).
	if multitask == "interrupt" && (blocking.Status == run.Running || blocking.Status == run.Waiting) {
		return e.interrupt(ctx, blocking)
	}
	return nil
}

// Cancel ends a run for the person: one at work stops and keeps what it has
// written, one that waits gets null as its answer and goes on to its end
// (INT-09), one in the queue never starts. id is a request's or a run's. A run
// that has ended stays as it is.
func (e *Engine) Cancel(ctx context.Context, v identity.Viewer, id string) (run.Run, error) {
	r, err := e.find(ctx, v, id)
	if err == nil {
		err = notPatch(r)
	}
	if err != nil {
		return r, err
	}
	err = e.end(ctx, v, r)
	if r.Status == run.Queued && errors.Is(err, fault.Conflict) { // its turn came meanwhile
		if r, err = e.o.Runs.Run(ctx, v, r.ID); err == nil {
			err = e.end(ctx, v, r)
		}
	}
	if err != nil {
		return r, err
	}
	return e.o.Runs.Run(ctx, v, r.ID)
}

// end does what Cancel means for a run in the state it was read in.
func (e *Engine) end(ctx context.Context, v identity.Viewer, r run.Run) error {
	switch r.Status {
	case run.Queued:
		return e.endQueued(ctx, v, r)
	case run.Running:
		return e.interrupt(ctx, r)
	case run.Waiting:
		open, err := e.openOf(ctx, v, r)
		if err != nil {
			return err
		}
		return e.skip(ctx, v, r, open)
	case run.Done, run.Failed, run.Cancelled:
	}
	return nil
}

func (e *Engine) find(ctx context.Context, v identity.Viewer, key string) (run.Run, error) {
	if id.Valid(key) {
		r, err := e.o.Runs.Run(ctx, v, key)
		if !errors.Is(err, fault.NotFound) {
			return r, err
		}
	}
	return e.o.Runs.RunByRequest(ctx, v, key)
}

func (e *Engine) openOf(ctx context.Context, v identity.Viewer, r run.Run) ([]run.Interrupt, error) {
	all, err := e.o.Interrupts.PendingInterrupts(ctx, v, r.ConversationID)
	var open []run.Interrupt
	for _, q := range all {
		if q.RunID == r.ID {
			open = append(open, q)
		}
	}
	return open, err
}

// interrupt stops a run at work: by signal, which is durable, and by a word to
// this process and the others, which is quick.
func (e *Engine) interrupt(ctx context.Context, r run.Run) error {
	err := e.signalCancel(ctx, r)
	if errors.Is(err, errGone) {
		// It has just ended, or another process has yet to start it: then it is
		// started here, so that the cancel has something to reach.
		if _, err := e.reconcile(ctx, r, time.Time{}); err != nil {
			return err
		}
		if err = e.signalCancel(ctx, r); errors.Is(err, errGone) {
			return nil
		}
	}
	if err != nil {
		return fault.Wrap(fault.Internal, err, "The run could not be reached; try again.")
	}
	if e.o.Activities != nil {
		e.o.Activities.Stop(r.ID)
	}
	if e.o.Stops != nil {
		if err := e.o.Stops.Announce(ctx, r.ID); err != nil {
			e.complain(ctx, "the other processes hear of a cancelled run by its signal alone", err)
		}
	}
	return nil
}

func (e *Engine) signalCancel(ctx context.Context, r run.Run) error {
	err := e.o.Client.SignalWorkflow(ctx, r.WorkflowID, "", workflows.SignalCancel, nil)
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return errGone
	}
	return err
}

// skip answers null to the questions a run waits with.
func (e *Engine) skip(ctx context.Context, v identity.Viewer, r run.Run, open []run.Interrupt) error {
	if len(open) == 0 {
		return e.interrupt(ctx, r)
	}
	for _, q := range open {
		_, err := e.settle(ctx, v, q, run.Skipped, nil)
		if err != nil && !errors.Is(err, fault.Conflict) {
			return err
		}
	}
	return nil
}

// endQueued closes a turn that never started; Conflict when it has by now.
func (e *Engine) endQueued(ctx context.Context, v identity.Viewer, r run.Run) error {
	closed, err := e.o.Turns.CloseTurn(ctx, v, chat.Close{RunID: r.ID, Only: run.Queued, End: run.End{Status: run.Cancelled}})
	if err != nil {
		return err
	}
	last, err := stream.New("", stream.CancelAckData{})
	if err != nil {
		return err
	}
	return e.announceEnd(ctx, v, r, closed.Next, last)
}

// Ingest starts bringing a document in. One that is on its way already is a
// Conflict.
func (e *Engine) Ingest(ctx context.Context, v identity.Viewer, documentID string) (run.Run, error) {
	name, in := documentID, activities.IngestInput{DocumentID: documentID}
	if e.o.Documents != nil {
		d, err := e.o.Documents.Document(ctx, v, documentID)
		if err != nil {
			return run.Run{}, err
		}
		name, in.Path, in.MIME = d.Title, d.Path, d.MIME
	}
	return e.create(ctx, v, run.KindIngest, "", name, "ingest:"+documentID, in)
}

// RunTool starts a tool by itself. The same request again is the same run.
func (e *Engine) RunTool(ctx context.Context, v identity.Viewer, tool string, input map[string]any, requestID string) (run.Run, error) {
	return e.create(ctx, v, run.KindTool, requestID, tool, "", activities.ToolInput{Tool: tool, Input: input})
}

// RunWorkflow starts a workflow artifact by itself, with vars set before its
// first node (GRAPH-03). The same request again is the same run. A run of a surface's
// workflow is a turn of its hour, as one by any other way (GRND-27), and leaves a
// row as one (GRND-28).
func (e *Engine) RunWorkflow(ctx context.Context, v identity.Viewer, artifact string, input, vars map[string]any, requestID string) (run.Run, error) {
	in := activities.GraphInput{Artifact: artifact, Input: input, Vars: vars}
	raw, err := json.Marshal(in)
	if err != nil {
		return run.Run{}, fault.Wrap(fault.Invalid, err, "The input is not JSON.")
	}
	if requestID != "" {
		if r, err := e.again(ctx, v, run.KindGraph, requestID, raw); !errors.Is(err, fault.NotFound) {
			return r, err
		}
	}
	if in.Surface, err = e.spend(ctx, v, artifact); err != nil {
		return run.Run{}, err
	}
	return e.create(ctx, v, run.KindGraph, requestID, artifact, "", in)
}

func (e *Engine) spend(ctx context.Context, v identity.Viewer, workflow string) (*chat.TurnSurface, error) {
	if e.o.Spend == nil || e.o.Surfaces == nil || v.IsSystem() {
		return nil, nil
	}
	surfaces, err := e.o.Surfaces(ctx)
	if err != nil {
		return nil, err
	}
	return e.o.Spend(ctx, v, workflow, surfaces)
}

// Architect starts the graph that reads what runs left since a time and
// proposes patches (CFG-13). The same time again is the same run.
func (e *Engine) Architect(ctx context.Context, since time.Time) (run.Run, error) {
	from := since.UTC().Format(time.RFC3339)
	return e.create(ctx, identity.Steward(), run.KindArchitect, "architect:"+from, "since "+from, "", map[string]any{"since": from})
}

// State is where a run stands while it runs (GRAPH-26), as JSON: pins, nodes,
// names of vars, what is outstanding since when, the trace. A worker answers,
// so it takes as long as ctx lets it where none is there. NotFound for a run
// whose workflow is not there: it is no longer kept, or has yet to be started.
func (e *Engine) State(ctx context.Context, v identity.Viewer, runID string) (json.RawMessage, error) {
	r, err := e.o.Runs.Run(ctx, v, runID)
	if err != nil {
		return nil, err
	}
	if id.Unkept(runID) && r.Status.Ended() {
		return nil, fault.New(fault.NotFound, "Nothing is kept of this run, and it has ended.")
	}
	answer, err := e.o.Client.QueryWorkflow(ctx, r.WorkflowID, "", workflows.QueryState)
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return nil, fault.New(fault.NotFound, "The run's workflow is not there.")
	}
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "The run cannot be looked into now; try again.")
	}
	var state json.RawMessage
	return state, answer.Get(&state)
}

func (e *Engine) create(ctx context.Context, v identity.Viewer, kind run.Kind, requestID, summary, workflowID string, input any) (run.Run, error) {
	raw, err := json.Marshal(input)
	if err != nil {
		return run.Run{}, fault.Wrap(fault.Invalid, err, "The input is not JSON.")
	}
	if requestID != "" {
		if r, err := e.again(ctx, v, kind, requestID, raw); !errors.Is(err, fault.NotFound) {
			return r, err
		}
	}
	r := run.Run{ID: id.New(), WorkflowID: workflowID, Kind: kind, UserID: v.UserID, RequestID: requestID, Status: run.Running, Input: raw}
	if r.WorkflowID == "" {
		r.WorkflowID = strings.ToLower(string(kind)) + ":" + r.ID
	}
	if err := e.o.Runs.CreateRun(ctx, v, r); err != nil {
		if requestID != "" && errors.Is(err, fault.Conflict) { // another process was quicker with the same request
			return e.again(ctx, v, kind, requestID, raw)
		}
		return run.Run{}, err
	}
	e.launch(ctx, v, r, summary)
	return r, nil
}

// again is the run of a request that was made before. Ids of requests are
// shared by all kinds of runs, so it may be of another request with the same
// id, which is Invalid.
func (e *Engine) again(ctx context.Context, v identity.Viewer, kind run.Kind, requestID string, input []byte) (run.Run, error) {
	r, err := e.o.Runs.RunByRequest(ctx, v, requestID)
	if err == nil && (r.Kind != kind || !sameJSON(r.Input, input)) {
		return run.Run{}, fault.New(fault.Invalid, "This idempotency key, or X-Request-Id, was used for another request. Use a new one.").
			With(map[string]any{"reason": "request_id", "run_id": r.ID})
	}
	return r, err
}

// sameJSON compares what two documents say: a database may write one in its own
// way.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(unsurfaced(x), unsurfaced(y))
}

// unsurfaced is an input without what was decided here: a surface's settings may have
// changed since the same was asked first.
func unsurfaced(input any) any {
	if m, ok := input.(map[string]any); ok {
		delete(m, "surface")
	}
	return input
}

var _ activities.Starter = (*Engine)(nil)

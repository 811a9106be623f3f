// Package activities is the effects a workflow asks for, over ports only.
//
// It may import every noun, artifacts, rehearsal and the Temporal SDK's activity
// side, and no driver: what it needs of the outside it says as an interface, and
// wire fills it. Every activity may run twice (a worker can die between the
// work and its record), so each writes under derived ids and tells the stream
// under keys.
package activities

import (
	"encoding/json"
	"time"

	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// The names activities are registered under. Workflows call them by name, so
// that the deterministic side never holds the side with effects.
const (
	NameOpen    = "Open"
	NameCall    = "Call"
	NameAsk     = "Ask"
	NameDeliver = "Deliver"
	NameSettle  = "Settle"
	NameClose   = "Close"
)

// RunInput is the input of every workflow: only references travel (PLAT-14).
type RunInput struct {
	RunID  string          `json:"run_id"` // the row with everything else; the stream's id
	Viewer identity.Viewer `json:"viewer"` // on whose behalf
	Kind   run.Kind        `json:"kind"`
	Child  *ChildInput     `json:"child,omitempty"` // set for a Spawn: there is no row of its own
	Queued bool            `json:"turn,omitempty"`  // it waits for its turn among its person's runs, however long, before it opens
	// Direct says that what opens the run goes on with it, see OpenDirect; false:
	// begun before anything did. A seal does not cover it: a version that does not
	// know it runs the same graph in smaller steps.
	Direct bool   `json:"direct,omitempty"`
	Seal   string `json:"seal,omitempty"` // see Seals; of the input of an execution alone
}

// ChildInput is what a parent run hands to a run it spawned.
type ChildInput struct {
	Workflow string         `json:"workflow"` // artifact name or id
	Inputs   map[string]any `json:"inputs"`
	EffectID string         `json:"effect_id"`         // the parent's; prefixes ids of the child's effects
	Alone    bool           `json:"alone,omitempty"`   // the parent waits for nothing else
	Earlier  int            `json:"earlier,omitempty"` // attempts of the parent's before this one
	Opened   *Opened        `json:"opened,omitempty"`  // the parent's conversation, contexts, …
	Budget   *graph.Budget  `json:"budget,omitempty"`  // of the child and all runs below it; nil: of a parent that was begun before there were budgets

	raw []byte // as it was written; nil: here
}

// Opened is what Open found: the graph a run is pinned to, and its input.
// It is recorded in the history, so a replay needs no store.
type Opened struct {
	Graph        json.RawMessage    `json:"graph"`  // the pinned document
	Digest       string             `json:"digest"` // of Graph, Tools and the limits; names the parsed graph
	Tools        map[string]ToolPin `json:"tools"`  // those the graph may call
	Pins         []run.Pin          `json:"pins"`
	Input        map[string]any     `json:"input"` // message, context_ids, …
	Persisted    map[string]any     `json:"persisted,omitempty"`
	Conversation map[string]any     `json:"conversation,omitempty"`
	User         map[string]any     `json:"user,omitempty"`
	tool.Scope
	Routing    json.RawMessage  `json:"routing,omitempty"`     // adapters, gates, trace
	Router     json.RawMessage  `json:"router,omitempty"`      // the routing.Input, or a reference to it, for the recording
	Adapters   []AdapterPin     `json:"adapters,omitempty"`    // that models are asked with
	Models     []run.Pin        `json:"models,omitempty"`      // policies that choose models, the nearest first (LORA-26)
	Path       []run.TraceStage `json:"path,omitempty"`        // what Open did, in order (PLAT-12)
	Audit      string           `json:"audited,omitempty"`     // chat.AuditRedacted or chat.AuditFull; empty: the turn has no row of its own
	Judged     *Judged          `json:"judged,omitempty"`      // what is thought of the message; nil: nobody judged
	Job        bool             `json:"job,omitempty"`         // background limits instead of chat limits
	Privileged bool             `json:"privileged,omitempty"`  // the graph may name privileged tools (TOOL-05)
	Owned      bool             `json:"owned,omitempty"`       // the graph is a person's: where it ends by its own bounds, that is its fault
	MaxEffects int              `json:"max_effects,omitempty"` // of one execution; 0: the workflow's default
	Budget     *graph.Budget    `json:"budget,omitempty"`      // of the run and all runs below it; nil: begun before there were budgets
	Remembers  bool             `json:"remembers,omitempty"`   // what the run persists is kept for the conversation's next turn
	Speech     time.Duration    `json:"speech,omitempty"`      // graph.Limits.Speech; 0: no model speaks, or begun before there was one
}

// Limits are the guardrails of the run (PLAT-07).
func (o *Opened) Limits() graph.Limits {
	l := graph.ChatLimits()
	if o.Job {
		l = graph.JobLimits()
	}
	l.Privileged, l.Stored, l.Speech = o.Privileged, true, o.Speech
	return l
}

// ToolPin is a tool at the version the run opened with, as the workflow needs it.
type ToolPin struct {
	graph.Tool
	ArtifactID string `json:"artifact_id,omitempty"`
	Version    int    `json:"version"`
	Runs       string `json:"runs"`             // tool.Inline or tool.Activity
	Queue      string `json:"queue,omitempty"`  // task queue of an ordinary activity; empty: the workflow's own
	Model      bool   `json:"model,omitempty"`  // a model speaks: its calls are no tool calls to a person
	Shared     bool   `json:"shared,omitempty"` // background work, of which each person has a share
	Plain      bool   `json:"plain,omitempty"`  // neither are those of a tool that only arranges values

	Under []run.Pin `json:"under,omitempty"` // what it stands on

	// Acts says that its calls are written down before they are begun, so that the
	// engine may make one again whose worker died.
	Acts    bool `json:"acts,omitempty"`
	Changes bool `json:"changes,omitempty"` // something, as its spec says: the audit marks its calls
}

// Pin is the tool's artifact at its version.
func (p ToolPin) Pin() run.Pin {
	return run.Pin{ArtifactID: p.ArtifactID, Name: p.Name, Version: p.Version}
}

// AdapterPin is an adapter at the version the run opened with, and its gate.
type AdapterPin struct {
	run.Pin
	Weight float64 `json:"weight"`
}

// CallInput is one call of a tool.
type CallInput struct {
	Run RunInput `json:"run"`
	tool.Scope
	Tool        run.Pin        `json:"tool"`
	Under       []run.Pin      `json:"under,omitempty"` // what the tool stands on
	Model       bool           `json:"model,omitempty"`
	Models      []run.Pin      `json:"models,omitempty"`   // of a call with Model
	Adapters    []AdapterPin   `json:"adapters,omitempty"` // of a call with Model
	Effect      string         `json:"effect"`             // with the ids of the parents' effects before it
	Node        string         `json:"node"`
	Stage       string         `json:"stage,omitempty"` // the node people see instead; the call is a step on the way to it
	Description string         `json:"description,omitempty"`
	Quiet       bool           `json:"quiet,omitempty"`
	Attempt     int            `json:"attempt"`
	Timeout     time.Duration  `json:"timeout,omitempty"` // from when it has its turn; 0: what the engine says
	Longest     time.Duration  `json:"longest,omitempty"` // of a model that speaks: Timeout is how long it may be silent
	Final       bool           `json:"final,omitempty"`
	Reset       bool           `json:"reset,omitempty"` // text was shown before this call: drop it first
	Inputs      map[string]any `json:"inputs,omitempty"`
	Resume      any            `json:"resume,omitempty"`

	raw []byte // as it was written; nil: here
}

// CallResult is what came of a Call. A call that was stopped is no error: what
// it had said by then must reach Close.
type CallResult struct {
	Output  map[string]any `json:"output,omitempty"`
	MS      int64          `json:"ms"`
	Spoke   bool           `json:"spoke,omitempty"`   // text was shown
	Stopped bool           `json:"stopped,omitempty"` // the person cancelled the run
	Partial string         `json:"partial,omitempty"` // the text shown until then

	Redactions []tool.Redaction `json:"redactions,omitempty"` // what was taken out of its text (SAFE-03)
	Summary    string           `json:"summary,omitempty"`    // the result in a few words, as its tool's spec shows it
	Strange    bool             `json:"strange,omitempty"`    // a stranger wrote of its result, as its spec says (SAFE-06)
	Lessons    []string         `json:"lessons,omitempty"`    // that its model was told, by id
	// Adapters say where they did not all reach its model as chosen; nil: they did.
	Adapters *run.TraceAdapters `json:"adapters,omitempty"`
}

// AskInput puts questions, and says whether only a person can move the run now.
type AskInput struct {
	Run            RunInput   `json:"run"`
	WorkflowID     string     `json:"workflow_id"`
	ConversationID string     `json:"conversation_id,omitempty"`
	Questions      []Question `json:"questions"` // those not put yet
	Open           []string   `json:"open"`      // ids of every open one
	Waiting        bool       `json:"waiting"`
	Pins           []run.Pin  `json:"pins,omitempty"` // of a run whose row may not have them yet
}

// Question is a graph's Ask under its interrupt id.
type Question struct {
	ID          string    `json:"id"`
	Effect      string    `json:"effect"`
	Node        string    `json:"node"`
	Description string    `json:"description,omitempty"`
	Quiet       bool      `json:"quiet,omitempty"`
	Ask         graph.Ask `json:"ask"`
}

// Answer is the signal that carries a person's answer to a waiting run. Whoever
// reaches Temporal can send one, so it is only a hint that there is an answer:
// what was answered is what the store has (see Deliver).
type Answer struct {
	InterruptID string `json:"interrupt_id"`
	Answer      any    `json:"answer"`
	Cancelled   bool   `json:"cancelled,omitempty"`
	Expired     bool   `json:"expired,omitempty"`
	Update      bool   `json:"-"` // it came as an update: see DeliverInput
}

// DeliverInput says that the workflow has answers.
type DeliverInput struct {
	Run RunInput `json:"run"`
	IDs []string `json:"ids"`
	// Update says that they came as a Temporal Update, which is the run's only
	// when the workflow task that takes it in has ended: whoever sent it marks
	// them as delivered then (see run.Interrupts).
	Update bool `json:"update,omitempty"`
}

// Delivered is what the store has of the answers, by the id of the question.
type Delivered struct {
	Answers map[string]Answer `json:"answers,omitempty"`
	Direct  *Direct           `json:"direct,omitempty"` // nil: the run was not gone on with
}

// TypeUnanswered is the type of the error of a Deliver for a question that
// nobody has answered: the signal was somebody else's.
const TypeUnanswered = "unanswered"

// SettleInput settles questions nobody answered.
type SettleInput struct {
	Run    RunInput            `json:"run"`
	IDs    []string            `json:"ids"`
	Status run.InterruptStatus `json:"status"` // run.Skipped or run.Expired
}

// Settled names the questions a person had answered before: their answers are
// on the way.
type Settled struct {
	Answered []string `json:"answered,omitempty"`
}

// Record is a tool call as the audit keeps it (TOOL-14).
type Record struct {
	Effect    string          `json:"effect"`
	Node      string          `json:"node"`
	Tool      string          `json:"tool"`
	Attempt   int             `json:"attempt"`
	Arguments map[string]any  `json:"arguments,omitempty"`
	Result    map[string]any  `json:"result,omitempty"`
	Status    string          `json:"status"` // "ok", "error", "stopped"
	Error     string          `json:"error,omitempty"`
	Said      *fault.Sentence `json:"said,omitempty"` // Error taken apart
	Summary   string          `json:"summary,omitempty"`
	MS        int64           `json:"ms"`
	// Mutating says that the tool changes something, and Approved that a person
	// approved this very call (GRND-49).
	Mutating bool `json:"mutating,omitempty"`
	Approved bool `json:"approved,omitempty"`
	// Adapters are those of CallResult.
	Adapters *run.TraceAdapters `json:"adapters,omitempty"`
}

// Trimmed is r with its arguments and result cut to what a page shows.
func (r Record) Trimmed() Record {
	r.Arguments, r.Result = trim(r.Arguments), trim(r.Result)
	return r
}

// Notice is a question of the turn with what was answered (INT-29).
type Notice struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Message   string    `json:"message"`
	Answer    any       `json:"answer,omitempty"`
	Label     string    `json:"label,omitempty"` // of the option chosen; the words of a form
	Cancelled bool      `json:"cancelled,omitempty"`
	Expired   bool      `json:"expired,omitempty"`
	AskedAt   time.Time `json:"asked_at"`
	At        time.Time `json:"at"` // of the answer
}

// Tally is what a run gathered on its way, beside the machine's own state.
type Tally struct {
	Records []Record    `json:"records,omitempty"`
	Notices []Notice    `json:"notices,omitempty"`
	Usage   model.Usage `json:"usage"`
	Model   string      `json:"model,omitempty"`   // the one that spoke last
	Spoke   bool        `json:"spoke,omitempty"`   // text was shown
	Partial string      `json:"partial,omitempty"` // the text shown when the run was stopped
	Earlier string      `json:"earlier,omitempty"` // a summary of messages the model did not see
	Cut     bool        `json:"cut,omitempty"`     // the answer ended at a limit before its own end

	ModelCalls int `json:"model_calls,omitempty"`
	ToolCalls  int `json:"tool_calls,omitempty"` // of others, without those that only arrange values

	Redactions []tool.Redaction `json:"redactions,omitempty"` // what was taken out of the answers (SAFE-03)
	Strange    bool             `json:"strange,omitempty"`    // a call gave what a stranger wrote (TRAIN-13)
	Lessons    []string         `json:"lessons,omitempty"`    // that models were told, by id
	// SummaryDue is the message up to which the conversation is to be
	// summarised once the turn is over; 0: nothing is.
	SummaryDue int `json:"summary_due,omitempty"`
}

// CloseInput is how a run ended. It never enters the history: Close is a
// local activity.
type CloseInput struct {
	Run     RunInput       `json:"run"`
	Opened  Opened         `json:"opened"`
	Outcome graph.Outcome  `json:"outcome"`
	Steps   []graph.Step   `json:"steps,omitempty"`
	Persist map[string]any `json:"persist,omitempty"`
	Tally   Tally          `json:"tally"`
	// Outcomes are what to record of the run; nil: nothing.
	Outcomes *RunOutcomes `json:"happened,omitempty"`
}

// Status is the state the run's row ends in. A person who skipped a question
// let the run go on to its end, so it is done and not cancelled.
func (c *CloseInput) Status() run.Status {
	switch {
	case c.Outcome.Err != nil:
		return run.Failed
	case c.Outcome.Cancelled && !c.Outcome.Suppressed:
		return run.Cancelled
	}
	return run.Done
}

// Result is what a workflow returns.
type Result struct {
	Status    run.Status      `json:"status"`
	MessageID string          `json:"message_id,omitempty"`
	Child     *ChildResult    `json:"child,omitempty"`
	Output    map[string]any  `json:"output,omitempty"`
	Said      *fault.Sentence `json:"said,omitempty"` // why a child failed, taken apart
}

// ChildResult is what a child run adds to its parent's tally.
type ChildResult struct {
	Tally      Tally         `json:"tally"`
	Waited     time.Duration `json:"waited,omitempty"`     // for people, and while models spoke; not the parent's time either (C-23)
	Suppressed bool          `json:"suppressed,omitempty"` // a question was skipped: the answer is not shown
	Used       *graph.Budget `json:"used,omitempty"`       // of what it was given
}

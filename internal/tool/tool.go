// Package tool is what a tool is: a named function with a spec that is data,
// and the Box that calls it within the spec's bounds. What fails again and again
// is kept from being called by a circuit breaker (Breakers).
//
// It may import schemas, fault, id, identity, run, stream, data and model.
// Implementations live in tool/builtin; the graph never calls one
// but through the Box (GRAPH-25).
package tool

import (
	"context"
	"encoding/json"
	"time"

	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/stream"
)

// Where a tool's calls run.
const (
	// Inline tools are pure and quick (well under a second): they run inside
	// the workflow task as local activities.
	Inline = "inline"
	// Activity tools are slow, risky or talk to a model: ordinary activities
	// with heartbeats on Queue.
	Activity = "activity"
)

// The task queues of ordinary activities.
const (
	QueueModels = "models"
	QueueTools  = "tools"
	QueueIngest = "ingest"
	// QueueTraining is of what trains models: one call of a process.
	QueueTraining = "training"
)

// ParseForeign stands in a graph for whoever reads files the program does not
// read itself: a tool whose Reads names the file's type takes its place (RAG-02).
const ParseForeign = "parse.file_v1"

// Spec is a tool.spec artifact (TOOL-01).
type Spec struct {
	Kind         string          `json:"kind"` // "tool.spec"
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Runs         string          `json:"runs,omitempty"`         // Inline or Activity (default)
	Queue        string          `json:"queue,omitempty"`        // QueueTools by default
	TimeoutMS    int             `json:"timeout_ms,omitempty"`   // 15,000; chat cap 60,000 (TOOL-09)
	Idempotent   *bool           `json:"idempotent,omitempty"`   // default true; false: one attempt (C-49)
	ReadOnly     bool            `json:"read_only,omitempty"`    // changes nothing
	Step         bool            `json:"step,omitempty"`         // a step of the house's own work; only of the program's tools it counts
	Plain        bool            `json:"plain,omitempty"`        // only looks up and arranges values: people are not shown its calls
	Confirm      Confirm         `json:"confirm,omitzero"`       // an agent asks a person first
	Privileged   bool            `json:"privileged,omitempty"`   // admin-owned artifacts only (TOOL-05)
	Workflow     string          `json:"workflow,omitempty"`     // implemented by this workflow artifact
	ContentType  string          `json:"content_type,omitempty"` // "html_untrusted" (TOOL-08)
	Reads        []string        `json:"reads,omitempty"`        // types of files: ".epub", "application/epub+zip" (RAG-02)
	Expose       []string        `json:"expose,omitempty"`       // protocols whose clients may call it by itself
	Via          *Via            `json:"via,omitempty"`          // carried out by this; nil: by the program's tool of its name, or Workflow
	Shows        []Shown         `json:"shows,omitempty"`        // how the result is told
	Examples     []Example       `json:"examples,omitempty"`     // how it is called

	// Over is what Via stands on at the version that goes with this spec: the
	// other tool's spec, or the document of the source. The library sets it.
	Over *Over `json:"-"`
}

// Over is what a spec with Via stands on.
type Over struct {
	Spec   *Spec           // of via.tool
	Source json.RawMessage // of via.query: the data.source
	Server json.RawMessage // of via.mcp: the mcp.server
}

// Example is a call that works, for people and models that learn a tool.
type Example struct {
	Description string         `json:"description,omitempty"`
	Inputs      map[string]any `json:"inputs"`
	// Asks are what people say when they want this: without a language model a
	// tool is found by them.
	Asks []string `json:"asks,omitempty"`
}

// Scope is the turn that a call is of, and what of its conversation the call may
// see. It is found when a run opens, travels with each of its calls, and reaches
// the tool: its JSON stands in the histories of runs. Of a run that is no turn
// most of it is empty.
type Scope struct {
	ConversationID string   `json:"conversation_id,omitempty"`
	RequestID      string   `json:"request_id,omitempty"`
	UptoSeq        int      `json:"upto_seq,omitempty"`    // chat history the call may read: below this
	ContextIDs     []string `json:"context_ids,omitempty"` // contexts the turn may retrieve from
	Locale         string   `json:"locale,omitempty"`
	// Backend is the model backend that answers; empty: the environment's. Named
	// are others that the graph names and may ask, whoever its run is of.
	Backend string   `json:"backend,omitempty"`
	Named   []string `json:"backends,omitempty"`
	// Bounds are what the models of the turn are held to; nil: nothing.
	Bounds *model.TurnBounds `json:"bounds,omitempty"`
}

// Call is one call of a tool, with who and what it is for. The user comes
// from the run, never from the inputs (ISO-10).
type Call struct {
	Spec   Spec // as which it is called; the Box sets it
	Viewer identity.Viewer
	RunID  string // the stream and the blobs are this run's
	Scope
	Node     string
	EffectID string // the same for every attempt: derive ids from it
	Attempt  int
	Adapters []model.Adapter // chosen by the run's routing
	// Choose gives the model of a role, as the run's pinned policy.models says
	// for the viewer's plan; nil: the provider's default for every role.
	Choose func(role string) model.Choice
	// Model is asked in place of the environment's, and Backend names it for its
	// breaker; nil and empty: the environment's is.
	Model   model.Model
	Backend string
	// Afford is asked before each model call and says when the person's budget
	// is used up; Spent is told what a call used, however it ended. nil: nobody
	// counts.
	Afford func(ctx context.Context) error
	Spent  func(model string, u model.Usage)
	// Redacted is told what was taken out of an answer before anybody saw it
	// (SAFE-03); nil: nobody keeps it.
	Redacted func(Redaction)
	// Longest is how long a model elsewhere may take, and Silence how long it may
	// then say nothing; 0: the spec's timeout bounds the call. They come from the
	// run, which keeps to its plan, and never from the inputs.
	Longest, Silence time.Duration
	Final            bool // the text of this call is the answer: stream it
	Inputs           map[string]any
	Resume           any    // the person's answer, when the tool had asked; or what it had put off
	Alive            func() // told of each piece that comes from a model; nil: nobody wants to know
	Emit             func(data stream.Payload)
	Heartbeat        func(details any)
}

// Tool is an implementation. Run returns an object valid under the spec's
// output schema, {"interrupt": {…}} to ask a person (GRAPH-27), or {"later":
// {"after_ms": number, "state": any}} to be called again after that many
// milliseconds, 1 to 60,000, with Resume {"state": any}: a durable pause that
// takes nothing of the run's time and holds no place. It suits what takes long
// and is done elsewhere; a call is put off for two hours in all at most.
type Tool interface {
	Name() string
	Run(ctx context.Context, c *Call) (map[string]any, error)
}

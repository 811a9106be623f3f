package graph

import (
	"encoding/json"
	"fmt"
	"time"

	"liminal/internal/fault"
)

// Kind names what an Effect asks for.
type Kind string

// The closed set of effects.
const (
	KindCall  Kind = "call"
	KindAsk   Kind = "ask"
	KindWait  Kind = "wait"
	KindSpawn Kind = "spawn"
)

// Effect is one thing the world is to do for a run. ID is node#visit, with [i]
// for each map around it, and a suffix for what belongs to the same visit: ~n
// the wait before retry n, .a<n> a tool's question, .r<n> the call that carries
// its answer, .w<n> the pause a tool asked for, .l<n> the call after it, .m<round> an agent's model step, .t<round>.<k> its k-th tool
// call, .c the question before a tool that wants confirming. The same run
// names the same effect always; a retry has the same ID and a higher Attempt.
type Effect struct {
	ID          string `json:"id"`
	Node        string `json:"node"`
	Stage       string `json:"stage,omitempty"` // the node people see instead; the effect is a step on the way to it
	Description string `json:"description,omitempty"`
	Quiet       bool   `json:"quiet,omitempty"`   // no status event
	Attempt     int    `json:"attempt,omitempty"` // from 1
	Kind        Kind   `json:"kind"`
	Call        *Call  `json:"call,omitempty"`
	Ask         *Ask   `json:"ask,omitempty"`
	Wait        *Wait  `json:"wait,omitempty"`
	Spawn       *Spawn `json:"spawn,omitempty"`
}

// Call runs a tool. Timeout is the time this attempt may take, never more than
// what is left of the run's; with Longest it is how long a tool that speaks may
// say nothing, and Longest bounds the attempt. Resume is set when the tool asked a
// person earlier: {"answer": …, "state": what the tool put into its interrupt}; or
// when it put its answer off: {"state": what it put into its later}. Final
// says that nothing follows but the end and that the text of this call becomes
// the response, so its tokens may be shown as they come; of an agent's model
// steps only the last one, which asks for no tools, is the response.
type Call struct {
	Tool    string         `json:"tool"`
	Inputs  map[string]any `json:"inputs"`
	Timeout time.Duration  `json:"timeout"`
	Longest time.Duration  `json:"longest,omitempty"`
	Resume  any            `json:"resume,omitempty"`
	Final   bool           `json:"final,omitempty"`
	// Approved says that a person approved this very call, as it is here.
	Approved bool `json:"approved,omitempty"`
}

// Continues reports whether the call's text goes on from what an earlier step of
// the same agent has shown, and what that is.
func (c *Call) Continues() (said string, ok bool) {
	if c.Tool != StepTool {
		return "", false
	}
	return Said(c.Inputs)
}

// Said is the text that the inputs of a model step go on from.
func Said(inputs map[string]any) (text string, ok bool) {
	said, ok := inputs["said"].(map[string]any)
	if !ok {
		return "", false
	}
	text, _ = said["text"].(string)
	return text, true
}

// Shown is what people may read of a call's inputs and of what it gave: of a model
// step that is held to results, not what no result holds, which nobody is to see.
func (c *Call) Shown(out map[string]any) (inputs, output map[string]any) {
	if c.Tool != StepTool || c.Inputs["ground"] == nil {
		return c.Inputs, out
	}
	return without(c.Inputs, "transcript"), without(out, "unsupported")
}

// without is a map but for one member; no order comes of the range.
//
//workflowcheck:ignore
func without(m map[string]any, key string) map[string]any {
	if _, there := m[key]; !there {
		return m
	}
	kept := make(map[string]any, len(m))
	for k, v := range m {
		if k != key {
			kept[k] = v
		}
	}
	return kept
}

// Ask puts a question to a person; its answer comes back by Done with
// {"answer": value, "cancelled": bool, "expired": bool}. At most one Ask of a
// run is outstanding; others wait inside the machine (INT-03).
type Ask struct {
	Type         string          `json:"interrupt_type"`
	Message      string          `json:"message"`
	Options      []Option        `json:"options,omitempty"`
	AnswerSchema json.RawMessage `json:"answer_schema,omitempty"`
	Expires      time.Time       `json:"expires,omitzero"` // zero: waits without limit (INT-04)
}

// Option is one answer a person may pick.
type Option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// Wait lets time pass before a retry, or before a tool that put its answer off
// is called again.
type Wait struct {
	Until time.Time `json:"until"`
	Rest  bool      `json:"rest,omitempty"` // the tool asked for it: none of the run's time
}

// Spawn runs another workflow artifact as a child.
type Spawn struct {
	Workflow string         `json:"workflow"`
	Inputs   map[string]any `json:"inputs"`
	Timeout  time.Duration  `json:"timeout"`
	Budget   *Budget        `json:"budget,omitempty"` // of the child with all runs below it; nil: the parent has none
}

// The codes the machine itself gives to a Failure. A tool's failure keeps the
// code it came with.
const (
	CodeValidation = "validation_error" // a value the graph cannot go on with; never retried
	CodeTokenCap   = "token_cap"        // a model would be told more than the turn allows (GRND-26)
	CodeTimeout    = "timeout"          // the node's or the run's time is spent
	CodeNoBranch   = "no_branch"        // no condition of a switch is true
	CodeLimit      = "limit"            // a bound of the run is reached
	CodeMissing    = "not_found"        // an optional tool is not there
	CodeServer     = "server_error"     // a failure that came without a code
	CodeUncertain  = "uncertain"        // a call that must not be made twice was begun, and nobody knows what came of it
)

// Failure is why a node, or the run, did not go on.
type Failure struct {
	Code      string          `json:"code"`
	Message   string          `json:"message"`
	Retryable bool            `json:"retryable,omitempty"`
	Soon      bool            `json:"soon,omitempty"`     // what was called is well, so the next attempt need not let it rest
	GivenUp   bool            `json:"given_up,omitempty"` // by who carried it out: it says nothing of what was given, and counts as no attempt (see maxGivenUp)
	After     time.Duration   `json:"after,omitempty"`    // what was called asks to be left alone so long (LORA-25)
	Node      string          `json:"node,omitempty"`     // where it happened; set by the machine
	Spent     bool            `json:"spent,omitempty"`    // the time that ended is the whole run's, as its graph sets it
	RetryAt   time.Time       `json:"retry_at,omitzero"`  // what was called rests, and is called again from then on
	Said      *fault.Sentence `json:"said,omitempty"`     // Message taken apart
}

// Error gives the message with the node.
func (f *Failure) Error() string {
	if f.Node == "" {
		return f.Message
	}
	return "node " + f.Node + ": " + f.Message
}

// at is f where it happened.
func (f *Failure) at(node string) *Failure {
	f.Node = node
	return f
}

func failuref(code, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...), Said: fault.Say(format, args...)}
}

// Outcome is how a run ended. Err is set when it failed. Suppressed says that
// a person cancelled a question: the response is kept but not shown (INT-09).
type Outcome struct {
	Response   string         `json:"response"`
	Citations  []any          `json:"citations,omitempty"`
	Data       map[string]any `json:"data,omitempty"`
	Vars       map[string]any `json:"vars,omitempty"`
	Err        *Failure       `json:"error,omitempty"`
	Cancelled  bool           `json:"cancelled,omitempty"`
	Suppressed bool           `json:"suppressed,omitempty"`
}

// Step is one entry of the trace: a node that decided, or one attempt of an
// effect. Ended is zero while it is open. The doc tags are the words of the API's
// document.
type Step struct {
	Node      string          `json:"node"`
	Type      NodeType        `json:"type" doc:"of the node"`
	Effect    string          `json:"effect,omitempty" doc:"missing: the node only decides"`
	Visit     int             `json:"visit" doc:"how often the run had come to the node, this time included"`
	Attempt   int             `json:"attempt,omitempty"`
	Started   time.Time       `json:"started"`
	Ended     time.Time       `json:"ended,omitzero" doc:"missing: it is open"`
	Outcome   Result          `json:"outcome,omitempty" doc:"ok, failed, retried, skipped, asked, abandoned, cancelled or expired"`
	Detail    string          `json:"detail,omitempty"`
	Said      *fault.Sentence `json:"said,omitempty" doc:"the detail taken apart, for who says it in another language"`
	Condition string          `json:"condition,omitempty" doc:"the when that chose the way"`
	// Values are what the conditions of a switch read, those that were not true
	// before it too; only with Limits.Explain.
	Values map[string]any `json:"values,omitempty" doc:"what the conditions of a switch read"`
}

// Result is how a step of the trace ended.
type Result string

// The results of a step.
const (
	ResultOK        Result = "ok"
	ResultFailed    Result = "failed"
	ResultRetried   Result = "retried" // failed, and tried again
	ResultSkipped   Result = "skipped" // its when was false
	ResultAsked     Result = "asked"   // the tool put a question
	ResultAbandoned Result = "abandoned"
	ResultCancelled Result = "cancelled"
	ResultExpired   Result = "expired"
)

// Input is what a run begins with. Persisted are the vars kept from the
// conversation's last turn; all others start unset (GRAPH-28).
type Input struct {
	Input        map[string]any `json:"input,omitempty"`
	Persisted    map[string]any `json:"persisted,omitempty"`
	Conversation map[string]any `json:"conversation,omitempty"`
	User         map[string]any `json:"user,omitempty"`
	Now          time.Time      `json:"now"`
	Budget       *Budget        `json:"budget,omitempty"` // of the run and all runs below it; nil: without one
	// Remembers says that what Persist gives is kept for the conversation's next
	// turn: only then may a person say not to be asked again.
	Remembers bool `json:"remembers,omitempty"`
}

package stream

import (
	"encoding/json"
	"errors"
	"time"

	"liminal/internal/fault"
)

// Payload is the data of an event. Every kind has one type here, which is the
// only place that says what its JSON is: who appends an event makes it with New,
// who reads one uses Read, and the API's document is made of these types.
type Payload interface {
	kind() Kind
}

// New is an event of the kind that data is of, of a first attempt. node is the
// step that says it, empty for the run itself. The error is of a tool's arguments
// that are no JSON; nothing else can fail.
func New(node string, data Payload) (Event, error) {
	raw, err := json.Marshal(data)
	return Event{Kind: data.kind(), Attempt: 1, Node: node, Data: raw}, err
}

// Read is the data of an event. It reads as much as it can: a field of another
// type than it should have, as another version of the program may have written,
// is left zero and takes no other with it. false: there is no object to read.
func Read[T Payload](raw json.RawMessage) (data T, ok bool) {
	err := json.Unmarshal(raw, &data)
	return data, err == nil || errors.As(err, new(*json.UnmarshalTypeError))
}

// StatusData says that a step began, or that it is done (STREAM-18).
type StatusData struct {
	Node    string `json:"node" doc:"the step, or the stage it belongs to"`
	Message string `json:"message" doc:"what it does, for people"`
	Done    bool   `json:"done"`
	// DocsFound is what a step that is done has found; empty: nothing, or it
	// does not look for documents.
	DocsFound []FoundDocument `json:"docs_found,omitempty"`
	WebQuery  *string         `json:"web_query,omitempty" doc:"what it searched the web for"`
}

// FoundDocument is a document as a status names it.
type FoundDocument struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// ToolCallData says that a tool is called.
type ToolCallData struct {
	ID        string         `json:"id" doc:"of the call, the same for every attempt"`
	Name      string         `json:"name" doc:"of the tool"`
	Arguments map[string]any `json:"arguments" doc:"long ones are cut"`
}

// How a tool's call ended, as ToolResultData says it.
const (
	ToolOK    = "ok"
	ToolError = "error"
)

// ToolResultData says that a tool's call is over.
type ToolResultData struct {
	ID     string `json:"id" doc:"of the call"`
	Name   string `json:"name" doc:"of the tool"`
	Status string `json:"status" enum:"ok,error"`
	// Summary is the tool's own, the code of its failure, "asks" where it asks a
	// person, or "stopped" where a person stopped it.
	Summary    string `json:"summary" doc:"in the tool's words; of a failure its code; asks or stopped where that is how it ended"`
	DurationMS int64  `json:"duration_ms"`
	// ContentType is the tool's own: "html_untrusted" is what a client must
	// sanitise (STREAM-30).
	ContentType string `json:"content_type,omitempty" doc:"of what the tool returns; html_untrusted is to be sanitised"`
}

// TokenData is a piece of the answer.
type TokenData string

// Why readers drop the answer's text so far, as ResetData says it.
const (
	ResetRetry  = "retry"  // it is said again by another attempt, or by a later step
	ResetTools  = "tools"  // the model calls tools first
	ResetSafety = "safety" // it holds what nobody may see
	ResetGap    = "gap"    // the log no longer holds what came before
)

// ResetData says why the answer's text so far is to be dropped.
type ResetData struct {
	Reason string `json:"reason" doc:"retry, tools, safety or gap"`
}

// ChipData is a link that goes with the answer: to a record that a call of this
// run returned, to a page of its source, or to a list of records (GRND-17).
type ChipData struct {
	Kind   string `json:"kind" doc:"the entity of the record; nav or filter for another page"`
	Action string `json:"action" enum:"open,go,filter"`
	ID     string `json:"id" doc:"of the record, the path, or the filter"`
	Href   string `json:"href" doc:"where it leads"`
	Label  string `json:"label,omitempty" doc:"what it is called"`
	Source string `json:"source,omitempty" doc:"the data.source"`
}

// ProgressData says how far long work is. Done, Total and Unit are missing where
// it only says what it does.
type ProgressData struct {
	Done *int `json:"done,omitempty"`
	// Figures are how a training goes: loss, held_out, tok_s and eta, in seconds.
	Figures map[string]float64 `json:"figures,omitempty" doc:"how a training goes: loss, held_out, tok_s and eta"`
	Message string             `json:"message" doc:"what is done, for people"`
	// Preparing is true while what shall do it is made ready, as the reader of
	// PDF files is the first time.
	Preparing bool   `json:"preparing,omitempty" doc:"what shall read is made ready first"`
	Total     *int   `json:"total,omitempty"`
	Unit      string `json:"unit,omitempty" doc:"pages, passages or steps"`
}

// Choice is one answer a question offers.
type Choice struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// InterruptData is a question the run asks a person (INT-01).
type InterruptData struct {
	ID             string          `json:"interrupt_id"`
	RunID          string          `json:"run_id"`
	ConversationID *string         `json:"conversation_id" nullable:"true" doc:"null of a run that is no turn"`
	Type           string          `json:"interrupt_type" doc:"doc_choice, text_input, action_choice, retrieval_low, …"`
	Message        string          `json:"message"`
	Options        []Choice        `json:"options" nullable:"true" doc:"null when any text is an answer"`
	AnswerSchema   json.RawMessage `json:"answer_schema,omitempty" doc:"a JSON Schema, without options: of an object it is a form, to be answered with an object that fits it"`
	// Status and PatchID are said by readers of the store only.
	Status    string    `json:"status,omitempty" doc:"pending; missing where the question has just been asked"`
	PatchID   *int64    `json:"patch_id,omitempty" doc:"it is the question of a proposed change, and decided there"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero" doc:"missing: it waits without limit"`
}

// PausedData names the questions that hold the whole run.
type PausedData struct {
	InterruptIDs []string `json:"interrupt_ids"`
}

// ResumedData names a question that holds the run no more.
type ResumedData struct {
	InterruptID string `json:"interrupt_id"`
}

// TraceData is the way the run went, as its row keeps it (GRAPH-18).
type TraceData struct{ json.RawMessage }

// UsageData is what a run used, as readers see it (OBS-09). Runs that ended
// under an earlier version of the program may say less.
type UsageData struct {
	InputTokens      int      `json:"input_tokens" required:"false"`
	OutputTokens     int      `json:"output_tokens" required:"false"`
	CacheReadTokens  int      `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens int      `json:"cache_write_tokens,omitempty"`
	Estimated        bool     `json:"estimated,omitempty" doc:"a part of it was counted here, as the provider does not"`
	TokensUsed       int      `json:"tokens_used" required:"false" doc:"of all classes, those from caches too"`
	CostUSD          *float64 `json:"cost_usd" required:"false" nullable:"true" doc:"null: no price is known"`
}

// Answer is what is known of a turn that ended, beside its words; of another run
// it is its result. Fields are JSON where the store has them as JSON, or where
// their type belongs to a package above this one; nil ones are left out.
type Answer struct {
	ConversationID string          `json:"conversation_id,omitempty"`
	ContentStruct  json.RawMessage `json:"content_struct,omitempty" doc:"the message's structured form"` // a *chat.Content
	Citations      json.RawMessage `json:"citations,omitempty"`                                          // a []chat.Citation
	Usage          json.RawMessage `json:"usage,omitempty"`                                              // a UsageData
	Adapters       json.RawMessage `json:"adapters,omitempty" doc:"chosen by the router"`
	Gates          json.RawMessage `json:"gates,omitempty" doc:"their weights"`
	Routing        json.RawMessage `json:"routing,omitempty" doc:"which policy and rules chose the adapters"` // CHAT-22
	WorkflowTrace  json.RawMessage `json:"workflow_trace,omitempty" doc:"the steps of the graph"`             // a []graph.Step
	Model          string          `json:"model,omitempty" doc:"the one that spoke last"`
	Response       *string         `json:"response,omitempty" doc:"of a run that is no turn: the same as content"`
	Data           json.RawMessage `json:"data,omitempty" doc:"what the graph's end says beside the text"`
	Safety         json.RawMessage `json:"safety,omitempty" doc:"what is thought of the person's message, where that is worrying"`
	Truncated      bool            `json:"truncated,omitempty" doc:"it ended at a limit before its own end"`
	Suppressed     bool            `json:"suppressed,omitempty" doc:"a question was skipped, and the answer is not shown"` // INT-10
	Cancelled      bool            `json:"cancelled,omitempty"`
	Forgotten      bool            `json:"forgotten,omitempty" doc:"nothing is kept of this turn, and its time is over: what was said cannot be read any more"` // GRND-47
}

// MessageDoneData is the end of a run that is done (STREAM-04). Content equals
// the stored message's (STREAM-32).
type MessageDoneData struct {
	MessageID string `json:"message_id,omitempty" doc:"missing of a run that is no turn"`
	RunID     string `json:"run_id"`
	Content   string `json:"content"`
	Answer
	Heeded bool `json:"heeded,omitempty" doc:"what the person's message says of an answer is being noted"` // PREF-02
}

// CancelAckData is the end of a run that a person stopped, with what had been
// written. Answer is said by readers of the store only.
type CancelAckData struct {
	MessageID *string `json:"message_id" nullable:"true" doc:"null: nothing had been written"`
	RunID     string  `json:"run_id,omitempty"`
	Content   string  `json:"content"`
	*Answer
}

// RunError is why a run failed: the data of its Error event, and what its row
// keeps. Code is one of fault.Codes; Reason is the machine's own where it says
// more.
type RunError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Node    string `json:"node,omitempty"`
	Reason  string `json:"reason,omitempty" doc:"not_configured or upstream: of whatever model should have answered"`
	// RetryAt is when what rests is called again; zero: nothing does (ISO-09).
	RetryAt time.Time       `json:"retry_at,omitzero" doc:"what failed is left alone until then; missing: it may be tried again at once"`
	Said    *fault.Sentence `json:"said,omitempty" doc:"the message taken apart, for who says it in another language; missing: it is not the program's own"`
}

func (StatusData) kind() Kind      { return Status }
func (ToolCallData) kind() Kind    { return ToolCall }
func (ToolResultData) kind() Kind  { return ToolResult }
func (TokenData) kind() Kind       { return Token }
func (ResetData) kind() Kind       { return Reset }
func (ChipData) kind() Kind        { return Chip }
func (ProgressData) kind() Kind    { return Progress }
func (InterruptData) kind() Kind   { return Interrupt }
func (PausedData) kind() Kind      { return Paused }
func (ResumedData) kind() Kind     { return Resumed }
func (TraceData) kind() Kind       { return Trace }
func (MessageDoneData) kind() Kind { return MessageDone }
func (CancelAckData) kind() Kind   { return CancelAck }
func (RunError) kind() Kind        { return Error }

// Gap is the Reset that a log gives a follower of whose place it no longer holds
// everything; what comes next is after seq.
func Gap(seq int64, at time.Time) Event {
	e, _ := New("", ResetData{Reason: ResetGap}) // of a string: it cannot fail
	e.Seq, e.Time = seq, at
	return e
}

// Payloads are the zero values of all payloads, in the order of the kinds: what
// a document of the events is made of.
func Payloads() []Payload {
	return []Payload{
		StatusData{}, ToolCallData{}, ToolResultData{}, TokenData(""), ResetData{}, ChipData{}, ProgressData{}, InterruptData{}, PausedData{}, ResumedData{},
		TraceData{}, MessageDoneData{}, RunError{}, CancelAckData{},
	}
}

// KindOf is the kind of events that data is of.
func KindOf(data Payload) Kind { return data.kind() }

// Package model is what a language model is: a request, a stream of events,
// and the few words both sides agree on.
//
// The port fits the streaming APIs of Anthropic and of OpenAI-compatible
// servers, and the keyless default, without knowing any of them. Providers
// live in sub-packages and a wire row; this package may import the standard
// library, fault and words.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Role is whose words a message holds.
type Role string

// The roles of a message. System text travels in Request.System.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// BlockType is what a content block holds.
type BlockType string

// The blocks a message is made of.
const (
	Text       BlockType = "text"
	Thinking   BlockType = "thinking"    // replayed verbatim, with Signature
	ToolUse    BlockType = "tool_use"    // ID, Name, Input
	ToolResult BlockType = "tool_result" // ID, Content (text or JSON), IsError
	Passage    BlockType = "passage"     // a retrieved passage the answer may cite
)

// Block is one piece of a message. Which fields are set follows from Type.
type Block struct {
	Type      BlockType       `json:"type"`
	Text      string          `json:"text,omitempty"`
	Signature string          `json:"signature,omitempty"` // of a thinking block
	ID        string          `json:"id,omitempty"`        // of a tool use and its result
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Source    *Source         `json:"source,omitempty"` // of a passage
}

// Message is one turn of the dialogue.
type Message struct {
	Role    Role    `json:"role"`
	Content []Block `json:"content"`
}

// ByTurns are texts as messages of the user and of the assistant by turns, the
// user's first.
func ByTurns(texts ...string) []Message {
	list := make([]Message, len(texts))
	for i, text := range texts {
		list[i] = Message{Role: User, Content: []Block{{Type: Text, Text: text}}}
		if i%2 == 1 {
			list[i].Role = Assistant
		}
	}
	return list
}

// Tool is a tool as a model sees it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
	ReadOnly    bool            `json:"read_only,omitempty"`
	// Examples and Tell are for a provider without a language model: what people
	// say when they want the tool, and its results as people read them.
	Examples []ToolExample                                         `json:"-"`
	Hints    json.RawMessage                                       `json:"-"` // InputSchema with what is for such a provider only; nil: there is nothing
	Tell     func(out map[string]any, locale string) []ToolRecords `json:"-"`
}

// ToolExample is what people say when they want a call like this one. An input
// that is nil stands for what their words name.
type ToolExample struct {
	Asks   []string
	Inputs map[string]any
}

// ToolRecords are records of one kind in a tool's result.
type ToolRecords struct {
	Heading string // empty: none
	Empty   string // what is said where there are none
	Records []Record
}

// What a link to a record does; empty is RecordOpens.
const (
	RecordOpens   = "open"
	RecordGoes    = "go"     // to a page that is no record's; ID is its path
	RecordFilters = "filter" // to the records that ID, a query, leaves
)

// Record is a row of a tool's result as people read it, and where its page is.
type Record struct {
	Source string `json:"source"` // the data.source; empty: it has no page
	Entity string `json:"entity"`
	ID     string `json:"id"`
	Title  string `json:"title"` // of a link to it
	Href   string `json:"href"`
	Line   string `json:"line,omitempty"`
	Action string `json:"action,omitempty"`
}

// Adapter is a LoRA adapter with its gate, carried to the provider.
type Adapter struct {
	ID            string  `json:"id"`
	Mode          string  `json:"mode,omitempty"`            // local, remote, prompt, hybrid
	RemoteModelID string  `json:"remote_model_id,omitempty"` // of an adapter served as a model
	RemoteID      string  `json:"remote_id,omitempty"`       // of an adapter served beside a model
	Dir           string  `json:"dir,omitempty"`             // its weights, below the shared root
	Version       int     `json:"version,omitempty"`         // of the weights: the folder vNNNN of Dir; 0: the latest
	Checksum      string  `json:"checksum,omitempty"`        // what the params.json of the version must have (LORA-16); empty: anything
	Persona       bool    `json:"persona,omitempty"`         // it is how a person wants to be answered always
	Weight        float64 `json:"weight"`                    // 0 to 1
	Instructions  string  `json:"instructions,omitempty"`
	// Directives are what a provider without a language model can follow of it.
	Directives []Directive `json:"directives,omitempty"`
}

// Directive is how a person wants to be answered, in a form that a program can
// follow.
type Directive struct {
	Kind  string `json:"kind"`  // DirectiveLength, DirectiveList or DirectiveLanguage
	Value string `json:"value"` // length: short, long; list: yes, no; language: de, en
}

// The kinds of directives.
const (
	DirectiveLength   = "length"
	DirectiveList     = "list"
	DirectiveLanguage = "language"
)

// Request is everything a model is told.
type Request struct {
	Model       string          // empty: the provider's default
	Task        string          // "chat", "intent", "answer", "agent", "summary", "compare", "check", "title", "memory": lets a provider without a model choose its way
	User        string          // a hash of who asks, for the provider's own abuse handling; empty: not told
	System      string          //
	Messages    []Message       // oldest first; the last is the user's or tool results
	Tools       []Tool          //
	Schema      json.RawMessage // not nil: the answer must be JSON valid under it
	MaxTokens   int             // 0: the provider's default
	Temperature *float64        //
	TopP        *float64        //
	Adapters    []Adapter       //
	Today       time.Time       // zero: the clock's
	Locale      string          // "en", "de": the language of the provider's own sentences
}

// EventType is what an event of the answer carries.
type EventType string

// The events of an answer, in the order a provider may send them; Stop is
// always last, Usage at most once before it.
const (
	TextDelta     EventType = "text"
	ThinkingDelta EventType = "thinking"
	ToolCall      EventType = "tool_use" // complete: ID, Name, Input
	Citation      EventType = "citation" // the text just sent stands in Source
	Linked        EventType = "record"   // the text just sent tells Record, which has a page
	UsageReport   EventType = "usage"
	Stop          EventType = "stop"
)

// Ungrounded is the reason of a Stop that no provider sends: what was said last
// stands in no result, and the rest was not heard.
const Ungrounded StopReason = "ungrounded"

// StopReason is why an answer ended.
type StopReason string

// The reasons an answer ends.
const (
	EndTurn   StopReason = "end_turn"
	ToolCalls StopReason = "tool_use"
	MaxTokens StopReason = "max_tokens"
	Refusal   StopReason = "refusal"
)

// Usage counts tokens in the four classes providers bill.
type Usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_tokens,omitempty"`
	CacheWrite int `json:"cache_write_tokens,omitempty"`
	// Estimated says that a part of it was counted here, as the server does not.
	Estimated bool `json:"estimated,omitempty"`
	// CostUSD is the price in US dollars; nil: not known (OBS-09).
	CostUSD *float64 `json:"cost_usd,omitempty"`
}

// Add returns the sum of two usages. Its cost is the part that is known.
func (u Usage) Add(o Usage) Usage {
	sum := Usage{
		Input: u.Input + o.Input, Output: u.Output + o.Output,
		CacheRead: u.CacheRead + o.CacheRead, CacheWrite: u.CacheWrite + o.CacheWrite,
		Estimated: u.Estimated || o.Estimated, CostUSD: u.CostUSD,
	}
	if u.CostUSD == nil {
		sum.CostUSD = o.CostUSD
	} else if o.CostUSD != nil {
		usd := *u.CostUSD + *o.CostUSD
		sum.CostUSD = &usd
	}
	return sum
}

// Tokens is how many there are of all classes.
func (u Usage) Tokens() int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// Event is one piece of an answer.
type Event struct {
	Type      EventType
	Text      string
	Signature string // of thinking, on its last delta
	ID        string
	Name      string
	Input     json.RawMessage
	Source    *Source
	Quote     string // of a citation: the exact cited text
	Record    *Record
	Usage     Usage
	Reason    StopReason
}

// Model answers requests. Stream yields events as they come; an error ends
// it. Cancelling ctx ends it within 50 ms with ctx's error. Providers never
// retry by themselves: Temporal does.
type Model interface {
	// Name is the model's own name, for traces and the client.
	Name() string
	// Generative reports whether answers are generated; false for the keyless
	// default, which only quotes.
	Generative() bool
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

type hearing struct{}

// WithHearing has heard told of what a provider receives and gives no event for
// yet, such as a piece of a tool's arguments, in bytes. It is called within
// Stream, on its goroutine.
func WithHearing(ctx context.Context, heard func(bytes int)) context.Context {
	return context.WithValue(ctx, hearing{}, heard)
}

// Heard is a provider's word that it is not silent though it has nothing to
// tell yet. What says nothing of the answer, as a comment that keeps a
// connection open, is not heard.
func Heard(ctx context.Context, bytes int) {
	if heard, ok := ctx.Value(hearing{}).(func(int)); ok && bytes > 0 {
		heard(bytes)
	}
}

// InProcess is what a model may say of itself: that it answers in this process,
// within about a second, and asks nobody else. Its calls need no queue of their
// own and nobody to watch whether they live. A model that says nothing is
// elsewhere.
type InProcess interface{ InProcess() bool }

// IsInProcess reports whether m says that it answers in this process.
func IsInProcess(m Model) bool {
	local, ok := m.(InProcess)
	return ok && local.InProcess()
}

// OnLoopback reports whether nothing that m is asked leaves this machine: it answers in
// this process, or says that its server is on the loopback address. A model that says
// nothing is elsewhere.
func OnLoopback(m Model) bool {
	near, ok := m.(interface{ OnLoopback() bool })
	return IsInProcess(m) || ok && near.OnLoopback()
}

// capturePath begins the paths of the capture proxy (internal/capture/proxy), which is on
// this machine and passes on what it hears to servers that are not.
const capturePath = "/a/plt_"

// IsLoopback reports whether a server is on this machine, as its address says: its host
// is, and it is not the capture proxy.
func IsLoopback(server *url.URL) bool {
	if strings.HasPrefix(server.Path, capturePath) {
		return false
	}
	host := server.Hostname()
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.Unmap().IsLoopback()
}

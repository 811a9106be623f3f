package api

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// MessageAnswer is the answer to a MessagesRequest.
type MessageAnswer struct {
	ID           string            `json:"id"`
	Type         string            `json:"type" enum:"message"`
	Role         string            `json:"role" enum:"assistant"`
	Model        string            `json:"model"`
	Content      []MessageAnswered `json:"content"`
	StopReason   *string           `json:"stop_reason" nullable:"true" enum:"end_turn,max_tokens,tool_use,refusal"`
	StopSequence *string           `json:"stop_sequence" nullable:"true"`
	Usage        MessageUsage      `json:"usage"`
	Liminal      CompletionOf      `json:"x_liminal"`
}

// MessageAnswered is a block of an answer: a text, or a call of one of the caller's
// tools.
type MessageAnswered struct {
	Type      string            `json:"type" enum:"text,tool_use"`
	Text      *string           `json:"text,omitempty"`
	Citations []MessageCitation `json:"citations,omitempty" doc:"what it cites, with marks such as [1] in the text"`
	ID        string            `json:"id,omitempty"`
	Name      string            `json:"name,omitempty"`
	Input     Object            `json:"input,omitempty" doc:"of a tool_use"`
}

// MessageCitation is a citation: a passage of a document, or a record.
type MessageCitation struct {
	Type   string `json:"type" enum:"search_result_location"`
	Cited  string `json:"cited_text"`
	Source string `json:"source" doc:"where it can be read"`
	Title  string `json:"title"`
	Result int    `json:"search_result_index" doc:"its mark's number, less one"`
	Start  int    `json:"start_block_index" doc:"0"`
	End    int    `json:"end_block_index" doc:"1"`
}

// MessageUsage is what a turn used, of all its calls of models.
type MessageUsage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
}

// The events of a stream, one struct each.
type (
	// MessageStart begins it.
	MessageStart struct {
		Type    string        `json:"type" enum:"message_start"`
		Message MessageAnswer `json:"message" doc:"without content; its usage is told at the end"`
	}
	// MessageBlockStart begins a block of content.
	MessageBlockStart struct {
		Type  string          `json:"type" enum:"content_block_start"`
		Index int             `json:"index"`
		Block MessageAnswered `json:"content_block"`
	}
	// MessageBlockDelta is what comes to a block.
	MessageBlockDelta struct {
		Type  string       `json:"type" enum:"content_block_delta"`
		Index int          `json:"index"`
		Delta MessageDelta `json:"delta"`
	}
	// MessageDelta is a piece of a text, or a citation of it.
	MessageDelta struct {
		Type     string           `json:"type" enum:"text_delta,citations_delta,input_json_delta"`
		Text     *string          `json:"text,omitempty"`
		JSON     *string          `json:"partial_json,omitempty" doc:"of the input of a tool_use"`
		Citation *MessageCitation `json:"citation,omitempty"`
	}
	// MessageBlockStop ends a block.
	MessageBlockStop struct {
		Type  string `json:"type" enum:"content_block_stop"`
		Index int    `json:"index"`
	}
	// MessageEnd says how it ended.
	MessageEnd struct {
		Type  string `json:"type" enum:"message_delta"`
		Delta struct {
			StopReason   string  `json:"stop_reason"`
			StopSequence *string `json:"stop_sequence" nullable:"true"`
		} `json:"delta"`
		Usage   MessageUsage `json:"usage"`
		Liminal CompletionOf `json:"x_liminal"`
	}
	// MessageStop is the last.
	MessageStop struct {
		Type string `json:"type" enum:"message_stop"`
	}
)

// messageEvents documents the events.
func (s *server) messageEvents() *huma.Schema {
	events := map[string]any{}
	for kind, event := range map[string]any{
		"message_start": MessageStart{}, "content_block_start": MessageBlockStart{}, "content_block_delta": MessageBlockDelta{},
		"content_block_stop": MessageBlockStop{}, "message_delta": MessageEnd{}, "message_stop": MessageStop{}, "error": AnthropicFailure{}, "ping": struct{}{},
	} {
		events[kind] = s.huma.OpenAPI().Components.Schemas.Schema(typeOf(event), true, "Ping")
	}
	return &huma.Schema{Type: "string", Description: "lines `event: <name>`, `data: {json}`", Extensions: map[string]any{"x-events": events}}
}

// messageEncoder puts the log of one run into Anthropic's words.
type messageEncoder struct {
	id, model, locale, base string

	about CompletionOf

	// asked are the questions that wait, the one that the next message answers first.
	asked func() ([]run.Interrupt, error)
	// ended hears all that was said.
	ended func(answer string)

	words settled
	all   strings.Builder
	begun bool
	index int  // of the block that is written, or the next
	open  bool // a block is written
}

// cited are the citations of an answer.
func (e *messageEncoder) cited(list []chat.Citation) (out []MessageCitation) {
	for _, c := range list {
		href, title := citedAt(e.base, c)
		out = append(out, MessageCitation{Type: "search_result_location", Cited: c.Text, Source: href, Title: title, Result: max(c.N-1, 0), End: 1})
	}
	return out
}

func (e *messageEncoder) message() MessageAnswer {
	return MessageAnswer{ID: e.id, Type: "message", Role: "assistant", Model: e.model, Content: []MessageAnswered{}, Liminal: e.about}
}

// stopReasons are the protocol's words for how an answer ended.
var stopReasons = map[string]string{"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use"}

func messageUsage(u stream.UsageData) MessageUsage {
	return MessageUsage{Input: u.InputTokens, Output: u.OutputTokens, CacheWrite: u.CacheWriteTokens, CacheRead: u.CacheReadTokens}
}

// end is what the last event of a run says.
func (e *messageEncoder) end(event stream.Event) (f finish, err error) {
	if event.Kind != stream.Paused {
		return endTold(event)
	}
	open, err := e.asked()
	if err == nil {
		f, e.about.Interrupt = endAsked(open, e.locale)
	}
	return f, err
}

// whole is the answer of a run by its last event.
func (e *messageEncoder) whole(event stream.Event) (any, error) {
	f, err := e.end(event)
	if err != nil {
		return nil, err
	}
	out := e.message()
	reason := stopReasons[f.reason]
	out.StopReason, out.Usage = &reason, messageUsage(f.used)
	if f.rest != "" {
		out.Content = append(out.Content, MessageAnswered{Type: "text", Text: &f.rest, Citations: e.cited(f.cited)})
	}
	for _, c := range f.calls {
		out.Content = append(out.Content, toolUse(c, Object(c.Arguments)))
	}
	e.ended(f.rest)
	return out, nil
}

// toolUse is a call of one of the caller's tools.
func toolUse(c clientCall, input Object) MessageAnswered {
	return MessageAnswered{Type: "tool_use", ID: c.ID, Name: c.Name, Input: input}
}

// encode implements encoder.
func (e *messageEncoder) encode(event stream.Event) (out [][]byte, err error) {
	if !e.begun {
		e.begun = true
		out = append(out, namedLine("message_start", MessageStart{"message_start", e.message()}))
	}
	switch {
	case event.Kind == stream.Token:
		piece, _ := stream.Read[stream.TokenData](event.Data)
		text, err := e.words.say(string(piece))
		if err != nil {
			return e.broken(out, stream.RunError{Message: e.changed()})
		}
		out = append(out, e.text(text)...)
	case event.Kind == stream.Reset:
		reset, _ := stream.Read[stream.ResetData](event.Data)
		e.words.reset(reset.Reason)
	case event.Kind == stream.ToolCall:
		e.words.part()
	case event.Kind == stream.Error:
		reason, _ := stream.Read[stream.RunError](event.Data)
		return e.broken(out, reason)
	case event.Kind.Ends():
		f, err := e.end(event)
		if err != nil {
			return nil, err
		}
		if event.Kind == stream.Paused {
			err = e.words.pause()
			out = append(out, e.stop()...)
		} else {
			f.rest, err = e.words.rest(f.rest)
		}
		if err != nil && f.reason != "content_filter" {
			return e.broken(out, stream.RunError{Message: e.changed()})
		}
		return append(out, e.last(f)...), errOver
	}
	return out, nil
}

// text is a piece of a block, which it begins where none is written.
func (e *messageEncoder) text(text string) (out [][]byte) {
	if text == "" {
		return nil
	}
	if e.words.next { // what was said before a tool is a block of its own
		e.words.next = false
		out = e.stop()
	}
	if !e.open {
		e.open = true
		if e.all.Len() > 0 {
			e.all.WriteString(blockBreak)
		}
		out = append(out, namedLine("content_block_start", MessageBlockStart{"content_block_start", e.index, MessageAnswered{Type: "text", Text: new(string)}}))
	}
	e.all.WriteString(text)
	return append(out, e.delta(MessageDelta{Type: "text_delta", Text: &text}))
}

func (e *messageEncoder) delta(d MessageDelta) []byte {
	return namedLine("content_block_delta", MessageBlockDelta{"content_block_delta", e.index, d})
}

// stop ends the block that is written.
func (e *messageEncoder) stop() [][]byte {
	if !e.open {
		return nil
	}
	e.open = false
	e.index++
	return [][]byte{namedLine("content_block_stop", MessageBlockStop{"content_block_stop", e.index - 1})}
}

// last is the end of a stream that is whole.
func (e *messageEncoder) last(f finish) [][]byte {
	out := e.text(f.rest)
	e.ended(e.all.String())
	if e.open {
		for _, c := range e.cited(f.cited) {
			out = append(out, e.delta(MessageDelta{Type: "citations_delta", Citation: &c}))
		}
	}
	out = append(out, e.stop()...)
	for _, c := range f.calls {
		e.open = true
		out = append(out,
			namedLine("content_block_start", MessageBlockStart{"content_block_start", e.index, toolUse(c, Object("{}"))}),
			e.delta(MessageDelta{Type: "input_json_delta", JSON: &c.Arguments}))
		out = append(out, e.stop()...)
	}
	end := MessageEnd{Type: "message_delta", Usage: messageUsage(f.used), Liminal: e.about}
	end.Delta.StopReason = stopReasons[f.reason]
	return append(out, namedLine("message_delta", end), namedLine("message_stop", MessageStop{"message_stop"}))
}

func (e *messageEncoder) changed() string {
	return "The answer was begun again and differs from what was sent. The run " + e.about.RunID + " has it whole."
}

// broken ends a stream with the protocol's error.
func (e *messageEncoder) broken(out [][]byte, why stream.RunError) ([][]byte, error) {
	return append(out, namedLine("error", AnthropicFailure{Type: "error", Error: AnthropicReason{Type: anthropicError(why), Message: why.Message}})), errOver
}

func (e *messageEncoder) ping() []byte { return []byte("event: ping\ndata: {\"type\": \"ping\"}\n\n") }

// namedLine is an event of a protocol whose events have names.
func namedLine(name string, v any) []byte { return append([]byte("event: "+name+"\n"), dataLine(v)...) }

// AnthropicFailure is an unsuccessful answer of the protocol, and the event of one.
type AnthropicFailure struct {
	Type      string          `json:"type" enum:"error"`
	Error     AnthropicReason `json:"error"`
	RequestID string          `json:"request_id,omitempty"`
}

// AnthropicReason says what went wrong.
type AnthropicReason struct {
	Type    string `json:"type" enum:"invalid_request_error,authentication_error,permission_error,not_found_error,rate_limit_error,api_error,overloaded_error"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty" doc:"why, where the type does not say it: key_scope, model_not_found, …"`
}

// anthropicErrors are the protocol's words for our codes; what is missing is an
// api_error.
var anthropicErrors = map[string]string{
	string(fault.Unauthorized): "authentication_error", string(fault.Forbidden): "permission_error", string(fault.NotFound): "not_found_error",
	string(fault.RateLimited): "rate_limit_error", string(fault.Invalid): "invalid_request_error", string(fault.Conflict): "invalid_request_error",
}

const anthropicOverloaded = "overloaded_error"

// anthropicError is the type of a run's failure: a model that is away now is
// overloaded, as whoever asks again later finds it.
func anthropicError(why stream.RunError) string {
	if kind := anthropicErrors[why.Code]; kind != "" {
		return kind
	}
	if why.Reason == fault.Upstream {
		return anthropicOverloaded
	}
	return "api_error"
}

// speaksAnthropic reports whether a request is answered in the protocol's shape.
func speaksAnthropic(r *http.Request) bool {
	path := r.URL.Path
	models := path == modelsPath || strings.HasPrefix(path, modelsPath+"/")
	return path == messagesPath || path == countPath || models && r.Header.Get(anthropicVersion) != ""
}

// statusOverloaded is the protocol's own status of what is away and will be back.
const statusOverloaded = 529

// anthropicStatus is the status of a failure as the protocol has it: its clients wait
// and ask again by the status, not by the words.
func (f *Failure) anthropicStatus() int {
	if f.asAnthropic().Error.Type == anthropicOverloaded {
		return statusOverloaded
	}
	return f.code
}

// asAnthropic is a failure in the protocol's shape.
func (f *Failure) asAnthropic() AnthropicFailure {
	why := stream.RunError{Code: f.Reason.Code, Message: f.Reason.Message}
	if details, ok := f.Reason.Details.(map[string]any); ok {
		why.Reason, _ = details["reason"].(string)
	}
	return AnthropicFailure{Type: "error", RequestID: f.RequestID, Error: AnthropicReason{Type: anthropicError(why), Message: why.Message, Code: why.Reason}}
}

package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/run"
	"liminal/internal/words"
)

// The protocol of Anthropic's Messages over the same turns and the same log.
func (s *server) anthropicRoutes() {
	op := route("POST "+messagesPath, "createMessage", "A turn as clients of Anthropic's API ask for it", scopeChat)
	addStream(s, op, s.createMessage)
	s.providers(op)
	s.declare(s.operation(op), statusOverloaded)
	s.operation(op).Responses[strconv.Itoa(statusOverloaded)].Description = "Overloaded"
	s.answers(op, http.StatusOK, "application/json", "The answer, or the question that is asked back", s.schemaOf(MessageAnswer{}))
	s.answers(op, http.StatusOK, "text/event-stream", "With stream: message_start, for each block of content content_block_start, content_block_delta and content_block_stop, then message_delta and message_stop; or error. ping keeps it open", s.messageEvents())
	s.failsAs(op, s.schemaOf(AnthropicFailure{}))
	op = route("POST "+countPath, "countMessageTokens", "About how many tokens a request's own words are", scopeChat)
	addStream(s, op, s.countTokens)
	s.answers(op, http.StatusOK, "application/json", "An estimate: what the workflow adds is not in it", s.schemaOf(MessageTokens{}))
	s.failsAs(op, s.schemaOf(AnthropicFailure{}))
}

const (
	messagesPath = "/v1/messages"
	countPath    = messagesPath + "/count_tokens"
	// anthropicVersion is the header that clients of the protocol send with all
	// they ask: which version of it they speak. There is one.
	anthropicVersion = "Anthropic-Version"
	// anthropicRequest is the header in which its clients read a request's id.
	anthropicRequest = "Request-Id"
)

// MessagesRequest is what is read of a request; other members are let be.
type MessagesRequest struct {
	_             struct{}                 `additionalProperties:"true"`
	Model         string                   `json:"model" minLength:"1" doc:"of /v1/models: a workflow's name or id, or liminal for the one that fits"`
	Messages      []MessageOfClient        `json:"messages" minItems:"1" maxItems:"2000"`
	System        MessageContent           `json:"system,omitempty"`
	Stream        bool                     `json:"stream,omitempty"`
	MaxTokens     *float64                 `json:"max_tokens,omitempty" nullable:"true" doc:"is the workflow's and the plan's"`
	Tools         []MessageTool            `json:"tools,omitempty" nullable:"true" doc:"of the caller, for workflows that take them"`
	ToolChoice    Nullable[ToolChoice]     `json:"tool_choice,omitempty" doc:"auto or none"`
	Thinking      Nullable[Object]         `json:"thinking,omitempty" doc:"is the workflow's"`
	StopSequences []string                 `json:"stop_sequences,omitempty" nullable:"true" doc:"an answer ends where the workflow ends it"`
	Temperature   *float64                 `json:"temperature,omitempty" nullable:"true" doc:"is the workflow's"`
	TopP          *float64                 `json:"top_p,omitempty" nullable:"true"`
	TopK          *float64                 `json:"top_k,omitempty" nullable:"true"`
	Metadata      Nullable[CallerMetadata] `json:"metadata,omitempty"`
}

// MessageTool is a tool that a client brings; one with a type of its own is the
// provider's, and there is none.
type MessageTool struct {
	_           struct{}       `additionalProperties:"true"`
	Type        *string        `json:"type,omitempty" nullable:"true"`
	Name        string         `json:"name,omitempty"`
	Description string         `json:"description,omitempty"`
	InputSchema map[string]any `json:"input_schema,omitempty" doc:"a JSON Schema of an object"`
}

// ToolChoice says whether tools are called.
type ToolChoice struct {
	_    struct{} `additionalProperties:"true"`
	Type string   `json:"type"`
}

// MessageOfClient is a message of the conversation that a client keeps.
type MessageOfClient struct {
	_       struct{}       `additionalProperties:"true"`
	Role    string         `json:"role" enum:"user,assistant"`
	Content MessageContent `json:"content"`
}

// MessageContent is a text, or blocks of which the texts are read.
type MessageContent struct{ Blocks []MessageBlock }

// MessageBlock is what is read of a block of content.
type MessageBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// Of a tool_result.
	ToolUseID string         `json:"tool_use_id"`
	Content   MessageContent `json:"content"`
	IsError   bool           `json:"is_error"`
}

// UnmarshalJSON reads both forms.
func (c *MessageContent) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		c.Blocks = []MessageBlock{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(b, &c.Blocks)
}

// Schema describes both forms.
func (MessageContent) Schema(huma.Registry) *huma.Schema {
	block := &huma.Schema{Type: "object", Required: []string{"type"}, AdditionalProperties: true, Properties: map[string]*huma.Schema{
		"type": {Type: "string"}, "text": {Type: "string"},
	}}
	block.PrecomputeMessages()
	list := &huma.Schema{Type: "array", Items: block}
	list.PrecomputeMessages()
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: "string"}, list}}
}

// blockBreak is between the texts of a message's blocks, where they are one text.
const blockBreak = "\n\n"

// text is what the blocks say; other is the type of the first that cannot be read,
// or empty. What a model thought is not told again.
func (c MessageContent) text() (text, other string) {
	var said []string
	for _, b := range c.Blocks {
		switch b.Type {
		case "text":
			if b.Text != "" {
				said = append(said, b.Text)
			}
		case "thinking", "redacted_thinking", "tool_use", "tool_result":
		default:
			if other == "" {
				other = b.Type
			}
		}
	}
	return strings.Join(said, blockBreak), other
}

// results are what came of the caller's tools.
func (c MessageContent) results() (list []callResult, other string) {
	for _, b := range c.Blocks {
		if b.Type != "tool_result" {
			continue
		}
		text, unread := b.Content.text()
		if other == "" {
			other = unread
		}
		list = append(list, callResult{ID: b.ToolUseID, Content: text, Failed: b.IsError})
	}
	return list, other
}

type messagesInput struct {
	Key     string `header:"Idempotency-Key"`
	Version string `header:"Anthropic-Version" doc:"any: one version is spoken here"`
	CallerHints
	Body MessagesRequest
}

// read takes a request apart; an error says what is not done here.
func (in *messagesInput) read() (k kept, err error) {
	b := in.Body
	k.model, k.key = b.Model, in.Key
	k.found(in.CallerHints, b.Metadata.V)
	refuse := func(field, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).With([]Problem{{field, "is not possible here"}})
	}
	system, other := b.System.text()
	if other != "" {
		return k, refuse("system", "system has a block of type %s; only text is read.", other)
	}
	k.system = strings.TrimSpace(system)
	for i, m := range b.Messages {
		text, other := m.Content.text()
		if other != "" {
			return k, refuse("messages", "messages.%d has a block of type %s; only text is read. Put files into a context.", i, other)
		}
		if i < len(b.Messages)-1 {
			if text = strings.TrimSpace(text); text != "" {
				k.before = append(k.before, chat.Said{Role: m.Role, Content: text})
			}
			continue
		}
		if m.Role != "user" {
			return k, refuse("messages", "The last message is of the assistant; a turn begins with one of the user, and an answer is not begun for the model.")
		}
		k.last = text
		if k.results, other = m.Content.results(); other != "" {
			return k, refuse("messages", "messages.%d has a result with a block of type %s; only text is read.", i, other)
		}
		if n := len(k.results); n > 0 && text != "" { // what is said beside results is read with them
			k.results[n-1].Content += blockBreak + text
		}
	}
	k.most = int(value(b.MaxTokens))
	return k, nil
}

// broughtTools are the tools of a request; none where they are not to be called.
func (b MessagesRequest) broughtTools() (tools []broughtTool) {
	if b.ToolChoice.V != nil && b.ToolChoice.V.Type == "none" {
		return nil
	}
	for _, t := range b.Tools {
		if kind := value(t.Type); kind == "" || kind == "custom" {
			one := broughtTool{Name: t.Name, Description: t.Description}
			if t.InputSchema != nil {
				one.Parameters = t.InputSchema
			}
			tools = append(tools, one)
		}
	}
	return tools
}

// ignored are the members of a request that change nothing.
func (b MessagesRequest) ignored(k kept, of artifacts.Artifact) (names []string) {
	for name, there := range map[string]bool{
		"max_tokens": k.most > 0 && !readsInput(of, inputMost), "tools": len(b.Tools) > len(k.tools), "thinking": b.Thinking.V != nil,
		"stop_sequences": len(b.StopSequences) > 0, "temperature": b.Temperature != nil, "top_p": b.TopP != nil, "top_k": b.TopK != nil,
		"system": k.system != "" && !readsInput(of, inputSystem), "tool_choice": b.ToolChoice.V != nil && b.ToolChoice.V.Type != "auto" && b.ToolChoice.V.Type != "none",
	} {
		if there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (s *server) createMessage(ctx context.Context, in *messagesInput) (func(http.ResponseWriter, *http.Request), error) {
	v, b := viewerOf(ctx), in.Body
	k, err := in.read()
	if err != nil {
		return nil, err
	}
	of, err := s.modelNamed(ctx, b.Model)
	if err == nil {
		of, err = s.bring(ctx, &k, of, b.broughtTools())
	}
	if err != nil {
		return nil, err
	}
	begun, err := s.sayKept(ctx, k, of)
	if err != nil {
		return nil, err
	}
	r, err := s.runOf(ctx, v, begun)
	if err != nil {
		return nil, err
	}
	h := requestOf(ctx).header
	h.Set(conversationHeader, begun.SessionID)
	h.Set("X-Run-Id", r.ID)
	h.Set(anthropicRequest, requestOf(ctx).id)
	words := &messageEncoder{
		id: "msg_" + r.ID, model: b.Model, locale: v.Locale, base: s.baseOf(ctx),
		about: CompletionOf{ConversationID: begun.SessionID, RunID: r.ID, Ignored: b.ignored(k, of)},
		asked: func() ([]run.Interrupt, error) { return s.Interrupts.PendingInterrupts(ctx, v, begun.SessionID) },
		ended: s.goesOn(ctx, k, begun),
	}
	return s.answered(ctx, v, r, begun.After, b.Stream, words)
}

// MessageTokens is about how long a request is.
type MessageTokens struct {
	InputTokens int `json:"input_tokens" doc:"estimated from the words of system, messages and tools; which model will read them, and with what of the workflow's own, is not known before the turn"`
}

type countInput struct {
	Version string `header:"Anthropic-Version" doc:"any: one version is spoken here"`
	Body    MessagesRequest
}

func (s *server) countTokens(ctx context.Context, in *countInput) (func(http.ResponseWriter, *http.Request), error) {
	k, err := (&messagesInput{Body: in.Body}).read()
	if err != nil {
		return nil, err
	}
	if _, err := s.modelNamed(ctx, in.Body.Model); err != nil {
		return nil, err
	}
	n := words.Tokens(k.system) + words.Tokens(k.last) + 4*len(in.Body.Messages) // what separates messages
	for _, m := range k.before {
		n += words.Tokens(m.Content)
	}
	for _, r := range k.results {
		n += words.Tokens(r.Content)
	}
	if len(in.Body.Tools) > 0 {
		n += words.Tokens(asJSON(in.Body.Tools))
	}
	return unwrapped(MessageTokens{InputTokens: n}), nil
}

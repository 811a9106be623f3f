package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/run"
)

// The protocol of OpenAI's chat completions over the same turns and the same log.
func (s *server) openaiRoutes() {
	op := route("POST "+completionsPath, "createCompletion", "A turn as clients of OpenAI's API ask for it", scopeChat)
	addStream(s, op, s.completion)
	s.providers(op)
	s.answers(op, http.StatusOK, "application/json", "The answer, or the question that is asked back", s.schemaOf(Completion{}))
	s.answers(op, http.StatusOK, "text/event-stream", "With stream: lines `data: {chunk}`, at last `data: [DONE]`", s.schemaOf(CompletionChunk{}))
	s.failsAs(op, s.schemaOf(OpenAIFailure{}))
	op = route("GET "+modelsPath, "listModels", "The workflows I may use, as models", scopeChat, scopeRead)
	addStream(s, op, s.listModels)
	s.answers(op, http.StatusOK, "application/json", "All of them", s.schemaOf(ModelList{}))
	s.failsAs(op, s.schemaOf(OpenAIFailure{}))
	op = route("GET "+modelsPath+"/{model}", "model", "A workflow I may use, as a model", scopeChat, scopeRead)
	addStream(s, op, s.oneModel)
	s.answers(op, http.StatusOK, "application/json", "The model", s.schemaOf(ModelView{}))
	s.failsAs(op, s.schemaOf(OpenAIFailure{}))
}

const (
	completionsPath = "/v1/chat/completions"
	modelsPath      = "/v1/models"
)

// CompletionRequest is what is read of a request; other members are let be.
type CompletionRequest struct {
	_              struct{}                 `additionalProperties:"true"`
	Model          string                   `json:"model" minLength:"1" doc:"of /v1/models: a workflow's name or id, or liminal for the one that fits"`
	Messages       []CompletionMessage      `json:"messages" minItems:"1" maxItems:"2000"`
	Stream         bool                     `json:"stream,omitempty"`
	StreamOptions  Nullable[StreamOptions]  `json:"stream_options,omitempty"`
	N              *int                     `json:"n,omitempty" nullable:"true" doc:"1"`
	Logprobs       *bool                    `json:"logprobs,omitempty" nullable:"true" doc:"there are none"`
	Modalities     []string                 `json:"modalities,omitempty" nullable:"true" doc:"text"`
	ResponseFormat Nullable[ResponseFormat] `json:"response_format,omitempty" doc:"text"`
	Tools          []CompletionTool         `json:"tools,omitempty" nullable:"true" maxItems:"128" doc:"of the caller's, for workflows that take them; elsewhere they are not called"`
	ToolChoice     any                      `json:"tool_choice,omitempty" doc:"none: the tools are not offered; else the model chooses"`
	Temperature    Nullable[float64]        `json:"temperature,omitempty" doc:"is the workflow's"`
	MaxTokens      Nullable[float64]        `json:"max_tokens,omitempty" doc:"only lowers what the workflow and the plan say"`
	MaxCompletion  Nullable[float64]        `json:"max_completion_tokens,omitempty" doc:"the same"`
	Metadata       Nullable[CallerMetadata] `json:"metadata,omitempty"`
}

// StreamOptions says what a stream tells beside the words.
type StreamOptions struct {
	_            struct{} `additionalProperties:"true"`
	IncludeUsage bool     `json:"include_usage,omitempty"`
}

// ResponseFormat is what an answer is to look like.
type ResponseFormat struct {
	_      struct{} `additionalProperties:"true"`
	Type   string   `json:"type" doc:"text; json_schema where the workflow reads it"`
	Schema struct {
		_      struct{} `additionalProperties:"true"`
		Schema Object   `json:"schema,omitempty"`
	} `json:"json_schema,omitempty" required:"false"`
}

// CompletionTool is a tool that the caller brings, and calls.
type CompletionTool struct {
	_        struct{} `additionalProperties:"true"`
	Type     string   `json:"type" doc:"function; others are let be"`
	Function struct {
		_           struct{} `additionalProperties:"true"`
		Name        string   `json:"name,omitempty"`
		Description string   `json:"description,omitempty"`
		Parameters  any      `json:"parameters,omitempty" doc:"a JSON Schema of an object"`
	} `json:"function,omitempty" required:"false"`
}

// CompletionMessage is a message of the conversation that a client keeps.
type CompletionMessage struct {
	_       struct{}          `additionalProperties:"true"`
	Role    string            `json:"role" enum:"system,developer,user,assistant,tool,function"`
	Content CompletionContent `json:"content,omitempty"`
	CallID  string            `json:"tool_call_id,omitempty" doc:"of a tool's message: the call that it is the result of"`
}

// CompletionContent is a text, or parts of which the texts are read.
type CompletionContent struct {
	Text  string
	Other string // the type of a part that is no text; empty: there is none
}

// UnmarshalJSON reads both forms.
func (c *CompletionContent) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if json.Unmarshal(b, &c.Text) == nil {
		return nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Type != "text" && p.Type != "input_text" && p.Type != "output_text" {
			c.Other = p.Type
			continue
		}
		c.Text += p.Text
	}
	return nil
}

// Schema describes both forms.
func (CompletionContent) Schema(huma.Registry) *huma.Schema {
	part := &huma.Schema{Type: "object", Required: []string{"type"}, AdditionalProperties: true, Properties: map[string]*huma.Schema{
		"type": {Type: "string"}, "text": {Type: "string"},
	}}
	part.PrecomputeMessages()
	list := &huma.Schema{Type: "array", Items: part}
	list.PrecomputeMessages()
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: "string"}, list, {Type: "null"}}}
}

type completionInput struct {
	Key string `header:"Idempotency-Key"`
	CallerHints
	Body CompletionRequest
}

// read takes a request apart; an error says what is not done here.
func (in *completionInput) read() (k kept, err error) {
	b := in.Body
	k.model, k.key = b.Model, in.Key
	k.found(in.CallerHints, b.Metadata.V)
	refuse := func(field, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).With([]Problem{{field, "is not possible here"}})
	}
	switch {
	case b.N != nil && *b.N != 1:
		return k, refuse("n", "One answer is given to each request; leave n out.")
	case value(b.Logprobs):
		return k, refuse("logprobs", "No probabilities are told; leave logprobs out.")
	case slices.ContainsFunc(b.Modalities, func(m string) bool { return m != "text" }):
		return k, refuse("modalities", "Answers are text.")
	case b.ResponseFormat.V != nil && b.ResponseFormat.V.Type == "json_schema":
		k.format = json.RawMessage(b.ResponseFormat.V.Schema.Schema)
	case b.ResponseFormat.V != nil && b.ResponseFormat.V.Type != "text":
		return k, refuse("response_format", "What an answer looks like is the workflow's; leave response_format out.")
	}
	trailing := len(b.Messages) // where the results of tools begin at the end
	for trailing > 0 && b.Messages[trailing-1].Role == "tool" {
		trailing--
	}
	var system []string
	for i, m := range b.Messages {
		text := strings.TrimSpace(m.Content.Text)
		switch {
		case m.Content.Other != "":
			return k, refuse("messages", "Message %d has a part of type %s; only text is read. Put files into a context.", i+1, m.Content.Other)
		case m.Role == "system" || m.Role == "developer":
			if text != "" {
				system = append(system, text)
			}
		case m.Role == "function":
			return k, refuse("messages", "Message %d is of a function; results of tools are messages of the role tool.", i+1)
		case m.Role == "tool":
			if i >= trailing {
				k.results = append(k.results, callResult{ID: m.CallID, Content: m.Content.Text})
			}
		case text != "" && i < min(trailing, len(b.Messages)-1):
			k.before = append(k.before, chat.Said{Role: m.Role, Content: text})
		}
	}
	k.system = strings.Join(system, "\n\n")
	for _, most := range []*float64{b.MaxTokens.V, b.MaxCompletion.V} {
		if n := int(value(most)); n > 0 && (k.most == 0 || n < k.most) {
			k.most = n
		}
	}
	if len(k.results) > 0 {
		return k, nil
	}
	last := b.Messages[len(b.Messages)-1]
	if last.Role != "user" {
		return k, refuse("messages", "The last message is of %s; a turn begins with one of the user.", last.Role)
	}
	k.last = last.Content.Text
	return k, nil
}

// broughtTools are the functions of a request; none where they are not to be called.
func (b CompletionRequest) broughtTools() (tools []broughtTool) {
	for _, t := range b.Tools {
		if t.Type == "function" && b.ToolChoice != "none" {
			tools = append(tools, broughtTool{t.Function.Name, t.Function.Description, t.Function.Parameters})
		}
	}
	return tools
}

// ignored are the members of a request that change nothing.
func (b CompletionRequest) ignored(k kept, of artifacts.Artifact) (names []string) {
	for name, there := range map[string]bool{
		"tools": len(b.Tools) > len(k.tools), "temperature": b.Temperature.V != nil, "max_tokens": k.most > 0 && !readsInput(of, inputMost),
		"system": k.system != "" && !readsInput(of, inputSystem), "tool_choice": b.ToolChoice != nil && b.ToolChoice != "auto" && b.ToolChoice != "none",
	} {
		if there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (s *server) completion(ctx context.Context, in *completionInput) (func(http.ResponseWriter, *http.Request), error) {
	v, b := viewerOf(ctx), in.Body
	k, err := in.read()
	if err != nil {
		return nil, err
	}
	of, err := s.modelNamed(ctx, b.Model)
	if err == nil {
		err = k.fits(of, "response_format")
	}
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
	words := &completionEncoder{
		id: "chatcmpl-" + r.ID, model: b.Model, created: s.Now().Unix(), locale: v.Locale, base: s.baseOf(ctx),
		usage: b.StreamOptions.V != nil && b.StreamOptions.V.IncludeUsage,
		about: CompletionOf{ConversationID: begun.SessionID, RunID: r.ID, Ignored: b.ignored(k, of)},
		asked: func() ([]run.Interrupt, error) { return s.Interrupts.PendingInterrupts(ctx, v, begun.SessionID) },
		ended: s.goesOn(ctx, k, begun),
	}
	return s.answered(ctx, v, r, begun.After, b.Stream, words)
}

// ModelView is a workflow as a model.
type ModelView struct {
	ID          string `json:"id" doc:"its name"`
	Object      string `json:"object" enum:"model"`
	Created     int64  `json:"created" doc:"in seconds since 1970"`
	OwnedBy     string `json:"owned_by"`
	DisplayName string `json:"display_name" doc:"its title, as the clients of Anthropic's API read it"`
	Description string `json:"description,omitempty"`
	// As Anthropic's API has it.
	Type      string    `json:"type" enum:"model"`
	CreatedAt time.Time `json:"created_at"`
}

// ModelList is all of them, in one page, as clients of both APIs read it.
type ModelList struct {
	Object  string      `json:"object" enum:"list"`
	Data    []ModelView `json:"data"`
	HasMore bool        `json:"has_more" doc:"false: there are no further pages"`
	FirstID string      `json:"first_id"`
	LastID  string      `json:"last_id"`
}

// modelView is a workflow as a model; false: it has no title, and so is a part of
// others and not offered to people.
func modelView(a artifacts.Artifact, locale string) (ModelView, bool) {
	var doc struct {
		Title   string
		Surface struct{ Title map[string]string }
	}
	if json.Unmarshal(a.Schema, &doc) != nil || a.IsDraft() {
		return ModelView{}, false
	}
	m := ModelView{ID: a.Name, Object: "model", Created: a.CreatedAt.Unix(), OwnedBy: "liminal", DisplayName: doc.Title, Description: a.Description, Type: "model", CreatedAt: a.CreatedAt.UTC()}
	if said := doc.Surface.Title[locale]; said != "" {
		m.DisplayName = said
	}
	if a.OwnerID != "" {
		m.OwnedBy = a.OwnerID
	}
	return m, m.DisplayName != ""
}

func (s *server) listModels(ctx context.Context, _ *struct{}) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	out := ModelList{Object: "list", Data: []ModelView{automaticModel()}}
	workflows, err := s.titled(ctx, v)
	if err != nil {
		return nil, err
	}
	for _, a := range workflows {
		if a.Name != automatic {
			m, _ := modelView(a.Artifact, v.Locale)
			out.Data = append(out.Data, m)
		}
	}
	out.FirstID, out.LastID = out.Data[0].ID, out.Data[len(out.Data)-1].ID
	return unwrapped(out), nil
}

func automaticModel() ModelView {
	return ModelView{ID: automatic, Object: "model", OwnedBy: "liminal", DisplayName: "Liminal", Description: "The workflow that fits what is asked.", Type: "model", CreatedAt: time.Unix(0, 0).UTC()}
}

type modelInput struct {
	Model string `path:"model"`
}

func (s *server) oneModel(ctx context.Context, in *modelInput) (func(http.ResponseWriter, *http.Request), error) {
	a, err := s.modelNamed(ctx, in.Model)
	if err != nil {
		return nil, err
	}
	if a.ID == "" {
		return unwrapped(automaticModel()), nil
	}
	m, _ := modelView(a, viewerOf(ctx).Locale)
	return unwrapped(m), nil
}

package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// OpenAI's Responses API over the same turns and the same log. A response is a run up
// to its first question, or what it does after an answer until the next: its id names
// the run or that question, so that nothing is kept beside them.
func (s *server) responsesRoutes() {
	op := route("POST "+responsesPath, "createResponse", "A turn as clients of OpenAI's Responses API ask for it", scopeChat)
	addStream(s, op, s.createResponse)
	s.providers(op)
	s.answers(op, http.StatusOK, "application/json", "The response; with background as it begins", s.schemaOf(Response{}))
	s.answers(op, http.StatusOK, "text/event-stream", "With stream: the protocol's events", s.schemaOf(ResponseEvent{}))
	s.failsAs(op, s.schemaOf(OpenAIFailure{}))
	op = route("GET "+responsesPath+"/{id}", "response", "A response; with stream its events, after starting_after", scopeChat, scopeRead)
	addStream(s, op, s.getResponse)
	s.answers(op, http.StatusOK, "application/json", "As it stands", s.schemaOf(Response{}))
	s.answers(op, http.StatusOK, "text/event-stream", "With stream: the protocol's events", s.schemaOf(ResponseEvent{}))
	s.failsAs(op, s.schemaOf(OpenAIFailure{}))
	op = route("POST "+responsesPath+"/{id}/cancel", "cancelResponse", "Stop a response; what was written is kept", scopeChat)
	addStream(s, op, s.cancelResponse)
	s.answers(op, http.StatusOK, "application/json", "As it stands", s.schemaOf(Response{}))
	s.failsAs(op, s.schemaOf(OpenAIFailure{}))
	op = route("GET "+responsesPath+"/{id}/input_items", "responseInput", "What a response was asked", scopeChat, scopeRead)
	addStream(s, op, s.responseInput)
	s.answers(op, http.StatusOK, "application/json", "All of it", s.schemaOf(ResponseItems{}))
	s.failsAs(op, s.schemaOf(OpenAIFailure{}))
	op = route("DELETE "+responsesPath+"/{id}", "deleteResponse", "Delete a response with the conversation that it is part of", scopeWrite)
	addStream(s, op, s.deleteResponse)
	s.answers(op, http.StatusOK, "application/json", "It is gone", s.schemaOf(ResponseDeleted{}))
	s.failsAs(op, s.schemaOf(OpenAIFailure{}))
}

const responsesPath = "/v1/responses"

// ResponseRequest is what is read of a request; other members are let be.
type ResponseRequest struct {
	_            struct{}                `additionalProperties:"true"`
	Model        string                  `json:"model" minLength:"1" doc:"of /v1/models"`
	Input        ResponseInput           `json:"input"`
	Instructions *string                 `json:"instructions,omitempty" nullable:"true"`
	Previous     *string                 `json:"previous_response_id,omitempty" nullable:"true" doc:"a response of mine to go on from; missing: from what input says"`
	Conversation Nullable[ResponseIn]    `json:"conversation,omitempty" doc:"a conversation of mine to go on in"`
	Stream       *bool                   `json:"stream,omitempty" nullable:"true"`
	Background   *bool                   `json:"background,omitempty" nullable:"true" doc:"it goes on whether or not anybody reads"`
	Store        *bool                   `json:"store,omitempty" nullable:"true" doc:"false: nothing is kept of it"`
	Tools        []ResponseTool          `json:"tools,omitempty" nullable:"true" maxItems:"128" doc:"functions are the caller's, for workflows that take them; other tools are the workflow's"`
	ToolChoice   any                     `json:"tool_choice,omitempty" doc:"none: the functions are not offered; else the model chooses"`
	MostTokens   *float64                `json:"max_output_tokens,omitempty" nullable:"true" doc:"only lowers what the workflow and the plan say"`
	Text         Nullable[ResponseText]  `json:"text,omitempty"`
	Metadata     Nullable[ResponseNotes] `json:"metadata,omitempty" doc:"up to 16 texts of the caller's, which come back"`
	Temperature  *float64                `json:"temperature,omitempty" nullable:"true" doc:"is the workflow's"`
	TopP         *float64                `json:"top_p,omitempty" nullable:"true" doc:"is the workflow's"`
}

// ResponseNotes are the caller's own words about a response.
type ResponseNotes map[string]string

// ResponseIn is a conversation by its id, as a text or an object with it.
type ResponseIn string

// UnmarshalJSON reads both forms.
func (c *ResponseIn) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		var form struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(b, &form); err != nil {
			return err
		}
		text = form.ID
	}
	*c = ResponseIn(text)
	return nil
}

// Schema describes both forms.
func (ResponseIn) Schema(huma.Registry) *huma.Schema {
	form := &huma.Schema{Type: "object", Required: []string{"id"}, AdditionalProperties: true, Properties: map[string]*huma.Schema{"id": {Type: "string"}}}
	form.PrecomputeMessages()
	return &huma.Schema{OneOf: []*huma.Schema{{Type: "string"}, form}}
}

// ResponseTool is a tool of a request.
type ResponseTool struct {
	_           struct{} `additionalProperties:"true"`
	Type        string   `json:"type" doc:"function"`
	Name        string   `json:"name,omitempty"`
	Description *string  `json:"description,omitempty" nullable:"true"`
	Parameters  any      `json:"parameters,omitempty"`
}

// ResponseText is what an answer is to look like.
type ResponseText struct {
	_      struct{} `additionalProperties:"true"`
	Format struct {
		_      struct{} `additionalProperties:"true"`
		Type   string   `json:"type,omitempty" doc:"text; json_schema where the workflow reads it"`
		Schema Object   `json:"schema,omitempty"`
	} `json:"format,omitempty" required:"false"`
}

type responseInput struct {
	Key string `header:"Idempotency-Key"`
	CallerHints
	Body ResponseRequest
}

// responseNotes is what is kept of a request beside what its run needs: an input of
// the run that no graph reads.
type responseNotes struct {
	Model      string        `json:"model"`
	Previous   string        `json:"previous,omitempty"`
	Metadata   ResponseNotes `json:"metadata,omitempty"`
	Background bool          `json:"background,omitempty"`
}

// inputNotes is where they are.
const inputNotes = "caller_request"

// The bounds of metadata, as the protocol has them.
const (
	maxNotes    = 16
	maxNoteKey  = 64
	maxNoteText = 512
)

func (b ResponseRequest) check() error {
	refuse := func(field, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).With([]Problem{{field, "is not possible here"}})
	}
	notes := value(b.Metadata.V)
	long := len(notes) > maxNotes
	for key, text := range notes {
		long = long || len(key) > maxNoteKey || len(text) > maxNoteText
	}
	switch {
	case long:
		return refuse("metadata", "metadata has at most %d members of %d characters, each up to %d.", maxNotes, maxNoteKey, maxNoteText)
	case value(b.Background) && b.Store != nil && !*b.Store:
		return refuse("store", "What runs in the background is kept until it is read; leave out store or background.")
	case b.Previous != nil && b.Conversation.V != nil:
		return refuse("conversation", "A request names previous_response_id or conversation, not both.")
	}
	if f := b.Text.V; f != nil && f.Format.Type != "" && f.Format.Type != "text" && f.Format.Type != "json_schema" {
		return refuse("text.format", "Answers of the type %s are not made.", clippedName(f.Format.Type))
	}
	return nil
}

// read takes a request apart.
func (in *responseInput) read() (kept, error) {
	b := in.Body
	k, err := b.Input.read()
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return k, err
	}
	k.model, k.key = b.Model, in.Key
	k.found(in.CallerHints, nil)
	if name := value(b.Metadata.V)["conversation_id"]; name != "" {
		k.named = name
	}
	if b.Conversation.V != nil {
		k.conversation = strings.TrimPrefix(string(*b.Conversation.V), "conv_")
	}
	if text := strings.TrimSpace(value(b.Instructions)); text != "" {
		k.system = strings.TrimSpace(text + "\n\n" + k.system)
	}
	if f := b.Text.V; f != nil && f.Format.Type == "json_schema" {
		k.format = json.RawMessage(f.Format.Schema)
	}
	k.most = max(0, int(value(b.MostTokens)))
	k.unkept = b.Store != nil && !*b.Store
	k.notes = &responseNotes{Model: b.Model, Previous: value(b.Previous), Metadata: value(b.Metadata.V), Background: value(b.Background)}
	return k, nil
}

// broughtTools are the functions of a request; none where they are not to be called.
func (b ResponseRequest) broughtTools() (tools []broughtTool) {
	for _, t := range b.Tools {
		if t.Type == "function" && b.ToolChoice != "none" {
			tools = append(tools, broughtTool{t.Name, value(t.Description), t.Parameters})
		}
	}
	return tools
}

// ignored are the members of a request that change nothing.
func (b ResponseRequest) ignored(k kept, of artifacts.Artifact) (names []string) {
	for name, there := range map[string]bool{
		"tools": len(b.Tools) > len(k.tools), "temperature": b.Temperature != nil, "top_p": b.TopP != nil,
		"max_output_tokens": k.most > 0 && !readsInput(of, inputMost), "instructions": k.system != "" && !readsInput(of, inputSystem),
		"tool_choice": b.ToolChoice != nil && b.ToolChoice != "auto" && b.ToolChoice != "none",
	} {
		if there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (s *server) createResponse(ctx context.Context, in *responseInput) (func(http.ResponseWriter, *http.Request), error) {
	v, b := viewerOf(ctx), in.Body
	k, err := in.read()
	if err != nil {
		return nil, err
	}
	of, err := s.modelNamed(ctx, b.Model)
	if err == nil {
		err = k.fits(of, "text.format")
	}
	if err == nil {
		of, err = s.bring(ctx, &k, of, b.broughtTools())
	}
	if err != nil {
		return nil, err
	}
	begun, err := s.sayAfter(ctx, k, of)
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
	p := part{run: r, id: begun.RunID, after: begun.After, notes: *k.notes, previous: k.notes.Previous}
	if begun.Interrupt != "" {
		p.id = begun.Interrupt
	}
	words := s.responseWords(ctx, p)
	words.about.Liminal.Ignored, words.ended = b.ignored(k, of), s.goesOn(ctx, k, begun)
	switch {
	case k.notes.Background && value(b.Stream):
		return s.streaming(ctx, v, r, begun.After, words)
	case k.notes.Background:
		return unwrapped(words.now(r.Status)), nil
	}
	return s.answered(ctx, v, r, begun.After, value(b.Stream), words)
}

// sayAfter says the last message after the response that it goes on from, or where
// what was said before it was said.
func (s *server) sayAfter(ctx context.Context, k kept, of artifacts.Artifact) (begunSession, error) {
	if k.notes.Previous == "" || len(k.results) > 0 || k.approval != nil {
		return s.sayKept(ctx, k, of)
	}
	v := viewerOf(ctx)
	p, err := s.partOf(ctx, k.notes.Previous)
	if err != nil {
		return begunSession{}, err
	}
	said, latest, err := s.saidUntil(ctx, v, p.run)
	if err != nil {
		return begunSession{}, err
	}
	in := chat.Conversation{ID: p.run.ConversationID}
	switch {
	case latest && id.Unkept(in.ID):
		if in, err = s.onlyAnswered(ctx, v, in, k.last); err != nil {
			return begunSession{}, err
		}
		if in.ID != "" {
			return s.sayKeptIn(ctx, k, of, in)
		}
	case latest && !k.unkept:
		return s.sayKeptIn(ctx, k, of, in)
	}
	k.before = append(said, k.before...) // it branches off, or nothing is kept of it
	return s.sayKept(ctx, k, of)
}

// saidUntil is what was said in a run's conversation until its end; latest: nothing
// came after it.
func (s *server) saidUntil(ctx context.Context, v identity.Viewer, r run.Run) (said []chat.Said, latest bool, err error) {
	until := 0
	for cursor, more := "", true; more; more = cursor != "" {
		list, next, err := s.Messages.ListMessages(ctx, v, r.ConversationID, cursor, 100)
		if err != nil {
			return nil, false, err
		}
		for _, m := range list {
			latest = m.RunID == r.ID
			if m.Role == "user" || m.Role == "assistant" {
				said = append(said, chat.Said{Role: m.Role, Content: m.Content})
			}
			if latest {
				until = len(said)
			}
		}
		cursor = next
	}
	return said[:until], latest, nil
}

// approval is a caller's yes or no to what a run asks.
type approval struct {
	Question string // the interrupt
	Yes      bool
}

// approve answers a confirmation.
func (s *server) approve(ctx context.Context, a approval) (begunSession, error) {
	v := viewerOf(ctx)
	q, err := s.Interrupts.Interrupt(ctx, v, a.Question)
	if err != nil {
		return begunSession{}, err
	}
	word := noWords[0]
	if a.Yes {
		word = yesWords[0]
	}
	answer, ok := answerIn(q, word)
	if !ok || !confirms(q) {
		return begunSession{}, fault.New(fault.Invalid, "That question is not answered by yes or no.").With([]Problem{{"input", "does not answer what waits"}})
	}
	begun := begunSession{SessionID: q.ConversationID, RunID: q.RunID, After: s.lastSeq(ctx, q.RunID), Interrupt: q.ID}
	_, err = s.Engine.Answer(ctx, v, q.ID, answer)
	return begun, err
}

package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// The Agent User Interaction protocol (AG-UI), 1.0: one request a run, and its events
// as server-sent events. A thread is a conversation; a question ends the run with the
// outcome interrupt, and a later run that resumes answers it: the same run of ours
// goes on. Questions that wait are answered together or not at all.

const (
	aguiPath    = "/agui"
	aguiVersion = "1.0"
)

func (s *server) aguiRoutes() {
	op := route("POST "+aguiPath+"/{assistant}", "runAgent", "Say something to an assistant, or answer what it asks, as clients of AG-UI do", scopeChat)
	op.Tags = []string{"agui"}
	addStream(s, op, s.runAgent)
	s.providers(op)
	s.answers(op, http.StatusOK, "text/event-stream", "Events of AG-UI: RUN_STARTED first, at last RUN_FINISHED or RUN_ERROR", &huma.Schema{Type: "string"})
	s.failsAs(op, s.schemaOf(AGUIFailure{}))
}

// AGUIFailure is what is told instead of events where no run was begun.
type AGUIFailure struct {
	Type      string `json:"type" enum:"RUN_ERROR"`
	Message   string `json:"message" doc:"a sentence for a person"`
	Code      string `json:"code"`
	Details   any    `json:"details" doc:"an object, a list or null"`
	RequestID string `json:"request_id" format:"uuid"`
}

func (f *Failure) asAGUI() any {
	return AGUIFailure{Type: "RUN_ERROR", Message: f.Reason.Message, Code: f.Reason.Code, Details: f.Reason.Details, RequestID: f.RequestID}
}

// RunAgentInput is a run as clients of AG-UI ask for it; other members are let be.
type RunAgentInput struct {
	_        struct{}        `additionalProperties:"true"`
	ThreadID string          `json:"threadId" minLength:"1" maxLength:"200" doc:"a conversation's id, or any other name for one"`
	RunID    string          `json:"runId" minLength:"1" maxLength:"200" doc:"a run of the same id is the same run"`
	Messages []AGUIMessage   `json:"messages" maxItems:"2000" doc:"the last of the person's is said; those before it are the thread's"`
	Tools    json.RawMessage `json:"tools,omitempty" doc:"are the assistant's; these are not called"`
	Context  json.RawMessage `json:"context,omitempty" doc:"[{description, value}]: an input of the workflow by the name caller_context"`
	Resume   *[]AGUIResume   `json:"resume,omitempty" nullable:"true" maxItems:"100" doc:"the answers to all that waits in the thread"`
}

// AGUIMessage is a message that a client holds.
type AGUIMessage struct {
	_          struct{}          `additionalProperties:"true"`
	ID         string            `json:"id"`
	Role       string            `json:"role"`
	Content    CompletionContent `json:"content,omitempty"`
	ToolCallID string            `json:"toolCallId,omitempty"`
	raw        json.RawMessage
}

// UnmarshalJSON keeps the message as its client has it.
func (m *AGUIMessage) UnmarshalJSON(b []byte) error {
	var read struct {
		ID, Role   string
		Content    json.RawMessage
		ToolCallID string
	}
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	m.ID, m.Role, m.ToolCallID, m.raw = read.ID, read.Role, read.ToolCallID, append(json.RawMessage{}, b...)
	if read.Role != "user" || len(read.Content) == 0 {
		return nil
	}
	return json.Unmarshal(read.Content, &m.Content)
}

// Schema describes what is read of a message.
func (AGUIMessage) Schema(huma.Registry) *huma.Schema {
	m := &huma.Schema{Type: "object", Required: []string{"role"}, AdditionalProperties: true, Properties: map[string]*huma.Schema{
		"id": {Type: "string"}, "role": {Type: "string"},
	}}
	m.PrecomputeMessages()
	return m
}

// AGUIResume answers one question.
type AGUIResume struct {
	_       struct{}        `additionalProperties:"true"`
	ID      string          `json:"interruptId"`
	Status  string          `json:"status" enum:"resolved,cancelled"`
	Payload json.RawMessage `json:"payload,omitempty" doc:"what its responseSchema asks for"`
}

type runAgentInput struct {
	Assistant string `path:"assistant" maxLength:"200" doc:"a workflow's name or id, or liminal for the one that fits"`
	Body      RunAgentInput
}

// aguiThread is the conversation that a client means: one by its id, or one of the
// person's own by whatever the client calls it.
func aguiThread(v identity.Viewer, threadID string) string {
	if id.Valid(threadID) {
		return id.Canonical(threadID)
	}
	return id.Derive("agui", v.UserID, threadID)
}

func (s *server) runAgent(ctx context.Context, in *runAgentInput) (func(http.ResponseWriter, *http.Request), error) {
	v, b := viewerOf(ctx), in.Body
	of, err := s.assistantNamed(ctx, in.Assistant)
	if err != nil {
		return nil, err
	}
	c, err := s.Conversations.Conversation(ctx, v, aguiThread(v, b.ThreadID))
	if err != nil && !errors.Is(err, fault.NotFound) {
		return nil, err
	}
	var runID string
	var since place
	if b.Resume != nil && len(*b.Resume) > 0 {
		runID, since, err = s.resumeAgent(ctx, c, *b.Resume)
	} else {
		runID, err = s.sayToAgent(ctx, b, of.ID)
	}
	words := &aguiEncoder{thread: b.ThreadID, id: b.RunID, before: b.Messages, since: since.seq}
	if told := fault.From(err); err != nil && (told.Code == fault.Invalid || told.Code == fault.Conflict) {
		return s.aguiRefusal(words, told), nil
	}
	if err != nil {
		return nil, err
	}
	r, err := s.Runs.Run(ctx, v, runID)
	if err != nil {
		return nil, err
	}
	if c.WorkflowID == "" && of.ID != "" {
		if _, err := s.Conversations.UpdateConversation(ctx, v, r.ConversationID, chat.ConversationChange{WorkflowID: &of.ID}); err != nil {
			return nil, err
		}
	}
	h := requestOf(ctx).header
	h.Set(conversationHeader, r.ConversationID)
	h.Set("X-Run-Id", r.ID)
	words.run = r
	words.asked = func() ([]run.Interrupt, error) { return s.Interrupts.PendingInterrupts(ctx, v, r.ConversationID) }
	by := s.serverSent()
	by.open += string(words.head(given(b.Tools)))
	write, err := s.carrying(ctx, v, r, 0, words, by)
	return s.closing(ctx, v, r, write), err
}

// aguiRefusal tells why a run was not begun, in the words of the protocol.
func (s *server) aguiRefusal(words *aguiEncoder, why *fault.Error) func(http.ResponseWriter, *http.Request) {
	var b []byte
	for _, event := range []map[string]any{words.started(), {"type": "RUN_ERROR", "message": why.Message, "code": cmp.Or(fault.Reason(why), string(why.Code))}} {
		b = append(b, dataLine(event)...)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(b) // the reader may have gone
	}
}

// sayToAgent says the last of the person's messages in a client's thread.
func (s *server) sayToAgent(ctx context.Context, b RunAgentInput, workflowID string) (runID string, err error) {
	v := viewerOf(ctx)
	if len(b.Messages) == 0 || b.Messages[len(b.Messages)-1].Role != "user" {
		return "", fault.New(fault.Invalid, "The last message is not the person's. A run begins with one, or with the answers to what waits in resume.")
	}
	last := b.Messages[len(b.Messages)-1]
	if last.Content.Other != "" {
		return "", fault.New(fault.Invalid, "The message has a part of the type %s; only text is read. Put files into a context.", last.Content.Other)
	}
	t, _, err := (&chatInput{Key: b.RunID, Body: ChatRequest{Message: MessageText(last.Content.Text), WorkflowID: &workflowID}}).turn(ctx)
	if err != nil {
		return "", err
	}
	requestOf(ctx).setID(t.RequestID)
	t.ConversationID, t.Multitask = aguiThread(v, b.ThreadID), chat.MultitaskReject
	if len(b.Context) > maxInputFields {
		return "", fault.New(fault.Invalid, "The context is larger than %d KiB.", maxInputFields>>10)
	}
	var about []any
	if json.Unmarshal(b.Context, &about) == nil && len(about) > 0 {
		t.Fields = map[string]any{"caller_context": about}
	}
	a, err := s.say(ctx, v, t, true)
	return a.RunID, err
}

// resumeAgent answers all that waits in a thread.
func (s *server) resumeAgent(ctx context.Context, c chat.Conversation, given []AGUIResume) (runID string, since place, err error) {
	v := viewerOf(ctx)
	var open []run.Interrupt
	if c.ID != "" {
		if open, err = s.Interrupts.PendingInterrupts(ctx, v, c.ID); err != nil {
			return "", since, err
		}
	}
	answers := map[string]AGUIResume{}
	for _, r := range given {
		answers[id.Canonical(r.ID)] = r
	}
	list, missing := []answerTo{}, []string{}
	for _, q := range open {
		r, there := answers[q.ID]
		if !there {
			missing = append(missing, q.ID)
			continue
		}
		delete(answers, q.ID)
		a := run.Answer{Cancel: true}
		if r.Status == "resolved" {
			if a, err = resumedAnswer(q, r.Payload); err != nil {
				return "", since, err
			}
		}
		list = append(list, answerTo{q, a})
	}
	switch {
	case len(answers) > 0:
		return "", since, fault.New(fault.Conflict, "resume answers what does not wait in this thread. Leave it out, and begin a run with a message.").With(map[string]any{"reason": "not_pending"})
	case len(missing) > 0:
		return "", since, fault.New(fault.Conflict, "%d questions wait in this thread, and all of them are answered in one run. Not answered: %s.", len(open), strings.Join(missing, ", ")).
			With(map[string]any{"reason": "partial_resume"})
	}
	return s.answerAll(ctx, v, open[0].RunID, list)
}

package api

import (
	"context"
	"net/http"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/run"
)

// The assistant's surface of 004: the same turns and the same log as
// /v1/chat, in its own events (STREAM-12, STREAM-28).
func (s *server) assistRoutes() {
	const events = "Lines `data: {type, …}`: status, then one response, interrupt or error"
	op := route("POST /api/chat", "assist", "Say something; the answer is a stream", scopeChat)
	addStream(s, op, s.assist)
	s.providers(op)
	s.answers(op, http.StatusOK, "text/event-stream", events, s.assistSchema())
	op = route("POST /api/chat/resume", "assistResume", "Answer a question; what follows is a stream", scopeChat)
	addStream(s, op, s.assistResume)
	s.answers(op, http.StatusOK, "text/event-stream", events, s.assistSchema())
	add(s, route("GET /api/chat/history/{thread_id}", "assistHistory", "Everything that was said, and what waits", scopeChat, scopeRead), s.assistHistory)
}

// assistantWorkflow is the artifact that answers on this surface. Where there
// is none, the turn takes the way of any other.
const assistantWorkflow = "assistant"

// AssistRequest is a message with its tags (CHAT-24).
type AssistRequest struct {
	Message  MessageText `json:"message"`
	ThreadID *string     `json:"thread_id,omitempty" nullable:"true" doc:"a UUID; one that is nobody's begins a conversation, and so does none"`
	Tags
	ContextIDs *[]string `json:"context_ids,omitempty" nullable:"true" doc:"missing: the conversation's; empty: none"`
	WorkflowID *string   `json:"workflow_id,omitempty" nullable:"true" doc:"instead of the assistant"`
}

type assistInput struct {
	Key  string `header:"Idempotency-Key"`
	Body AssistRequest
}

func (s *server) assist(ctx context.Context, in *assistInput) (func(http.ResponseWriter, *http.Request), error) {
	t, err := s.tagged(ctx, in)
	if err != nil {
		return nil, err
	}
	requestOf(ctx).setID(t.RequestID)
	v, k := viewerOf(ctx), quota.Key{Route: "POST /api/chat", Key: in.Key}
	answer, _, err := once(ctx, s, k, in.Body, func(ctx context.Context) (ChatAnswer, error) {
		return s.say(ctx, v, t, in.Key != "")
	})
	if err != nil {
		return nil, err
	}
	r, err := s.Runs.Run(ctx, v, answer.RunID)
	if err != nil {
		return nil, err
	}
	return s.assistStream(ctx, v, r, 0)
}

// tagged is the request as a turn, with everything the assistant's graph may
// read of it, always (CHAT-24).
func (s *server) tagged(ctx context.Context, in *assistInput) (chat.NewTurn, error) {
	b, v := in.Body, viewerOf(ctx)
	t, _, err := (&chatInput{Key: in.Key, Body: ChatRequest{
		Message: b.Message, ConversationID: b.ThreadID, ContextIDs: b.ContextIDs, WorkflowID: b.WorkflowID,
		// A turn that was just skipped ends before the next one (INT-12).
		Multitask: "enqueue",
	}}).turn(ctx)
	if err != nil {
		return t, err
	}
	if err := b.check(); err != nil {
		return t, err
	}
	t.Fields, err = s.tags(ctx, v, b.Tags)
	if err == nil && t.WorkflowID == "" {
		t.WorkflowID, err = s.assistant(ctx, v)
	}
	return t, err
}

// check refuses a request for what it is, before anything is looked up
// (CHAT-25).
func (b AssistRequest) check() error {
	if b.ThreadID != nil && !id.Valid(*b.ThreadID) {
		return invalidField("thread_id", "thread_id is not a UUID.")
	}
	return b.Tags.check()
}

// assistant is the name of the viewer's assistant, or nothing.
func (s *server) assistant(ctx context.Context, v identity.Viewer) (string, error) {
	_, err := s.Artifacts.Workflow(ctx, v, assistantWorkflow)
	switch {
	case err == nil:
		return assistantWorkflow, nil
	case fault.CodeOf(err) == fault.NotFound:
		return "", nil
	}
	return "", err
}

// AssistResume is an answer as 004 has it (INT-06). Without interrupt_id it
// answers the oldest open question of the thread.
type AssistResume struct {
	ThreadID    string `json:"thread_id" doc:"a UUID"`
	InterruptID string `json:"interrupt_id,omitempty" format:"uuid"`
	Value       struct {
		Type  string  `json:"type" enum:"doc_choice,text_input,action_choice,retrieval_low,cancel"`
		Value *string `json:"value,omitempty" nullable:"true" doc:"an option's id or a text; null to skip"`
	} `json:"resume_value"`
}

type assistResumeInput struct{ Body AssistResume }

// nothingPending is INT-08, and the end of a second answer to a question
// (INT-31).
func nothingPending() error { return fault.New(fault.Invalid, "No pending action to resume") }

func (s *server) assistResume(ctx context.Context, in *assistResumeInput) (func(http.ResponseWriter, *http.Request), error) {
	v, b := viewerOf(ctx), in.Body
	if !id.Valid(b.ThreadID) {
		return nil, invalidField("thread_id", "thread_id is not a UUID.")
	}
	q, err := s.question(ctx, v, ResumeRequest{InterruptID: b.InterruptID, ThreadID: id.Canonical(b.ThreadID)})
	if err != nil {
		return nil, err
	}
	a := run.Answer{Type: b.Value.Type, Cancel: b.Value.Type == "cancel"}
	if b.Value.Value != nil && !a.Cancel {
		a.Value = *b.Value.Value
	}
	after := s.lastSeq(ctx, q.RunID) // what follows is told, not what was before
	if _, err = s.Engine.Answer(ctx, v, q.ID, a); fault.CodeOf(err) == fault.Conflict {
		err = nothingPending()
	}
	if err != nil {
		return nil, err
	}
	r, err := s.Runs.Run(ctx, v, q.RunID)
	if err != nil {
		return nil, err
	}
	return s.assistStream(ctx, v, r, after)
}

// assistStream streams a run as the events of 004; headers carry its ids.
func (s *server) assistStream(ctx context.Context, v identity.Viewer, r run.Run, after int64) (func(http.ResponseWriter, *http.Request), error) {
	h := requestOf(ctx).header
	h.Set("X-Thread-Id", r.ConversationID)
	h.Set("X-Run-Id", r.ID)
	return s.streaming(ctx, v, r, after, &assistEncoder{run: r})
}

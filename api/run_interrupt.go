package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/run"
)

func (s *server) interruptRoutes() {
	add(s, route("GET /v1/interrupts", "listInterrupts", "What waits for me", scopeChat, scopeRead, scopeTools), s.listInterrupts)
	op := route("POST /v1/chat/resume", "resume", "Answer the question a run waits for", scopeChat, scopeTools)
	addStream(s, op, s.resume)
	s.answers(op, 200, "application/json", "The run goes on", s.schemaOf(Envelope[Resumed]{}))
	s.answers(op, 200, "text/event-stream", "With Accept: text/event-stream, what the run does next", s.frameSchema())
}

// Interrupt is a question a run asks a person (INT-01).
type Interrupt struct {
	ID             string          `json:"interrupt_id" format:"uuid"`
	RunID          string          `json:"run_id" format:"uuid"`
	ConversationID *string         `json:"conversation_id" format:"uuid" nullable:"true"`
	Type           string          `json:"interrupt_type" doc:"doc_choice, text_input, action_choice, retrieval_low, …"`
	Message        string          `json:"message"`
	Options        *[]run.Option   `json:"options" nullable:"true" doc:"null when any text is an answer"`
	AnswerSchema   json.RawMessage `json:"answer_schema,omitempty" doc:"a JSON Schema, without options: of an object it is a form, to be answered with an object that fits it. With x-call the question is asked before that tool is called: the defaults are the call as drafted, and the answer is {decision: approve, and the arguments as they are to be, and remember: true not to be asked again in this conversation} or {decision: decline}"`
	Status         string          `json:"status" enum:"pending,answered,cancelled,expired"`
	WaitsFor       string          `json:"waits_for" enum:"person,program" doc:"program: the one that began the run answers it, with what came of its own tools; a person can only skip it"`
	PatchID        *int64          `json:"patch_id,omitempty" doc:"it is the question of a proposed change, and decided there"`
	CreatedAt      time.Time       `json:"created_at"`
	ExpiresAt      *time.Time      `json:"expires_at,omitempty" doc:"missing: it waits without limit"`
	Asked          string          `json:"asked,omitempty" doc:"what its run was asked, in a line; told in the list of what waits"`
}

func interruptView(q run.Interrupt) Interrupt {
	out := Interrupt{
		ID: q.ID, RunID: q.RunID, Type: q.Type, Message: q.Message, AnswerSchema: q.AnswerSchema,
		Status: string(q.Status), WaitsFor: waitsFor(q), CreatedAt: q.CreatedAt.UTC(), ExpiresAt: moment(q.ExpiresAt),
	}
	if q.ConversationID != "" {
		out.ConversationID = &q.ConversationID
	}
	if len(q.Options) > 0 {
		out.Options = &q.Options
	}
	out.PatchID = patchOf(q.WorkflowID)
	return out
}

// Who a question waits for.
const (
	forPerson  = "person"
	forProgram = "program"
)

func waitsFor(q run.Interrupt) string {
	if q.Type == graph.AskClientCall {
		return forProgram
	}
	return forPerson
}

type listInterruptsInput struct {
	Status         string `query:"status" enum:"pending" default:"pending"`
	ConversationID string `query:"conversation_id" format:"uuid"`
}

func (s *server) listInterrupts(ctx context.Context, in *listInterruptsInput) (Page[Interrupt], error) {
	v := viewerOf(ctx)
	if in.ConversationID != "" { // another person's is not an empty list (INT-30)
		if _, err := s.Conversations.Conversation(ctx, v, in.ConversationID); err != nil {
			return Page[Interrupt]{}, err
		}
	}
	open, err := s.Interrupts.PendingInterrupts(ctx, v, in.ConversationID)
	if err != nil || len(open) == 0 {
		return page(open, "", interruptView), err
	}
	// One query for all of them; of more runs than a page has, the oldest go
	// without.
	waiting, _, err := s.Runs.ListRuns(ctx, v, run.Filter{Status: run.Waiting, Limit: maxListed})
	if err != nil {
		return Page[Interrupt]{}, err
	}
	asked, err := s.asked(ctx, v, waiting...)
	return page(open, "", func(q run.Interrupt) Interrupt {
		out := interruptView(q)
		out.Asked = asked[q.RunID]
		return out
	}), err
}

// maxListed is the most runs that are asked for at once.
const maxListed = 100

// ResumeRequest is an answer (INT-06). Without interrupt_id it answers the
// oldest open question of the conversation.
type ResumeRequest struct {
	InterruptID    string `json:"interrupt_id,omitempty" format:"uuid"`
	ConversationID string `json:"conversation_id,omitempty" format:"uuid"`
	ThreadID       string `json:"thread_id,omitempty" format:"uuid" doc:"the same as conversation_id"`
	Value          struct {
		Type  string `json:"type,omitempty" doc:"the question's type, form for a value that its answer_schema asks for, or cancel to skip it"`
		Value any    `json:"value,omitempty" doc:"an option's id, a text, what the answer_schema asks for, or null; one that does not fit is refused with the fields that are wrong as details: a list of {path, message, hint}, path being a JSON pointer into the value"`
	} `json:"resume_value"`
}

// Resumed says where the run goes on.
type Resumed struct {
	RunID       string `json:"run_id" format:"uuid"`
	StreamURL   string `json:"stream_url"`
	InterruptID string `json:"interrupt_id" format:"uuid"`
}

type resumeInput struct {
	Last string `header:"Last-Event-ID"`
	Body ResumeRequest
}

func (s *server) resume(ctx context.Context, in *resumeInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	after, err := lastSeen(in.Last, 0)
	if err != nil {
		return nil, err
	}
	got, err := s.answer(ctx, v, in.Body)
	if err != nil {
		return nil, err
	}
	if wantsEvents(ctx) {
		r, err := s.Runs.Run(ctx, v, got.RunID)
		if err != nil {
			return nil, err
		}
		return s.stream(ctx, v, r, after)
	}
	body := envelope(ctx, got)
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, body) }, nil
}

// answer gives a person's answer to the engine, which checks it and claims
// the question: of two answers one wins (INT-31).
func (s *server) answer(ctx context.Context, v identity.Viewer, in ResumeRequest) (Resumed, error) {
	q, err := s.question(ctx, v, in)
	if err != nil {
		return Resumed{}, err
	}
	a := run.Answer{Type: in.Value.Type, Value: in.Value.Value, Cancel: in.Value.Type == "cancel"}
	if a.Cancel {
		a.Value = nil
	}
	q, err = s.Engine.Answer(ctx, v, q.ID, a)
	return Resumed{RunID: q.RunID, StreamURL: eventsURL(q.RunID), InterruptID: q.ID}, err
}

// question finds the one that is answered. None at all is INT-08.
func (s *server) question(ctx context.Context, v identity.Viewer, in ResumeRequest) (run.Interrupt, error) {
	thread := in.ConversationID
	if thread == "" {
		thread = in.ThreadID
	}
	if in.InterruptID != "" {
		q, err := s.Interrupts.Interrupt(ctx, v, in.InterruptID)
		if err == nil && thread != "" && q.ConversationID != thread {
			err = fault.New(fault.Invalid, "This question is not of that conversation.")
		}
		return q, err
	}
	if thread == "" {
		return run.Interrupt{}, fault.New(fault.Invalid, "Name the interrupt_id or the conversation_id that is answered.")
	}
	if _, err := s.Conversations.Conversation(ctx, v, thread); err != nil {
		return run.Interrupt{}, err
	}
	open, err := s.Interrupts.PendingInterrupts(ctx, v, thread)
	if err == nil && len(open) == 0 {
		err = nothingPending()
	}
	if err != nil {
		return run.Interrupt{}, err
	}
	return open[0], nil
}

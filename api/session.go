package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/run"
)

// The protocol session of surfaces (CLAUDE-01): a client holds a session's id and
// says one thing after the other. A session is a conversation of the person's with
// the surface's workflow, a turn of it is a turn as any other, and so both outlive
// the program (CLAUDE-16). Answers are the protocol's own, without the envelope.
func (s *server) surfaceSessionRoutes() {
	op := route("POST /api/{surface}/chat", "sessionChat", "Say something; the answer is whole", scopeChat)
	addStream(s, op, s.sessionChat)
	s.providers(op)
	s.answers(op, http.StatusOK, "application/json", "The answer, or the question that is asked back", s.schemaOf(SessionAnswer{}))
	op = route("POST /api/{surface}/chat-stream", "sessionStream", "Say something; the answer is a stream of lines", scopeChat)
	addStream(s, op, s.sessionChatStream)
	s.providers(op)
	s.answers(op, http.StatusOK, ndjson, "A JSON object a line: text, tool_use and ping, then one session or error", s.sessionSchema())
	op = route("POST /api/{surface}/clear", "sessionClear", "Delete a session with all that was said", scopeWrite)
	addStream(s, op, s.sessionClear)
	s.answers(op, http.StatusOK, "application/json", "Whether there was one", s.schemaOf(SessionCleared{}))
	op = route("GET /api/{surface}/history", "sessionHistory", "What was said in a session", scopeChat, scopeRead)
	addStream(s, op, s.sessionHistory)
	s.answers(op, http.StatusOK, "application/json", "Everything, in order", s.schemaOf(SessionHistory{}))
}

// SessionRequest is a message of a session.
type SessionRequest struct {
	SessionID *string     `json:"session_id,omitempty" nullable:"true" doc:"missing, empty or not one of mine here: a new session"`
	Message   MessageText `json:"message"`
}

// SessionMessage is one entry of a session's history.
type SessionMessage struct {
	Role    string `json:"role" enum:"user,assistant"`
	Content string `json:"content"`
}

// SessionAnswer is what came of a message (CLAUDE-02). Where the agent asks back,
// Response is the question, and the next message its answer.
type SessionAnswer struct {
	SessionID string           `json:"session_id" format:"uuid"`
	Response  string           `json:"response"`
	History   []SessionMessage `json:"history"`
}

// SessionHistory is what was said in a session.
type SessionHistory struct {
	SessionID string           `json:"session_id" format:"uuid"`
	History   []SessionMessage `json:"history"`
}

// SessionCleared says whether there was a session to delete (CLAUDE-04).
type SessionCleared struct {
	Cleared bool `json:"cleared"`
}

type sessionInput struct {
	Surface string `path:"surface"`
	Key     string `header:"Idempotency-Key"`
	Body    SessionRequest
}

// session finds a session of the viewer's on a surface. Another person's, one that
// never was and a conversation with something else are NotFound alike (CLAUDE-03,
// CLAUDE-05).
func (s *server) session(ctx context.Context, v identity.Viewer, of artifacts.Surface, sessionID string) (chat.Conversation, error) {
	none := fault.New(fault.NotFound, "There is no such session.")
	if !id.Valid(sessionID) {
		return chat.Conversation{}, none
	}
	c, err := s.Conversations.Conversation(ctx, v, id.Canonical(sessionID))
	if errors.Is(err, fault.NotFound) || err == nil && c.WorkflowID != of.WorkflowID && c.WorkflowID != of.Name {
		return chat.Conversation{}, none
	}
	return c, err
}

// begunSession is where a message of a session is answered.
type begunSession struct {
	SessionID string `json:"session_id"`
	RunID     string `json:"run_id"`
	After     int64  `json:"after"`               // what follows this event of the run is the answer
	Interrupt string `json:"interrupt,omitempty"` // the question that was answered; empty: a run was begun

	accepted run.Run // as it was when it began, by this very request; zero: it was not
}

// begunBy is what a turn began.
func begunBy(a ChatAnswer) begunSession {
	return begunSession{SessionID: a.ConversationID, RunID: a.RunID, accepted: a.accepted}
}

// runOf is the run in which a message is answered.
func (s *server) runOf(ctx context.Context, v identity.Viewer, b begunSession) (run.Run, error) {
	if b.accepted.ID != "" {
		return b.accepted, nil
	}
	return s.Runs.Run(ctx, v, b.RunID)
}

// sayIn says a message in its session, or in a new one; once for a key.
func (s *server) sayIn(ctx context.Context, in *sessionInput, way string) (run.Run, begunSession, error) {
	v := viewerOf(ctx)
	at, err := s.surfaceAt(ctx, in.Surface, artifacts.SurfaceSession)
	if err != nil {
		return run.Run{}, begunSession{}, err
	}
	t, _, err := (&chatInput{Key: in.Key, Body: ChatRequest{Message: in.Body.Message, WorkflowID: &at.WorkflowID}}).turn(ctx)
	if err != nil {
		return run.Run{}, begunSession{}, err
	}
	requestOf(ctx).setID(t.RequestID)
	k := quota.Key{Route: "POST /api/{surface}/" + way + " " + at.Path, Key: in.Key}
	begun, _, err := once(ctx, s, k, in.Body, func(ctx context.Context) (begunSession, error) {
		c, err := s.session(ctx, v, at, value(in.Body.SessionID))
		if errors.Is(err, fault.NotFound) {
			return s.sayFirst(ctx, v, t, at, in.Key != "")
		}
		if err != nil {
			return begunSession{}, err
		}
		return s.sayNext(ctx, v, t, c, in.Key != "")
	})
	if err != nil {
		return run.Run{}, begun, err
	}
	r, err := s.runOf(ctx, v, begun)
	return r, begun, err
}

// sayFirst begins a session.
func (s *server) sayFirst(ctx context.Context, v identity.Viewer, t chat.NewTurn, at artifacts.Surface, keyed bool) (begunSession, error) {
	c, err := s.Conversations.CreateConversation(ctx, v, chat.Conversation{WorkflowID: at.WorkflowID})
	if err != nil {
		return begunSession{}, err
	}
	t.ConversationID = c.ID
	a, err := s.say(ctx, v, t, keyed)
	if err != nil {
		// Nobody has its id: it would stand among the conversations, empty.
		return begunSession{}, errors.Join(err, s.Conversations.DeleteConversation(context.WithoutCancel(ctx), v, c.ID))
	}
	return begunBy(a), nil
}

// sayNext goes on with a session: with a turn, or with the answer to what it asks.
// While a turn of it runs that is a Conflict (CLAUDE-09).
func (s *server) sayNext(ctx context.Context, v identity.Viewer, t chat.NewTurn, c chat.Conversation, keyed bool) (begunSession, error) {
	open, err := s.Interrupts.PendingInterrupts(ctx, v, c.ID)
	if err != nil {
		return begunSession{}, err
	}
	if len(open) > 0 {
		q := open[0]
		if answer, ok := answerIn(q, t.Message); ok {
			after := s.lastSeq(ctx, q.RunID)
			_, err := s.Engine.Answer(ctx, v, q.ID, answer)
			return begunSession{SessionID: c.ID, RunID: q.RunID, After: after, Interrupt: q.ID}, err
		}
		if err := s.skip(ctx, v, open); err != nil {
			return begunSession{}, err
		}
		t.Multitask = chat.MultitaskEnqueue // what was just skipped ends first (INT-12)
	}
	t.ConversationID = c.ID
	a, err := s.say(ctx, v, t, keyed)
	return begunBy(a), err
}

// skip cancels questions that a message does not answer.
func (s *server) skip(ctx context.Context, v identity.Viewer, open []run.Interrupt) error {
	for _, q := range open {
		if _, err := s.Engine.Answer(ctx, v, q.ID, run.Answer{Cancel: true}); err != nil && !errors.Is(err, fault.Conflict) {
			return err
		}
	}
	return nil
}

func (s *server) sessionChat(ctx context.Context, in *sessionInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	_, begun, err := s.sayIn(ctx, in, "chat")
	if err != nil {
		return nil, err
	}
	answer := ChatAnswer{RunID: begun.RunID}
	if err := s.await(ctx, v, &answer); err != nil {
		return nil, err
	}
	if answer.Cancelled {
		return nil, errStopped()
	}
	history, err := s.saidIn(ctx, v, begun.SessionID)
	if err != nil {
		return nil, err
	}
	out := SessionAnswer{SessionID: begun.SessionID, Response: value(answer.Content), History: history}
	if answer.Interrupt != nil {
		out.Response = history[len(history)-1].Content
	}
	return unwrapped(out), nil
}

func errStopped() *fault.Error {
	return fault.New(fault.Conflict, "The answer was stopped before its end.")
}

func (s *server) sessionChatStream(ctx context.Context, in *sessionInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	r, begun, err := s.sayIn(ctx, in, "chat-stream")
	if err != nil {
		return nil, err
	}
	h := requestOf(ctx).header
	h.Set("X-Session-Id", begun.SessionID)
	h.Set("X-Run-Id", r.ID)
	words := &sessionEncoder{session: begun.SessionID, run: r.ID, locale: v.Locale, asked: func() ([]run.Interrupt, error) {
		return s.Interrupts.PendingInterrupts(ctx, v, begun.SessionID)
	}}
	return s.carrying(ctx, v, r, begun.After, words, sessionLines)
}

type sessionOf struct {
	SessionID string `json:"session_id"`
}

type sessionClearInput struct {
	Surface string `path:"surface"`
	Body    sessionOf
}

func (s *server) sessionClear(ctx context.Context, in *sessionClearInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	at, err := s.surfaceAt(ctx, in.Surface, artifacts.SurfaceSession)
	if err != nil {
		return nil, err
	}
	c, err := s.session(ctx, v, at, in.Body.SessionID)
	if err == nil {
		err = s.Conversations.DeleteConversation(ctx, v, c.ID)
	}
	if errors.Is(err, fault.NotFound) {
		return unwrapped(SessionCleared{}), nil
	}
	return unwrapped(SessionCleared{Cleared: true}), err
}

type sessionHistoryInput struct {
	Surface   string `path:"surface"`
	SessionID string `query:"session_id" required:"true" doc:"one of mine here"`
}

func (s *server) sessionHistory(ctx context.Context, in *sessionHistoryInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	at, err := s.surfaceAt(ctx, in.Surface, artifacts.SurfaceSession)
	if err != nil {
		return nil, err
	}
	c, err := s.session(ctx, v, at, in.SessionID)
	if err != nil {
		return nil, err
	}
	history, err := s.saidIn(ctx, v, c.ID)
	return unwrapped(SessionHistory{SessionID: c.ID, History: history}), err
}

// saidIn is what was said in a session, with what it asks now: questions are the
// agent's words, and answers the person's.
func (s *server) saidIn(ctx context.Context, v identity.Viewer, sessionID string) ([]SessionMessage, error) {
	said := []SessionMessage{}
	for cursor, more := "", true; more; more = cursor != "" {
		list, next, err := s.Messages.ListMessages(ctx, v, sessionID, cursor, 100)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if !shownInHistory(m) {
				continue
			}
			role := "assistant"
			if m.Role == "user" {
				role = m.Role
			}
			said = append(said, SessionMessage{Role: role, Content: m.Content})
		}
		cursor = next
	}
	open, err := s.Interrupts.PendingInterrupts(ctx, v, sessionID)
	if len(open) > 0 {
		said = append(said, SessionMessage{Role: "assistant", Content: askedAll(open, v.Locale)})
	}
	return said, err
}

// askedAll is the questions that wait as one text: the next message answers the
// first, and the others are told again then.
func askedAll(open []run.Interrupt, locale string) string {
	texts := make([]string, 0, len(open))
	for _, q := range open {
		texts = append(texts, askedText(q, locale))
	}
	return strings.Join(texts, "\n\n")
}

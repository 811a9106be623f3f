package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

func (s *server) langgraphRunRoutes() {
	for _, way := range []struct {
		path, name, answer string
		body               any
		handle             func(context.Context, *startRunInput) (func(http.ResponseWriter, *http.Request), error)
	}{
		{"/runs", "CreateRun", "the run, which goes on by itself", LangGraphRun{}, s.createRun},
		{"/runs/wait", "WaitRun", "the state afterwards", LangGraphOutcome{}, s.waitRun},
		{"/runs/stream", "StreamRun", "the run's events", nil, s.streamRun},
	} {
		said := "Say something in a thread, or answer what it asks: " + way.answer
		s.runRoute(langgraphRoute("POST /threads/{thread_id}"+way.path, way.name, said, scopeChat), way.body, func(op huma.Operation) {
			addStream(s, op, func(ctx context.Context, in *threadRunInput) (func(http.ResponseWriter, *http.Request), error) {
				return way.handle(ctx, &startRunInput{in.ThreadID, in.Key, in.Body})
			})
		})
		said = "Say something in a thread of its own, which is in no list: " + way.answer
		s.runRoute(langgraphRoute("POST "+way.path, way.name+"Alone", said, scopeChat), way.body, func(op huma.Operation) {
			addStream(s, op, func(ctx context.Context, in *ownRunInput) (func(http.ResponseWriter, *http.Request), error) {
				return way.handle(ctx, &startRunInput{"", in.Key, in.Body})
			})
		})
	}
	addLanggraph(s, langgraphRoute("GET /threads/{thread_id}/runs", "ListRuns", "The runs of a thread, latest first", scopeChat, scopeRead), []LangGraphRun{}, s.threadRuns)
	addLanggraph(s, langgraphRoute("GET /threads/{thread_id}/runs/{run_id}", "Run", "One run", scopeChat, scopeRead), LangGraphRun{}, s.threadRun)
	addLanggraph(s, langgraphRoute("GET /threads/{thread_id}/runs/{run_id}/join", "JoinRun", "The state when a run is over, or waits", scopeChat, scopeRead), LangGraphOutcome{}, s.joinRun)
	addLanggraph(s, langgraphRoute("POST /threads/{thread_id}/runs/{run_id}/cancel", "CancelRun", "Stop a run; what was written is kept", scopeChat), nil, s.cancelRun)
	op := langgraphRoute("GET /threads/{thread_id}/runs/{run_id}/stream", "JoinStream", joinsStream, scopeChat, scopeRead)
	addStream(s, op, s.joinStream)
	s.eventsOfLanggraph(op)
	op = langgraphRoute("GET /runs/{run_id}/stream", "JoinStatelessStream", joinsStream, scopeChat, scopeRead)
	addStream(s, op, func(ctx context.Context, in *joinOwnStreamInput) (func(http.ResponseWriter, *http.Request), error) {
		return s.joinStream(ctx, &joinStreamInput{ThreadRunByID: ThreadRunByID{RunID: in.RunID}, JoinedStream: in.JoinedStream})
	})
	s.eventsOfLanggraph(op)
}

const joinsStream = "A run's events, from the first or after one that was seen"

// runRoute registers what begins a run; body is what is answered, nil: events.
func (s *server) runRoute(op huma.Operation, body any, add func(huma.Operation)) {
	add(op)
	s.providers(op)
	if body == nil {
		s.eventsOfLanggraph(op)
		return
	}
	s.answers(op, http.StatusOK, "application/json", op.Summary, s.schemaOf(body))
	s.failsAsLanggraph(op)
}

func (s *server) eventsOfLanggraph(op huma.Operation) {
	s.answers(op, http.StatusOK, "text/event-stream", "metadata first; values, updates, messages and custom as stream_mode asks for them; at last end, or error", &huma.Schema{Type: "string"})
	s.failsAsLanggraph(op)
}

// LangGraphRun is a turn as the protocol has it.
type LangGraphRun struct {
	ID        string         `json:"run_id" format:"uuid"`
	ThreadID  string         `json:"thread_id" format:"uuid"`
	Assistant string         `json:"assistant_id"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
	Status    string         `json:"status" enum:"pending,running,error,success,timeout,interrupted"`
	Metadata  map[string]any `json:"metadata"`
	Kwargs    map[string]any `json:"kwargs"`
	Multitask string         `json:"multitask_strategy" enum:"reject,enqueue,interrupt,rollback"`
}

// langgraphStatus is how the protocol calls where a run stands.
var langgraphStatus = map[run.Status]string{
	run.Queued: "pending", run.Running: "running", run.Waiting: "interrupted", run.Done: "success", run.Failed: "error", run.Cancelled: "interrupted",
}

func langgraphRun(r run.Run) LangGraphRun {
	out := LangGraphRun{
		ID: r.ID, ThreadID: r.ConversationID, Assistant: automaticAssistant, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.CreatedAt.UTC(),
		Status: langgraphStatus[r.Status], Metadata: map[string]any{}, Kwargs: map[string]any{}, Multitask: "enqueue",
	}
	for _, at := range []time.Time{r.StartedAt, r.EndedAt} {
		if !at.IsZero() {
			out.UpdatedAt = at.UTC()
		}
	}
	if len(r.Pins) > 0 {
		out.Assistant = r.Pins[0].ArtifactID
	}
	if e := runError(r); e != nil {
		out.Metadata["error"] = e.Message
	}
	return out
}

// LangGraphOutcome is the state of a thread when a run is over or waits.
type LangGraphOutcome struct {
	_ struct{} `additionalProperties:"true"`
	LangGraphValues
	Error *LangGraphError `json:"__error__,omitempty"`
}

// LangGraphError is why a run failed.
type LangGraphError struct {
	Error   string `json:"error"`
	Message string `json:"message"`
	RunID   string `json:"run_id" format:"uuid"`
	Node    string `json:"node,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// startRunInput is a run as it is asked for, in a thread or without one.
type startRunInput struct {
	ThreadID string // empty: in one of its own
	Key      string
	Body     LangGraphRunRequest
}

type threadRunInput struct {
	ThreadByID
	Key  string `header:"Idempotency-Key"`
	Body LangGraphRunRequest
}

type ownRunInput struct {
	Key  string `header:"Idempotency-Key"`
	Body LangGraphRunRequest
}

// begunRun is a run that was begun or goes on.
type begunRun struct {
	run.Run
	since place // what follows it is of this request
	of    artifacts.Artifact
}

// beginRun does what a run asks: it says something, or answers what waits.
func (s *server) beginRun(ctx context.Context, in *startRunInput) (begunRun, error) {
	v := viewerOf(ctx)
	if err := in.Body.refused(); err != nil {
		return begunRun{}, err
	}
	of, err := s.assistantNamed(ctx, in.Body.AssistantID)
	if err != nil {
		return begunRun{}, err
	}
	begun := begunRun{of: of}
	var runID string
	if in.Body.resumes() {
		runID, begun.since, err = s.resumeThread(ctx, in)
	} else {
		runID, err = s.sayInThread(ctx, in, of)
	}
	if err != nil {
		return begun, err
	}
	if begun.Run, err = s.Runs.Run(ctx, v, runID); err != nil {
		return begun, err
	}
	h := requestOf(ctx).header
	h.Set("X-Run-Id", runID)
	h.Set("Content-Location", langgraphPath+runPath(begun.Run))
	return begun, nil
}

// runPath is where a run is, after the url that the SDK was given.
func runPath(r run.Run) string { return "/threads/" + r.ConversationID + "/runs/" + r.ID }

// reconnects tells the SDK where a stream or an answer is had that was cut. It reads
// the path as one after its own url.
func reconnects(ctx context.Context, r run.Run, way string, modes []string) {
	q := url.Values{}
	for _, m := range modes {
		q.Add("stream_mode", m)
	}
	at := runPath(r) + way
	if len(q) > 0 {
		at += "?" + q.Encode()
	}
	requestOf(ctx).header.Set("Location", at)
}

// resumeThread answers what waits in a thread. It gives the run that goes on, and
// where it was.
func (s *server) resumeThread(ctx context.Context, in *startRunInput) (runID string, since place, err error) {
	v := viewerOf(ctx)
	if in.ThreadID == "" {
		return "", since, fault.New(fault.Invalid, "command.resume answers what waits in a thread; name the thread.")
	}
	c, err := s.graphThread(ctx, v, in.ThreadID)
	if err != nil {
		return "", since, err
	}
	open, err := s.Interrupts.PendingInterrupts(ctx, v, c.ID)
	if err == nil && len(open) == 0 {
		err = nothingPending()
	}
	if err != nil {
		return "", since, err
	}
	answers, err := resumed(open, in.Body.command().Resume)
	if err != nil {
		return "", since, err
	}
	return s.answerAll(ctx, v, open[0].RunID, answers)
}

// answerAll answers questions of a run. It gives the run, and where it was before.
func (s *server) answerAll(ctx context.Context, v identity.Viewer, runID string, answers []answerTo) (string, place, error) {
	since := place{s.lastSeq(ctx, runID), lastPiece}
	for _, a := range answers {
		if _, err := s.Engine.Answer(ctx, v, a.question.ID, a.answer); err != nil {
			return "", since, err
		}
	}
	return runID, since, nil
}

// sayInThread says something in a thread, or in one of its own.
func (s *server) sayInThread(ctx context.Context, in *startRunInput, of artifacts.Artifact) (runID string, err error) {
	v := viewerOf(ctx)
	input, err := in.Body.input()
	if err != nil {
		return "", err
	}
	c, err := s.threadToSayIn(ctx, in)
	if err != nil {
		return "", err
	}
	replaces := ""
	if at := in.Body.checkpoint(); at != "" || input.again {
		if replaces, err = s.saidOtherwise(ctx, in, at, &input); err != nil {
			return "", err
		}
	} else if in.ThreadID != "" && len(input.before) > 0 {
		if err := s.alreadySaid(ctx, c, input); err != nil {
			return "", err
		}
	}
	t, _, err := (&chatInput{Key: in.Key, Body: ChatRequest{Message: MessageText(input.last), WorkflowID: &of.ID}}).turn(ctx)
	if err != nil {
		return "", err
	}
	requestOf(ctx).setID(t.RequestID)
	t.ConversationID, t.Replaces, t.Fields, t.Multitask = c.ID, replaces, input.fields, in.Body.multitask()
	if in.ThreadID == "" {
		t.History = append([]chat.Said{}, input.said()...)
	}
	if value(in.Body.Multitask) == "rollback" && c.ActiveRun != nil {
		if err := s.stopped(ctx, v, *c.ActiveRun); err != nil {
			return "", err
		}
		t.Replaces, t.Multitask = chat.AskedID(c.ActiveRun.ID), ""
	}
	if err := t.Validate(); err != nil {
		return "", err
	}
	a, err := s.say(ctx, v, t, in.Key != "")
	if err == nil && in.ThreadID != "" && c.WorkflowID == "" && of.ID != "" {
		_, err = s.Conversations.UpdateConversation(ctx, v, a.ConversationID, chat.ConversationChange{WorkflowID: &of.ID})
	}
	return a.RunID, err
}

// threadToSayIn is the thread of a run: one that is there, or a new one where the
// request says so.
func (s *server) threadToSayIn(ctx context.Context, in *startRunInput) (chat.Conversation, error) {
	if in.ThreadID == "" {
		return chat.Conversation{}, nil
	}
	c, err := s.graphThread(ctx, viewerOf(ctx), in.ThreadID)
	if errors.Is(err, fault.NotFound) && value(in.Body.IfNotExists) == "create" && id.Valid(in.ThreadID) {
		return chat.Conversation{ID: id.Canonical(in.ThreadID)}, nil // the turn makes it
	}
	return c, err
}

// alreadySaid refuses messages before the last that were not said in the thread.
func (s *server) alreadySaid(ctx context.Context, c chat.Conversation, input runInput) error {
	there, err := s.threadMessages(ctx, viewerOf(ctx), c.ID)
	if err != nil {
		return err
	}
	for i, m := range input.before {
		if !slices.ContainsFunc(there, func(t chat.Message) bool { return t.ID == m.ID || t.Content == m.text }) {
			return fault.New(fault.Invalid, "Message %d of the input was not said in this thread. A run says one message; what was said before is the thread's.", i+1).
				With([]Problem{{"input.messages", "holds more than one message"}})
		}
	}
	return nil
}

// saidOtherwise is the message that a run at a checkpoint stands in the place of:
// the person's that was said next, or, to answer it again, the last. Empty: nothing
// was said after it.
func (s *server) saidOtherwise(ctx context.Context, in *startRunInput, checkpoint string, input *runInput) (messageID string, err error) {
	p, err := s.placed(ctx, in.ThreadID)
	if err != nil {
		return "", err
	}
	n := len(p.said)
	if checkpoint != "" {
		if n, err = p.at(checkpoint); err != nil {
			return "", err
		}
	}
	if input.again {
		for ; n > 0; n-- {
			if m := p.said[n-1]; m.Role == "user" {
				input.last = m.Content
				return m.ID, nil
			}
		}
		return "", fault.New(fault.Invalid, "Nothing was said in this thread that could be answered again. Give the run an input.")
	}
	for _, m := range p.said[n:] {
		if m.Role == "user" {
			return m.ID, nil
		}
	}
	return "", nil
}

func (s *server) createRun(ctx context.Context, in *startRunInput) (func(http.ResponseWriter, *http.Request), error) {
	begun, err := s.beginRun(ctx, in)
	if err != nil {
		return nil, err
	}
	out := langgraphRun(begun.Run)
	out.Multitask = in.Body.strategy()
	if out.Metadata = value(in.Body.Metadata); out.Metadata == nil {
		out.Metadata = map[string]any{}
	}
	if begun.of.ID != "" {
		out.Assistant = begun.of.ID
	}
	return unwrapped(out), nil
}

func (s *server) streamRun(ctx context.Context, in *startRunInput) (func(http.ResponseWriter, *http.Request), error) {
	modes, err := streamModes(in.Body.Modes)
	if err != nil {
		return nil, err
	}
	begun, err := s.beginRun(ctx, in)
	if err != nil {
		return nil, err
	}
	write, err := s.langgraphStream(ctx, begun.Run, modes, begun.since)
	if value(in.Body.OnDisconnect) == "cancel" {
		write = s.closing(ctx, viewerOf(ctx), begun.Run, write)
	}
	return write, err
}

func (s *server) waitRun(ctx context.Context, in *startRunInput) (func(http.ResponseWriter, *http.Request), error) {
	begun, err := s.beginRun(ctx, in)
	if err != nil {
		return nil, err
	}
	return s.langgraphOutcome(ctx, begun.Run, begun.since)
}

type listThreadRunsInput struct {
	ThreadByID
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"10"`
	Offset int    `query:"offset" minimum:"0"`
	Status string `query:"status" enum:"pending,running,error,success,timeout,interrupted"`
}

// maxRuns is how many runs of a thread are looked through.
const maxRuns = 2000

func (s *server) threadRuns(ctx context.Context, in *listThreadRunsInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	c, err := s.graphThread(ctx, v, in.ThreadID)
	if err != nil {
		return nil, err
	}
	list, looked := []LangGraphRun{}, 0
	for cursor, more := "", true; more && looked < maxRuns && len(list) < in.Offset+in.Limit; more = cursor != "" {
		page, next, err := s.Runs.ListRuns(ctx, v, run.Filter{Kind: run.KindChat, Conversation: c.ID, Cursor: cursor, Limit: maxPage})
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			if looked++; in.Status == "" || in.Status == langgraphStatus[r.Status] {
				list = append(list, langgraphRun(r))
			}
		}
		cursor = next
	}
	return unwrapped(windowed(ctx, list, in.Offset, in.Limit)), nil
}

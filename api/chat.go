package api

import (
	"cmp"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// maxMessage bounds what a person says in one turn, in bytes. No tool takes a
// longer text: a turn with one would be accepted and fail.
const maxMessage = 200_000

func (s *server) chatRoutes() {
	op := route("POST /v1/chat", "chat", "Say something: blocks for the answer, or streams it", scopeChat)
	addStream(s, op, s.chat)
	s.providers(op)
	s.answers(op, 200, "application/json", "The answer; or, with stream, where to follow it", s.schemaOf(Envelope[ChatAnswer]{}))
	s.answers(op, 200, "text/event-stream", "With stream and Accept: text/event-stream, the run's events; a repeat of the key is given them from the first on", s.frameSchema())
	add(s, route("POST /v1/chat/cancel", "cancelChat", "Stop a turn; what was written is kept", scopeChat, scopeTools), s.cancelChat)
	s.handleHTTP(public(route("GET /v1/chat/stream", "chatSocket", "The same as frames over a WebSocket; the first frame signs in")), s.socket)
}

// ChatRequest is a turn as a client asks for it (CHAT-01).
type ChatRequest struct {
	ConversationID  *string     `json:"conversation_id,omitempty" nullable:"true" format:"uuid" doc:"missing: a new conversation"`
	Message         MessageText `json:"message"`
	ContextID       *string     `json:"context_id,omitempty" nullable:"true" format:"uuid"`
	ContextIDs      *[]string   `json:"context_ids,omitempty" nullable:"true" doc:"missing: the conversation's; empty: none"`
	ArtifactIDs     []string    `json:"artifact_ids,omitempty" nullable:"true"`
	WorkflowID      *string     `json:"workflow_id,omitempty" nullable:"true" doc:"a workflow's id or name, for this turn; missing: the conversation's, empty: chosen by what is bound"`
	Stream          bool        `json:"stream,omitempty"`
	ClientRequestID *string     `json:"client_request_id,omitempty" nullable:"true" doc:"the same as the header Idempotency-Key"`
	Multitask       string      `json:"multitask,omitempty" enum:"reject,enqueue,interrupt" doc:"while another turn of the conversation runs"`
	Backend         *string     `json:"backend,omitempty" nullable:"true" maxLength:"40" doc:"the model backend of the conversation from here on, by name; missing: as it is, empty: the one that answers where nobody chose"`
	Replaces        *string     `json:"replaces,omitempty" nullable:"true" format:"uuid" doc:"a message of mine that begins a turn of conversation_id: this one is said in its place, as another version of it, and what was said from there on is set aside"`
	History         *[]Said     `json:"history,omitempty" nullable:"true" maxItems:"2000" doc:"what was said before, of a program that keeps the conversation itself: 256 KiB at most, without conversation_id; the turn begins a conversation with it that is in no list"`
	Tags
}

// Said is a message of a conversation that a program keeps.
type Said struct {
	Role    string `json:"role" enum:"user,assistant"`
	Content string `json:"content"`
}

// MessageText is a string, or {content, mode:"text"} (C-08).
type MessageText string

// UnmarshalJSON reads both forms.
func (m *MessageText) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*m = MessageText(text)
		return nil
	}
	var form struct {
		Content string `json:"content"`
	}
	err := json.Unmarshal(b, &form)
	*m = MessageText(form.Content)
	return err
}

// Schema describes both forms.
func (MessageText) Schema(huma.Registry) *huma.Schema {
	form := &huma.Schema{Type: "object", Required: []string{"content"}, AdditionalProperties: true, Properties: map[string]*huma.Schema{
		"content": {Type: "string"}, "mode": {Type: "string", Enum: []any{"text"}},
	}}
	form.PrecomputeMessages()
	return &huma.Schema{OneOf: []*huma.Schema{{Type: "string"}, form}}
}

// ChatAnswer is the data of POST /v1/chat (CHAT-02). Without stream it holds
// the answer, or the question the run asks; with stream it says where to
// follow the run.
type ChatAnswer struct {
	ConversationID string          `json:"conversation_id" format:"uuid"`
	MessageID      string          `json:"message_id" format:"uuid" doc:"of the answer"`
	UserMessageID  string          `json:"user_message_id" format:"uuid"`
	RunID          string          `json:"run_id" format:"uuid"`
	StreamID       string          `json:"stream_id" format:"uuid"`
	StreamURL      string          `json:"stream_url"`
	Queued         bool            `json:"queued,omitempty" doc:"an earlier turn comes first"`
	Content        *string         `json:"content,omitempty"`
	ContentStruct  json.RawMessage `json:"content_struct,omitempty"`
	Citations      json.RawMessage `json:"citations,omitempty"`
	Usage          json.RawMessage `json:"usage,omitempty"`
	Adapters       json.RawMessage `json:"adapters,omitempty"`
	Gates          json.RawMessage `json:"gates,omitempty"`
	Routing        json.RawMessage `json:"routing,omitempty" doc:"which policy and rules chose the adapters"`
	WorkflowTrace  json.RawMessage `json:"workflow_trace,omitempty"`
	Model          string          `json:"model,omitempty"`
	Truncated      bool            `json:"truncated,omitempty"`
	Suppressed     bool            `json:"suppressed,omitempty"`
	Cancelled      bool            `json:"cancelled,omitempty"`
	Hint           string          `json:"hint,omitempty" doc:"that few turns of this hour are left at this assistant"`
	Interrupt      *Interrupt      `json:"interrupt,omitempty" doc:"the run asks a person; answer with POST /v1/chat/resume"`
	Interrupts     []Interrupt     `json:"interrupts,omitempty"`

	accepted run.Run // as it was when this very request began it; zero: it did not
}

type chatInput struct {
	Key  string `header:"Idempotency-Key"`
	Body ChatRequest
}

// turn is a request made ready for the engine.
func (in *chatInput) turn(ctx context.Context) (chat.NewTurn, string, error) {
	b := in.Body
	text := strings.TrimSpace(string(b.Message))
	switch {
	case text == "":
		return chat.NewTurn{}, "", fault.New(fault.Invalid, "The message is empty.").With([]Problem{{"body.message", "is empty"}})
	case len(text) > maxMessage:
		return chat.NewTurn{}, "", fault.New(fault.Invalid, "The message is longer than %d KB.", maxMessage/1000)
	case !utf8.ValidString(text):
		return chat.NewTurn{}, "", fault.New(fault.Invalid, "The message is not text.")
	}
	key := in.Key
	if key == "" {
		key = value(b.ClientRequestID)
	}
	t := chat.NewTurn{
		ConversationID: id.Canonical(value(b.ConversationID)), RequestID: requestID(ctx, key), Message: string(b.Message),
		ArtifactIDs: b.ArtifactIDs, WorkflowID: value(b.WorkflowID), Multitask: b.Multitask, Replaces: id.Canonical(value(b.Replaces)), Locale: viewerOf(ctx).Locale,
		Backend: b.Backend, NoWorkflow: b.WorkflowID != nil && *b.WorkflowID == "",
	}
	if b.History != nil {
		t.History = make([]chat.Said, len(*b.History))
		for i, m := range *b.History {
			t.History[i] = chat.Said(m)
		}
	}
	if err := t.Validate(); err != nil {
		return t, key, err
	}
	if b.ContextIDs != nil {
		t.ContextIDs, t.NoContext = *b.ContextIDs, len(*b.ContextIDs) == 0 && b.ContextID == nil
	}
	if b.ContextID != nil {
		t.ContextIDs = append(t.ContextIDs, *b.ContextID)
	}
	return t, key, uuids("context_ids", t.ContextIDs)
}

// requestID names the work of a request: by its key, so that a repeat is the
// same work (GRAPH-17), else by the request itself (API-18).
func requestID(ctx context.Context, key string) string {
	x := requestOf(ctx)
	switch {
	case key == "":
		return x.id
	case id.Valid(key):
		return strings.ToLower(key)
	}
	return keyedRequestID(x.viewer.UserID, key)
}

// keyedRequestID is the id of a person's request with a key that is no UUID.
func keyedRequestID(userID, key string) string { return id.Derive("request", userID, key) }

// uuids refuses lists with anything but ids in them.
func uuids(field string, ids []string) error {
	for _, one := range ids {
		if !id.Valid(one) {
			return fault.New(fault.Invalid, "%s holds %q, which is not an id.", field, one)
		}
	}
	return nil
}

func (s *server) chat(ctx context.Context, in *chatInput) (func(http.ResponseWriter, *http.Request), error) {
	if in.Body.Stream && wantsEvents(ctx) {
		answer, err := s.beginStream(ctx, in)
		if err != nil {
			return nil, err
		}
		return s.chatEvents(ctx, viewerOf(ctx), answer)
	}
	answer, err := s.begin(ctx, in)
	if err != nil {
		return nil, err
	}
	body := envelope(ctx, answer)
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, body) }, nil
}

// begin does what a chat request asks, once for a key: it says something, and
// without stream waits for what comes of it.
func (s *server) begin(ctx context.Context, in *chatInput) (ChatAnswer, error) {
	t, key, err := in.turn(ctx)
	if err == nil {
		err = in.Body.check()
	}
	if err != nil {
		return ChatAnswer{}, err
	}
	requestOf(ctx).setID(t.RequestID)
	k := quota.Key{Route: "POST /v1/chat", Key: key}
	var spoken *ChatAnswer
	answer, replayed, err := once(ctx, s, k, in.Body, func(ctx context.Context) (ChatAnswer, error) {
		// Not before: who repeats a request is told what it became, whatever
		// has become of what it mentions.
		if err := s.tag(ctx, viewerOf(ctx), in.Body.Tags, &t); err != nil {
			return ChatAnswer{}, err
		}
		answer, err := s.say(ctx, viewerOf(ctx), t, key != "")
		if err != nil || in.Body.Stream {
			return answer, err
		}
		answer.Queued = false
		accepted := answer
		if err = s.await(ctx, viewerOf(ctx), &answer); err != nil || !id.Unkept(answer.RunID) {
			return answer, err
		}
		spoken = &answer
		return accepted, nil // what is kept for a repeat of the key has no words
	})
	switch {
	case err != nil || in.Body.Stream || !id.Unkept(answer.RunID):
		return answer, err
	case spoken != nil && !replayed:
		return *spoken, nil
	}
	return answer, s.await(ctx, viewerOf(ctx), &answer)
}

// say accepts a turn and starts it. A turn that is there already is the same
// one only when a key says so; an X-Request-Id that comes twice does not.
func (s *server) say(ctx context.Context, v identity.Viewer, t chat.NewTurn, keyed bool) (ChatAnswer, error) {
	if err := s.configured(); err != nil {
		return ChatAnswer{}, err
	}
	if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
		return ChatAnswer{}, err
	}
	if err := s.reachable(ctx, v, t); err != nil {
		return ChatAnswer{}, err
	}
	if err := s.mayChoose(ctx, t.Backend); err != nil {
		return ChatAnswer{}, err
	}
	a, err := s.Engine.Chat(ctx, v, t)
	if err != nil {
		return ChatAnswer{}, err
	}
	if a.Duplicate && !keyed {
		return ChatAnswer{}, fault.New(fault.Conflict, "Another turn has this X-Request-Id. To repeat a request, give it an Idempotency-Key.").
			With(map[string]any{"reason": "request_id", "run_id": a.Run.ID})
	}
	if a.Duplicate {
		err = s.sameTurn(ctx, v, a, t)
	}
	answer := accepted(a)
	answer.Hint = hintOf(a.Counted, v.Locale)
	return answer, err
}

// maxNamed bounds the contexts, and the artifacts, a turn names.
const maxNamed = 64

// reachable refuses a turn that names what its person may not see, before
// anything is made of it (ISO-11).
func (s *server) reachable(ctx context.Context, v identity.Viewer, t chat.NewTurn) error {
	if len(t.ContextIDs) > maxNamed || len(t.ArtifactIDs) > maxNamed {
		return fault.New(fault.Invalid, "A turn names at most %d contexts and %d artifacts.", maxNamed, maxNamed)
	}
	for _, contextID := range t.ContextIDs {
		if err := s.mayUse(ctx, v, contextID); err != nil {
			return err
		}
	}
	for _, artifact := range append([]string{t.WorkflowID}, t.ArtifactIDs...) {
		if err := s.mayRun(ctx, v, artifact); err != nil {
			return err
		}
	}
	return nil
}

// mayRun reports NotFound for the id of an artifact that is not the viewer's
// to see. Names are looked up where they are used, among what they may see. An
// access key for some assistants is Forbidden the others; whatever a turn comes
// to run is looked at again when its run opens.
func (s *server) mayRun(ctx context.Context, v identity.Viewer, artifact string) error {
	if !id.Valid(artifact) {
		if artifact != "" && v.Grant != nil && !slices.ContainsFunc(v.Grant.Assistants, id.Valid) && !v.Grant.MayAsk("", artifact) {
			return errAssistant()
		}
		return nil
	}
	a, err := s.Artifacts.Get(ctx, v, artifact)
	if err == nil && a.Type == artifacts.KindWorkflow && !v.Grant.MayAsk(a.ID, a.Name) {
		err = errAssistant()
	}
	return err
}

func errAssistant() error {
	return fault.New(fault.Forbidden, "This access key is not for that assistant.").With(map[string]any{"reason": "key_scope"})
}

func accepted(a chat.Accepted) ChatAnswer {
	return ChatAnswer{
		ConversationID: a.ConversationID, MessageID: answerID(a.Run), UserMessageID: a.MessageID,
		RunID: a.Run.ID, StreamID: a.Run.ID, StreamURL: eventsURL(a.Run.ID), Queued: a.Run.Status == run.Queued,
		accepted: a.Run,
	}
}

func eventsURL(runID string) string { return "/v1/runs/" + runID + "/events" }

// await follows a turn to its terminal event and completes the answer.
func (s *server) await(ctx context.Context, v identity.Viewer, answer *ChatAnswer) error {
	r, err := s.runOf(ctx, v, begunBy(*answer))
	if err != nil {
		return err
	}
	for e, err := range s.tail.events(ctx, v, r, 0) {
		if err != nil {
			return err
		}
		if e.Kind.Ends() {
			return s.complete(ctx, v, r, e, answer)
		}
	}
	return ctx.Err()
}

func (s *server) complete(ctx context.Context, v identity.Viewer, r run.Run, e stream.Event, answer *ChatAnswer) error {
	switch e.Kind {
	case stream.Error:
		return s.overdrawn(ctx, v, s.runFault(r, e.Data))
	case stream.Paused:
		open, err := (&following{tail: s.tail, viewer: v, run: r}).open(ctx)
		for _, q := range open {
			answer.Interrupts = append(answer.Interrupts, interruptView(q))
		}
		if len(answer.Interrupts) > 0 {
			answer.Interrupt = &answer.Interrupts[0]
		}
		return err
	case stream.CancelAck:
		return answer.cancelled(e)
	default:
		return answer.done(e)
	}
}

// done completes the answer of a turn that is done.
func (a *ChatAnswer) done(e stream.Event) error {
	var d stream.MessageDoneData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	a.MessageID, a.Content = cmp.Or(d.MessageID, a.MessageID), &d.Content
	a.know(d.Answer)
	return nil
}

// cancelled completes the answer of a turn that was stopped.
func (a *ChatAnswer) cancelled(e stream.Event) error {
	var d stream.CancelAckData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	a.MessageID, a.Content = cmp.Or(value(d.MessageID), a.MessageID), &d.Content
	a.know(value(d.Answer))
	a.Cancelled = true
	return nil
}

// know takes over what is known of an answer beside its words.
func (a *ChatAnswer) know(d stream.Answer) {
	a.ContentStruct, a.Citations, a.Usage = d.ContentStruct, d.Citations, d.Usage
	a.Adapters, a.Gates, a.Routing, a.WorkflowTrace = d.Adapters, d.Gates, d.Routing, d.WorkflowTrace
	a.Model, a.Truncated, a.Suppressed = d.Model, d.Truncated, d.Suppressed
}

// runFault is a failed run as an error. It names the run: who only sees a
// failure cannot tell whether the turn was ever accepted.
func (s *server) runFault(r run.Run, data json.RawMessage) *fault.Error {
	e := runError(run.Run{Status: run.Failed, Error: data})
	details := map[string]any{"run_id": r.ID}
	for name, value := range map[string]string{"node": e.Node, "reason": e.Reason, "conversation_id": r.ConversationID} {
		if value != "" {
			details[name] = value
		}
	}
	if !e.RetryAt.IsZero() {
		details["retry_at"] = e.RetryAt.UTC().Format(time.RFC3339)
		if left := e.RetryAt.Sub(s.Now()); left > 0 {
			details["retry_after"] = int((left + time.Second - 1) / time.Second)
		}
	}
	return fault.New(fault.Code(e.Code), "%s", e.Message).With(details)
}

// chatEvents streams the turn itself; headers carry the ids. Who repeats a key
// while the run of it goes on is given the same stream, from its beginning: they
// come back because they lost it.
func (s *server) chatEvents(ctx context.Context, v identity.Viewer, a ChatAnswer) (func(http.ResponseWriter, *http.Request), error) {
	r, err := s.runOf(ctx, v, begunBy(a))
	if err != nil {
		return nil, err
	}
	h := requestOf(ctx).header
	h.Set("X-Run-Id", r.ID)
	h.Set("X-Conversation-Id", a.ConversationID)
	h.Set("X-Message-Id", a.UserMessageID)
	return s.stream(ctx, v, r, 0)
}

// wantsEvents reports whether the request accepts server-sent events.
func wantsEvents(ctx context.Context) bool {
	for part := range strings.SplitSeq(requestOf(ctx).raw.Header.Get("Accept"), ",") {
		if t, _, err := mime.ParseMediaType(part); err == nil && t == "text/event-stream" {
			return true
		}
	}
	return false
}

type cancelInput struct {
	Body struct {
		RequestID string `json:"request_id,omitempty"`
		RunID     string `json:"run_id,omitempty"`
	}
}

// RunStatus is where a run stands.
type RunStatus struct {
	RunID  string `json:"run_id" format:"uuid"`
	Status string `json:"status" enum:"queued,running,waiting,done,failed,cancelled"`
}

func (s *server) cancelChat(ctx context.Context, in *cancelInput) (RunStatus, error) {
	target := in.Body.RunID
	if target == "" {
		target = in.Body.RequestID
	}
	return s.cancel(ctx, viewerOf(ctx), target)
}

// cancel stops a run by its id or its request's (STREAM-08). Keys that are no
// UUID name the request that was derived from them.
func (s *server) cancel(ctx context.Context, v identity.Viewer, target string) (RunStatus, error) {
	if target == "" {
		return RunStatus{}, fault.New(fault.Invalid, "Name the request_id or the run_id to cancel.")
	}
	if !id.Valid(target) {
		target = keyedRequestID(v.UserID, target)
	}
	r, err := s.Engine.Cancel(ctx, v, target)
	return RunStatus{RunID: r.ID, Status: string(r.Status)}, err
}

func value[T any](p *T) (zero T) {
	if p == nil {
		return zero
	}
	return *p
}

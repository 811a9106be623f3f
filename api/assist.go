package api

import (
	"context"
	"encoding/json"
	"net/http"

	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// The assistant's surface of 004: the same turns and the same log as
// /v1/chat, told in its own words (STREAM-12, STREAM-28).
func (s *server) assistRoutes() {
	const told = "Lines `data: {type, …}`: status, then one response, interrupt or error"
	op := route("POST /api/chat", "assist", "Say something; the answer is a stream")
	addStream(s, op, s.assist)
	s.answers(op, http.StatusOK, "text/event-stream", told, frameSchema())
	op = route("POST /api/chat/resume", "assistResume", "Answer a question; what follows is a stream")
	addStream(s, op, s.assistResume)
	s.answers(op, http.StatusOK, "text/event-stream", told, frameSchema())
}

type assistInput struct {
	Body struct {
		Message    MessageText `json:"message"`
		ThreadID   *string     `json:"thread_id,omitempty" format:"uuid" nullable:"true"`
		ContextIDs *[]string   `json:"context_ids,omitempty" nullable:"true"`
	}
}

func (s *server) assist(ctx context.Context, in *assistInput) (func(http.ResponseWriter, *http.Request), error) {
	answer, _, err := s.begin(ctx, &chatInput{Body: ChatRequest{
		Message: in.Body.Message, ConversationID: in.Body.ThreadID, ContextIDs: in.Body.ContextIDs, Stream: true,
	}})
	if err != nil {
		return nil, err
	}
	exchangeOf(ctx).header.Set("X-Thread-Id", answer.ConversationID)
	return s.told(ctx, viewerOf(ctx), answer.RunID, 0)
}

type assistResumeInput struct{ Body ResumeRequest }

func (s *server) assistResume(ctx context.Context, in *assistResumeInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	q, err := s.question(ctx, v, in.Body)
	if err != nil {
		return nil, err
	}
	after := s.lastSeq(ctx, q.RunID) // what follows is told, not what was before
	if _, err := s.answer(ctx, v, in.Body); err != nil {
		return nil, err
	}
	return s.told(ctx, v, q.RunID, after)
}

// told streams a run in the assistant's words.
func (s *server) told(ctx context.Context, v identity.Viewer, runID string, after int64) (func(http.ResponseWriter, *http.Request), error) {
	r, err := s.Runs.Run(ctx, v, runID)
	if err != nil {
		return nil, err
	}
	return s.streaming(ctx, v, r, after, &teller{run: r})
}

// Told is one event in the assistant's words. Which fields are set follows
// from Type.
type Told struct {
	Type       string          `json:"type"` // status, response, interrupt, error
	ThreadID   string          `json:"thread_id,omitempty"`
	Node       string          `json:"node,omitempty"`
	Message    string          `json:"message,omitempty"`
	DocsFound  json.RawMessage `json:"docs_found,omitempty"`
	WebQuery   string          `json:"web_query,omitempty"`
	Response   *string         `json:"response,omitempty"`
	Citations  json.RawMessage `json:"citations,omitempty"`
	TokensUsed int             `json:"tokens_used,omitempty"`
	Suppressed bool            `json:"suppressed,omitempty"`

	InterruptID string        `json:"interrupt_id,omitempty"`
	Interrupt   string        `json:"interrupt_type,omitempty"`
	Options     *[]run.Option `json:"options,omitempty"`
}

// teller turns the log of one run into the assistant's words: a status for
// each step when it is done or the run pauses in it, then one end (C-17).
type teller struct {
	run     run.Run
	begun   []Told // steps whose status has not been told
	seen    map[string]bool
	pending *Told // the question the run is about to pause with
}

// tell returns the events one event of the log becomes; often none.
func (t *teller) tell(e stream.Event) []Told {
	switch e.Kind {
	case stream.Status:
		return t.status(e.Data)
	case stream.Interrupt:
		if t.pending == nil {
			t.pending = interruptTold(t.run, e.Data)
		}
	case stream.Paused:
		if t.pending == nil {
			t.pending = &Told{Type: "interrupt", ThreadID: t.run.ConversationID}
		}
		return append(t.rest(), *t.pending)
	case stream.Resumed:
		t.pending = nil
	case stream.MessageDone, stream.CancelAck:
		return append(t.rest(), responseTold(t.run, e.Data))
	case stream.Error:
		var reason RunError
		_ = json.Unmarshal(e.Data, &reason) // without one the sentence is empty
		return append(t.rest(), Told{Type: "error", ThreadID: t.run.ConversationID, Message: reason.Message})
	default: // tokens, tool calls and traces have no words here
	}
	return nil
}

func (t *teller) status(data json.RawMessage) []Told {
	var step struct {
		Node      string          `json:"node"`
		Message   string          `json:"message"`
		Done      bool            `json:"done"`
		DocsFound json.RawMessage `json:"docs_found"`
		WebQuery  any             `json:"web_query"`
	}
	if json.Unmarshal(data, &step) != nil || t.seen[step.Node] {
		return nil
	}
	told := Told{Type: "status", Node: step.Node, Message: step.Message, DocsFound: step.DocsFound}
	told.WebQuery, _ = step.WebQuery.(string)
	if !step.Done {
		t.begun = append(t.begun, told)
		return nil
	}
	return t.once(told)
}

// once tells a step that has not been told.
func (t *teller) once(told Told) []Told {
	if t.seen[told.Node] {
		return nil
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	t.seen[told.Node] = true
	return []Told{told}
}

// rest tells the steps that began and were not told: the run stops in them.
func (t *teller) rest() (list []Told) {
	for _, step := range t.begun {
		list = append(list, t.once(step)...)
	}
	t.begun = nil
	return list
}

func interruptTold(r run.Run, data json.RawMessage) *Told {
	told := Told{Type: "interrupt", ThreadID: r.ConversationID}
	var q Interrupt
	if json.Unmarshal(data, &q) == nil {
		told.InterruptID, told.Interrupt, told.Message, told.Options = q.ID, q.Type, q.Message, q.Options
	}
	return &told
}

func responseTold(r run.Run, data json.RawMessage) Told {
	var done struct {
		Content    string          `json:"content"`
		Citations  json.RawMessage `json:"citations"`
		Suppressed bool            `json:"suppressed"`
		Usage      struct {
			In  int `json:"input_tokens"`
			Out int `json:"output_tokens"`
		} `json:"usage"`
	}
	_ = json.Unmarshal(data, &done) // an answer without words is an empty one
	if done.Suppressed {
		done.Content = "" // INT-10
	}
	return Told{
		Type: "response", ThreadID: r.ConversationID, Response: &done.Content, Citations: done.Citations,
		TokensUsed: done.Usage.In + done.Usage.Out, Suppressed: done.Suppressed,
	}
}

// encode makes the teller an encoder.
func (t *teller) encode(e stream.Event) ([][]byte, error) {
	var out [][]byte
	for _, told := range t.tell(e) {
		data, err := json.Marshal(told)
		if err != nil {
			return nil, err
		}
		out = append(out, append(append([]byte("data: "), data...), "\n\n"...))
	}
	return out, nil
}

// ping is a comment: 004 has no word for it.
func (t *teller) ping() []byte { return []byte(": ping\n\n") }

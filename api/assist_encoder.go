package api

import (
	"cmp"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/run"
	"liminal/internal/stream"
)

// The events of 004, one struct each, because each has its own fields. That
// a response may be suppressed, that an error has its code, and the ids, are
// ours beside them.

// AssistStatus says that a step is done, or pauses (STREAM-13).
type AssistStatus struct {
	Type      string                 `json:"type"` // "status"
	Node      string                 `json:"node"`
	Message   string                 `json:"message"`
	DocsFound []stream.FoundDocument `json:"docs_found,omitempty"`
	WebQuery  string                 `json:"web_query,omitempty"`
}

// AssistResponse is the answer (STREAM-14).
type AssistResponse struct {
	Type       string          `json:"type"` // "response"
	ThreadID   string          `json:"thread_id"`
	Response   string          `json:"response"`
	Citations  json.RawMessage `json:"citations"`
	Action     string          `json:"action"`
	Inference  string          `json:"inference_confidence"` // high, medium, low
	Retrieval  string          `json:"retrieval_confidence"`
	TokensUsed int             `json:"tokens_used"`
	CostUSD    float64         `json:"cost_usd"` // 0 where no price is known
	Suppressed bool            `json:"suppressed,omitempty"`
}

// AssistInterrupt is a question (INT-01). Options are null where any text is an
// answer (INT-02).
type AssistInterrupt struct {
	Type        string           `json:"type"` // "interrupt"
	Interrupt   string           `json:"interrupt_type"`
	Message     string           `json:"message"`
	Options     *[]stream.Choice `json:"options" nullable:"true"`
	InterruptID string           `json:"interrupt_id,omitempty"`
	ThreadID    string           `json:"thread_id,omitempty"`
}

// AssistError is the end of a run that failed (C-20).
type AssistError struct {
	Type     string `json:"type"` // "error"
	Message  string `json:"message"`
	Code     string `json:"code,omitempty"`
	Reason   string `json:"reason,omitempty"`
	ThreadID string `json:"thread_id"`
}

// assistSchema documents the events of a stream of the assistant.
func (s *server) assistSchema() *huma.Schema {
	events := map[string]any{}
	for kind, event := range map[string]any{"status": AssistStatus{}, "response": AssistResponse{}, "interrupt": AssistInterrupt{}, "error": AssistError{}} {
		events[kind] = s.huma.OpenAPI().Components.Schemas.Schema(typeOf(event), true, "")
	}
	return &huma.Schema{
		Type: "string", Description: "lines `data: {json}`, each followed by an empty one: any number of status, then exactly one response, interrupt or error; comments keep it open",
		Extensions: map[string]any{"x-events": events},
	}
}

// assistEncoder turns the log of one run into the events of 004: a status for
// each step when it is done or the run pauses in it, then one end (C-17).
type assistEncoder struct {
	run     run.Run
	begun   []AssistStatus // steps whose status has not been sent
	seen    map[string]bool
	pending *AssistInterrupt // the question the run is about to pause with
}

// events are what one event of the log becomes; often none.
func (a *assistEncoder) events(e stream.Event) []any {
	switch e.Kind {
	case stream.Status:
		return a.status(e.Data)
	case stream.Interrupt:
		if a.pending == nil {
			a.pending = a.interrupt(e.Data)
		}
	case stream.Paused:
		if a.pending == nil {
			a.pending = a.interrupt(nil)
		}
		return append(a.rest(), *a.pending)
	case stream.Resumed:
		a.pending = nil
	case stream.MessageDone, stream.CancelAck:
		return append(a.rest(), assistResponse(a.run, e.Data))
	case stream.Error:
		reason, _ := stream.Read[stream.RunError](e.Data) // without one the sentence is empty
		return append(a.rest(), AssistError{Type: "error", ThreadID: a.run.ConversationID, Message: reason.Message, Code: reason.Code, Reason: reason.Reason})
	default: // tokens, tool calls and traces have no words here
	}
	return nil
}

func (a *assistEncoder) status(data json.RawMessage) []any {
	step, ok := stream.Read[stream.StatusData](data)
	if !ok || a.seen[step.Node] {
		return nil
	}
	status := AssistStatus{Type: "status", Node: step.Node, Message: step.Message, DocsFound: step.DocsFound, WebQuery: value(step.WebQuery)}
	if !step.Done {
		a.begun = append(a.begun, status)
		return nil
	}
	return a.once(status)
}

// once is the status of a step, the first time.
func (a *assistEncoder) once(status AssistStatus) []any {
	if a.seen[status.Node] {
		return nil
	}
	if a.seen == nil {
		a.seen = map[string]bool{}
	}
	a.seen[status.Node] = true
	return []any{status}
}

// rest are the steps that began and whose status was not sent: the run stops in
// them.
func (a *assistEncoder) rest() (list []any) {
	for _, step := range a.begun {
		list = append(list, a.once(step)...)
	}
	a.begun = nil
	return list
}

func (a *assistEncoder) interrupt(data json.RawMessage) *AssistInterrupt {
	q, _ := stream.Read[stream.InterruptData](data) // a question nobody can read is still a pause
	out := assistInterrupt(q)
	out.ThreadID = a.run.ConversationID
	return &out
}

func assistInterrupt(q stream.InterruptData) AssistInterrupt {
	out := AssistInterrupt{Type: "interrupt", InterruptID: q.ID, Interrupt: q.Type, Message: q.Message}
	if q.Options != nil {
		out.Options = &q.Options
	}
	return out
}

// judged is what a graph says of its answer, where it says it: beside the
// answer, or in the data of its end.
type judged struct {
	Action    string `json:"action"`
	Inference string `json:"inference_confidence"`
	Retrieval string `json:"retrieval_confidence"`
}

// or fills in what is not said (LG-28).
func (j judged) or(other judged) judged {
	return judged{
		Action: cmp.Or(j.Action, other.Action), Inference: cmp.Or(j.Inference, other.Inference), Retrieval: cmp.Or(j.Retrieval, other.Retrieval),
	}
}

// unsaid is what 004 takes where a graph says nothing.
var unsaid = judged{Action: "inquire", Inference: "high", Retrieval: "high"}

// tokens are those of all classes that a run used.
func tokens(u stream.UsageData) int {
	return u.InputTokens + u.OutputTokens + u.CacheReadTokens + u.CacheWriteTokens
}

func assistResponse(r run.Run, data json.RawMessage) AssistResponse {
	done, _ := stream.Read[stream.MessageDoneData](data) // an answer without words is an empty one
	var used stream.UsageData
	_ = json.Unmarshal(done.Usage, &used) // what is not known is 0
	if done.Suppressed {
		done.Content, done.Citations = "", nil // INT-10
	}
	if len(done.Citations) == 0 || string(done.Citations) == "null" {
		done.Citations = json.RawMessage("[]")
	}
	j := judgedIn(data).or(unsaid)
	return AssistResponse{
		Type: "response", ThreadID: r.ConversationID, Response: done.Content, Citations: done.Citations, Action: j.Action,
		Inference: j.Inference, Retrieval: j.Retrieval, TokensUsed: tokens(used), CostUSD: value(used.CostUSD), Suppressed: done.Suppressed,
	}
}

// judgedIn reads what an answer or a message's meta says of itself. Each
// field stands alone: one of another type takes no other with it.
func judgedIn(raw json.RawMessage) judged {
	var said struct {
		Action    any            `json:"action"`
		Inference any            `json:"inference_confidence"`
		Retrieval any            `json:"retrieval_confidence"`
		Data      map[string]any `json:"data"`
	}
	if json.Unmarshal(raw, &said) != nil {
		return judged{}
	}
	text := func(v any) string { s, _ := v.(string); return s }
	return judged{text(said.Action), text(said.Inference), text(said.Retrieval)}.
		or(judged{text(said.Data["action"]), text(said.Data["inference_confidence"]), text(said.Data["retrieval_confidence"])})
}

// encode implements encoder.
func (a *assistEncoder) encode(e stream.Event) ([][]byte, error) {
	var out [][]byte
	for _, event := range a.events(e) {
		data, err := json.Marshal(event)
		if err != nil {
			return nil, err
		}
		out = append(out, append(append([]byte("data: "), data...), "\n\n"...))
	}
	return out, nil
}

// ping is a comment: 004 has no word for it.
func (a *assistEncoder) ping() []byte { return []byte(": ping\n\n") }

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

// ToldStatus says that a step is done, or pauses (STREAM-13).
type ToldStatus struct {
	Type      string          `json:"type"` // "status"
	Node      string          `json:"node"`
	Message   string          `json:"message"`
	DocsFound json.RawMessage `json:"docs_found,omitempty"` // [{id, title}]
	WebQuery  string          `json:"web_query,omitempty"`
}

// ToldResponse is the answer (STREAM-14).
type ToldResponse struct {
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

// ToldInterrupt is a question (INT-01). Options are null where any text is an
// answer (INT-02).
type ToldInterrupt struct {
	Type        string        `json:"type"` // "interrupt"
	Interrupt   string        `json:"interrupt_type"`
	Message     string        `json:"message"`
	Options     *[]run.Option `json:"options" nullable:"true"`
	InterruptID string        `json:"interrupt_id,omitempty"`
	ThreadID    string        `json:"thread_id,omitempty"`
}

// ToldError is the end of a run that failed (C-20).
type ToldError struct {
	Type     string `json:"type"` // "error"
	Message  string `json:"message"`
	Code     string `json:"code,omitempty"`
	Reason   string `json:"reason,omitempty"`
	ThreadID string `json:"thread_id"`
}

// toldSchema documents the events of a stream of the assistant.
func (s *server) toldSchema() *huma.Schema {
	events := map[string]any{}
	for kind, event := range map[string]any{"status": ToldStatus{}, "response": ToldResponse{}, "interrupt": ToldInterrupt{}, "error": ToldError{}} {
		events[kind] = s.huma.OpenAPI().Components.Schemas.Schema(typeOf(event), true, "")
	}
	return &huma.Schema{
		Type: "string", Description: "lines `data: {json}`, each followed by an empty one: any number of status, then exactly one response, interrupt or error; comments keep it open",
		Extensions: map[string]any{"x-events": events},
	}
}

// teller turns the log of one run into the assistant's words: a status for
// each step when it is done or the run pauses in it, then one end (C-17).
type teller struct {
	run     run.Run
	begun   []ToldStatus // steps whose status has not been told
	seen    map[string]bool
	pending *ToldInterrupt // the question the run is about to pause with
}

// tell returns the events one event of the log becomes; often none.
func (t *teller) tell(e stream.Event) []any {
	switch e.Kind {
	case stream.Status:
		return t.status(e.Data)
	case stream.Interrupt:
		if t.pending == nil {
			t.pending = t.interrupt(e.Data)
		}
	case stream.Paused:
		if t.pending == nil {
			t.pending = t.interrupt(nil)
		}
		return append(t.rest(), *t.pending)
	case stream.Resumed:
		t.pending = nil
	case stream.MessageDone, stream.CancelAck:
		return append(t.rest(), responseTold(t.run, e.Data))
	case stream.Error:
		var reason RunError
		_ = json.Unmarshal(e.Data, &reason) // without one the sentence is empty
		return append(t.rest(), ToldError{Type: "error", ThreadID: t.run.ConversationID, Message: reason.Message, Code: reason.Code, Reason: reason.Reason})
	default: // tokens, tool calls and traces have no words here
	}
	return nil
}

func (t *teller) status(data json.RawMessage) []any {
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
	told := ToldStatus{Type: "status", Node: step.Node, Message: step.Message, DocsFound: step.DocsFound}
	told.WebQuery, _ = step.WebQuery.(string)
	if !step.Done {
		t.begun = append(t.begun, told)
		return nil
	}
	return t.once(told)
}

// once tells a step that has not been told.
func (t *teller) once(told ToldStatus) []any {
	if t.seen[told.Node] {
		return nil
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	t.seen[told.Node] = true
	return []any{told}
}

// rest tells the steps that began and were not told: the run stops in them.
func (t *teller) rest() (list []any) {
	for _, step := range t.begun {
		list = append(list, t.once(step)...)
	}
	t.begun = nil
	return list
}

func (t *teller) interrupt(data json.RawMessage) *ToldInterrupt {
	var q Interrupt
	_ = json.Unmarshal(data, &q) // a question nobody can read is still a pause
	told := interruptTold(q)
	told.ThreadID = t.run.ConversationID
	return &told
}

func interruptTold(q Interrupt) ToldInterrupt {
	return ToldInterrupt{Type: "interrupt", InterruptID: q.ID, Interrupt: q.Type, Message: q.Message, Options: q.Options}
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

// spent is what a run used, as its usage says.
type spent struct {
	In         int     `json:"input_tokens"`
	Out        int     `json:"output_tokens"`
	CacheRead  int     `json:"cache_read_tokens"`
	CacheWrite int     `json:"cache_write_tokens"`
	CostUSD    float64 `json:"cost_usd"` // null, not known, is 0
}

func (u spent) tokens() int { return u.In + u.Out + u.CacheRead + u.CacheWrite }

func responseTold(r run.Run, data json.RawMessage) ToldResponse {
	var done struct {
		Content    string          `json:"content"`
		Citations  json.RawMessage `json:"citations"`
		Suppressed bool            `json:"suppressed"`
		Usage      spent           `json:"usage"`
	}
	_ = json.Unmarshal(data, &done) // an answer without words is an empty one
	if done.Suppressed {
		done.Content, done.Citations = "", nil // INT-10
	}
	if len(done.Citations) == 0 || string(done.Citations) == "null" {
		done.Citations = json.RawMessage("[]")
	}
	j := judgedIn(data).or(unsaid)
	return ToldResponse{
		Type: "response", ThreadID: r.ConversationID, Response: done.Content, Citations: done.Citations, Action: j.Action,
		Inference: j.Inference, Retrieval: j.Retrieval, TokensUsed: done.Usage.tokens(), CostUSD: done.Usage.CostUSD, Suppressed: done.Suppressed,
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

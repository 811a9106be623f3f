package chat

import (
	"cmp"
	"encoding/json"

	"liminal/internal/model"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// Result is what the row of a run keeps of its end. A turn's answer is its
// message; of another run it is Response and Data.
type Result struct {
	MessageID string          `json:"message_id,omitempty"`
	Response  *string         `json:"response,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Usage     json.RawMessage `json:"usage,omitempty"`  // a stream.UsageData
	Heeded    bool            `json:"heeded,omitempty"` // what the turn's message says of an answer is being noted (PREF-02)
}

// resultOf reads a row. One that says nothing, or less, leaves fields zero.
func resultOf(r run.Run) (out Result) {
	_ = json.Unmarshal(r.Result, &out) // what does not fit is not known
	return out
}

// MessageDone is the data of the event that ends a run which is done: what its
// row says and, of a turn, what its message m says, which is the truth
// (STREAM-32). m is nil where no message was kept. Who ends a run and who reads
// one that has ended build it here, of the same row and message, so readers of
// the log and of the store are told the same.
func MessageDone(r run.Run, m *Message) (stream.MessageDoneData, error) {
	result := resultOf(r)
	d := stream.MessageDoneData{MessageID: result.MessageID, RunID: r.ID, Heeded: result.Heeded}
	if r.Kind != run.KindChat && result.Response != nil {
		d.Content = *result.Response
	}
	if m != nil {
		d.MessageID, d.Content = m.ID, m.Content
	}
	var err error
	d.Answer, err = answer(r, result, m)
	return d, err
}

// CancelAck is the data of the event that ends a run which a person stopped, as
// a reader of the store is told it: with all that is known beside the words.
func CancelAck(r run.Run, m *Message) (stream.CancelAckData, error) {
	a, err := answer(r, resultOf(r), m)
	d := stream.CancelAckData{RunID: r.ID, Answer: &a}
	if m != nil {
		d.MessageID, d.Content = &m.ID, m.Content
	}
	return d, err
}

// answer is what a run's row and its message say beside the words.
func answer(r run.Run, result Result, m *Message) (stream.Answer, error) {
	if r.Kind != run.KindChat {
		return stream.Answer{Response: result.Response, Data: result.Data, Usage: result.Usage}, nil
	}
	a := stream.Answer{ConversationID: r.ConversationID, Usage: result.Usage}
	if m == nil {
		return a, nil
	}
	var w writer
	routing, steps := traced(r.Trace)
	a.ContentStruct, a.Citations = w.json(m.Struct), w.json(m.Struct.Citations())
	a.Usage = filled("{}", result.Usage, w.meta(m, "usage"))
	a.Adapters = filled("[]", w.meta(m, "adapters"), routing.Adapters)
	a.Gates = filled("{}", w.meta(m, "gates"), routing.Gates)
	a.Routing, a.WorkflowTrace = filled("{}", routing.whole), filled("[]", steps)
	a.Model, _ = m.Meta["model"].(string)
	a.Data, a.Safety = w.meta(m, "data"), w.meta(m, "safety")
	a.Truncated, a.Suppressed, a.Cancelled = m.Meta["truncated"] == true, m.Meta["suppressed"] == true, m.Meta["cancelled"] == true
	a.Forgotten = m.Meta[MetaForgotten] == true
	return a, w.err
}

// routed is the router's part of a trace, and what readers want to know of it.
type routed struct {
	Adapters json.RawMessage `json:"adapters"`
	Gates    json.RawMessage `json:"gates"`

	whole json.RawMessage
}

// traced are the router's and the machine's parts of a run's trace. Programs
// before this one kept the steps alone.
func traced(trace json.RawMessage) (router routed, steps json.RawMessage) {
	var kept struct {
		Routing json.RawMessage `json:"routing"`
		Steps   json.RawMessage `json:"steps"`
	}
	if json.Unmarshal(trace, &kept) != nil {
		return routed{}, trace
	}
	_ = json.Unmarshal(kept.Routing, &router) // a router that names neither says nothing here
	router.whole = kept.Routing
	if kept.Steps == nil {
		return router, trace
	}
	return router, kept.Steps
}

// filled is the first of several values that is there, or empty.
func filled(empty string, values ...json.RawMessage) json.RawMessage {
	for _, v := range values {
		if len(v) > 0 && string(v) != "null" {
			return v
		}
	}
	return json.RawMessage(empty)
}

// writer writes values as JSON and keeps the first error.
type writer struct{ err error }

func (w *writer) json(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if w.err == nil {
		w.err = err
	}
	return raw
}

// meta is what stands beside a message's text under a name; nil: nothing.
func (w *writer) meta(m *Message, name string) json.RawMessage {
	if v := m.Meta[name]; v != nil {
		return w.json(v)
	}
	return nil
}

// Chip is a link to a record, or to another page of its source, for who reads
// along.
func Chip(r model.Record) stream.ChipData {
	return stream.ChipData{Kind: r.Entity, Action: cmp.Or(r.Action, model.RecordOpens), ID: r.ID, Href: r.Href, Label: r.Title, Source: r.Source}
}

// Asked is the data of the event of a question (INT-01).
func Asked(q run.Interrupt) stream.InterruptData {
	d := stream.InterruptData{
		ID: q.ID, RunID: q.RunID, Type: q.Type, Message: q.Message, AnswerSchema: q.AnswerSchema,
		CreatedAt: q.CreatedAt.UTC(), ExpiresAt: q.ExpiresAt,
	}
	if q.ConversationID != "" {
		d.ConversationID = &q.ConversationID
	}
	for _, o := range q.Options {
		d.Options = append(d.Options, stream.Choice(o))
	}
	return d
}

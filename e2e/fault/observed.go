package main

import (
	"encoding/json"
	"strings"
	"time"
)

// Event is one entry of a run's stream, as a reader got it. Seq is 0 for an
// event that no log holds: the platform told it from its store.
type Event struct {
	Seq  int64           `json:"seq,omitempty"`
	Kind string          `json:"kind"`
	Node string          `json:"node,omitempty"`
	Data json.RawMessage `json:"data"`
	At   time.Time       `json:"at"`
}

// ends reports whether a stream ends with this event.
func (e Event) ends() bool {
	switch e.Kind {
	case "message_done", "error", "cancel_ack", "paused":
		return true
	default:
		return false
	}
}

// text is a token's piece of the answer.
func (e Event) text() (s string) {
	_ = json.Unmarshal(e.Data, &s) // other kinds have none
	return s
}

// field is one text of an event's data.
func (e Event) field(name string) string {
	var data map[string]any
	if json.Unmarshal(e.Data, &data) != nil {
		return ""
	}
	s, _ := data[name].(string)
	return s
}

// gap reports whether the platform says with e that it lost what came before.
func (e Event) gap() bool { return e.Kind == "reset" && e.field("reason") == "gap" }

// Leg is one connection of a reader: everything after After until it broke.
type Leg struct {
	After  int64     `json:"after"`
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended"`
	Left   bool      `json:"left,omitempty"` // the client itself went away
	Events []Event   `json:"events"`
}

// Reader is one client that follows one run, over all its connections.
type Reader struct {
	Name string `json:"name"`
	Legs []*Leg `json:"legs"`
}

// last is the id a client comes back with.
func (r *Reader) last() (seq int64) {
	for _, leg := range r.Legs {
		for _, e := range leg.Events {
			if e.Seq > 0 {
				seq = e.Seq
			}
		}
	}
	return seq
}

// events are all a reader got, in the order it got them.
func (r *Reader) events() (all []Event) {
	for _, leg := range r.Legs {
		all = append(all, leg.Events...)
	}
	return all
}

// end is the event after which the reader came back no more; nil when it was
// still waiting for one.
func (r *Reader) end() *Event {
	all := r.events()
	if len(all) == 0 || !all[len(all)-1].ends() {
		return nil
	}
	return &all[len(all)-1]
}

// screen is the text a client has put together from its stream. It is exact
// when nothing of it was declared lost on the way.
func (r *Reader) screen() (text string, exact bool) {
	var b strings.Builder
	exact = true
	for _, e := range r.events() {
		switch e.Kind {
		case "reset":
			b.Reset()
			exact = !e.gap()
		case "token":
			b.WriteString(e.text())
		}
	}
	return b.String(), exact && b.Len() > 0
}

// Reply is an answer to a question of the platform.
type Reply struct {
	Interrupt string `json:"interrupt"`
	Marker    string `json:"marker"`
	Taken     bool   `json:"taken"`             // the platform acknowledged it
	Tries     int    `json:"tries"`             //
	Refused   string `json:"refused,omitempty"` // the platform said no for good
}

// Turn is one thing a person asked, and everything they were told of it.
type Turn struct {
	Person       string    `json:"person"`
	Marker       string    `json:"marker"` // stands in the question and in its answer, and nowhere else
	Kind         string    `json:"kind"`
	Message      string    `json:"message"`
	Key          string    `json:"key"`
	Order        int       `json:"order"` // of its question among those of the conversation
	Conversation string    `json:"conversation,omitempty"`
	Run          string    `json:"run,omitempty"`
	UserMessage  string    `json:"user_message,omitempty"`
	Tries        int       `json:"tries"`             // requests sent until one was answered
	Twin         string    `json:"twin,omitempty"`    // the run that the same request, sent twice at once, was promised
	Refused      string    `json:"refused,omitempty"` // why the platform said no for good
	Direct       *string   `json:"direct,omitempty"`  // the answer of a request that waited for it
	CancelTaken  bool      `json:"cancel_taken,omitempty"`
	CancelSent   bool      `json:"cancel_sent,omitempty"`
	Replies      []*Reply  `json:"replies,omitempty"`
	Readers      []*Reader `json:"readers"`
	Asked        time.Time `json:"asked"`
}

// accepted reports whether the platform promised this turn.
func (t *Turn) accepted() bool { return t.Run != "" }

// Upload is a file somebody sent.
type Upload struct {
	Person   string `json:"person"`
	Name     string `json:"name"`
	SHA256   string `json:"sha256"`
	Tries    int    `json:"tries"`
	Path     string `json:"path,omitempty"` // empty: never acknowledged
	Document string `json:"document,omitempty"`
	Run      string `json:"run,omitempty"`
}

// Observed is everything clients were told.
type Observed struct {
	Turns   []*Turn   `json:"turns"`
	Uploads []*Upload `json:"uploads"`
}

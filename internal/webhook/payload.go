package webhook

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"liminal/internal/id"
	"liminal/internal/run"
)

// maxMessage bounds what is told of a question, in bytes; the page has all of it.
const maxMessage = 4 << 10

// maxOptions bounds how many of a question's options are told.
const maxOptions = 50

// Payload is the body of a request.
type Payload struct {
	Type      Kind      `json:"type"`
	Timestamp time.Time `json:"timestamp"` // when it happened
	Data      Data      `json:"data"`
}

// Data is what a payload is about.
type Data struct {
	RunID          string     `json:"run_id,omitempty"`
	ConversationID string     `json:"conversation_id,omitempty"`
	UserID         string     `json:"user_id,omitempty"` // whose run it is
	Assistant      *Assistant `json:"assistant,omitempty"`
	URL            string     `json:"url,omitempty"` // the page of the conversation
	Question       *Question  `json:"question,omitempty"`
	Error          *Error     `json:"error,omitempty"`
}

// Assistant is the workflow of a run.
type Assistant struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// Question is what a run asks. Of one whose words are not told there is its id alone.
type Question struct {
	ID        string       `json:"interrupt_id"`
	Type      string       `json:"type,omitempty"`
	Message   string       `json:"message,omitempty"`
	Options   []run.Option `json:"options,omitempty"`
	ExpiresAt *time.Time   `json:"expires_at,omitempty"`
}

// Error is why a run failed; its sentence may quote what was said and stays here.
type Error struct {
	Code string `json:"code"`
}

// payload is what an endpoint is told of an event: no more than ids where nothing
// of the run is kept, and no words where the endpoint is a tenant's.
func payload(e Event, tenant bool, told Subject, publicURL string) Payload {
	p := Payload{Type: e.Kind, Timestamp: e.At.UTC(), Data: Data{RunID: e.RunID, ConversationID: e.ConversationID, UserID: e.UserID}}
	if e.ConversationID != "" && !tenant {
		p.Data.URL = publicURL + "/c/" + e.ConversationID
	}
	unkept := id.Unkept(e.RunID)
	if e.AssistantID != "" {
		p.Data.Assistant = &Assistant{ID: e.AssistantID}
		if !unkept {
			p.Data.Assistant.Name = e.Assistant
		}
	}
	if e.InterruptID != "" {
		p.Data.Question = &Question{ID: e.InterruptID}
	}
	if unkept {
		return p
	}
	if q := told.Question; q != nil && p.Data.Question != nil {
		p.Data.Question.Type = q.Type
		if !q.ExpiresAt.IsZero() {
			at := q.ExpiresAt.UTC()
			p.Data.Question.ExpiresAt = &at
		}
		if !tenant {
			p.Data.Question.Message, p.Data.Question.Options = shortened(q.Message), q.Options[:min(len(q.Options), maxOptions)]
		}
	}
	if told.Code != "" {
		p.Data.Error = &Error{Code: told.Code}
	}
	return p
}

// shortened is a text of maxMessage bytes at most.
func shortened(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	end := maxMessage
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// body is a payload as it is sent and signed.
func (p Payload) body() ([]byte, error) {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	err := w.Encode(p)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

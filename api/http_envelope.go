package api

import (
	"encoding/json"
	"net/http"
	"time"

	"liminal/internal/fault"
)

// Envelope is every successful answer (API-01).
type Envelope[T any] struct {
	Status    string `json:"status" enum:"ok"`
	Data      T      `json:"data"`
	RequestID string `json:"request_id" format:"uuid"`
}

// Failure is every unsuccessful answer (API-02).
type Failure struct {
	Status    string             `json:"status" enum:"error"`
	Reason    FailureReason      `json:"error"`
	RequestID string             `json:"request_id" format:"uuid"`
	code      int                // of HTTP
	shape     func(*Failure) any // of another protocol; nil: this one
}

// MarshalJSON writes the shape of the protocol it is asked in.
func (f *Failure) MarshalJSON() ([]byte, error) {
	if f.shape != nil {
		return json.Marshal(f.shape(f))
	}
	type plain Failure
	return json.Marshal((*plain)(f))
}

// FailureReason says what went wrong.
type FailureReason struct {
	Code    string          `json:"code" enum:"unauthorized,forbidden,not_found,rate_limited,validation_error,conflict,server_error"`
	Message string          `json:"message" doc:"a sentence for a person"`
	Details any             `json:"details" doc:"an object, a list or null"`
	Said    *fault.Sentence `json:"said,omitempty" doc:"the message taken apart, for who says it in another language"`
}

// Error makes a Failure an error that huma writes as it is.
func (f *Failure) Error() string { return f.Reason.Message }

// GetStatus is the HTTP status.
func (f *Failure) GetStatus() int { return f.code }

// Page is one page of a list (API-07).
type Page[T any] struct {
	Data []T     `json:"data"`
	Next *string `json:"next_cursor" doc:"opaque; null on the last page"`
}

// page shapes a list: never null, and a null cursor at its end.
func page[From, To any](list []From, next string, view func(From) To) Page[To] {
	p := Page[To]{Data: make([]To, 0, len(list))}
	for _, item := range list {
		p.Data = append(p.Data, view(item))
	}
	if next != "" {
		p.Next = &next
	}
	return p
}

// writeJSON answers with a JSON body.
func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false) // it is no page
	_ = out.Encode(body)     // the reader may have gone
}

// moment is a time that may not have come; it is left out then.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// orNull is a JSON document that may be missing.
func orNull(doc json.RawMessage) any {
	if len(doc) == 0 {
		return nil
	}
	return doc
}

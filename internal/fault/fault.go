// Package fault is the closed set of errors a person may see.
//
// Every error that crosses a border of the house (driver → noun, activity →
// Temporal, API → envelope) carries one of the seven codes of API-03. It
// imports the standard library only, and everything may import it.
package fault

import (
	"errors"
	"fmt"
)

// Code is one of the seven error codes of API-03. The set is closed and the
// strings are part of the wire format.
type Code string

// The codes and the HTTP status each one mirrors.
const (
	Unauthorized Code = "unauthorized"     // 401: nobody is signed in
	Forbidden    Code = "forbidden"        // 403: signed in, but the role does not suffice
	NotFound     Code = "not_found"        // 404: it does not exist, or is not yours to see
	RateLimited  Code = "rate_limited"     // 429: too many requests
	Invalid      Code = "validation_error" // 400: the input cannot be accepted as it is
	Conflict     Code = "conflict"         // 409: the state of things does not allow it now
	Internal     Code = "server_error"     // 500: our fault
)

// The reasons of an Internal fault that people on the other side of a proxy
// tell apart, in its details under "reason" (API-17).
const (
	NotConfigured = "not_configured" // no provider is set up for what was asked: HTTP 503
	Upstream      = "upstream"       // a provider failed or could not be reached: HTTP 502
)

// Uncertain is the reason of an Internal fault of what must not happen twice: it was
// begun, and nobody knows whether it happened.
const Uncertain = "uncertain"

// Budget is the reason of a RateLimited fault that waiting a minute does not
// end: what a person's model calls may use is used up.
const Budget = "budget"

// Reason is what the details of a fault name as its reason; "" when nothing.
func Reason(err error) string {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return ""
	}
	details, _ := e.Details.(map[string]any)
	reason, _ := details["reason"].(string)
	return reason
}

// Codes lists every code, in the order of the constants.
func Codes() []Code {
	return []Code{Unauthorized, Forbidden, NotFound, RateLimited, Invalid, Conflict, Internal}
}

// Error makes a bare code usable with errors.Is.
func (c Code) Error() string { return string(c) }

// Error is a failure with a code and a sentence a person can act on.
type Error struct {
	Code    Code
	Message string // says what happened, where, and what to do
	Details any    // JSON-ready; nil when the sentence says it all
	cause   error
	format  string // of Message, with args
	args    []any
	said    *Sentence // instead
}

// New returns an error whose message is shown to people as it is.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), format: format, args: args}
}

// Wrap is New with the cause kept for logs; the cause is never shown.
func Wrap(code Code, cause error, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), cause: cause, format: format, args: args}
}

// With returns a copy that carries details.
func (e *Error) With(details any) *Error {
	c := *e
	c.Details = details
	return &c
}

func (e *Error) Error() string {
	if e.cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.cause.Error()
}

func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is this error's code, so that
// errors.Is(err, fault.NotFound) reads as it sounds.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// From finds the Error in err's chain. An error without one is a server
// error whose text stays inside: the person sees a neutral sentence.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if c, ok := errors.AsType[Code](err); ok {
		return Wrap(c, err, "%s", c)
	}
	return Wrap(Internal, err, "Something went wrong on our side. Try again; if it stays, give the request id to whoever runs this server.")
}

// CodeOf is the code From would find; it is empty for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return From(err).Code
}

package workflows

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"liminal/activities"
	"liminal/internal/fault"
	"liminal/internal/graph"
)

// inside is what a person is told when there is nothing they could do.
const inside = "A step failed on our side."

const (
	cancelledStep = "The step was cancelled."
	nobodyTook    = "No worker took the step in time."
)

// failure is an activity's or child's error as the machine takes it. Whether
// it is tried again is the machine's decision; Retryable only says that it
// could help.
func failure(err error) graph.Failure {
	var known *fault.Error
	var timeout *temporal.TimeoutError
	var app *temporal.ApplicationError
	switch {
	case errors.As(err, &known):
		return graph.Failure{Code: reasonOr(string(known.Code), fault.Reason(known)), Message: known.Message, Said: known.Said()}
	case errors.As(err, &timeout):
		return timedOut(timeout)
	case errors.As(err, &app) && app.Type() == activities.TypeStopped:
		return graph.Failure{Code: string(fault.Internal), Message: app.Message(), Said: fault.Say(activities.StoppedMessage), Retryable: true, Soon: true}
	case errors.As(err, &app) && isCode(app.Type()):
		return failureFrom(app)
	case errors.As(err, &app):
		return graph.Failure{Code: string(fault.Internal), Message: inside, Said: fault.Say(inside), Retryable: !app.NonRetryable()}
	case temporal.IsCanceledError(err):
		return graph.Failure{Code: string(fault.Conflict), Message: cancelledStep, Said: fault.Say(cancelledStep)}
	}
	return graph.Failure{Code: string(fault.Internal), Message: inside, Said: fault.Say(inside)}
}

func timedOut(err *temporal.TimeoutError) graph.Failure {
	switch err.TimeoutType() {
	case enumspb.TIMEOUT_TYPE_HEARTBEAT:
		return graph.Failure{Code: string(fault.Internal), Message: activities.StoppedMessage, Said: fault.Say(activities.StoppedMessage), Retryable: true, Soon: true}
	case enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START:
		return graph.Failure{Code: string(fault.Internal), Message: nobodyTook, Said: fault.Say(nobodyTook)}
	default:
		return graph.Failure{Code: graph.CodeTimeout, Message: activities.LateMessage, Said: fault.Say(activities.LateMessage), Retryable: true}
	}
}

// maxAfterMS bounds what is passed on of a wish to be left alone, an hour in
// milliseconds; the machine waits less.
const maxAfterMS = 3_600_000

// failureFrom is what an activity says of its failure.
func failureFrom(app *temporal.ApplicationError) graph.Failure {
	object := detailsOf(app)
	reason, _ := object["reason"].(string)
	after, _ := object["retry_after_ms"].(float64)
	resting, _ := object["resting"].(bool) // the next attempt would be told the same
	at, _ := object["retry_at"].(string)
	again, _ := time.Parse(time.RFC3339, at) // zero where nothing is said
	code := reasonOr(app.Type(), reason)
	return graph.Failure{
		Code: code, Message: app.Message(),
		Retryable: !app.NonRetryable() && code != fault.NotConfigured && code != fault.Uncertain && code != fault.Budget && !resting,
		RetryAt:   again,
		Said:      saidIn(object),
		After:     time.Duration(min(max(after, 0), maxAfterMS)) * time.Millisecond,
	}
}

// detailsOf are the details of an activity's failure, where they are an object.
// Those of a local activity have not been through JSON yet: when they are
// replayed, they have.
func detailsOf(app *temporal.ApplicationError) (object map[string]any) {
	var details any
	if app.HasDetails() && app.Details(&details) != nil {
		return nil // nothing the machine could read
	}
	doc, err := json.Marshal(details)
	if err != nil || json.Unmarshal(doc, &object) != nil {
		return nil
	}
	return object
}

// saidIn is the sentence taken apart that the details of a failure have.
func saidIn(object map[string]any) (said *fault.Sentence) {
	raw, err := json.Marshal(object[activities.KeySaid])
	if err != nil || json.Unmarshal(raw, &said) != nil {
		return nil // the sentence itself is enough
	}
	return said
}

// reasonOr is the failure's code: of a provider that is missing, away or too
// slow the reason, which FailureOf makes an Internal again (API-17).
func reasonOr(code, reason string) string {
	if code == string(fault.RateLimited) && reason == fault.Budget {
		return reason // waiting a minute would not help
	}
	if code == string(fault.Invalid) && reason == graph.CodeTokenCap {
		return reason
	}
	if code == string(fault.Internal) && (reason == fault.NotConfigured || reason == fault.Upstream || reason == fault.Uncertain || reason == graph.CodeTimeout) {
		return reason
	}
	return code
}

// isCode reports whether a failure's type is one of ours: the seven of
// API-03, or one the machine gives, which a child has in place of them.
func isCode(s string) bool {
	machine := []string{graph.CodeTimeout, graph.CodeNoBranch, graph.CodeLimit, fault.NotConfigured, fault.Upstream, fault.Uncertain, fault.Budget, graph.CodeTokenCap}
	return slices.Contains(fault.Codes(), fault.Code(s)) || slices.Contains(machine, s)
}

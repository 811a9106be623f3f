package activities

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"

	"go.temporal.io/sdk/temporal"

	"liminal/internal/fault"
	"liminal/internal/graph"
)

// AsTemporal is an activity's error as the engine takes it: a fault becomes an
// ApplicationError whose Type is its code, and whose message is the sentence for
// the person. The cause is logged and goes no further. Temporal's own errors and
// those of a context stay as they are: the SDK tells cancellation and timeouts by
// them.
func AsTemporal(ctx context.Context, log *slog.Logger, err error) error {
	var app *temporal.ApplicationError
	if errors.As(err, &app) || temporal.IsCanceledError(err) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	known := fault.From(err)
	if known.Code == fault.Internal {
		level := slog.LevelError
		if fault.Reason(known) == graph.CodeTimeout { // whoever wrote the graph may have meant it
			level = slog.LevelWarn
		}
		log.Log(ctx, level, "an activity failed", "error", err)
	}
	o := temporal.ApplicationErrorOptions{NonRetryable: !retryable(known.Code)}
	if details := WithSaid(known.Details, known.Said()); details != nil {
		o.Details = []any{details}
	}
	return temporal.NewApplicationErrorWithOptions(known.Message, string(known.Code), o)
}

// retryable reports whether trying again could help: it does where the failure
// is ours or a matter of time, and never where the input is refused.
func retryable(code fault.Code) bool { return code == fault.Internal || code == fault.RateLimited }

// KeySaid is the member of a failure's details that has its sentence taken apart.
const KeySaid = "said"

// WithSaid are the details of a fault with its sentence taken apart among them.
func WithSaid(details any, said *fault.Sentence) any {
	if said == nil {
		return details
	}
	object, ok := details.(map[string]any)
	if object = maps.Clone(object); !ok {
		raw, err := json.Marshal(details)
		if err == nil {
			err = json.Unmarshal(raw, &object)
		}
		if err != nil { // no object
			object = map[string]any{"details": details}
		}
	}
	if object == nil {
		object = map[string]any{}
	}
	object[KeySaid] = said
	return object
}

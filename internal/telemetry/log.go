package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/trace"

	"liminal/internal/id"
	"liminal/internal/redact"
)

// LogOptions say how logs are written.
type LogOptions struct {
	Level slog.Leveler // nil: info
	JSON  bool         // for machines; else text for people
}

// NewLogger writes to w what may be kept: secrets and personal data are
// replaced by their kind (OBS-03, SAFE-08), and each line says which request,
// run and trace it belongs to (OBS-02).
func NewLogger(w io.Writer, o LogOptions) *slog.Logger {
	options := &slog.HandlerOptions{Level: o.Level, ReplaceAttr: clean}
	if o.JSON {
		return slog.New(&correlated{next: slog.NewJSONHandler(w, options)})
	}
	return slog.New(&correlated{next: slog.NewTextHandler(w, options)})
}

// clean is an attribute as it may be written.
func clean(_ []string, a slog.Attr) slog.Attr {
	if kind, secret := redact.KindOf(a.Key); secret {
		return slog.String(a.Key, "["+string(kind)+"]")
	}
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(redact.Text(a.Value.String()))
	case slog.KindAny:
		a.Value = cleanAny(a.Value.Any())
	default: // numbers, times and durations are nobody's
	}
	return a
}

func cleanAny(v any) slog.Value {
	switch v := v.(type) {
	case nil, slog.Level, *slog.Source:
		return slog.AnyValue(v)
	case error:
		return slog.StringValue(redact.Text(v.Error()))
	case fmt.Stringer:
		return slog.StringValue(redact.Text(v.String()))
	case []byte:
		return slog.StringValue(redact.Text(string(v)))
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return slog.StringValue(redact.Text(fmt.Sprint(v)))
	}
	text := redact.Text(string(raw))
	if json.Valid([]byte(text)) {
		return slog.AnyValue(document(text))
	}
	return slog.StringValue(text)
}

// document is JSON that stays JSON in a JSON log and text in a text log.
type document string

func (d document) MarshalJSON() ([]byte, error) { return []byte(d), nil }
func (d document) String() string               { return string(d) }

// correlated adds to each record the ids its context knows, and leaves out what may
// quote people where nothing is kept of what they said.
type correlated struct {
	next   slog.Handler
	has    map[string]bool // keys the logger brings itself
	unkept bool            // the logger is one of a run of which nothing is kept
}

// quoting are the attributes that may quote what was said in a run.
var quoting = []string{"error", "Error", "StackTrace", "routing"}

// ofUnkept reports whether an attribute names a run of which nothing is kept, by its
// id or its workflow's (GRND-47).
func ofUnkept(a slog.Attr) bool {
	if a.Value.Kind() != slog.KindString {
		return false
	}
	s := a.Value.String()
	return id.Unkept(s) || a.Key == "WorkflowID" && id.UnkeptIn(s) != ""
}

// discreet is a record without what may quote people.
func discreet(r slog.Record) slog.Record {
	out := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if slices.Contains(quoting, a.Key) {
			a = slog.String(a.Key, "[nothing is kept of this run]")
		}
		out.AddAttrs(a)
		return true
	})
	return out
}

func (h *correlated) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *correlated) Handle(ctx context.Context, r slog.Record) error {
	known, unkept := idsOf(ctx), h.unkept
	has := map[string]bool{}
	r.Attrs(func(a slog.Attr) bool {
		has[a.Key] = true
		unkept = unkept || ofUnkept(a)
		return true
	})
	if unkept || slices.ContainsFunc(known, ofUnkept) {
		r = discreet(r)
	}
	if len(known) == 0 {
		return h.next.Handle(ctx, r)
	}
	r = r.Clone()
	for _, a := range known {
		if !has[a.Key] && !h.has[a.Key] {
			r.AddAttrs(a)
		}
	}
	return h.next.Handle(ctx, r)
}

func idsOf(ctx context.Context) (ids []slog.Attr) {
	c := correlationOf(ctx)
	if c.request != nil {
		if id := c.request(); id != "" {
			ids = append(ids, slog.String("request_id", id))
		}
	}
	if c.run != "" {
		ids = append(ids, slog.String("run_id", c.run))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		ids = append(ids, slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return ids
}

func (h *correlated) WithAttrs(attrs []slog.Attr) slog.Handler {
	has := make(map[string]bool, len(h.has)+len(attrs))
	for key := range h.has {
		has[key] = true
	}
	for _, a := range attrs {
		has[a.Key] = true
	}
	return &correlated{next: h.next.WithAttrs(attrs), has: has, unkept: h.unkept || slices.ContainsFunc(attrs, ofUnkept)}
}

func (h *correlated) WithGroup(name string) slog.Handler {
	return &correlated{next: h.next.WithGroup(name), has: h.has, unkept: h.unkept}
}

// Package telemetry is what a running program tells of itself: structured
// logs without personal data, figures for Prometheus, traces for an
// OpenTelemetry collector, and whether it is well.
//
// Everything is handed over explicitly; there is no global registry, logger or
// tracer. A nil *Metrics and a nil *Traces are valid and do nothing, so that
// nobody has to ask whether somebody listens. It imports redact, cache, fault, the
// Prometheus client, OpenTelemetry and the Temporal SDK's interceptors; no
// noun of the house.
package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// correlation names the work a context belongs to (OBS-02).
type correlation struct {
	request func() string
	run     string
}

type correlationKey struct{}

func correlationOf(ctx context.Context) correlation {
	c, _ := ctx.Value(correlationKey{}).(correlation)
	return c
}

// WithRequest says which request a context belongs to. The id is asked for at
// each log line: a request may take the id of the run it turns out to be.
func WithRequest(ctx context.Context, id func() string) context.Context {
	c := correlationOf(ctx)
	c.request = id
	return context.WithValue(ctx, correlationKey{}, c)
}

// WithRun says which run a context belongs to, and by which request it came;
// an empty request leaves the one that is known.
func WithRun(ctx context.Context, runID, requestID string) context.Context {
	c := correlationOf(ctx)
	c.run = runID
	if requestID != "" {
		c.request = func() string { return requestID }
	}
	return context.WithValue(ctx, correlationKey{}, c)
}

// RunOf is the run a context belongs to; empty outside of one.
func RunOf(ctx context.Context) string { return correlationOf(ctx).run }

// TraceID is the id of the trace a context belongs to; empty outside of one.
func TraceID(ctx context.Context) string {
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		return span.TraceID().String()
	}
	return ""
}

package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"

	"liminal/internal/id"
)

// scope names our spans' instrumentation.
const scope = "liminal"

const (
	exportLimit = 5 * time.Second
	flushLimit  = 3 * time.Second
)

// TraceOptions say where traces go.
type TraceOptions struct {
	Endpoint string // URL of an OTLP/HTTP collector; empty: no traces
	Service  string
	Version  string
	// Ratio is the share of traces that are kept, over 0 to 1; 0 means 1. All
	// processes agree about a trace: its id decides.
	Ratio float64
	// Export bounds one export, and Flush the last one, when the process ends. 0:
	// five seconds, and three.
	Export, Flush time.Duration
}

// Traces sends spans to a collector (OBS-06). A nil one records nothing.
type Traces struct {
	provider *sdktrace.TracerProvider
	flush    time.Duration
	tracer   trace.Tracer
	carry    propagation.TextMapPropagator
}

// OpenTraces connects to a collector, in the background: one that is down
// loses spans and holds nobody up. Without an endpoint it returns nil.
func OpenTraces(ctx context.Context, o TraceOptions) (*Traces, error) {
	if o.Endpoint == "" {
		return nil, nil
	}
	if o.Ratio <= 0 || o.Ratio > 1 {
		o.Ratio = 1
	}
	o.Export, o.Flush = cmp.Or(o.Export, exportLimit), cmp.Or(o.Flush, flushLimit)
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(strings.TrimSuffix(o.Endpoint, "/")+"/v1/traces"),
		otlptracehttp.WithTimeout(o.Export))
	if err != nil {
		return nil, fmt.Errorf("the exporter of traces to %s: %w", o.Endpoint, err)
	}
	kept := sdktrace.TraceIDRatioBased(o.Ratio)
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter, sdktrace.WithExportTimeout(o.Export)),
		// Whoever calls us may continue a trace and may not decide that we record it.
		sdktrace.WithSampler(sdktrace.ParentBased(kept, sdktrace.WithRemoteParentSampled(kept), sdktrace.WithRemoteParentNotSampled(kept))),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", o.Service), attribute.String("service.version", o.Version))),
	)
	return &Traces{provider: provider, flush: o.Flush, tracer: provider.Tracer(scope), carry: propagation.TraceContext{}}, nil
}

// Close sends what is left, within 3 seconds.
func (t *Traces) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.flush)
	defer cancel()
	return t.provider.Shutdown(ctx)
}

// Tracer starts spans that have no parent.
func (t *Traces) Tracer() trace.Tracer {
	if t == nil {
		return noop.NewTracerProvider().Tracer(scope)
	}
	return t.tracer
}

// Request starts the span of an HTTP request, as a part of its caller's trace
// if it names one. Its name is given with Answered, when the route is known.
func (t *Traces) Request(r *http.Request) (context.Context, trace.Span) {
	if t == nil {
		return r.Context(), trace.SpanFromContext(r.Context())
	}
	ctx := t.carry.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	return t.tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("http.request.method", r.Method)))
}

// Answered ends the span of a request.
func Answered(span trace.Span, method, route string, status int) {
	span.SetName(method + " " + route)
	span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// Interceptor carries traces through Temporal: given to a client, it reaches
// its workers too. A nil *Traces has none. Baggage stays out: histories are
// read by more people than requests are made by (SAFE-08).
func (t *Traces) Interceptor() (interceptor.Interceptor, error) {
	if t == nil {
		return nil, nil
	}
	inner, err := opentelemetry.NewTracer(opentelemetry.TracerOptions{
		Tracer: t.tracer, TextMapPropagator: t.carry, DisableBaggage: true, DisableQueryTracing: true, AllowInvalidParentSpans: true,
		SpanStarter: func(ctx context.Context, tracer trace.Tracer, name string, o ...trace.SpanStartOption) trace.Span {
			_, span := tracer.Start(ctx, name, o...)
			return &reserved{Span: span}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("traces through Temporal: %w", err)
	}
	return interceptor.NewTracingInterceptor(unscheduled{inner}), nil
}

// reserved is a span of the engine's that quotes no error where nothing is kept of
// the run it is of (GRND-47).
type reserved struct {
	trace.Span
	unkept bool
}

// SetAttributes implements trace.Span; the attributes name the workflow.
func (s *reserved) SetAttributes(list ...attribute.KeyValue) {
	for _, a := range list {
		s.unkept = s.unkept || id.UnkeptIn(a.Value.AsString()) != ""
	}
	s.Span.SetAttributes(list...)
}

// RecordError implements trace.Span.
func (s *reserved) RecordError(err error, o ...trace.EventOption) {
	if !s.unkept {
		s.Span.RecordError(err, o...)
	}
}

// SetStatus implements trace.Span.
func (s *reserved) SetStatus(code codes.Code, said string) {
	if s.unkept {
		said = ""
	}
	s.Span.SetStatus(code, said)
}

// unscheduled keeps traces out of schedules: one would keep the trace it was
// made in and give it to every run, for ever.
type unscheduled struct{ interceptor.Tracer }

// alone is a span nothing follows.
type alone struct{ interceptor.TracerSpan }

// StartSpan implements interceptor.Tracer.
func (u unscheduled) StartSpan(o *interceptor.TracerStartSpanOptions) (interceptor.TracerSpan, error) {
	span, err := u.Tracer.StartSpan(o)
	if err == nil && o.Operation == "CreateSchedule" {
		return alone{span}, nil
	}
	return span, err
}

// MarshalSpan implements interceptor.Tracer.
func (u unscheduled) MarshalSpan(span interceptor.TracerSpan) (map[string]string, error) {
	if _, is := span.(alone); is {
		return map[string]string{}, nil
	}
	return u.Tracer.MarshalSpan(span)
}

// ContextWithSpan implements interceptor.Tracer.
func (u unscheduled) ContextWithSpan(ctx context.Context, span interceptor.TracerSpan) context.Context {
	if a, is := span.(alone); is {
		span = a.TracerSpan
	}
	return u.Tracer.ContextWithSpan(ctx, span)
}

// Start begins a span within the trace of ctx; outside of a trace it records
// nothing. Attributes name things and count them; what people wrote is never
// among them.
func Start(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	return start(ctx, name, trace.SpanKindInternal, attributes)
}

func start(ctx context.Context, name string, kind trace.SpanKind, attributes []attribute.KeyValue) (context.Context, trace.Span) {
	return trace.SpanFromContext(ctx).TracerProvider().Tracer(scope).
		Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
}

// End ends a span with what came of it. The error's text stays out of the
// trace; its kind, such as a fault's code, says enough.
func End(span trace.Span, err error, kind string) {
	if err != nil {
		if errors.Is(err, context.Canceled) {
			kind = "cancelled"
		}
		span.SetAttributes(attribute.String("error.type", kind))
		span.SetStatus(codes.Error, kind)
	}
	span.End()
}

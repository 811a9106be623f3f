package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// The names below are those of OpenTelemetry's semantic conventions for
// generative AI, so that any collector's pages know what they show.

// StartTool begins the span of a tool call. call is the call's id.
func StartTool(ctx context.Context, tool, call string) (context.Context, trace.Span) {
	return Start(ctx, "execute_tool "+tool,
		attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", tool),
		attribute.String("gen_ai.tool.call.id", call),
		attribute.String("gen_ai.tool.type", "function"))
}

// ModelRequest is what a trace says of a question to a model: its bounds, not
// its words.
type ModelRequest struct {
	Provider    string // package of the driver, such as "extractive"
	Model       string
	Task        string // "chat", "intent", …
	MaxTokens   int    // 0: unset
	Temperature *float64
	TopP        *float64
}

// StartModel begins the span of a model call.
func StartModel(ctx context.Context, r ModelRequest) (context.Context, trace.Span) {
	a := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"),
		attribute.String("gen_ai.request.model", r.Model),
		attribute.String("gen_ai.provider.name", r.Provider),
		attribute.String("liminal.task", r.Task),
	}
	if r.MaxTokens > 0 {
		a = append(a, attribute.Int("gen_ai.request.max_tokens", r.MaxTokens))
	}
	if r.Temperature != nil {
		a = append(a, attribute.Float64("gen_ai.request.temperature", *r.Temperature))
	}
	if r.TopP != nil {
		a = append(a, attribute.Float64("gen_ai.request.top_p", *r.TopP))
	}
	return start(ctx, "chat "+r.Model, trace.SpanKindClient, a)
}

// ModelAdapters adds how adapters reached the model: the one that was made of
// several, those that were dropped and why, and whether the server put them
// together otherwise than exactly.
func ModelAdapters(span trace.Span, composed string, approximate bool, dropped []string) {
	if composed != "" {
		span.SetAttributes(attribute.String("liminal.adapters.composed", composed))
	}
	if approximate {
		span.SetAttributes(attribute.Bool("liminal.adapters.approximate", true))
	}
	if len(dropped) > 0 {
		span.SetAttributes(attribute.StringSlice("liminal.adapters.dropped", dropped))
	}
}

// ModelAnswered adds what a call used and why the answer ended.
func ModelAnswered(span trace.Span, model, reason string, used Tokens) {
	span.SetAttributes(
		attribute.String("gen_ai.response.model", model),
		attribute.Int("gen_ai.usage.input_tokens", used.Input),
		attribute.Int("gen_ai.usage.output_tokens", used.Output))
	if reason != "" {
		span.SetAttributes(attribute.StringSlice("gen_ai.response.finish_reasons", []string{reason}))
	}
	if used.CostUSD > 0 {
		span.SetAttributes(attribute.Float64("liminal.cost_usd", used.CostUSD))
	}
}

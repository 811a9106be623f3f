// Package observed is a model that is looked at: each call of it leaves a span
// in the trace, a line in the log and its tokens and cost in the figures
// (OBS-09). What is asked and answered is never among them.
//
// It may import model, telemetry and fault.
package observed

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/telemetry"
)

// Options of an observed model. All are optional.
type Options struct {
	Provider string // the driver's name, for traces; empty: the model's
	Prices   Prices // nil: no cost is known
	Price    *Price // of every model, over Prices; nil: as those say
	Metrics  *telemetry.Metrics
	Logger   *slog.Logger
	Now      func() time.Time
}

// New returns m with its calls observed. The usage it reports carries its cost
// where the price is known.
func New(m model.Model, o Options) model.Model {
	o.Provider = cmp.Or(o.Provider, m.Name())
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &observed{Model: m, Options: o}
}

type observed struct {
	model.Model
	Options
}

// call is one call under way.
type call struct {
	*observed
	outer  context.Context // of who asks
	name   string          // of the model that was asked
	task   string
	began  time.Time
	first  time.Duration // until the first words; 0: there were none
	usage  model.Usage
	reason model.StopReason
	err    error
}

// InProcess passes on where the model answers.
func (o *observed) InProcess() bool { return model.IsInProcess(o.Model) }

// OnLoopback passes on whether what it is asked stays on this machine.
func (o *observed) OnLoopback() bool { return model.OnLoopback(o.Model) }

// Configured passes on whether the model has what it needs; nil: as far as it
// can tell (OPS-08).
func (o *observed) Configured() error {
	if m, ok := o.Model.(interface{ Configured() error }); ok {
		return m.Configured()
	}
	return nil
}

// Cost is the price of a call that did not tell its own, in US dollars; nil
// where it is not known.
func (o *observed) Cost(name string, u model.Usage) *float64 {
	if o.Price != nil {
		usd := o.Price.of(used(u))
		return &usd
	}
	return o.Prices.cost(name, u)
}

// Stream implements model.Model.
func (o *observed) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		c := call{observed: o, outer: ctx, name: cmp.Or(req.Model, o.Name()), task: req.Task, began: o.Now()}
		ctx, span := telemetry.StartModel(ctx, telemetry.ModelRequest{
			Provider: o.Provider, Model: c.name, Task: req.Task,
			MaxTokens: req.MaxTokens, Temperature: req.Temperature, TopP: req.TopP,
		})
		defer func() { c.done(ctx, span) }()
		ctx = model.WithApplied(ctx, func(a model.Applied) { c.applied(ctx, span, a) })
		for e, err := range o.Model.Stream(ctx, req) {
			c.see(&e, err)
			if !yield(e, err) {
				return
			}
		}
	}
}

// see notes what an event tells, and gives usage its cost.
func (c *call) see(e *model.Event, err error) {
	if err != nil {
		c.err = err
		return
	}
	switch e.Type {
	case model.TextDelta, model.ThinkingDelta:
		if c.first == 0 {
			c.first = c.Now().Sub(c.began)
		}
	case model.UsageReport:
		if e.Usage.CostUSD == nil {
			e.Usage.CostUSD = c.Cost(c.name, e.Usage)
		}
		c.usage = c.usage.Add(e.Usage)
	case model.Stop:
		c.reason = e.Reason
	default: // what was said is nobody's business
	}
}

// applied notes how adapters reached the model. Where a server put several
// together in a way of its own, the trace and the log say that it is approximate.
func (c *call) applied(ctx context.Context, span trace.Span, a model.Applied) {
	var dropped []string
	for _, d := range a.Dropped {
		dropped = append(dropped, d.ID+": "+d.Reason)
	}
	telemetry.ModelAdapters(span, a.Composed, a.Approximate, dropped)
	if a.Approximate {
		c.Logger.InfoContext(ctx, "adapters_merged", "adapters", len(a.Params), "approximate", true, "model", c.name)
	}
	model.TellApplied(c.outer, a)
}

// outcome is how the call ended, as a label: ok, left when the reader went
// away before the end, cancelled, timeout, or a fault's code.
func (c *call) outcome() string {
	switch {
	case errors.Is(c.err, context.Canceled):
		return "cancelled"
	case errors.Is(c.err, context.DeadlineExceeded):
		return "timeout"
	case c.err != nil:
		return string(fault.CodeOf(c.err))
	case c.reason == "":
		return "left"
	}
	return "ok"
}

func (c *call) done(ctx context.Context, span trace.Span) {
	took := c.Now().Sub(c.began)
	used := telemetry.Tokens{
		Input: c.usage.Input, Output: c.usage.Output, CacheRead: c.usage.CacheRead, CacheWrite: c.usage.CacheWrite,
	}
	attrs := []slog.Attr{
		slog.String("model", c.name), slog.String("task", c.task), slog.String("outcome", c.outcome()),
		slog.Int("input_tokens", c.usage.Input), slog.Int("output_tokens", c.usage.Output),
		slog.Duration("took", took), slog.Duration("first", c.first),
	}
	if c.usage.CostUSD != nil {
		used.CostUSD = *c.usage.CostUSD
		attrs = append(attrs, slog.Float64("cost_usd", used.CostUSD))
	}
	c.Metrics.ModelCall(c.name, c.outcome(), used, took)
	telemetry.ModelAnswered(span, c.name, string(c.reason), used)
	telemetry.End(span, c.err, c.outcome())
	c.Logger.LogAttrs(ctx, slog.LevelInfo, "model call", attrs...)
}

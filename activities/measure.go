package activities

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"liminal/internal/id"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/telemetry"
	"liminal/internal/tool"
)

// Meter counts what runs do (OBS-01). *telemetry.Metrics is one.
type Meter interface {
	// ToolCall is one call of a tool: "ok", "asks", "error", "timeout" or
	// "stopped"; again says that it repeats a failed one.
	ToolCall(tool, outcome string, again bool, took time.Duration)
	// FirstToken is how long a person waited for the first word of an answer.
	FirstToken(waited time.Duration)
	// Turn is how long a turn took that waited for nobody.
	Turn(status string, took time.Duration)
	// Ended is a run that ended, with the code of its failure.
	Ended(kind, status, code string)
	// Adapter took part in a turn.
	Adapter(id string)
}

func (s *Set) meter() Meter {
	if s.Meter == nil {
		return (*telemetry.Metrics)(nil) // counts nothing
	}
	return s.Meter
}

// Call runs a tool once and tells how it went. The machine decides about
// retries, so every failure is returned as it is; a call that was stopped
// returns what it had said.
func (s *Set) Call(ctx context.Context, in CallInput) (CallResult, error) {
	ctx = telemetry.WithRun(ctx, in.Run.RunID, in.RequestID)
	ctx, span := telemetry.StartTool(ctx, in.Tool.Name, in.Effect)
	began := s.now()
	out, err := s.call(ctx, in)
	if busy(err) {
		telemetry.End(span, nil, "")
		return out, err
	}
	s.meter().ToolCall(in.Tool.Name, outcomeOf(out, err), in.Attempt > 1, s.now().Sub(began))
	kind := ""
	if err != nil {
		kind = codeOf(err)
	}
	telemetry.End(span, err, kind)
	return out, err
}

// outcomeOf is how a call ended, as a label.
func outcomeOf(out CallResult, err error) string {
	switch {
	case out.Stopped, errors.Is(err, context.Canceled):
		return "stopped"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case err != nil:
		return "error"
	case tool.Asks(out.Output):
		return "asks"
	case tool.Later(out.Output):
		return "later"
	}
	return "ok"
}

// since is how long ago a run was accepted: its id says when. Derived ids, of
// tests, do not.
func (s *Set) since(runID string) (waited time.Duration, known bool) {
	accepted, known := id.Made(runID)
	waited = s.now().Sub(accepted)
	return waited, known && waited >= 0
}

// firstWord tells how long the person has waited, once a run.
func (e *callEvents) firstWord() {
	if e.in.Attempt > 1 || e.in.Reset {
		return
	}
	if waited, known := e.set.since(e.in.Run.RunID); known {
		e.set.meter().FirstToken(waited)
	}
}

// mostLogged is how many steps of a run its line in the log has.
const mostLogged = 64

// log tells the way a run took (OBS-02): its nodes, how each ended and after
// how long, and no word of anybody.
func (c *closing) log(ctx context.Context) {
	l := c.set.logger()
	if !l.Enabled(ctx, slog.LevelInfo) {
		return
	}
	steps := make([]string, 0, min(len(c.Steps), mostLogged))
	for _, s := range c.Steps[:min(len(c.Steps), mostLogged)] {
		line := s.Node + " " + string(s.Outcome)
		if !s.Ended.IsZero() {
			line += " " + s.Ended.Sub(s.Started).Round(time.Millisecond).String()
		}
		steps = append(steps, line)
	}
	l.InfoContext(ctx, "a run ended", "run", c.Run.RunID, "status", c.status, "steps", steps, "all", len(c.Steps))
}

// measure tells of the run's end.
func (c *closing) measure() {
	m, code := c.set.meter(), ""
	if f := c.failure(); f != nil {
		code = f.Code
	}
	m.Ended(string(c.Run.Kind), string(c.status), code)
	if c.Run.Kind != run.KindChat {
		return
	}
	if took, known := c.set.since(c.Run.RunID); known && len(c.Tally.Notices) == 0 {
		m.Turn(string(c.status), took)
	}
	var routed struct {
		Adapters []string `json:"adapters"`
	}
	if json.Unmarshal(c.Opened.Routing, &routed) != nil {
		return // a router that names none in this way uses none that we know
	}
	for _, a := range routed.Adapters {
		m.Adapter(a)
	}
}

func (c *closing) usage() stream.UsageData {
	u := c.Tally.Usage
	return stream.UsageData{
		InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite,
		Estimated: u.Estimated, TokensUsed: u.Tokens(), CostUSD: u.CostUSD,
	}
}

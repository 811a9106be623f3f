package builtin

import (
	"context"
	"time"

	"liminal/internal/tool"
)

// wait waits without being at work: the run rests until the time is over.
type wait struct{}

func (wait) Name() string { return "time.wait_v1" }

func (wait) Run(_ context.Context, c *tool.Call) (map[string]any, error) {
	ms := number(c, "ms", 0)
	until := time.Now().Add(time.Duration(ms) * time.Millisecond)
	resume, _ := c.Resume.(map[string]any)
	if state, ok := resume["state"].(map[string]any); ok {
		if text, ok := state["until"].(string); ok {
			if at, err := time.Parse(time.RFC3339Nano, text); err == nil && at.Before(until) {
				until = at
			}
		}
	}
	left := time.Until(until)
	if left <= 0 {
		return map[string]any{"waited_ms": ms}, nil
	}
	return map[string]any{"later": map[string]any{
		"after_ms": float64(max(left, time.Millisecond).Milliseconds()),
		"state":    map[string]any{"until": until.Format(time.RFC3339Nano)},
	}}, nil
}

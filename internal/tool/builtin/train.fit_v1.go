package builtin

import (
	"context"
	"fmt"
	"time"

	"liminal/internal/lora/train"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// fitAdapter trains, and tells each step.
type fitAdapter struct{ training Training }

func (fitAdapter) Name() string { return "train.fit_v1" }

// toldEvery is how often people are told of steps: a quick one is done a hundred
// times a second.
const toldEvery = time.Second

func (t fitAdapter) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	c.Emit(stream.ProgressData{Message: "Training…"})
	var told time.Time
	report := func(m train.Metric) {
		c.Heartbeat(m.Step)
		now := time.Now()
		if m.Step < m.Of && now.Sub(told) < toldEvery {
			return
		}
		told = now
		c.Emit(stepped(m))
	}
	notice := func(text string) { c.Emit(stream.ProgressData{Message: text}) }
	out, err := t.training.Fit(ctx, c.Viewer, claimOf(c), report, notice)
	if err != nil {
		return nil, failedStep(ctx, c, t.training, err)
	}
	return object(out)
}

// stepped is a step of a training as people are told of it.
func stepped(m train.Metric) stream.ProgressData {
	figures := map[string]float64{"loss": m.Loss, "tok_s": m.Speed, "eta": m.ETA}
	text := fmt.Sprintf("Training: loss %.3f", m.Loss)
	if m.HeldOut != nil {
		figures["held_out"] = *m.HeldOut
		text += fmt.Sprintf(", held out %.3f", *m.HeldOut)
	}
	return stream.ProgressData{
		Done: &m.Step, Total: &m.Of, Unit: "steps", Figures: figures,
		Message: fmt.Sprintf("%s, %.0f tokens a second", text, m.Speed),
	}
}

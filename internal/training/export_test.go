package training

import (
	"context"

	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/gate"
)

// JudgedAs notes a verdict whose new loss and probability are these, for a test.
func (s *Steps) JudgedAs(ctx context.Context, v identity.Viewer, j learning.Job, loss, p float64) (Judged, error) {
	return s.judgedAs(ctx, v, j, gate.Verdict{Outcome: gate.None, P: p, Loss: gate.Change{Now: 2, New: loss}, Perplexity: gate.Change{Now: 7, New: loss}})
}

package run

import (
	"context"
	"encoding/json"
	"time"

	"liminal/internal/identity"
)

// Act is a call that does something outside which a second one would do once
// more. It is written down before it is begun, and again once it is known what
// came of it, so that a worker that dies between the two leaves no doubt which of
// them it was (TOOL-16).
type Act struct {
	RunID    string
	EffectID string // of the call, with those of the parents' effects before it
	Attempt  int    // of the call, as the machine counts
	Tool     string
	BegunAt  time.Time
	EndedAt  time.Time       // zero: nobody knows what came of it
	Outcome  json.RawMessage // of one that has ended, in the caller's own form
}

// Acts keeps them, for as long as their runs are kept.
type Acts interface {
	// BeginAct writes an act down. If it was before, nothing is written, and it
	// gives what is known of it; of several at once one is told nil.
	BeginAct(ctx context.Context, v identity.Viewer, a Act) (before *Act, err error)
	// Act gives one of the viewer's runs; NotFound when it was never begun.
	Act(ctx context.Context, v identity.Viewer, a Act) (Act, error)
	// EndAct writes what came of one. What has ended stays as it is.
	EndAct(ctx context.Context, v identity.Viewer, a Act) error
}

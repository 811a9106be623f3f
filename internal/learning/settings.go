package learning

import (
	"context"

	"liminal/internal/identity"
)

// Settings are what a person allows to be learnt from what they say of answers.
type Settings struct {
	Personal bool `json:"personal"` // their own answers may change; on by default
	Shared   bool `json:"shared"`   // situations of everybody may be found with their events; off by default
	// ByRule says that an adapter of their own changes once its gate is passed,
	// without asking; else each change waits for their decision. On by default.
	ByRule bool `json:"by_rule"`
}

// DefaultSettings are those of who never changed any.
func DefaultSettings() Settings { return Settings{Personal: true, ByRule: true} }

// Consents keeps what people allow, and who has something new to learn from.
type Consents interface {
	// LearningSettings returns the viewer's; DefaultSettings if none are kept.
	LearningSettings(ctx context.Context, v identity.Viewer) (Settings, error)
	// PutLearningSettings stores the viewer's.
	PutLearningSettings(ctx context.Context, v identity.Viewer, s Settings) error
	// Learners lists up to limit people of whom a run of the learning graph is
	// due, those who wait longest first: Personal is on, and since their latest
	// run they gave 3 events with a note or a correction, or 5 events, or one
	// that is older than 6 hours, or took one back. For the system only.
	Learners(ctx context.Context, v identity.Viewer, limit int) ([]string, error)
	// Learnt records that a run has read the viewer's events up to an id, so
	// that they are due again only for what comes later.
	Learnt(ctx context.Context, v identity.Viewer, upto int64) error
	// Forget removes everything that is learnt from the viewer: events,
	// clusters, lessons, and adapters of their own. It returns how many events.
	Forget(ctx context.Context, v identity.Viewer) (int, error)
}

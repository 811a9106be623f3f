package run

import (
	"context"
	"time"

	"liminal/internal/identity"
)

// Recording is a run that ended, as far as a rehearsal needs it (CFG-11). It is
// written with the end of the run, in the same transaction, and goes with it;
// its retention is its own. All but Body is its head, by which runs are
// sampled and behaviour is counted.
type Recording struct {
	RunID  string
	UserID string
	Kind   Kind
	Graph  Pin    // the workflow the run followed
	Policy Pin    // that it was routed by; the zero one: none
	Status Status // how it ended: done, failed or cancelled
	Branch string // names the way it went: runs that took the same nodes share it; at most 32 bytes
	Node   string // where it failed; empty unless failed
	Code   string // of the failure; empty unless failed
	Asked  int    // questions put to a person
	// Skipped is how many of them nobody answered: cancelled or expired.
	Skipped    int
	ModelCalls int
	ToolCalls  int
	CostUSD    float64 // the part that is known
	MS         int64   // from its start to its end without the time it waited for a person
	At         time.Time
	Body       []byte // rehearsal.Record, compressed
}

// RecordingFilter narrows Recordings; zero values do not narrow.
type RecordingFilter struct {
	GraphID string // of the workflow artifact
	// PolicyID is of the routing policy.
	PolicyID string
	// Version is of the graph, or of the policy where PolicyID is given.
	Version int
	Kind    Kind
	UserID  string // whose runs; empty: everybody's
	Since   time.Time
	Until   time.Time
	Limit   int // 1 to 20,000; 5,000 by default
}

// Recordings reads what runs left behind. They are everybody's, so only the
// system reads them; what people are shown of them, a report decides.
type Recordings interface {
	// Recordings lists heads, newest first, without their bodies.
	Recordings(ctx context.Context, v identity.Viewer, f RecordingFilter) ([]Recording, error)
	// RecordingBodies gives the bodies there are, by run id; at most 5,000 ids.
	RecordingBodies(ctx context.Context, v identity.Viewer, ids ...string) (map[string][]byte, error)
	// Recording gives one with its body: the viewer's own, or any for the
	// system; else NotFound.
	Recording(ctx context.Context, v identity.Viewer, runID string) (Recording, error)
	// ForgetRecordings removes those that ended before a time and tells how
	// many; at most a thousand in one call.
	ForgetRecordings(ctx context.Context, v identity.Viewer, before time.Time) (int, error)
}

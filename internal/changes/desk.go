package changes

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"liminal/artifacts"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// Limits bounds how often somebody may; *quota.Limits is one.
type Limits interface {
	Spend(ctx context.Context, r quota.Rule, who string) error
}

// Options is what a Desk works with. Store, Library and Recordings are needed.
type Options struct {
	Store      Store
	Library    *artifacts.Library
	Recordings run.Recordings
	Limits     Limits           // nil: nothing is bounded
	Plans      *quota.PlanTable // how often each person may; nil: as the plans ship

	// Lineages are the histories that a policy.palace is rehearsed on.
	Lineages rehearsal.Lineages

	// Launch starts the workflow of a patch, and Send signals an answer to it.
	// Both do what they can: what they could not, the reconciler does later.
	Launch func(ctx context.Context, r run.Run)
	Send   func(ctx context.Context, q run.Interrupt)

	// Who tells of an account; nil: people are called by their ids.
	Who  func(ctx context.Context, userID string) (identity.User, error)
	Live rehearsal.Caller // calls tools that only read; nil: none are
	Now  func() time.Time
	// Patience is how long an act of a person waits for the patch's workflow to
	// ask for it; 0: not at all.
	Patience time.Duration
	// Longest bounds the rehearsal of a proposal, which nobody waits for and
	// everybody's machine does; 0: two minutes, in which many thousand runs are
	// played.
	Longest time.Duration
	// Logger is told of what nobody waits for; nil: nothing.
	Logger *slog.Logger
}

// Desk is where changes are proposed, decided, applied and taken back. It is
// safe for concurrent use.
type Desk struct {
	o Options
	// rehearse is rehearsal.Run, but for tests.
	rehearse func(ctx context.Context, t rehearsal.Tools, r run.Recordings, p rehearsal.Plan) (*rehearsal.Report, error)
	turns    turns
}

// New returns a desk.
func New(o Options) *Desk {
	if o.Longest == 0 {
		o.Longest = 2 * time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Launch == nil {
		o.Launch = func(context.Context, run.Run) {}
	}
	if o.Send == nil {
		o.Send = func(context.Context, run.Interrupt) {}
	}
	return &Desk{o: o, rehearse: rehearsal.Run, turns: newTurns()}
}

// Waits is how long a patch waits for a person, to be decided and again to be
// applied; then it is expired.
const Waits = 14 * 24 * time.Hour

// The bounds of a proposal.
const (
	MaxJustification = 4000 // bytes; one at least
	MaxReason        = 4000 // bytes
	MaxChanges       = 16
	MaxHours         = 168 // a version is watched
)

// Proposal is a change that somebody wants. The first way names one artifact,
// the second, Changes, several that are changed together or not at all.
type Proposal struct {
	ArtifactID   string // or a name, with ArtifactType
	ArtifactType string // a kind or its short word; only with a name
	Patch        json.RawMessage
	Base         int // the version the patch was made for; 0: whichever is current

	Changes       []ProposedChange // instead of the four above
	Justification string
	Unknowns      artifacts.Unknowns // empty: artifacts.Stop
	Script        rehearsal.Script   // for artifacts.Scripted
	Sample        int                // recorded runs a Try rehearses; 0: as many as the artifact's rule says
	// Found is what was found before something was proposed, by a gate for one: its
	// event keeps it. It holds no words of anybody's.
	Found json.RawMessage
}

// found is what the event of the proposal keeps; nil: nothing.
func (p Proposal) found() any {
	if len(p.Found) == 0 {
		return nil
	}
	return p.Found
}

// ProposedChange is the change to one artifact, or with Create a new one.
type ProposedChange struct {
	ArtifactID   string
	ArtifactType string
	Patch        json.RawMessage
	Base         int
	Create       *artifacts.Draft // instead of all of the above (C-58)
}

// Decision is an administrator's yes or no.
type Decision struct {
	Approve bool
	Reason  string // a no needs one
	// Confirm is the name of the first artifact, given again: a yes to a patch
	// whose rehearsal warns needs it.
	Confirm string
}

// Replay says how to rehearse a patch again; zero values leave it as it was.
type Replay struct {
	Sample   int
	Unknowns artifacts.Unknowns
	Script   rehearsal.Script

	live string // whose runs tools are called for; empty: nobody's
	only string // whose runs alone are rehearsed; empty: everybody's
}

// View is a patch as somebody sees it.
type View struct {
	Patch
	ProposedBy string // the name of who proposed; "Liminal" for the system
	Events     []Event
	After      []After // by the place of the change
	Reasons    []string
	May        May
}

// After is what a change does to its artifact.
type After struct {
	Title   string          // of the document, for people; may be empty
	Current int             // the version the artifact is at now
	Before  json.RawMessage // at the base version
	After   json.RawMessage // null when the patch does not apply
	Now     json.RawMessage // at the current version, where that is no longer the base; else null
}

// May is what the viewer may do with a patch now, each with the reason why not.
type May struct {
	Approve  Permission `json:"approve"`
	Reject   Permission `json:"reject"`
	Apply    Permission `json:"apply"`
	RollBack Permission `json:"roll_back"`
	Promote  Permission `json:"promote"`
	Withdraw Permission `json:"withdraw"`
	Rebase   Permission `json:"rebase"`
	Rehearse Permission `json:"rehearse"`
}

// Permission is whether an act is possible now; Why says why not, in one sentence.
type Permission struct {
	OK  bool   `json:"ok"`
	Why string `json:"why"`
}

// Tried is what would become of a proposal; nothing of it is stored.
type Tried struct {
	OK      bool
	Checks  []Check
	Changes []Change // with their reports
	After   []After
	Verdict rehearsal.Verdict
	Reasons []string
}

// Watched is how runs of a version went, beside those of the version before.
type Watched struct {
	Artifact string    `json:"artifact_id"` // whose runs are compared; empty: none of the patch has any
	Versions TwoOf     `json:"versions"`
	Since    time.Time `json:"since"` // runs of the new version, from
	Until    time.Time `json:"until"`
	// Earlier is from when to when runs of the version before are taken: the
	// same hours where both ran side by side, else as many before.
	Earlier     Period      `json:"earlier"`
	Runs        TwoOf       `json:"runs"`
	Rows        []Row       `json:"rows"`
	Rules       []Ruled     `json:"rule"` // of going back; any that is met says so
	RolloutPlan RolloutPlan `json:"trial"`
	Over        bool        `json:"over"` // it is no longer watched
}

// TwoOf is a number of the version before and of the new one.
type TwoOf struct {
	Before int `json:"before"`
	After  int `json:"after"`
}

// Period is a stretch of time.
type Period struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// Row is one figure of both versions.
type Row struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit" enum:"share,usd,ms,count"`
	Before Estimate `json:"before"`
	After  Estimate `json:"after"`
	// Worse says that the new version is worse, or that it is not, where the
	// figures are sure of it: their ranges do not meet. null: they are not.
	Worse *bool `json:"worse"`
}

// Estimate is a figure and the range it lies in with 95 % confidence.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Ruled is a rule of going back and whether it is met.
type Ruled struct {
	When string `json:"when"`
	Say  string `json:"say"`
	Met  bool   `json:"met"`
}

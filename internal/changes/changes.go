// Package changes is ConfigOps: a change to behaviour on its way from a
// proposal to a version, and back if it was wrong. A patch is checked,
// rehearsed on recorded runs, decided by a person, applied as a version with
// its base checked, watched, and can be rolled back; every step has an actor,
// a time and a reason (001 §10, CFG-16).
//
// Desk is what people and tools do; Store is its port. The package may import
// the nouns below it, artifacts and rehearsal. It knows no workflow engine: what
// moves a patch on between two acts of people is the ConfigPatch workflow, which
// calls the Desk's steps.
package changes

import (
	"context"
	"encoding/json"
	"time"

	"liminal/artifacts"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// Status is what has become of a patch.
type Status string

// The states. A patch in one of the last six ends there, but for Applied, which
// may be rolled back.
const (
	Pending    Status = "pending"    // being checked, rehearsed, or waiting for the decision
	Approved   Status = "approved"   // waits to be applied
	Applied    Status = "applied"    //
	Rejected   Status = "rejected"   // by a person, with a reason
	Invalid    Status = "invalid"    // it failed its checks
	Expired    Status = "expired"    // nobody decided, or applied, in time
	Withdrawn  Status = "withdrawn"  // by who proposed it
	Superseded Status = "superseded" // by a rebase
	RolledBack Status = "rolled_back"
)

// Stage is where on its way a patch stands.
type Stage string

// The stages, in order.
const (
	Checking   Stage = "checking"
	Rehearsing Stage = "rehearsing"
	Deciding   Stage = "deciding"
	Applying   Stage = "applying" // approved, and to be applied
	Watching   Stage = "watching"
	Settled    Stage = "settled" // nothing more happens by itself
)

// Who proposed a patch (001 §2.7).
const (
	ByModel = "system_llm"
	ByAdmin = "human_admin"
	ByUser  = "user"
)

// Patch is a proposed change: to one artifact, or to several that are changed
// together or not at all.
type Patch struct {
	ID            int64
	RunID         string // of its ConfigPatch workflow
	Proposer      string // ByModel, ByAdmin, ByUser
	UserID        string // empty: the system
	Justification string
	Status        Status
	Stage         Stage
	Changes       []Change // 1 to 16
	Checks        []Check  // in the order they are made
	Script        rehearsal.Script
	Unknowns      artifacts.Unknowns
	Verdict       rehearsal.Verdict // the gravest of its reports; empty before the rehearsal
	Needs         int               // approvals: 1 or 2
	Approvals     []Approval
	RolloutPlan   RolloutPlan
	RebasedFrom   int64
	RebasedTo     int64
	CreatedAt     time.Time
	DecidedAt     time.Time
	AppliedAt     time.Time
	ExpiresAt     time.Time // of the stage that waits for a person; zero: none does
	// Found is what was found before it was proposed; nil: nothing is known.
	Found json.RawMessage
}

// Change is the change to one artifact.
type Change struct {
	ArtifactID string            `json:"artifact_id"`
	Kind       string            `json:"kind"`
	Name       string            `json:"name"`
	Base       int               `json:"base_version"`
	Ops        json.RawMessage   `json:"patch"`   // RFC 6902
	Creates    bool              `json:"creates"` // the artifact is a draft until this is applied (C-58)
	Applied    int               `json:"applied_version,omitempty"`
	Report     *rehearsal.Report `json:"report,omitempty"` // nil: not rehearsed, or of a kind that runs nothing
}

// Check is one of the checks of a patch.
type Check struct {
	Name     string              `json:"name"`  // schema, references, expressions, limits, rehearsal
	State    CheckState          `json:"state"` // waiting, ok, warning, failed
	Problems []artifacts.Problem `json:"problems"`
	At       time.Time           `json:"at,omitzero"`
}

// CheckState is how a check went.
type CheckState string

// The states of a check. A warning does not stop a patch.
const (
	CheckWaiting CheckState = "waiting"
	CheckOK      CheckState = "ok"
	CheckWarning CheckState = "warning"
	CheckFailed  CheckState = "failed"
)

// The checks, in the order they are made.
const (
	CheckSchema      = artifacts.CheckSchema
	CheckReferences  = artifacts.CheckReferences
	CheckExpressions = artifacts.CheckExpressions
	CheckLimits      = artifacts.CheckLimits
	CheckRehearsal   = "rehearsal"
)

// RolloutPlan is how an applied version begins.
type RolloutPlan struct {
	Share int `json:"share"` // percent of new runs it takes first; 0 or 100: all
	Hours int `json:"hours"` // it is watched; 0 to 168, 24 by default
	// RollBack says to go back by itself when the rule of the artifact, or the
	// house's, is met.
	RollBack bool `json:"roll_back"`
	// Rules are those of going back that hold instead of the artifact's: of a
	// patch that a rule applied, as the policy said then.
	Rules []artifacts.Rule `json:"rules,omitempty"`
}

// Approval is one person's yes.
type Approval struct {
	UserID string
	Name   string // the person's handle or address
	At     time.Time
	Reason string
}

// Event is one step of a patch's way: who, when, what and why (CFG-16).
type Event struct {
	ID     int64
	At     time.Time
	UserID string          // empty: the system
	Name   string          // of the actor, for people: a handle, an address, or "Liminal"
	What   string          // proposed, checked, invalid, rehearsed, approved, rejected, applied, expired, withdrawn, rebased, superseded, watched, promoted, rolled_back
	Reason string          // may be empty where no person acted
	Data   json.RawMessage // small; null for most
}

// Filter narrows ListPatches; zero values do not narrow.
type Filter struct {
	Status     Status
	ArtifactID string
	UserID     string // who proposed
	Lost       bool   // only those not settled whose workflow has ended
	Cursor     string
	Limit      int // 1 to 100, 20 by default
}

// Transition is one step of a patch in the store: it happens whole, and only from
// where the patch is expected to stand, else it is a Conflict that names where
// it does stand.
type Transition struct {
	PatchID int64
	From    []Status // one of them; empty: any from which Status may follow
	Stages  []Stage  // one of them; empty: any
	Status  Status   // empty: as it is
	Stage   Stage    // empty: as it is
	Event   Event

	Checks      []Check             // nil: as they are
	Reports     []*rehearsal.Report // by the place of the change; nil: as they are
	Verdict     rehearsal.Verdict   // empty: as it is
	Needs       int                 // 0: as it is
	Approval    *Approval           // one more; a second of the same person is a Conflict
	RolloutPlan *RolloutPlan
	Expires     *time.Time

	// Answer settles the question the patch's workflow has open, in the same
	// transaction: the workflow is signalled with it afterwards, and again until
	// it has it. A patch whose workflow has no question open yet is a Conflict;
	// one whose workflow has ended waits for none.
	Answer json.RawMessage
	// Loose lets an Answer find no open question: the step stands all the same.
	Loose bool

	// Versions are appended in the same transaction, each with its base checked:
	// one that has moved is a Conflict with the details {artifact_id,
	// base_version, current_version}, and nothing has changed.
	Versions []NewVersion
	// Rollouts sets, or with nil ends, the rollouts of artifacts.
	Rollouts  map[string]*artifacts.Rollout
	RebasedTo int64
}

// NewVersion is a version to append.
type NewVersion struct {
	Change     int // its place among the patch's changes; -1: none of them
	ArtifactID string
	Base       int
	Schema     json.RawMessage
	By         string // user, llm, or system for what ships with the program
	Note       string
}

// NotAsked is the reason of a Conflict where the patch's workflow has yet to ask
// for what is answered.
const NotAsked = "not_asked_yet"

// TransitionResult is a patch after a Transition.
type TransitionResult struct {
	Patch    Patch
	Answered *run.Interrupt // to signal to the workflow; nil: there was none
	Versions []artifacts.Artifact
}

// Store keeps patches. The viewer of every method may be the system's.
type Store interface {
	// CreatePatch stores a patch with its run and its first event, and draft
	// artifacts its changes create, whole; it gives ids. The run is
	// run.KindPatch, "patch:{id}", of identity.SystemAccount, its input
	// {"patch_id": id}.
	CreatePatch(ctx context.Context, v identity.Viewer, p Patch, drafts []artifacts.Artifact, first Event) (Patch, run.Run, error)
	// Patch gives one: an administrator, the system and who proposed it see it;
	// for others it is NotFound.
	Patch(ctx context.Context, v identity.Viewer, id int64) (Patch, error)
	// ListPatches lists newest first, without reports; an administrator sees
	// all, others their own.
	ListPatches(ctx context.Context, v identity.Viewer, f Filter) ([]Patch, string, error)
	PatchEvents(ctx context.Context, v identity.Viewer, id int64) ([]Event, error)
	// TransitionPatch makes a step of a patch the viewer sees, if MayTransition
	// says so, as Advance says.
	TransitionPatch(ctx context.Context, v identity.Viewer, m Transition) (TransitionResult, error)
	// AppliedSince counts the versions that patches of ByModel made of an
	// artifact since a time (CFG-12).
	AppliedSince(ctx context.Context, artifactID string, since time.Time) (int, error)
	// Standing tells at which nodes paused runs of a workflow stand.
	Standing(ctx context.Context, artifactID string) ([]Standing, error)
	// Rated counts what people said of the answers of runs that followed a
	// version of a workflow in a time.
	Rated(ctx context.Context, graphID string, version int, since, until time.Time) (up, down int, err error)
	// PalaceFollowed tells of the histories of agents that began in a time and follow a
	// version of a policy.palace.
	PalaceFollowed(ctx context.Context, policyID string, version int, since, until time.Time) (PalaceFollowed, error)
	// AdapterRuns counts the runs whose models were asked with a version of an
	// adapter in a time, and what people said of their answers.
	AdapterRuns(ctx context.Context, adapterID string, version int, since, until time.Time) (AdapterRuns, error)
}

// PalaceFollowed is what became of histories of agents that follow one version of a
// policy.palace.
type PalaceFollowed struct {
	Histories int
	// TurnUSD is what a turn cost in each of them, in dollars: of those with a turn that
	// came to its end, and a price for all that they asked.
	TurnUSD []float64
}

// AdapterRuns is what became of runs that used one version of an adapter.
type AdapterRuns struct {
	Runs, Failed, Cancelled int
	Up, Down                int // answers
}

// Standing is how many runs wait for a person at a node.
type Standing struct {
	Node    string
	Version int // of the workflow they are pinned to
	Runs    int
}

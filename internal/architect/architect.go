// Package architect reads what recorded runs show of the workflows that
// everybody uses, and proposes changes to them as the system: by a few rules,
// or by a language model whose words reach the same door (CFG-13).
//
// It proposes and never decides: what it hands in is a patch like any other,
// which a person approves, and the Desk has no act of deciding in this
// package's port. It may import the nouns below it, artifacts, rehearsal and
// changes. It knows no model: a graph asks one, and what it says comes in as
// Proposals.
package architect

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// Workflow is the artifact of the graph that runs the architect.
const Workflow = "architect"

// untouchable are the workflows the architect neither reads nor changes: the
// one that runs it, and the one that carries patches.
var untouchable = []string{Workflow, "config_patch"}

// Desk is where changes are handed in; *changes.Desk is one. It has no act that
// decides.
type Desk interface {
	Propose(ctx context.Context, v identity.Viewer, p changes.Proposal) (changes.Patch, error)
	Try(ctx context.Context, v identity.Viewer, p changes.Proposal) (changes.Tried, error)
	List(ctx context.Context, v identity.Viewer, f changes.Filter) ([]changes.Patch, string, error)
	// Get gives a patch with the steps of its way.
	Get(ctx context.Context, v identity.Viewer, id int64) (changes.View, error)
}

// Ratings tells what people said of the answers of runs since a time, by run
// id: thumbs up less thumbs down. store.Store.RatedRuns is one.
type Ratings func(ctx context.Context, since time.Time) (map[string]int, error)

// Options are what an architect works with. Recordings, Library and Desk are
// needed.
type Options struct {
	Recordings run.Recordings
	Library    *artifacts.Library
	Desk       Desk
	Ratings    Ratings          // nil: no thumbs in the figures
	Now        func() time.Time // time.Now when nil
	Logger     *slog.Logger     // of proposals that were dropped; discards when nil
}

// Architect counts and proposes. It keeps no state and is safe for concurrent
// use.
type Architect struct{ o Options }

// New returns an architect. A missing part is an error.
func New(o Options) (*Architect, error) {
	if o.Recordings == nil || o.Library == nil || o.Desk == nil {
		return nil, errors.New("architect: it needs recordings, a library and a desk")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Architect{o}, nil
}

// Proposal is a change somebody, or a rule, wants made. What a model says is
// read into it and trusted with nothing.
type Proposal struct {
	Artifact      string      `json:"artifact"` // id of a workflow
	Base          int         `json:"base_version,omitempty"`
	Ops           []Operation `json:"ops"` // 1 to 20
	Justification string      `json:"justification"`
	Figures       []string    `json:"figures,omitempty"` // it stands on, a sentence each
	Rule          string      `json:"rule,omitempty"`    // that it comes of; empty: a model
}

// Operation is one of RFC 6902.
type Operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	From  string          `json:"from,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// operation is one with a value that JSON can tell.
func operation(op, path string, value any) Operation {
	doc, err := json.Marshal(value)
	if err != nil {
		doc = nil // the Desk refuses it
	}
	return Operation{Op: op, Path: path, Value: doc}
}

// Finding is what a rule saw and proposes nothing for: people decide what, if
// anything, is to change.
type Finding struct {
	Artifact string `json:"artifact"`
	Workflow string `json:"workflow"` // its name
	Version  int    `json:"version"`
	Node     string `json:"node"`
	Rule     string `json:"rule"`
	Message  string `json:"message"`
}

// readable reports whether the architect has anything to do with an artifact:
// only with workflows that are everybody's, and not with those of its own way.
// What belongs to a person is read by nobody else.
func readable(a artifacts.Artifact) bool {
	return a.Type == artifacts.KindWorkflow && a.Visibility == artifacts.Global && !slices.Contains(untouchable, a.Name)
}

package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/tool"
	"liminal/schemas"
)

// MaxSize bounds one document, in bytes.
const MaxSize = 1 << 20

// Payloads is a second place documents are written to, for jobs that mount
// the shared folder (DATA-15). The store stays the truth.
type Payloads interface {
	PutPayload(ctx context.Context, artifactID string, version int, doc json.RawMessage) error
	// DropPayload removes one version's, and DropPayloads all of an artifact's;
	// what is not there is no error.
	DropPayload(ctx context.Context, artifactID string, version int) error
	DropPayloads(ctx context.Context, artifactID string) error
	// Held are the ids of the artifacts it has anything of.
	Held(ctx context.Context) ([]string, error)
}

// Library is all artifacts. It is safe for concurrent use.
type Library struct {
	store      Store
	kinds      *schemas.Registry
	shipped    []tool.Spec          // of the tools the program implements
	known      map[string]tool.Spec // the same by name
	operations []Seed               // tool.specs of the HTTP operations
	payloads   Payloads
	log        *slog.Logger

	adapterMode string                          // of new adapters; empty: what their document says
	references  References                      // nil: nobody knows of any
	changed     func(context.Context, Artifact) // nil: nobody wants to know
	surfaces    *Surfaces                       // nil: nobody wants to know

	mu    sync.Mutex
	specs map[pinned]cached   // decoded tool.specs; versions never change
	names map[string][]string // the tools that workflows name, by the documents
}

// NewLibrary keeps artifacts in store. The specs are those of the tools the
// program implements: Seed writes them, and a tool.spec may bind no other name
// unless a workflow implements it.
func NewLibrary(store Store, specs []tool.Spec) *Library {
	l := &Library{
		store: store, kinds: schemas.NewRegistry(), shipped: slices.Clone(specs),
		known: map[string]tool.Spec{}, log: slog.New(slog.DiscardHandler), specs: map[pinned]cached{}, names: map[string][]string{},
	}
	for _, spec := range specs {
		l.known[spec.Name] = spec
	}
	return l
}

// Mirror makes every version also a file of p. A file that cannot be written
// is logged and no failure. Call it before the library is used.
func (l *Library) Mirror(p Payloads, log *slog.Logger) {
	l.payloads, l.log = p, log
}

// Kinds is the kinds the library accepts and their schemas; further kinds are
// registered there (ART-12).
func (l *Library) Kinds() *schemas.Registry { return l.kinds }

// Draft is an artifact to be.
type Draft struct {
	Type        string // a kind, or its short word
	Name        string
	Description string
	Visibility  string // private by default; global for administrators only
	Schema      json.RawMessage
	FSPath      string
	Note        string // why
	By          string // system, user or llm; user by default
}

// Create checks a draft and stores it as version 1 (ART-02). Errors: Invalid
// with every Problem, Forbidden for a global one by someone who is no
// administrator (ART-08), Conflict for a name that is taken.
func (l *Library) Create(ctx context.Context, v identity.Viewer, d Draft) (Artifact, error) {
	d.Type = Kind(d.Type)
	if d.Visibility == "" {
		d.Visibility = Private
	}
	if err := errors.Join(checkName(d.Name, d.Description), reserved(d.Type, d.Name), checkVisibility(d.Visibility), checkPath(d.FSPath, d.Visibility)); err != nil {
		return Artifact{}, err
	}
	if d.Visibility == Global && !v.IsAdmin() {
		return Artifact{}, fault.New(fault.Forbidden, "Only administrators write global artifacts.")
	}
	d.Schema = l.settled(d.Type, d.Schema)
	if err := l.check(ctx, v, d.Type, d.Name, d.Schema); err != nil {
		return Artifact{}, err
	}
	a := Artifact{
		ID: id.New(), OwnerID: v.UserID, Type: d.Type, Name: d.Name, Description: d.Description,
		Visibility: d.Visibility, Version: 1, Schema: d.Schema, FSPath: d.FSPath, CreatedBy: author(v, d.By),
	}
	if d.Visibility == Global {
		a.OwnerID = ""
	}
	a, err := l.store.CreateArtifact(ctx, v, a, d.Note)
	if err != nil {
		return Artifact{}, err
	}
	l.mirror(ctx, a)
	return a, nil
}

// author says who wrote a version (ART-06).
func author(v identity.Viewer, by string) string {
	switch {
	case v.IsSystem():
		return "system"
	case by == "llm":
		return "llm"
	}
	return "user"
}

// Get gives an artifact at its current version; NotFound when it does not
// exist or is not the viewer's to see.
func (l *Library) Get(ctx context.Context, v identity.Viewer, id string) (Artifact, error) {
	return l.store.Artifact(ctx, v, id)
}

// List gives a page of what the viewer may see and the cursor of the next;
// the filter's Type may be a short word (ART-04).
func (l *Library) List(ctx context.Context, v identity.Viewer, f Filter) ([]Artifact, string, error) {
	f.Type = Kind(f.Type)
	if f.Visibility != "" {
		if err := checkVisibility(f.Visibility); err != nil {
			return nil, "", err
		}
	}
	return l.store.ListArtifacts(ctx, v, f)
}

// Versions gives every version of an artifact (ART-05).
func (l *Library) Versions(ctx context.Context, v identity.Viewer, id string) ([]Version, error) {
	return l.store.Versions(ctx, v, id)
}

// Named finds an artifact by kind and name: the viewer's own before a global
// one.
func (l *Library) Named(ctx context.Context, v identity.Viewer, kind, name string) (Artifact, error) {
	return l.store.ArtifactNamed(ctx, v, Kind(kind), name)
}

// Workflow finds a workflow.chat by id or name (GRAPH-23). What exists but is
// no workflow is Invalid.
func (l *Library) Workflow(ctx context.Context, v identity.Viewer, idOrName string) (Artifact, error) {
	if !id.Valid(idOrName) {
		a, err := l.usable(ctx, v, KindWorkflow, idOrName)
		if errors.Is(err, fault.NotFound) {
			return Artifact{}, fault.Wrap(fault.NotFound, err, "There is no workflow %q that you may use.", idOrName)
		}
		return a, err
	}
	a, err := l.store.Artifact(ctx, v, idOrName)
	if err != nil {
		return Artifact{}, err
	}
	if a.Type != KindWorkflow {
		return Artifact{}, fault.New(fault.Invalid, "The artifact %s is a %s, not a workflow.", a.Name, Alias(a.Type))
	}
	if a.IsDraft() {
		return Artifact{}, fault.New(fault.Invalid, "The workflow %s is a draft: it can be run when the patch that makes it is applied.", a.Name)
	}
	return a, nil
}

// Policy gives the routing policy that holds for the viewer: their own
// "default" before the global one (001 §8.1).
func (l *Library) Policy(ctx context.Context, v identity.Viewer) (Artifact, error) {
	return l.usable(ctx, v, KindPolicy, DefaultPolicy)
}

// Models gives the policies of models that hold for the viewer: their own
// "default" first, if they have one, and last everybody's (LORA-26).
func (l *Library) Models(ctx context.Context, v identity.Viewer) ([]Artifact, error) {
	var found []Artifact
	for _, who := range []identity.Viewer{v, identity.System()} {
		a, err := l.usable(ctx, who, KindModels, DefaultPolicy)
		switch {
		case errors.Is(err, fault.NotFound):
		case err != nil:
			return nil, err
		case len(found) > 0 && found[0].ID == a.ID: // the system owns everybody's
		case a.OwnerID == who.UserID: // what others share is theirs
			found = append(found, a)
		}
	}
	return found, nil
}

// Learning gives the policy of learning that holds for the viewer: their own
// "default" before everybody's.
func (l *Library) Learning(ctx context.Context, v identity.Viewer) (Artifact, error) {
	return l.usable(ctx, v, KindLearning, DefaultPolicy)
}

// At gives an artifact as it was at a version, for runs that pinned it
// (PLAT-08).
func (l *Library) At(ctx context.Context, v identity.Viewer, id string, version int) (Artifact, error) {
	a, err := l.store.Artifact(ctx, v, id)
	if err != nil || a.Version == version {
		return a, err
	}
	old, err := l.store.VersionOf(ctx, v, id, version)
	if errors.Is(err, fault.NotFound) {
		return Artifact{}, fault.New(fault.NotFound, "The artifact %s has no version %d.", a.Name, version)
	}
	a.Version, a.Schema, a.CreatedBy = old.Version, old.Schema, old.CreatedBy
	return a, err
}

// Changed has f told of each artifact that gets a version here. Call it before
// the library is used.
func (l *Library) Changed(f func(ctx context.Context, a Artifact)) { l.changed = f }

// mirror writes a version's payload, if there is a place for it, and tells who
// wants to know of it.
func (l *Library) mirror(ctx context.Context, a Artifact) {
	if a.Type == KindWorkflow || a.Type == KindTool || a.Type == KindSource {
		l.surfaces.Forget()
	}
	if l.changed != nil {
		l.changed(ctx, a)
	}
	if l.payloads == nil {
		return
	}
	if err := l.payloads.PutPayload(ctx, a.ID, a.Version, a.Schema); err != nil {
		l.log.WarnContext(ctx, "an artifact's payload file was not written", "artifact", a.ID, "version", a.Version, "error", err)
	}
	l.gone(ctx, a)
}

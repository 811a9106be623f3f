package activities

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/routing"
	"liminal/internal/run"
	"liminal/internal/safety"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// VersionResolver says which version of an artifact a new run takes while the
// current one is being rolled out. *artifacts.Library is one.
type VersionResolver interface {
	// ResolveVersion is a itself, or what it was before; the same for the same key.
	ResolveVersion(ctx context.Context, v identity.Viewer, a artifacts.Artifact, key string) (artifacts.Artifact, error)
}

// Library finds behaviour, as far as the viewer may see it.
// *artifacts.Library is one.
type Library interface {
	VersionResolver
	// Workflow returns a workflow.chat artifact by id or name, the viewer's own
	// before a global one; NotFound if there is none they may see (GRAPH-23).
	Workflow(ctx context.Context, v identity.Viewer, idOrName string) (artifacts.Artifact, error)
	// Get returns an artifact of any kind.
	Get(ctx context.Context, v identity.Viewer, id string) (artifacts.Artifact, error)
	// Tools returns the named tools at their current versions; unknown names
	// are left out.
	Tools(ctx context.Context, v identity.Viewer, names ...string) (map[string]artifacts.Bound, error)
	// ToolsOf returns the tools a workflow document may call.
	ToolsOf(ctx context.Context, v identity.Viewer, doc json.RawMessage) (map[string]artifacts.Bound, error)
	// SpecAt returns a tool at the version a run is pinned to, over what it stood
	// on then (PLAT-08).
	SpecAt(ctx context.Context, v identity.Viewer, pin run.Pin, under ...run.Pin) (artifacts.Bound, error)
	// At returns an artifact as it was at a version (PLAT-08).
	At(ctx context.Context, v identity.Viewer, id string, version int) (artifacts.Artifact, error)
	// Standing is Forbidden once a tool, or what it stands on, was taken back.
	Standing(ctx context.Context, v identity.Viewer, pins ...run.Pin) error
	// Models returns the policies of models that hold for the viewer, the
	// nearest first (LORA-26).
	Models(ctx context.Context, v identity.Viewer) ([]artifacts.Artifact, error)
}

// Box calls tools within the bounds of their specs (GRAPH-25).
type Box interface {
	Call(ctx context.Context, spec tool.Spec, c *tool.Call) (map[string]any, error)
	Has(name string) bool
}

// Router chooses adapters and their gates for a turn. Its answer is kept in
// the trace as it is.
type Router interface {
	Route(ctx context.Context, v identity.Viewer, in RouteInput) (Routed, error)
}

// RouteInput is what a turn is routed by.
type RouteInput struct {
	Message     string
	Vector      []float32 // of the last message with what came before it (EMB-05)
	ContextIDs  []string
	ArtifactIDs []string // what the request named
	SafetyRisk  string   // low, med or high; empty: nobody judged (SAFE-02)
	Key         string   // whose turns take the same version of a policy that is being rolled out
}

// Routed is a router's answer with the policy it followed and the adapters it
// chose.
type Routed struct {
	Trace    json.RawMessage
	Pins     []run.Pin
	Adapters []AdapterPin
	Backend  RoutedBackend
	// Input is what was looked at, so that a rehearsal can route again; nil:
	// there was nothing to follow.
	Input *routing.Input `json:"-"`
}

// RoutedBackend is the model backend that a routing policy names for a turn.
type RoutedBackend struct {
	Name string // empty: none is named
	Firm bool   // whatever the person chose
	Own  bool   // the policy is the person's, who names what people may choose
}

// Starter starts a run whose row is there.
type Starter interface {
	StartNext(ctx context.Context, v identity.Viewer, r run.Run) error
}

// Queues says on which task queue the activities of each tool queue run. One
// that is not named runs on the workflow's own, where a worker in the same
// process can be given it eagerly.
type Queues map[string]string

// Set is the activities with the ports they work over. Embedder, Router,
// Starter, Meter, ModelBudget, Now, Logger, Queues, Safety and Sweeps may be zero.
type Set struct {
	Turns         chat.Turns
	Messages      chat.Messages
	Conversations chat.Conversations
	Runs          run.Runs
	Interrupts    run.Interrupts
	Blobs         run.Blobs
	Contexts      knowledge.Contexts
	Artifacts     Library
	Box           Box
	Log           stream.Log
	Embedder      embed.Embedder
	Router        Router
	Starter       Starter
	Meter         Meter
	Shares        Shares      // of background work, by person; nil: whoever comes first
	ModelBudget   ModelBudget // bounds what model calls use; nil: nobody counts
	Now           func() time.Time
	Logger        *slog.Logger
	Queues        Queues
	Safety        safety.Classifier // judges what people ask (SAFE-01); nil: nobody does
	Sweeps        map[string]Sweep  // by name; what the house does for itself
	MaxEffects    int               // of one workflow execution, before it continues as new; 0: the default
	Record        bool              // what runs leave for rehearsals is kept with their end (CFG-11)
	Adapters      Adapters          // counts their use (ROUTE-13); nil: nobody does
	Lessons       Lessons           // what adapters list by id; nil: models are told what is in their documents alone
	// ModelInProcess says that the model answers in this process, at once: its
	// calls are made beside their workflow, as those of inline tools.
	ModelInProcess bool
	// Backends are the model backends beside the environment's; nil: there are
	// none.
	Backends Backends
	// MaxDecode is how long the models of one run may speak altogether, by plan,
	// on top of what its graph may take (STREAM-09); nil: they have that alone.
	MaxDecode func(plan string) time.Duration
	Backend   string // the environment's, as policy.models names it; empty: the configured model for every role

	// Seals prove that a call came from a run of ours; nil: nobody looks.
	Seals *Seals

	// Person says by which words a graph may speak of a person and their house:
	// user.name, user.office, user.firm, user.language; nil: by none.
	Person func(ctx context.Context, v identity.Viewer, locale string) (map[string]string, error)
	// Who is who a person is now; NotFound for one who may do nothing any more.
	// nil: as when their run began.
	Who func(ctx context.Context, userID string) (identity.Viewer, error)

	// Keys tells whether the access keys stand that runs were begun with; nil: no
	// run that was begun with one does anything.
	Keys Keys

	// Acts keeps what is done outside that must not be done twice; nil: nobody does,
	// and such a call is made once by the engine's own means.
	Acts run.Acts

	// Settings are what a person chose for themselves; nil: nobody knows.
	Settings func(ctx context.Context, userID string) (identity.Settings, error)

	calls        calls
	computeSlots computeSlots
	engineLimit  rateLimit // of operations of the engine
	computeLimit rateLimit // of seconds of a processor
	pinned       pinned
}

// Named lists the activities by the names workflows use.
func (s *Set) Named() map[string]any {
	return map[string]any{
		NameOpen: s.OpenDirect, NameCall: s.SealedCall, NameAsk: s.Ask,
		NameDeliver: s.DeliverDirect, NameSettle: s.Settle, NameClose: s.Close,
		NameSweep: s.Sweep,
	}
}

// Stop cancels the calls of a run that are under way in this process, and those
// it begins in the next seconds. The workflow's own cancel reaches them too, but
// only with their next heartbeat.
func (s *Set) Stop(runID string) { s.calls.stop(runID) }

func (s *Set) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

func (s *Set) logger() *slog.Logger {
	if s.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Logger
}

// tell appends events to a run's stream.
func (s *Set) tell(ctx context.Context, runID string, events ...stream.Event) error {
	if len(events) == 0 {
		return nil
	}
	_, err := s.Log.Append(ctx, runID, events...)
	return err
}

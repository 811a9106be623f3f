package activities

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"

	"liminal/artifacts"
	"liminal/internal/adaptation"
	"liminal/internal/cache"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/routing"
	"liminal/internal/run"
)

// Policies finds what a turn is routed by. *artifacts.Library is one.
type Policies interface {
	VersionResolver
	// Policy returns the routing policy that holds for the viewer: their own
	// before the global one (ROUTE-01); NotFound if there is neither.
	Policy(ctx context.Context, v identity.Viewer) (artifacts.Artifact, error)
	// Get returns an artifact of any kind; NotFound if the viewer may not see
	// it.
	Get(ctx context.Context, v identity.Viewer, id string) (artifacts.Artifact, error)
}

// Learned finds what a turn may choose from without being told: the viewer's
// own adapters and everybody's, and the situations there are (ROUTE-02).
// *adaptation.Steps is one. What it gives is not to be changed.
type Learned interface {
	Candidates(ctx context.Context, v identity.Viewer) (*adaptation.Choice, error)
}

// PolicyRouter routes turns by the viewer's policy.routing. Its candidates are
// the adapters the request names, and those that Learned finds. It is safe for
// concurrent use.
type PolicyRouter struct {
	policies Policies
	backend  routing.Backend
	log      *slog.Logger
	last     cache.Cache // nil: every turn is routed anew
	learned  Learned     // nil: a turn chooses from what its request names

	mu       sync.Mutex
	compiled map[policyKey]*routing.Policy
}

// policyKey names a version, which never changes.
type policyKey struct {
	id      string
	version int
}

// String is the key as part of a fingerprint.
func (k policyKey) String() string { return k.id + "@" + strconv.Itoa(k.version) }

// maxCompiled bounds how many compiled policies a process keeps.
const maxCompiled = 256

// maxNamed is how many of the artifacts a request names are looked at: a turn
// uses three adapters at most, and each look is a read of the store.
const maxNamed = 64

var _ Router = (*PolicyRouter)(nil)

// NewRouter makes a router over policies. The backend says which adapters the
// active model can serve; the zero one serves all. A nil log is silent.
func NewRouter(policies Policies, backend routing.Backend, log *slog.Logger) *PolicyRouter {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &PolicyRouter{policies: policies, backend: backend, log: log, compiled: map[policyKey]*routing.Policy{}}
}

// Remember makes the router keep the latest choice for each person and
// embedding in c (DATA-11). It is called before the first Route.
func (r *PolicyRouter) Remember(c cache.Cache) { r.last = c }

// Learn lets turns choose from what l finds. It is called before the first
// Route.
func (r *PolicyRouter) Learn(l Learned) { r.learned = l }

// nearClusters is how many situations a turn is routed by, the nearest.
const nearClusters = 8

// Routing is what the trace of a run says of its routing (ROUTE-09). Close
// copies adapters and gates to the message (CHAT-22).
type Routing struct {
	Policy   *PolicyRef         `json:"policy"` // null: there was none to follow
	Adapters []string           `json:"adapters"`
	Gates    map[string]float64 `json:"gates"`
	Rules    []routing.Step     `json:"rules"`
	Left     []routing.Left     `json:"left,omitempty"`
	Backend  string             `json:"backend,omitempty"` // the model backend the rules named
}

// PolicyRef is the version of a policy that was followed.
type PolicyRef struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// Route follows the viewer's policy. Without any, the turn uses no adapter.
func (r *PolicyRouter) Route(ctx context.Context, v identity.Viewer, in RouteInput) (Routed, error) {
	out := Routing{Adapters: []string{}, Gates: map[string]float64{}, Rules: []routing.Step{}}
	a, err := r.policies.Policy(ctx, v)
	if errors.Is(err, fault.NotFound) {
		return routed(out)
	}
	if err == nil {
		a, err = r.policies.ResolveVersion(ctx, v, a, in.Key)
	}
	if err != nil {
		return Routed{}, err
	}
	candidates, versions, err := r.candidates(ctx, v, in)
	if err != nil {
		return Routed{}, err
	}
	turn := routing.Input{Embedding: widened(in.Vector), Adapters: candidates, Backend: r.backend, SafetyRisk: in.SafetyRisk}
	if versions, err = r.beside(ctx, v, in.Key, &turn, versions); err != nil {
		return Routed{}, err
	}
	candidates = turn.Adapters
	choice := choiceOf(v, turn, append(versions, policyKey{a.ID, a.Version}))
	if last, ok := r.recall(ctx, choice); ok {
		last.Input = keptInput(turn)
		return last, nil
	}
	result := r.policy(ctx, a).Route(turn)
	out.Policy = &PolicyRef{ID: a.ID, Name: a.Name, Version: a.Version}
	out.Rules, out.Left = append(out.Rules, result.Trace...), result.Left
	out.Backend = result.Backend
	for _, g := range result.Gates {
		out.Adapters = append(out.Adapters, g.ID)
		out.Gates[g.ID] = g.Weight
	}
	r.report(ctx, a, result)
	answer, err := routed(out, run.Pin{ArtifactID: a.ID, Name: a.Name, Version: a.Version})
	answer.pin(result.Gates, candidates, versions)
	answer.Input = keptInput(turn)
	answer.Backend = RoutedBackend{Name: result.Backend, Firm: result.Firm, Own: a.OwnerID != ""}
	if err == nil {
		r.keep(ctx, choice, answer)
	}
	return answer, err
}

// keptInput is what of an input is kept: without candidates there is nothing to
// measure a vector against, and every turn has one.
func keptInput(in routing.Input) *routing.Input {
	if len(in.Adapters) == 0 && len(in.Clusters) == 0 {
		in.Embedding = nil
	}
	return &in
}

func routed(out Routing, pins ...run.Pin) (Routed, error) {
	raw, err := json.Marshal(out)
	return Routed{Trace: raw, Pins: pins}, err
}

// pin fixes the adapters that were chosen at the versions they were chosen by.
// Versions stand beside the candidates.
func (r *Routed) pin(gates []routing.Gate, candidates []routing.Adapter, versions []policyKey) {
	for _, g := range gates {
		i := slices.IndexFunc(candidates, func(a routing.Adapter) bool { return a.ID == g.ID })
		if i < 0 {
			continue
		}
		r.Adapters = append(r.Adapters, AdapterPin{
			Pin:    run.Pin{ArtifactID: g.ID, Name: candidates[i].Name, Version: versions[i].version},
			Weight: g.Weight,
		})
	}
}

// report logs what an operator would look for: adapters that were left out
// (LORA-04, LORA-09) and rules that were skipped (ROUTE-11).
func (r *PolicyRouter) report(ctx context.Context, a artifacts.Artifact, result routing.Result) {
	for _, l := range result.Left {
		r.log.InfoContext(ctx, l.Reason, "adapter", l.ID, "weight", l.Weight, "policy", a.ID, "version", a.Version)
	}
	for _, s := range result.Trace {
		if s.Error != "" {
			r.log.WarnContext(ctx, "a rule of a routing policy was skipped", "rule", s.Rule, "error", s.Error, "policy", a.ID, "version", a.Version)
		}
	}
}

// policy gives an artifact compiled. One at fault is followed as far as it
// goes; each turn's trace says which rules were skipped.
func (r *PolicyRouter) policy(ctx context.Context, a artifacts.Artifact) *routing.Policy {
	key := policyKey{a.ID, a.Version}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ok := r.compiled[key]; ok {
		return p
	}
	p, err := routing.Compile(a.Schema)
	if err != nil {
		r.log.WarnContext(ctx, "a stored routing policy has faults", "policy", a.ID, "version", a.Version, "error", err)
	}
	if len(r.compiled) >= maxCompiled {
		clear(r.compiled)
	}
	r.compiled[key] = p
	return p
}

// candidates are the adapters among the artifacts a request names, and their
// versions: the one before for a conversation that does not try what is new.
// Those the viewer may not see, and other kinds, are none.
func (r *PolicyRouter) candidates(ctx context.Context, v identity.Viewer, in RouteInput) (out []routing.Adapter, versions []policyKey, err error) {
	for _, id := range in.ArtifactIDs[:min(len(in.ArtifactIDs), maxNamed)] {
		a, err := r.policies.Get(ctx, v, id)
		if err == nil && a.Type == artifacts.KindAdapter {
			a, err = r.policies.ResolveVersion(ctx, v, a, in.Key)
		}
		switch {
		case errors.Is(err, fault.NotFound):
		case err != nil:
			return nil, nil, err
		case a.Type == artifacts.KindAdapter && inUse(a):
			out, versions = append(out, adapterOf(a)), append(versions, policyKey{a.ID, a.Version})
		}
	}
	return out, versions, nil
}

// beside adds what a turn may choose from without being told, and how that was
// used. What its request names comes first, and once.
func (r *PolicyRouter) beside(ctx context.Context, v identity.Viewer, key string, turn *routing.Input, versions []policyKey) ([]policyKey, error) {
	if r.learned == nil {
		return versions, nil
	}
	choice, err := r.learned.Candidates(ctx, v)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		r.log.WarnContext(ctx, "a turn is routed without what was learnt", "error", err)
		return versions, nil
	}
	named := len(turn.Adapters)
	if len(choice.Adapters) > 0 {
		turn.Usage = make(map[string]any, len(choice.Adapters))
	}
	for _, c := range choice.Adapters {
		c, ok := c.For(key)
		if !ok {
			continue
		}
		turn.Usage[c.ID] = c.Use
		if !slices.ContainsFunc(turn.Adapters[:named], func(a routing.Adapter) bool { return a.ID == c.ID }) {
			turn.Adapters, versions = append(turn.Adapters, c.Adapter), append(versions, policyKey{c.ID, c.Version})
		}
	}
	turn.Clusters = routing.Nearest(turn.Embedding, choice.Clusters, nearClusters)
	return versions, nil
}

// inUse reports whether an adapter is one that turns may use: no draft, and not
// disabled.
func inUse(a artifacts.Artifact) bool {
	var d struct {
		Status string `json:"status"`
	}
	return !a.IsDraft() && (json.Unmarshal(a.Schema, &d) != nil || d.Status != "disabled")
}

// adapterOf reads what a policy may ask of an adapter. The library has checked
// the document; of one it cannot read, the id and name remain.
func adapterOf(a artifacts.Artifact) routing.Adapter {
	var d struct {
		Type          string `json:"type"`
		Mode          string `json:"mode"`
		Backend       string `json:"backend"`
		Instructions  string `json:"prompt_instructions"`
		ClusterID     string `json:"cluster_id"`
		Applicability struct {
			Centroid []float64 `json:"embedding_centroid"`
		} `json:"applicability"`
	}
	out := routing.Adapter{ID: a.ID, Name: a.Name}
	if json.Unmarshal(a.Schema, &d) != nil {
		return out
	}
	out.Type, out.ClusterID, out.Centroid = d.Type, d.ClusterID, d.Applicability.Centroid
	out.Mode = model.ModeOf(d.Mode, d.Backend, d.Instructions != "")
	return out
}

func widened(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

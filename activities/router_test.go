package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"liminal/activities"
	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/routing"
	"liminal/internal/run"
)

// memStore is policies and adapters by the person who may see them; "" is
// everyone.
type memStore struct {
	policies map[string]artifacts.Artifact
	things   map[string]artifacts.Artifact
	broken   error
	old      map[string]artifacts.Artifact // what the keys of a trial take that do not try what is new
}

func (s *memStore) ResolveVersion(_ context.Context, _ identity.Viewer, a artifacts.Artifact, key string) (artifacts.Artifact, error) {
	if old, ok := s.old[key]; ok && old.ID == a.ID {
		return old, nil
	}
	return a, nil
}

func (s *memStore) Policy(_ context.Context, v identity.Viewer) (artifacts.Artifact, error) {
	for _, owner := range []string{v.UserID, ""} {
		if a, ok := s.policies[owner]; ok {
			return a, s.broken
		}
	}
	return artifacts.Artifact{}, fault.New(fault.NotFound, "There is no policy.")
}

func (s *memStore) Get(_ context.Context, v identity.Viewer, id string) (artifacts.Artifact, error) {
	a, ok := s.things[id]
	if !ok || a.OwnerID != "" && a.OwnerID != v.UserID {
		return artifacts.Artifact{}, fault.New(fault.NotFound, "There is no artifact %s.", id)
	}
	return a, nil
}

func document(id string, version int, kind, doc string) artifacts.Artifact {
	return artifacts.Artifact{ID: id, Name: "name of " + id, Version: version, Type: kind, Schema: json.RawMessage(doc)}
}

func activates(id string, version int, adapterType string, weight string) artifacts.Artifact {
	return document(id, version, artifacts.KindPolicy, `{"kind":"policy.routing","rules":[
		{"id":"on","when":"true","action":{"type":"activate_adapter_by_type","adapter_type":"`+adapterType+`","weight":`+weight+`}}]}`)
}

const (
	persona = `{"kind":"adapter.lora","mode":"prompt","prompt_instructions":"Be brief.","type":"persona"}`
	skill   = `{"kind":"adapter.lora","backend":"api","remote_model_id":"m","type":"skill","cluster_id":"c",
		"applicability":{"embedding_centroid":[0.8,0.6]}}`
)

func route(t *testing.T, r activities.Router, v identity.Viewer, in activities.RouteInput) (activities.Routing, []run.Pin) {
	t.Helper()
	got, err := r.Route(t.Context(), v, in)
	if err != nil {
		t.Fatal(err)
	}
	var out activities.Routing
	if err := json.Unmarshal(got.Trace, &out); err != nil {
		t.Fatal(err)
	}
	return out, got.Pins
}

// Requirements: ROUTE-01
func TestAPersonsOwnPolicyRoutesBeforeTheGlobalOne(t *testing.T) {
	t.Parallel()
	r := activities.NewRouter(&memStore{
		policies: map[string]artifacts.Artifact{"": activates("global", 1, "persona", "0.5"), "ann": activates("anns", 3, "persona", "0.9")},
		things:   map[string]artifacts.Artifact{"p": document("p", 1, artifacts.KindAdapter, persona)},
	}, routing.Backend{}, nil)
	for who, want := range map[string]struct {
		pin    run.Pin
		weight float64
	}{
		"ann": {run.Pin{ArtifactID: "anns", Name: "name of anns", Version: 3}, 0.9},
		"bob": {run.Pin{ArtifactID: "global", Name: "name of global", Version: 1}, 0.5},
	} {
		got, pins := route(t, r, identity.Viewer{UserID: who}, activities.RouteInput{ArtifactIDs: []string{"p"}})
		if !slices.Equal(pins, []run.Pin{want.pin}) || got.Policy == nil || got.Policy.Version != want.pin.Version {
			t.Errorf("%s is routed by %+v, pinned %+v", who, got.Policy, pins)
		}
		if !slices.Equal(got.Adapters, []string{"p"}) || !maps.Equal(got.Gates, map[string]float64{"p": want.weight}) {
			t.Errorf("%s uses %v with %v", who, got.Adapters, got.Gates)
		}
	}
}

// Requirements: ROUTE-01, ROUTE-09 (fired rules and weights)
func TestANewVersionOfAPolicyRoutesTheNextTurn(t *testing.T) {
	t.Parallel()
	s := &memStore{
		policies: map[string]artifacts.Artifact{"": activates("global", 1, "persona", "0.5")},
		things:   map[string]artifacts.Artifact{"p": document("p", 1, artifacts.KindAdapter, persona)},
	}
	r, in := activities.NewRouter(s, routing.Backend{}, nil), activities.RouteInput{ArtifactIDs: []string{"p"}}
	before, _ := route(t, r, identity.Viewer{}, in)
	s.policies[""] = activates("global", 2, "persona", "0.2")
	after, _ := route(t, r, identity.Viewer{}, in)
	if before.Gates["p"] != 0.5 || after.Gates["p"] != 0.2 || len(after.Rules) != 1 || !after.Rules[0].Fired {
		t.Errorf("routed %+v, then %+v", before, after)
	}
}

// Without a policy, and when its every rule is bad, a turn goes on.
//
// Requirements: ROUTE-11
func TestATurnGoesOnWithoutAPolicyThatCanBeFollowed(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := &memStore{}
	r := activities.NewRouter(s, routing.Backend{}, slog.New(slog.NewTextHandler(&log, nil)))
	got, err := r.Route(t.Context(), identity.Viewer{}, activities.RouteInput{})
	if want := `{"policy":null,"adapters":[],"gates":{},"rules":[]}`; err != nil || string(got.Trace) != want || got.Pins != nil {
		t.Errorf("without a policy: %s, %v, %v", got.Trace, got.Pins, err)
	}
	s.policies = map[string]artifacts.Artifact{"": document("g", 1, artifacts.KindPolicy, `{"kind":"policy.routing","rules":[{"id":"bad","when":"rm()","action":{}}]}`)}
	out, _ := route(t, r, identity.Viewer{}, activities.RouteInput{})
	if len(out.Rules) != 1 || out.Rules[0].Error == "" || len(out.Adapters) != 0 {
		t.Errorf("with a bad rule: %+v", out)
	}
	if !strings.Contains(log.String(), "rule=bad") {
		t.Errorf("the log says %q", log.String())
	}
	s.broken = errors.New("the disk is full")
	if _, err := r.Route(t.Context(), identity.Viewer{}, activities.RouteInput{}); err == nil {
		t.Error("a store that fails is taken for a missing policy")
	}
}

// Candidates are adapters the request names and the viewer may see; the
// backend must be able to serve them.
//
// Requirements: LORA-04 (dropped before the policy; logged), ISO-06 (private), ROUTE-02 (ctx_embedding; adapter candidates of the request)
func TestOnlyAdaptersTheViewerMaySeeAndTheBackendCanServeAreCandidates(t *testing.T) {
	t.Parallel()
	hidden := document("hidden", 1, artifacts.KindAdapter, persona)
	hidden.OwnerID = "bob"
	s := &memStore{
		policies: map[string]artifacts.Artifact{"": document("g", 1, artifacts.KindPolicy, `{"kind":"policy.routing","rules":[
			{"id":"all","when":"true","action":{"type":"activate_adapter_by_type","adapter_type":"persona","weight":0.3}},
			{"id":"near","when":"cosine_similarity(ctx_embedding, adapter_centroid) > 0.6","action":{"type":"activate_adapter_by_cluster","cluster_id":"closest","weight":"similarity"}}]}`)},
		things: map[string]artifacts.Artifact{
			"p": document("p", 1, artifacts.KindAdapter, persona), "s": document("s", 1, artifacts.KindAdapter, skill),
			"w": document("w", 1, artifacts.KindWorkflow, `{"type":"persona"}`), "hidden": hidden,
		},
	}
	in := activities.RouteInput{Vector: []float32{1, 0}, ArtifactIDs: []string{"w", "hidden", "gone", "p", "s"}}
	ann := identity.Viewer{UserID: "ann"}
	got, _ := route(t, activities.NewRouter(s, routing.Backend{}, nil), ann, in)
	if !slices.Equal(got.Adapters, []string{"s", "p"}) {
		t.Errorf("the adapters are %v with %v", got.Adapters, got.Gates)
	}
	var log strings.Builder
	local := routing.Backend{Modes: []string{"local", "prompt", "hybrid"}}
	got, _ = route(t, activities.NewRouter(s, local, slog.New(slog.NewTextHandler(&log, nil))), ann, in)
	if !slices.Equal(got.Adapters, []string{"p"}) || !slices.Equal(got.Left, []routing.Left{{ID: "s", Reason: routing.FilteredByMode}}) {
		t.Errorf("on a local backend the adapters are %v, left %v", got.Adapters, got.Left)
	}
	if !strings.Contains(log.String(), "adapter_filtered_by_mode adapter=s") {
		t.Errorf("the log says %q", log.String())
	}
}

// The router is on the way of every turn.
func BenchmarkPolicyRouter(b *testing.B) {
	r := activities.NewRouter(&memStore{policies: map[string]artifacts.Artifact{"": activates("global", 1, "persona", "0.5")}}, routing.Backend{}, nil)
	in := activities.RouteInput{Vector: make([]float32, 64)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Route(b.Context(), identity.Viewer{}, in); err != nil {
			b.Fatal(err)
		}
	}
}

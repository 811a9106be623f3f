package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"liminal/activities"
	"liminal/artifacts"
	"liminal/internal/adaptation"
	"liminal/internal/cache"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/routing"
)

// kept counts what a router finds and keeps.
type kept struct {
	cache.Cache
	keys map[string]int
	sets int
	hits int
}

func (k *kept) Get(ctx context.Context, key string) ([]byte, bool, error) {
	value, ok, err := k.Cache.Get(ctx, key)
	if ok {
		k.hits++
	}
	return value, ok, err
}

func (k *kept) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	k.keys[key]++
	k.sets++
	return k.Cache.Set(ctx, key, value, ttl)
}

// Each step routes once more. new says whether the policy had to be followed:
// only then something is kept.
//
// Requirements: DATA-11, DATA-10
func TestTheLatestChoiceIsKeptUntilAPolicyOrAnAdapterHasANewVersion(t *testing.T) {
	t.Parallel()
	s := &memStore{
		policies: map[string]artifacts.Artifact{"": activates("global", 1, "persona", "0.5")},
		things:   map[string]artifacts.Artifact{"p": document("p", 1, artifacts.KindAdapter, persona)},
	}
	c := &kept{Cache: inproc.NewCache(0), keys: map[string]int{}}
	r := activities.NewRouter(s, routing.Backend{}, nil)
	r.Remember(c)
	ann, in := identity.Viewer{UserID: "ann"}, activities.RouteInput{Vector: []float32{1, 0}, ArtifactIDs: []string{"p"}}
	weight := 0.5
	for _, step := range []struct {
		what   string
		change func()
		new    bool
	}{
		{"the first turn", func() {}, true},
		{"the same again", func() {}, false},
		{"another person", func() { ann.UserID = "bob" }, true},
		{"the first person", func() { ann.UserID = "ann" }, false},
		{"another embedding", func() { in.Vector = []float32{0, 1} }, true},
		{"the first embedding", func() { in.Vector = []float32{1, 0} }, false},
		{"no adapter", func() { in.ArtifactIDs, weight = nil, 0 }, true},
		{"the adapter again", func() { in.ArtifactIDs, weight = []string{"p"}, 0.5 }, true},
		{"a new version of the policy", func() { s.policies[""], weight = activates("global", 2, "persona", "0.2"), 0.2 }, true},
		{"that version again", func() {}, false},
		{"a new version of the adapter", func() { s.things["p"] = document("p", 2, artifacts.KindAdapter, persona) }, true},
		{"that one again", func() {}, false},
	} {
		step.change()
		before := c.sets
		got, pins := route(t, r, ann, in)
		if followed := c.sets > before; followed != step.new {
			t.Errorf("%s: the policy was followed: %v", step.what, followed)
		}
		if got.Gates["p"] != weight || len(pins) != 1 || pins[0].Version != s.policies[""].Version {
			t.Errorf("%s: gates %v, pins %v", step.what, got.Gates, pins)
		}
	}
	for key := range c.keys {
		if !strings.HasPrefix(key, "router:last:ann:") && !strings.HasPrefix(key, "router:last:bob:") {
			t.Errorf("the key %s is not of the table", key)
		}
	}
}

// taught is what a person's turns choose from.
type taught struct{ adaptation.Choice }

func (k *taught) Candidates(context.Context, identity.Viewer) (*adaptation.Choice, error) {
	return &k.Choice, nil
}

// A choice by how adapters were used is none for adapters that were used
// otherwise, though all versions are the same.
//
// Requirements: ROUTE-02 (usage_stats), DATA-11
func TestAChoiceIsKeptForAdaptersThatWereUsedSo(t *testing.T) {
	t.Parallel()
	s := &memStore{policies: map[string]artifacts.Artifact{"": document("g", 1, artifacts.KindPolicy, `{"kind":"policy.routing","rules":[
		{"id":"liked","when":"usage_stats[adapter_id].success_score > 0.5","action":{"type":"activate_adapter_by_id","adapter_id":"current","weight":0.5}}]}`)}}
	use := func(score float64) *taught {
		return &taught{adaptation.Choice{Adapters: []adaptation.Candidate{{
			Adapter: routing.Adapter{ID: "p", Type: "persona"}, Version: 1, Use: map[string]any{"usage_count": 4.0, "success_score": score},
		}}}}
	}
	c := &kept{Cache: inproc.NewCache(0), keys: map[string]int{}}
	r := activities.NewRouter(s, routing.Backend{}, nil)
	r.Remember(c)
	for n, step := range []struct {
		score, weight float64
		sets          int
	}{{0.2, 0, 1}, {0.2, 0, 1}, {0.9, 0.5, 2}, {0.9, 0.5, 2}, {-1, 0, 3}} {
		r.Learn(use(step.score))
		got, err := r.Route(t.Context(), identity.Viewer{UserID: "ann"}, activities.RouteInput{Vector: []float32{1, 0}})
		if err != nil {
			t.Fatal(err)
		}
		var out activities.Routing
		if err := json.Unmarshal(got.Trace, &out); err != nil {
			t.Fatal(err)
		}
		if out.Gates["p"] != step.weight || c.sets != step.sets {
			t.Errorf("step %d: the gates are %v, and %d choices were kept", n, out.Gates, c.sets)
		}
		// The recording of the run has it: a rehearsal routes by the same.
		if told := got.Input.Usage["p"]; !reflect.DeepEqual(told, map[string]any{"usage_count": 4.0, "success_score": step.score}) {
			t.Errorf("step %d: the recording says %v", n, told)
		}
	}
}

// away is a cache that does not answer.
type away struct{ cache.Cache }

func (away) Get(context.Context, string) ([]byte, bool, error) { return nil, false, errors.New("away") }

func (away) Set(context.Context, string, []byte, time.Duration) error { return errors.New("away") }

// Requirements: DATA-13
func TestATurnIsRoutedWithoutTheCache(t *testing.T) {
	t.Parallel()
	s := &memStore{
		policies: map[string]artifacts.Artifact{"": activates("global", 1, "persona", "0.5")},
		things:   map[string]artifacts.Artifact{"p": document("p", 1, artifacts.KindAdapter, persona)},
	}
	r := activities.NewRouter(s, routing.Backend{}, nil)
	r.Remember(away{})
	for _, vector := range [][]float32{{1, 0}, {float32(math.NaN()), 0}} {
		got, _ := route(t, r, identity.Viewer{UserID: "ann"}, activities.RouteInput{Vector: vector, ArtifactIDs: []string{"p"}})
		if got.Gates["p"] != 0.5 {
			t.Errorf("gates %v", got.Gates)
		}
	}
}

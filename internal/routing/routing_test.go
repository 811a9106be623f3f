package routing_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"liminal/internal/routing"
)

func policy(t testing.TB, rules ...string) *routing.Policy {
	t.Helper()
	p, err := routing.Compile([]byte(`{"kind":"policy.routing","rules":[` + strings.Join(rules, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// crowd is adapters with ids and centroids that differ.
func crowd(n int) routing.Input {
	in := routing.Input{Embedding: []float64{1, 0}}
	for i := range n {
		angle := float64(i) / float64(n)
		in.Adapters = append(in.Adapters, routing.Adapter{
			ID: fmt.Sprintf("a%03d", i), Type: "skill", Centroid: []float64{math.Cos(angle), math.Sin(angle)},
		})
	}
	return in
}

// Requirements: ROUTE-10
func TestTheSameTurnIsRoutedTheSameInWhateverOrderItsCandidatesCome(t *testing.T) {
	t.Parallel()
	p := policy(t,
		`{"id":"near","when":"cosine_similarity(ctx_embedding, adapter_centroid) > 0.6","action":{"type":"activate_adapter_by_type","adapter_type":"skill","weight":"similarity"}}`,
		`{"id":"even","when":"true","action":{"type":"scale_adapter_weight","factor":0.9}}`)
	in := crowd(40)
	want := p.Route(in)
	if len(want.Gates) != routing.MaxActive {
		t.Fatalf("the gates are %v", want.Gates)
	}
	for range 10 {
		slices.Reverse(in.Adapters)
		in.Adapters = append(in.Adapters[7:], in.Adapters[:7]...)
		if got := p.Route(in); !reflect.DeepEqual(got, want) {
			t.Fatalf("routed %v, then %v", want, got)
		}
	}
}

// A rule that spends more than its share is skipped; the one about safety
// after it is not starved.
//
// Requirements: ROUTE-11
func TestARuleThatCostsTooMuchDoesNotStarveTheNext(t *testing.T) {
	t.Parallel()
	p := policy(t,
		`{"id":"on","when":"true","action":{"type":"activate_adapter_by_type","adapter_type":"skill"}}`,
		`{"id":"dear","when":"any(adapter_candidates, any(adapter_candidates, # == adapter_id))","action":{"type":"scale_adapter_weight","factor":0.5}}`,
		`{"id":"off","when":"safety_risk == 'high'","action":{"type":"deactivate_all_adapters"}}`)
	in := crowd(2000)
	in.SafetyRisk = "high"
	got := p.Route(in)
	if len(got.Gates) != 0 || !got.Trace[2].Fired {
		t.Errorf("still on: %v", got.Gates)
	}
	if !strings.Contains(got.Trace[1].Error, "steps") {
		t.Errorf("the dear rule says %q", got.Trace[1].Error)
	}
}

// Requirements: ROUTE-11
func TestAPolicyWithABadRuleFollowsTheOthers(t *testing.T) {
	t.Parallel()
	p, err := routing.Compile([]byte(`{"kind":"policy.routing","rules":[
		{"id":"bad","when":"safety_risk ==","action":{"type":"deactivate_all_adapters"}}, 7,
		{"id":"good","when":"true","action":{"type":"activate_adapter_by_id","adapter_id":"a000","weight":0.4}}]}`))
	if err == nil {
		t.Fatal("the policy was not refused")
	}
	got := p.Route(crowd(1))
	if want := []routing.Gate{{ID: "a000", Weight: 0.4}}; !slices.Equal(got.Gates, want) {
		t.Errorf("the gates are %v, want %v", got.Gates, want)
	}
	if len(got.Trace) != 3 || got.Trace[0].Error == "" || got.Trace[1].Error == "" || got.Trace[2].Error != "" {
		t.Errorf("the trace is %+v", got.Trace)
	}
}

func FuzzCompile(f *testing.F) {
	seed, err := os.ReadFile("testdata/route/of_the_seed.json")
	if err != nil {
		f.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(seed, &g); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(g.Policy))
	for _, doc := range []string{
		`{}`, `[]`, `{"kind":"policy.routing","rules":null}`, `{"kind":"policy.routing","rules":[null,{"id":1}]}`,
		`{"kind":"policy.routing","rules":[{"id":"a","when":"adapter_id in ['a001']","action":{"type":"scale_adapter_weight","factor":10}}]}`,
		`{"kind":"policy.routing","rules":[{"id":"a","when":"len(ctx_embedding) > 1","action":{"type":"activate_adapter_by_cluster","cluster_id":"closest","weight":"similarity"}}]}`,
		`{"kind":"policy.routing","rules":[{"id":"a","when":"true","action":{"type":"deactivate_adapter","adapter_id":"current","weight":[]}}]}`,
	} {
		f.Add([]byte(doc))
	}
	in := crowd(5)
	in.Clusters = []routing.Cluster{{ID: "a001", Label: "Debug", Similarity: 0.7}}
	f.Fuzz(func(t *testing.T, doc []byte) {
		p, err := routing.Compile(doc)
		got := p.Route(in)
		bounded(t, got)
		if again := p.Route(in); !reflect.DeepEqual(got, again) {
			t.Fatalf("routed %+v, then %+v", got, again)
		}
		for i, s := range got.Trace {
			if s.Rule == "" {
				t.Fatalf("rule %d has no name in the trace", i)
			}
		}
		if err != nil && err.Error() == "" {
			t.Fatal("refused without a word")
		}
	})
}

// bounded holds what every routing promises.
func bounded(t *testing.T, r routing.Result) {
	t.Helper()
	var sum float64
	for _, g := range r.Gates {
		if !(g.Weight > 0 && g.Weight <= 1) {
			t.Fatalf("the gate of %s is %v", g.ID, g.Weight)
		}
		sum += g.Weight
	}
	if len(r.Gates) > routing.MaxActive || sum > 1+1e-9 {
		t.Fatalf("%d gates of %v", len(r.Gates), sum)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Fatal(err)
	}
}

// The router is on the way of every turn.
func BenchmarkRoute(b *testing.B) {
	raw, err := os.ReadFile("../../artifacts/defaults/policy.routing/default.json")
	if err != nil {
		b.Fatal(err)
	}
	p, err := routing.Compile(raw)
	if err != nil {
		b.Fatal(err)
	}
	in := crowd(8)
	for i := range in.Adapters {
		in.Adapters[i].Centroid = make([]float64, 64)
		in.Adapters[i].Centroid[i] = 1
	}
	in.Embedding = make([]float64, 64)
	in.Embedding[3] = 1
	b.ReportAllocs()
	for b.Loop() {
		p.Route(in)
	}
}

// Requirements: ROUTE-05
func TestRulesNameABackend(t *testing.T) {
	t.Parallel()
	rule := func(id, when, backend, more string) string {
		return `{"id":"` + id + `","when":"` + when + `","action":{"type":"use_backend","backend":"` + backend + `"` + more + `}}`
	}
	for name, c := range map[string]struct {
		rules []string
		want  string
		firm  bool
	}{
		"no rule":                 {nil, "", false},
		"one that does not hold":  {[]string{rule("a", "safety_risk == 'low'", "office", "")}, "", false},
		"the first":               {[]string{rule("a", "true", "office", ""), rule("b", "true", "lab", "")}, "office", false},
		"one that overwrites":     {[]string{rule("a", "true", "office", ""), rule("b", "safety_risk == 'high'", "lab", `,"overwrite":true`)}, "lab", true},
		"one after it":            {[]string{rule("a", "true", "lab", `,"overwrite":true`), rule("b", "true", "office", "")}, "lab", true},
		"asked of each candidate": {[]string{rule("a", "adapter_type == 'persona'", "office", "")}, "office", false},
	} {
		p, err := routing.Compile([]byte(`{"kind":"policy.routing","rules":[` + strings.Join(c.rules, ",") + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		got := p.Route(routing.Input{SafetyRisk: "high", Adapters: []routing.Adapter{{ID: "x", Type: "persona"}}})
		if got.Backend != c.want || got.Firm != c.firm || len(got.Gates) != 0 {
			t.Errorf("%s: %q, firm %t, %v", name, got.Backend, got.Firm, got.Gates)
		}
	}
	if _, err := routing.Compile([]byte(`{"kind":"policy.routing","rules":[{"id":"a","when":"true","action":{"type":"use_backend"}}]}`)); err == nil {
		t.Error("a rule that names no backend is taken")
	}
}

func TestTheNearestSituationsAreThoseThatCanBeCompared(t *testing.T) {
	t.Parallel()
	clusters := []routing.Cluster{
		{ID: "odd", Centroid: []float64{1, 2, 3}}, {ID: "far", Centroid: []float64{-1, 0}}, {ID: "near", Centroid: []float64{1, 0.1}}, {ID: "next", Centroid: []float64{1, 1}},
	}
	near := routing.Nearest([]float64{1, 0}, clusters, 2)
	if len(near) != 2 || near[0].ID != "near" || near[1].ID != "next" || near[0].Similarity < 0.9 {
		t.Errorf("near is %+v", near)
	}
	if clusters[0].ID != "odd" || len(routing.Nearest(nil, clusters, 8)) != 0 {
		t.Error("without a vector something is near, or the list was changed")
	}
}

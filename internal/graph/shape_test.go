package graph

import (
	"reflect"
	"testing"
	"time"
)

// Requirements: CFG-11
func TestShapesTellWhatNodesAreAndWhereTheyGo(t *testing.T) {
	t.Parallel()
	doc := `{"kind":"workflow.chat","entrypoint":"a","nodes":[
		{"id":"a","type":"tool_call","tool":"t","inputs":{}},
		{"id":"s","type":"switch","branches":[{"when":"a.n > 1","next":"m"},{"when":"true","next":"w"}]},
		{"id":"m","type":"map","over":["x"],"body":"w","next":"end"},
		{"id":"w","type":"workflow","workflow":"other"},
		{"id":"end","type":"end"}]}`
	g, err := Parse([]byte(doc), Tools{"t": {Name: "t"}}, ChatLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := []Shape{
		{ID: "a", Type: ToolCall, Does: "t", Next: "s"},
		{ID: "s", Type: Switch, Branches: []Branch{{When: "a.n > 1", Next: "m"}, {When: "true", Next: "w"}}},
		{ID: "m", Type: Map, Body: "w", Next: "end"},
		{ID: "w", Type: Workflow, Does: "other"},
		{ID: "end", Type: End},
	}
	if got := g.Shapes(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r, _ := g.Start(Input{Now: began})
	r.Done("a#1", map[string]any{"n": 0.0}, began.Add(3*time.Second))
	if r.Spent() != 3*time.Second {
		t.Errorf("it has spent %s", r.Spent())
	}
}

// What a conversation looks like is for people: no graph reads it, and a
// stored one of another form than today's still runs (PLAT-08).
func TestASurfaceIsNoneOfTheGraphsBusiness(t *testing.T) {
	t.Parallel()
	var want []Shape
	for n, surface := range []string{``, `"surface":{"title":{"en":"${vars.nobody} sets this"}},`, `"surface":["of","old"],`} {
		g, err := Parse([]byte(`{"kind":"workflow.chat",`+surface+`"entrypoint":"end","nodes":[{"id":"end","type":"end","response":"Done."}]}`), nil, ChatLimits())
		if err != nil {
			t.Fatalf("%s: %v", surface, err)
		}
		if n == 0 {
			want = g.Shapes()
		} else if got := g.Shapes(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", surface, got)
		}
	}
}

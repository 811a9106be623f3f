package graph_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"liminal/internal/graph"
)

// A value may be named as often as a document has room for, and each time it is
// rendered or copied: what one node makes of them is bounded too, and not only
// the walk from node to node.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestWhatOneNodeMakesOfItsValuesIsBounded(t *testing.T) {
	t.Parallel()
	many := func(what string) string {
		l := make([]string, 20_000)
		for i := range l {
			l[i] = what
		}
		b, _ := json.Marshal(l)
		return string(b)
	}
	long, wide := strings.Repeat("x", 900<<10), make([]any, 200_000)
	for name, node := range map[string]string{
		"texts of a set":   `{"id":"s","type":"set","values":{"v":` + many("-${input.long}") + `}}`,
		"copies of a set":  `{"id":"s","type":"set","values":{"v":` + many("${input.wide}") + `}}`,
		"texts of a call":  `{"id":"s","type":"tool_call","tool":"echo","inputs":{"v":` + many("-${input.long}") + `}}`,
		"copies of an end": `{"id":"s","type":"end","data":{"v":` + many("${input.wide}") + `}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := parsed(t, node, graph.Tool{Name: "echo", Idempotent: true})
			r, effects := g.Start(graph.Input{Input: map[string]any{"long": long, "wide": wide}, Now: time.Unix(0, 0)})
			out, ended := r.Outcome()
			if len(effects) != 0 || !ended || out.Err == nil || out.Err.Code != graph.CodeLimit {
				t.Errorf("%d effects, outcome %+v, ended %v; want the limit of a run's work", len(effects), out.Err, ended)
			}
		})
	}
}

// A run that began under the version before goes on: what a stored document
// says in words that got a meaning since is no fault of it. A new document is
// told.
//
// Requirements: PLAT-08
func TestAStoredDocumentMaySayWhatMeantNothingWhenItWasWritten(t *testing.T) {
	t.Parallel()
	doc := []byte(documentOf(`
		{"id":"a","type":"tool_call","tool":"echo","description":"Costs ${5 or 6}","stage":"triage","optional":"maybe","stream":"later","next":"b"},
		{"id":"b","type":"tool_call","tool":"echo","description":"For ${customer}","stage":"b","optional":true,"next":"c"},
		{"id":"c","type":"tool_call","tool":"echo","description":"Plainly ${input.who}"}`))
	tools := registry([]graph.Tool{{Name: "echo", Idempotent: true}})
	if _, err := graph.Parse(doc, tools, graph.ChatLimits()); err == nil {
		t.Error("a new document was accepted")
	}
	limits := graph.ChatLimits()
	limits.Stored = true
	g, err := graph.Parse(doc, tools, limits)
	if err != nil {
		t.Fatal(err)
	}
	r, effects := g.Start(graph.Input{Input: map[string]any{"who": "Anna"}, Now: time.Unix(0, 0)})
	for _, want := range []string{"Costs ${5 or 6}", "", "Plainly Anna"} {
		if len(effects) != 1 || effects[0].Description != want {
			t.Fatalf("%+v, want one effect described as %q", effects, want)
		}
		effects = r.Done(effects[0].ID, map[string]any{}, time.Unix(1, 0))
	}
}

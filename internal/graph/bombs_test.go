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
// Requirements: PLAT-07
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

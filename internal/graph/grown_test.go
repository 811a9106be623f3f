package graph_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"liminal/internal/graph"
)

// grower turns bytes into a document that parses more often than not, so that
// fuzzing reaches the machine and does not stay in the parser.
type grower struct {
	bytes []byte
	nodes int
}

func (g *grower) pick(n int) int {
	if len(g.bytes) == 0 {
		return 0
	}
	b := g.bytes[0]
	g.bytes = g.bytes[1:]
	return int(b) % n
}

// to is a node, or nowhere.
func (g *grower) to() string {
	if i := g.pick(g.nodes + 1); i < g.nodes {
		return fmt.Sprintf("n%d", i)
	}
	return ""
}

func (g *grower) sure() string { return fmt.Sprintf("n%d", g.pick(g.nodes)) }

var grownConditions = []string{
	"true", "v0 == 1", "v1 == nil", "len(docs) > 1", "v0 > 1", "any(docs, # == 'a')", "intent in ['qa_with_docs']", "error.code == 'timeout'", "it == 2",
}

func (g *grower) condition() string { return grownConditions[g.pick(len(grownConditions))] }

var grownTools = []string{"echo", "post", "danger", "train", "web.fetch"}

func (g *grower) node(i int) map[string]any {
	n := map[string]any{"id": fmt.Sprintf("n%d", i)}
	set := func(key, value string) {
		if value != "" {
			n[key] = value
		}
	}
	set("next", g.to())
	if g.pick(3) == 0 {
		set("on_error", g.to())
	}
	if g.pick(4) == 0 {
		n["when"] = g.condition()
	}
	var branches []any
	for range 1 + g.pick(3) {
		b := map[string]any{"next": g.sure()}
		if g.pick(2) == 0 {
			b["when"] = g.condition()
		}
		branches = append(branches, b)
	}
	switch g.pick(9) {
	case 0, 1:
		n["type"], n["tool"] = "tool_call", grownTools[g.pick(len(grownTools))]
		n["inputs"] = map[string]any{"v": "${vars.v0?}", "t": "x ${vars.v1?} ${input.n}"}
		if g.pick(2) == 0 {
			n["outputs"] = []any{[]string{"v0", "v1", "docs", "answer", "intent"}[g.pick(5)]}
		}
	case 2:
		for _, b := range branches {
			if m := b.(map[string]any); m["when"] == nil {
				m["when"] = "true"
			}
		}
		n["type"], n["branches"] = "switch", branches
	case 3:
		n["type"], n["branches"] = "parallel", branches
	case 4:
		n["type"], n["over"], n["as"], n["body"] = "map", []string{"${input.l}", "${vars.docs?}"}[g.pick(2)], "it", g.sure()
		n["concurrency"] = 1 + g.pick(4)
	case 5:
		n["type"], n["interrupt_type"], n["message"] = "interrupt", "text_input", "?"
		set("on_cancel", g.to())
	case 6:
		n["type"], n["tools"], n["max_rounds"] = "agent", []any{"echo", "danger", "train"}, 1+g.pick(3)
	case 7:
		n["type"], n["workflow"] = "workflow", "w"
	default:
		delete(n, "when")
		n["type"], n["response"], n["data"] = "end", "${vars.v0?}", map[string]any{"d": "${vars.docs?}"}
	}
	return n
}

func grow(b []byte) []byte {
	g := &grower{bytes: b}
	g.nodes = 1 + g.pick(10)
	var nodes []any
	for i := range g.nodes {
		nodes = append(nodes, g.node(i))
	}
	doc, err := json.Marshal(map[string]any{
		"kind": "workflow.chat", "entrypoint": "n0", "nodes": nodes,
		"persist": []any{"v0", "v1", "docs", "intent", "it"}, "max_visits": 1 + g.pick(6), "timeout_ms": 20000,
	})
	if err != nil {
		return nil
	}
	return doc
}

var grownOutputs = []map[string]any{
	{"v0": 1, "v1": 2, "docs": []any{"a", "b"}, "answer": "A", "intent": "qa_with_docs"},
	{"v0": nil, "v1": []any{1}, "docs": "none", "answer": "B", "intent": 7},
}

// replayGrown is drive for a grown graph: outputs that fit it come first.
func replayGrown(t testing.TB, g *graph.Graph, script []byte, restored bool) string {
	t.Helper()
	r, effects := g.Start(graph.Input{Now: epoch, Input: map[string]any{"n": 1, "l": []any{1, 2, []any{3}}, "message": "m"}})
	log := compact(effects)
	for i, b := range script {
		if restored {
			r = again(t, g, r)
		}
		pending := r.Pending()
		if _, ended := r.Outcome(); ended != (len(pending) == 0) {
			t.Fatalf("ended %v with %d outstanding\n%s", ended, len(pending), log)
		}
		now := epoch.Add(time.Duration(i) * 300 * time.Millisecond)
		if len(pending) > 0 && b%4 < 2 && pending[0].Kind != graph.KindAsk {
			effects = r.Done(pending[int(b>>2)%len(pending)].ID, grownOutputs[b%2], now)
		} else {
			effects = answerTo(r, b, now)
		}
		log += "\n" + compact(effects)
	}
	outcome, _ := r.Outcome()
	return log + "\n" + compact(outcome) + compact(r.Trace()) + compact(r.Persist())
}

func checkGrown(t testing.TB, seed, script []byte) (ran bool) {
	t.Helper()
	doc := grow(seed)
	g, err := graph.Parse(doc, fuzzTools(), graph.ChatLimits())
	if err != nil {
		return false
	}
	script = script[:min(len(script), 80)]
	first := replayGrown(t, g, script, false)
	if second := replayGrown(t, g, script, false); first != second {
		t.Fatalf("the same answers gave other effects: %s\n%s", diff(first, second), doc)
	}
	if third := replayGrown(t, g, script, true); first != third {
		t.Fatalf("a restored run gave other effects: %s\n%s", diff(first, third), doc)
	}
	return true
}

// TestRandomGraphsReplay plays random scripts against random graphs.
//
// Requirements: PLAT-08
func TestRandomGraphsReplay(t *testing.T) {
	t.Parallel()
	source, ran := rand.New(rand.NewPCG(1, 2)), 0
	for range 80 {
		seed, script := make([]byte, 120), make([]byte, 60)
		for i := range seed {
			seed[i] = byte(source.UintN(256))
		}
		for i := range script {
			script[i] = byte(source.UintN(255)) // 255 would cancel too soon
		}
		if checkGrown(t, seed, script) {
			ran++
		}
	}
	if ran < 20 {
		t.Errorf("only %d of 80 random graphs parse", ran)
	}
}

// FuzzGrown plays any script against any grown graph.
//
// Requirements: PLAT-08
func FuzzGrown(f *testing.F) {
	source := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		seed, script := make([]byte, 100), make([]byte, 40)
		for i := range seed {
			seed[i] = byte(source.UintN(256))
		}
		for i := range script {
			script[i] = byte(source.UintN(256))
		}
		f.Add(seed, script)
	}
	f.Fuzz(func(t *testing.T, seed, script []byte) {
		defer watched(seed)()
		checkGrown(t, seed, script)
	})
}

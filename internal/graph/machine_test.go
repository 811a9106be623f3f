package graph_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/graph"
)

// parsed is a graph of test nodes; nodes is the JSON list without brackets.
func parsed(t testing.TB, nodes string, tools ...graph.Tool) *graph.Graph {
	t.Helper()
	if len(tools) == 0 {
		tools = []graph.Tool{{Name: "echo", Idempotent: true}}
	}
	g, err := graph.Parse([]byte(documentOf(nodes)), registry(tools), graph.ChatLimits())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func documentOf(nodes string) string {
	var l []struct {
		ID string `json:"id"`
	}
	if json.Unmarshal([]byte("["+nodes+"]"), &l) != nil || len(l) == 0 {
		return "{}"
	}
	return fmt.Sprintf(`{"kind":"workflow.chat","entrypoint":%q,"nodes":[%s]}`, l[0].ID, nodes)
}

// TestHostileGraphs is what a model may write, with the sentence each gives.
//
// Requirements: GRAPH-20, TOOL-11
func TestHostileGraphs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ nodes, want string }{
		"loop": {
			`{"id":"spin","type":"switch","branches":[{"when":"true","next":"spin"}]}`,
			`node spin: node "spin" was visited 32 times, which is the limit: the graph loops without an end`,
		},
		"dangling next": {
			`{"id":"a","type":"tool_call","tool":"echo","next":"b"}`,
			`/nodes/0/next: "b" is not a node (known: a)`,
		},
		"unknown tool": {
			`{"id":"a","type":"tool_call","tool":"shell.exec"}`,
			`/nodes/0/tool: there is no tool "shell.exec" (known: echo)`,
		},
		"huge fan-out of branches": {
			`{"id":"p","type":"parallel","branches":[` + strings.Repeat(`{"next":"a"},`, 99) + `{"next":"a"}]},{"id":"a","type":"tool_call","tool":"echo"}`,
			`/nodes/0/branches: a parallel has 100 branches, the limit is 32 (use a map over a list)`,
		},
		"huge fan-out of items": {
			`{"id":"m","type":"map","over":"${input.many}","body":"a"},{"id":"a","type":"tool_call","tool":"echo"}`,
			`node m: map "m" has 1001 items, the limit is 1000: split the list into batches`,
		},
		"fan-out of fan-outs": {
			`{"id":"p","type":"parallel","branches":[` + strings.Repeat(`{"next":"p"},`, 31) + `{"next":"p"}]}`,
			`node p: node "p" would bring the run to more than 512 branches at once, which is the limit`,
		},
		"a parallel in itself": {
			`{"id":"p","type":"parallel","branches":[{"next":"p"}]}`,
			`node p: node "p" is inside 6 parallel and map nodes, which is the limit`,
		},
		"expensive condition": {
			`{"id":"s","type":"switch","branches":[{"when":"any(input.many, any(input.many, # == 1))","next":"s"}]}`,
			`node s: the condition any(input.many, any(input.many, # == 1)) (input.many = [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,...) has no answer: at character 1: the condition costs more steps than it may, at most 100000`,
		},
		"conditions in every item of a map": {
			`{"id":"m","type":"map","over":"${input.many}","body":"c"},` + switches("c", "any(input.many, # == 1) or true", 20) + `{"id":"end","type":"end"}`,
			`node c18: the run did too much without calling or asking anyone, and was at node "c18": its loops, conditions or templates are too large`,
		},
		"loops in every item of a map": {
			`{"id":"m","type":"map","over":"${input.many}","body":"a"},
			{"id":"a","type":"switch","branches":[{"when":"true","next":"b"}]},
			{"id":"b","type":"switch","branches":[{"when":"index < 0","next":"b"},{"when":"true","next":"c"}]},
			` + switches("c", "true", 20) + `{"id":"end","type":"end"}`,
			`node c6: the run took 20000 steps with all the items of its maps, which is the limit, and was at node "c6"`,
		},
		"huge text": {
			`{"id":"e","type":"end","response":"` + strings.Repeat("${input.text}", 20) + `"}`,
			`node e: a template renders more than 1048576 bytes at ${input.text}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := sentence(c.nodes); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// switches is a chain of nodes that only pass on, the last to end.
func switches(name, when string, n int) string {
	var b strings.Builder
	for i := range n {
		id, next := fmt.Sprintf("%s%d", name, i), fmt.Sprintf("%s%d", name, i+1)
		if i == 0 {
			id = name
		}
		if i == n-1 {
			next = "end"
		}
		fmt.Fprintf(&b, `{"id":%q,"type":"switch","branches":[{"when":%q,"next":%q}]},`, id, when, next)
	}
	return b.String()
}

// sentence is how a graph fails, at its parsing or in its run.
func sentence(nodes string) string {
	g, err := graph.Parse([]byte(documentOf(nodes)), registry([]graph.Tool{{Name: "echo"}}), graph.ChatLimits())
	if err != nil {
		return err.Error()
	}
	many := make([]any, 1001)
	if !strings.Contains(nodes, `"body":"a"},{"id":"a","type":"tool_call"`) {
		many = many[:1000]
	}
	for i := range many {
		many[i] = 0
	}
	r, _ := g.Start(graph.Input{Now: epoch, Input: map[string]any{"many": many, "text": strings.Repeat("x", 100_000)}})
	out, ended := r.Outcome()
	if !ended || out.Err == nil {
		return "it did not fail"
	}
	return out.Err.Error()
}

// TestHostileBytes is what is not even a document.
func TestHostileBytes(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		"":                       "the document is not JSON",
		"[]":                     "the document is not an object but a list",
		"null":                   "the document is not an object but null",
		strings.Repeat("[", 1e5): "the document is not JSON",
		`{"a":"` + strings.Repeat("x", 1<<20) + `"}`: "bytes, the limit is 1048576",
		`{"kind":"workflow.chat","entrypoint":"a","nodes":[` + strings.Repeat(`{"id":"a","type":"end"},`, 200) + `{"id":"b","type":"end"}]}`:                         "the graph has 201 nodes, the limit is 200",
		`{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"end","data":` + strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000) + `}]}`: "the document nests 9003 levels deep, the limit is 100",
	} {
		_, err := graph.Parse([]byte(doc), nil, graph.ChatLimits())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", doc, err, want)
		}
	}
}

// TestParseTellsAllFaultsAtOnce counts them in the order of the document.
func TestParseTellsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := graph.Parse([]byte(`{"kind":"workflow.chat","entrypoint":"x","timeout_ms":1,"nodes":[
		{"id":"a","type":"tool_call","tool":"nope","next":"b"},
		{"id":"a","type":"switch","branches":[{"when":"1 +","next":"z"}]}]}`), nil, graph.ChatLimits())
	var faults graph.Faults
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range faults {
		paths = append(paths, f.Path)
	}
	want := []string{
		"/entrypoint", "/nodes/0/next", "/nodes/0/tool", "/nodes/1/branches/0/next", "/nodes/1/branches/0/when", "/nodes/1/id", "/timeout_ms",
	}
	if !slices.Equal(paths, want) {
		t.Errorf("faults at %q, want %q", paths, want)
	}
}

// TestLimitsOfJobs lets a job's node run for an hour, where a chat's may not.
//
// Requirements: PLAT-07 (what a document asks for is bounded), GRAPH-24 (ingestion)
func TestLimitsOfJobs(t *testing.T) {
	t.Parallel()
	doc := []byte(documentOf(`{"id":"a","type":"tool_call","tool":"echo","timeout_ms":3600000}`))
	tools := registry([]graph.Tool{{Name: "echo"}})
	if _, err := graph.Parse(doc, tools, graph.ChatLimits()); err == nil {
		t.Error("a chat takes a node of an hour")
	}
	g, err := graph.Parse(doc, tools, graph.JobLimits())
	if err != nil {
		t.Fatal(err)
	}
	if _, effects := g.Start(graph.Input{Now: epoch}); len(effects) != 1 || effects[0].Call.Timeout != time.Hour {
		t.Errorf("effects %v", lines(effects))
	}
}

// TestASwitchTellsWhatItReadToWhoAsks and to nobody else: a run that happens
// keeps no values in its trace.
//
// Requirements: GRAPH-18 (order)
func TestASwitchTellsWhatItReadToWhoAsks(t *testing.T) {
	t.Parallel()
	doc := []byte(documentOf(`{"id":"s","type":"switch","branches":[
		{"when":"input.message contains 'x'","next":"e"},{"when":"input.n > 2","next":"e"},{"when":"input.never","next":"e"}]},{"id":"e","type":"end"}`))
	for _, explain := range []bool{true, false} {
		lim := graph.ChatLimits()
		lim.Explain = explain
		g, err := graph.Parse(doc, registry(nil), lim)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := g.Start(graph.Input{Now: epoch, Input: map[string]any{"message": "abc", "n": 3.0, "never": true}})
		step := r.Trace()[0]
		var want map[string]any
		if explain {
			want = map[string]any{"input.message": "abc", "input.n": 3.0}
		}
		if step.Condition != "input.n > 2" || !reflect.DeepEqual(step.Values, want) {
			t.Errorf("explain %v: %q of %v", explain, step.Condition, step.Values)
		}
	}
}

// TestPrivilegedToolsNeedLeave allows them where the caller does.
//
// Requirements: TOOL-17
func TestPrivilegedToolsNeedLeave(t *testing.T) {
	t.Parallel()
	doc := []byte(documentOf(`{"id":"a","type":"tool_call","tool":"root"},{"id":"g","type":"agent","tools":["*"]}`))
	tools := registry([]graph.Tool{{Name: "root", Privileged: true}})
	lim := graph.ChatLimits()
	if _, err := graph.Parse(doc, tools, lim); err == nil {
		t.Error("a privileged tool is taken without leave")
	}
	lim.Privileged = true
	if _, err := graph.Parse(doc, tools, lim); err != nil {
		t.Error(err)
	}
}

// TestEdges draws the literal example, with the way that has no next.
//
// Requirements: GRAPH-10 (validates)
func TestEdges(t *testing.T) {
	t.Parallel()
	d := readDocument(t, "testdata/good/seed_001.json")
	g, err := graph.Parse(d.Graph, registry(d.Tools), graph.ChatLimits())
	if err != nil {
		t.Fatal(err)
	}
	want := []graph.Edge{
		{From: "node_classify", To: "node_route"},
		{From: "node_route", To: "node_rag", Label: "intent in ['qa_with_docs','analysis']"},
		{From: "node_route", To: "node_code_agent", Label: "intent == 'code_edit'"},
		{From: "node_route", To: "node_plain", Label: "true"},
	}
	if got := g.Edges(); !slices.Equal(got, want) {
		t.Errorf("edges %v, want %v", got, want)
	}
	if g.Entrypoint() != "node_classify" || g.Timeout() != 2*time.Minute {
		t.Errorf("entrypoint %s, timeout %v", g.Entrypoint(), g.Timeout())
	}
}

// TestWorkBeforeQuestionsHappensOnce counts the calls of a run with five
// questions, one of them by the tool itself.
//
// Requirements: INT-05, INT-13
func TestWorkBeforeQuestionsHappensOnce(t *testing.T) {
	t.Parallel()
	nodes := `{"id":"work","type":"tool_call","tool":"echo","outputs":["docs"],"next":"q0"}`
	for i := range 4 {
		nodes += fmt.Sprintf(`,{"id":"q%d","type":"interrupt","interrupt_type":"text_input","message":"?","next":"q%d"}`, i, i+1)
	}
	g := parsed(t, nodes+`,{"id":"q4","type":"tool_call","tool":"echo","inputs":{"docs":"${vars.docs}"}}`)
	r, effects := g.Start(graph.Input{Now: epoch})
	calls, asks, now := map[string]int{}, 0, epoch
	for len(effects) > 0 {
		now = now.Add(time.Hour)
		r = again(t, g, r)
		e := effects[0]
		switch {
		case e.Ask != nil:
			asks++
			if !r.Waiting() {
				t.Fatal("the run does not only wait")
			}
			effects = r.Done(e.ID, map[string]any{"answer": asks}, now)
		case e.ID == "q4#1":
			calls[e.ID]++
			effects = r.Done(e.ID, map[string]any{"interrupt": map[string]any{"interrupt_type": "text_input", "message": "?"}}, epoch)
			now = epoch
		default:
			calls[e.ID]++
			effects = r.Done(e.ID, map[string]any{"docs": "d", "answer": "end"}, epoch)
			now = epoch
		}
	}
	out, ended := r.Outcome()
	if !ended || out.Err != nil || asks != 5 {
		t.Fatalf("outcome %+v after %d questions", out, asks)
	}
	if calls["work#1"] != 1 || calls["q4#1"] != 1 || calls["q4#1.r1"] != 1 || len(calls) != 3 {
		t.Errorf("calls %v", calls)
	}
}

// TestEffectsAreCopies changes an effect and sees that the run does not care.
func TestEffectsAreCopies(t *testing.T) {
	t.Parallel()
	g := parsed(t, `{"id":"a","type":"tool_call","tool":"echo","inputs":{"l":["${input.m}"],"k":{"c":1}}}`)
	in := map[string]any{"m": map[string]any{"x": 1}}
	r, effects := g.Start(graph.Input{Now: epoch, Input: in})
	want := compact(effects)
	in["m"].(map[string]any)["x"] = 2
	effects[0].Call.Inputs["l"].([]any)[0].(map[string]any)["x"] = 3
	effects[0].Call.Inputs["k"].(map[string]any)["c"] = 4
	if got := compact(r.Pending()); got != want {
		t.Errorf("pending %s, want %s", got, want)
	}
	_, effects = g.Start(graph.Input{Now: epoch, Input: map[string]any{"m": map[string]any{"x": 1}}})
	if got := compact(effects); got != want {
		t.Errorf("a second run gives %s, want %s", got, want)
	}
}

// TestRestoreRefuses damaged and foreign snapshots.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	g := parsed(t, `{"id":"a","type":"tool_call","tool":"echo"}`)
	r, _ := g.Start(graph.Input{Now: epoch})
	b, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	other := parsed(t, `{"id":"b","type":"tool_call","tool":"echo"}`)
	if _, err := other.Restore(b); err == nil || !strings.Contains(err.Error(), "another document") {
		t.Errorf("another document's snapshot gives %v", err)
	}
	for old, damaged := range map[string]string{
		`"version":1`:      `"version":2`,
		`"node":"a","visi`: `"node":"z","visi`,
		`"thread":1`:       `"thread":7`,
		`"slot":0`:         `"slot":-1`,
		`"phase":"calling`: `"phase":"asking`,
		`"id":1`:           `"id":2`,
	} {
		if !strings.Contains(string(b), old) {
			t.Fatalf("the snapshot has no %s: %s", old, b)
		}
		if _, err := g.Restore([]byte(strings.Replace(string(b), old, damaged, 1))); err == nil {
			t.Errorf("a snapshot with %s is taken", damaged)
		}
	}
	for _, garbage := range []string{"", "{}", "null", "[]", `{"version":1}`} {
		if _, err := g.Restore([]byte(garbage)); err == nil {
			t.Errorf("%q is taken", garbage)
		}
	}
}

// TestAMapOfAThousandItems runs to its end within its concurrency.
//
// Requirements: GRAPH-20
func TestAMapOfAThousandItems(t *testing.T) {
	t.Parallel()
	g := parsed(t, `{"id":"m","type":"map","over":"${input.l}","body":"a","concurrency":32,"outputs":["n"]},
		{"id":"a","type":"tool_call","tool":"echo","inputs":{"n":"${item}"},"outputs":["n"]}`)
	items := make([]any, 1000)
	for i := range items {
		items[i] = i
	}
	r, open := g.Start(graph.Input{Now: epoch, Input: map[string]any{"l": items}})
	for len(open) > 0 {
		if len(r.Pending()) > 32 {
			t.Fatalf("%d at once", len(r.Pending()))
		}
		e := open[0]
		open = append(open[1:], r.Done(e.ID, map[string]any{"n": e.Call.Inputs["n"]}, epoch)...)
	}
	out, ended := r.Outcome()
	if !ended || out.Err != nil || compact(out.Vars["n"]) != compact(items) {
		t.Errorf("outcome %.300s", compact(out))
	}
}

// BenchmarkFiveNodes is a whole run of five tool calls.
func BenchmarkFiveNodes(b *testing.B) {
	nodes := `{"id":"n0","type":"tool_call","tool":"echo","inputs":{"m":"${input.message}"},"outputs":["answer"],"next":"n1"}`
	for i := 1; i < 5; i++ {
		nodes += fmt.Sprintf(`,{"id":"n%d","type":"tool_call","tool":"echo","inputs":{"m":"so: ${vars.answer}"},"outputs":["answer"]`, i)
		if i < 4 {
			nodes += fmt.Sprintf(`,"next":"n%d"`, i+1)
		}
		nodes += "}"
	}
	g := parsed(b, nodes)
	in := graph.Input{Now: epoch, Input: map[string]any{"message": "hi"}}
	out := map[string]any{"answer": "A", "usage": map[string]any{"tokens": 3.0}}
	b.ReportAllocs()
	for b.Loop() {
		r, effects := g.Start(in)
		for len(effects) > 0 {
			effects = r.Done(effects[0].ID, out, epoch)
		}
		if o, ended := r.Outcome(); !ended || o.Response != "A" {
			b.Fatal(o)
		}
	}
}

func BenchmarkParseSeed(b *testing.B) {
	d := readDocument(b, "testdata/good/seed_001.json")
	tools := registry(d.Tools)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := graph.Parse(d.Graph, tools, graph.ChatLimits()); err != nil {
			b.Fatal(err)
		}
	}
}

package graph_test

import (
	"cmp"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/graph"
)

// tree runs a graph whose workflow nodes run the graph itself again, as drive
// would: every effect takes a second, and children hand back what they did not
// use. It counts what the whole tree does.
type tree struct {
	graphs  map[string]*graph.Graph
	runs    int // begun, without the root
	calls   int
	now     int // calls under way
	atOnce  int // the most of them
	deepest int
	clock   time.Time
	tick    time.Duration // of one effect; 0: a second
}

// play runs one graph to its end and gives its failure, if any, and what it used.
func (w *tree) play(t *testing.T, g *graph.Graph, in graph.Input, depth int) (*graph.Failure, graph.Budget) {
	t.Helper()
	w.deepest = max(w.deepest, depth)
	in.Now = w.clock
	r, effects := g.Start(in)
	for steps := 0; ; steps++ {
		if out, ended := r.Outcome(); ended {
			return out.Err, r.Used()
		}
		if steps > 100_000 {
			t.Fatal("the run does not end")
		}
		if len(effects) == 0 {
			effects = r.Pending()[:1]
		}
		e := effects[0]
		effects = append(effects[1:], w.carryOut(t, r, e, depth)...)
		open := effects[:0]
		for _, e := range effects { // some may have been given up
			for _, p := range r.Pending() {
				if p.ID == e.ID {
					open = append(open, e)
				}
			}
		}
		effects = open
	}
}

func (w *tree) carryOut(t *testing.T, r *graph.Run, e graph.Effect, depth int) []graph.Effect {
	t.Helper()
	calls := 0
	for _, p := range r.Pending() {
		if p.Kind == graph.KindCall {
			calls++
		}
	}
	w.atOnce = max(w.atOnce, w.now+calls)
	w.clock = w.clock.Add(cmp.Or(w.tick, time.Second))
	if e.Kind != graph.KindSpawn {
		w.calls++
		return r.Done(e.ID, map[string]any{"answer": "ok"}, w.clock)
	}
	w.runs++
	w.now += calls
	f, used := w.play(t, w.graphs[e.Spawn.Workflow], graph.Input{Input: e.Spawn.Inputs, Budget: e.Spawn.Budget}, depth+1)
	w.now -= calls
	r.Refund(e.ID, used)
	if f != nil {
		return r.Fail(e.ID, *f, w.clock)
	}
	return r.Done(e.ID, map[string]any{"answer": "ok"}, w.clock)
}

func items(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}

// bombs are graphs that run themselves, each in another way.
var bombs = map[string]string{
	"in a map": `{"id":"m","type":"map","over":"${input.items}","as":"x","body":"again","concurrency":32,"next":"e"},
		{"id":"again","type":"workflow","workflow":"bomb","inputs":{"items":"${input.items}"}},{"id":"e","type":"end"}`,
	"twice": `{"id":"one","type":"workflow","workflow":"bomb","inputs":{"items":"${input.items}"},"on_error":"two","next":"two"},
		{"id":"two","type":"workflow","workflow":"bomb","inputs":{"items":"${input.items}"},"on_error":"e","next":"e"},{"id":"e","type":"end"}`,
	"whatever fails": `{"id":"m","type":"map","over":"${input.items}","as":"x","body":"again","concurrency":32,"on_error":"m2","next":"e"},
		{"id":"again","type":"workflow","workflow":"bomb","inputs":{"items":"${input.items}"},"retries":3},
		{"id":"m2","type":"map","over":"${input.items}","as":"x","body":"again2","concurrency":32,"on_error":"e","next":"e"},
		{"id":"again2","type":"workflow","workflow":"bomb","inputs":{"items":"${input.items}"}},{"id":"e","type":"end"}`,
}

// A graph that runs itself in each of a thousand items is a tree of 1000^8
// runs by its documents: what its root was given is all that it gets.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestATreeOfRunsHasOneBudget(t *testing.T) {
	t.Parallel()
	for name, nodes := range bombs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := parsed(t, nodes)
			w := &tree{graphs: map[string]*graph.Graph{"bomb": g}, clock: epoch}
			b := graph.ChatBudget()
			f, used := w.play(t, g, graph.Input{Input: map[string]any{"items": items(1000)}, Budget: &b}, 0)
			if w.runs > b.Runs || used.Runs > b.Runs || w.deepest > b.Depth || used.Steps > b.Steps+b.Depth {
				t.Errorf("%d runs begun, %d levels deep, used %+v; want at most %+v", w.runs, w.deepest, used, b)
			}
			if f != nil && f.Code != graph.CodeLimit && f.Code != graph.CodeTimeout {
				t.Errorf("it ended with %v; want a limit", f)
			}
		})
	}
}

// What one run leaves unused serves the next: a thousand small children fit
// into a budget that is split thirty-three ways.
func TestChildrenHandBackWhatTheyDidNotUse(t *testing.T) {
	t.Parallel()
	leaf := parsed(t, `{"id":"c","type":"tool_call","tool":"echo"}`, graph.Tool{Name: "echo", Idempotent: true})
	g := parsed(t, `{"id":"m","type":"map","over":"${input.items}","as":"x","body":"c","concurrency":32,"next":"e"},
		{"id":"c","type":"workflow","workflow":"leaf"},{"id":"e","type":"end"}`)
	w := &tree{graphs: map[string]*graph.Graph{"leaf": leaf}, clock: epoch, tick: time.Millisecond}
	b := graph.ChatBudget()
	f, used := w.play(t, g, graph.Input{Input: map[string]any{"items": items(1000)}, Budget: &b}, 0)
	if f != nil || w.runs != 1000 || w.calls != 1000 || used.Runs != 1000 || used.Calls != 1000 {
		t.Errorf("%v after %d runs and %d calls, used %+v; want a good end and 1000 of each", f, w.runs, w.calls, used)
	}
}

// Calls beyond what may be under way at once wait, and none is lost.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestCallsBeyondTheBudgetWait(t *testing.T) {
	t.Parallel()
	g := parsed(t, `{"id":"m","type":"map","over":"${input.items}","as":"x","body":"c","concurrency":32,"next":"e"},
		{"id":"c","type":"tool_call","tool":"echo"},{"id":"e","type":"end"}`, graph.Tool{Name: "echo", Idempotent: true})
	b := graph.ChatBudget()
	b.AtOnce = 3
	r, _ := g.Start(graph.Input{Input: map[string]any{"items": items(100)}, Budget: &b, Now: epoch})
	for n := range 100 {
		open := r.Pending()
		if len(open) == 0 || len(open) > 3 {
			t.Fatalf("%d calls under way after %d; want 1 to 3", len(open), n)
		}
		if n == 50 {
			r = restored(t, g, r)
		}
		r.Done(open[len(open)-1].ID, map[string]any{"answer": "ok"}, epoch)
	}
	if out, ended := r.Outcome(); !ended || out.Err != nil {
		t.Errorf("ended %v with %v; want a good end", ended, out.Err)
	}
}

// A child, and a call that is made elsewhere, count for four calls: the engine
// has more to do for them.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestRunsAndCallsElsewhereAreFewerAtOnce(t *testing.T) {
	t.Parallel()
	for node, most := range map[string]int{
		`{"id":"c","type":"tool_call","tool":"echo"}`:   32,
		`{"id":"c","type":"tool_call","tool":"far"}`:    8,
		`{"id":"c","type":"workflow","workflow":"far"}`: 8,
	} {
		g := parsed(t, `{"id":"m","type":"map","over":"${input.items}","as":"x","body":"c","concurrency":32,"next":"e"},`+node+`,{"id":"e","type":"end"}`,
			graph.Tool{Name: "echo", Idempotent: true}, graph.Tool{Name: "far", Idempotent: true, Apart: true})
		b := graph.ChatBudget()
		r, effects := g.Start(graph.Input{Input: map[string]any{"items": items(100)}, Budget: &b, Now: epoch})
		for range 20 {
			if open := r.Pending(); len(open) != most {
				t.Fatalf("%s: %d at once; want %d", node, len(open), most)
			}
			r.Refund(effects[0].ID, graph.Budget{})
			effects = append(effects[1:], r.Done(effects[0].ID, map[string]any{}, epoch)...)
		}
	}
}

func restored(t *testing.T, g *graph.Graph, r *graph.Run) *graph.Run {
	t.Helper()
	raw, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again, err := g.Restore(raw)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// Each part of a budget ends a run that has used it up, with the person's own
// code, and on_error does not get around it.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestARunThatHasUsedUpItsBudgetIsOver(t *testing.T) {
	t.Parallel()
	loop := `{"id":"c","type":"tool_call","tool":"echo","inputs":{"v":"${input.text}"},"on_error":"c","next":"c"}`
	for name, c := range map[string]struct {
		lower func(*graph.Budget)
		nodes string
		says  string
	}{
		"steps": {func(b *graph.Budget) { b.Steps = 5 }, loop, "steps"},
		"calls": {func(b *graph.Budget) { b.Calls = 5 }, loop, "calls"},
		"bytes": {func(b *graph.Budget) { b.Bytes = 5000 }, loop, "bytes"},
		"work":  {func(b *graph.Budget) { b.Work = 5 * time.Second }, loop, "time of calls"},
		"runs":  {func(b *graph.Budget) { b.Runs = 5 }, `{"id":"c","type":"workflow","workflow":"w","on_error":"c","next":"c"}`, "runs"},
		"depth": {func(b *graph.Budget) { b.Depth = 0 }, `{"id":"c","type":"workflow","workflow":"w"}`, "below the one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := parsed(t, c.nodes, graph.Tool{Name: "echo", Idempotent: true})
			b := graph.ChatBudget()
			c.lower(&b)
			r, effects := g.Start(graph.Input{Input: map[string]any{"text": strings.Repeat("x", 1000)}, Budget: &b, Now: epoch})
			for n := range 30 {
				if len(effects) == 0 {
					break
				}
				r.Refund(effects[0].ID, graph.Budget{Runs: 1000})
				effects = r.Done(effects[0].ID, map[string]any{}, epoch.Add(time.Duration(n+1)*time.Second))
			}
			out, ended := r.Outcome()
			if !ended || out.Err == nil || !strings.Contains(out.Err.Message, c.says) || out.Err.Code != graph.CodeLimit {
				t.Errorf("ended %v with %v; want a limit that names %q", ended, out.Err, c.says)
			}
		})
	}
}

// With a budget that is large enough every recorded run goes the way it goes
// without one: calls that wait are begun in the order in which they were asked
// for.
func TestABudgetThatSufficesChangesNothing(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/run/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no documents", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			want := readGolden(t, file)
			got := want
			got.Input.Budget = &graph.Budget{Runs: 1e6, Depth: 8, Steps: 1e6, Calls: 1e6, AtOnce: 1e6, Bytes: 1e12, Work: 1e6 * time.Hour}
			got = play(t, got)
			got.Input.Budget, got.Trace = nil, want.Trace // a step begins once all that is decided at once is decided
			if a, b := pretty(t, got), pretty(t, want); a != b {
				t.Errorf("the run differs with a budget:\n%s", diff(b, a))
			}
		})
	}
}

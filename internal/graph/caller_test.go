package graph_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"liminal/internal/graph"
)

// brought is what a program brings with a turn.
func brought(names ...string) map[string]any {
	var list []any
	for _, name := range names {
		list = append(list, map[string]any{"name": name, "description": "d", "parameters": map[string]any{"type": "object"}})
	}
	return map[string]any{graph.CallerInput: list}
}

func takesCallers(t *testing.T, tools string) *graph.Graph {
	t.Helper()
	doc := `{"kind":"workflow.chat","entrypoint":"g","nodes":[{"id":"g","type":"agent","inputs":{"message":"hi"},"tools":[` + tools + `]}]}`
	g, err := graph.Parse([]byte(doc), registry([]graph.Tool{{Name: graph.StepTool, Idempotent: true}, {Name: "echo", Idempotent: true}}), graph.ChatLimits())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// asksFor has the model call tools by name, each with the argument n.
func asksFor(r *graph.Run, step graph.Effect, names ...string) []graph.Effect {
	var list []any
	for i, name := range names {
		list = append(list, map[string]any{"id": string(rune('a' + i)), "name": name, "arguments": map[string]any{"n": float64(i)}})
	}
	return r.Done(step.ID, map[string]any{"content": []any{}, "stop": "tool_use", "text": "", "tool_calls": list}, epoch)
}

type calledBack struct {
	Required []string `json:"required"`
	Calls    []struct {
		ID        string
		Name      string
		Arguments map[string]any
	} `json:"x-calls"`
}

func transcriptOf(t *testing.T, e graph.Effect) string {
	t.Helper()
	if e.Call == nil || e.Call.Tool != graph.StepTool {
		t.Fatalf("no model step but %+v", e)
	}
	raw, _ := json.Marshal(e.Call.Inputs["transcript"])
	return string(raw)
}

// The calls of a round go to the caller together, beside those of the graph's own
// tools, and their results to the model in the order of the calls, whatever the
// process is that goes on.
func TestTheCallerAnswersItsCallsTogether(t *testing.T) {
	t.Parallel()
	g := takesCallers(t, `"echo","caller.*"`)
	r, effects := g.Start(graph.Input{Now: epoch, Input: brought("weather", "time")})
	if list, _ := effects[0].Call.Inputs[graph.CallerInput].([]any); len(list) != 2 {
		t.Fatalf("the model is offered %v", effects[0].Call.Inputs)
	}
	effects = asksFor(r, effects[0], "caller.weather", "echo", "caller.time")
	if len(effects) != 2 || effects[0].Call == nil || effects[0].Call.Tool != "echo" || effects[1].Ask == nil {
		t.Fatalf("%+v", effects)
	}
	ask := effects[1].Ask
	var asked calledBack
	if ask.Type != graph.AskClientCall || json.Unmarshal(ask.AnswerSchema, &asked) != nil || !slices.Equal(asked.Required, []string{"1", "3"}) {
		t.Fatalf("%+v", ask)
	}
	if c := asked.Calls; len(c) != 2 || c[0].Name != "weather" || c[1].ID != "3" || c[1].Arguments["n"] != 2.0 || !strings.Contains(ask.Message, "weather") {
		t.Errorf("%+v %q", c, ask.Message)
	}
	snapshot, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if r, err = g.Restore(snapshot); err != nil {
		t.Fatal(err)
	}
	if next := r.Done(effects[0].ID, map[string]any{"text": "own"}, epoch); len(next) != 0 || !r.Waiting() {
		t.Fatalf("it goes on without the caller: %+v", next)
	}
	next := r.Done(effects[1].ID, map[string]any{"answer": map[string]any{
		"1": map[string]any{"content": "sunny"}, "3": map[string]any{"content": "no clock", "is_error": true},
	}}, epoch)
	want := []string{`"content":"sunny","is_error":false,"tool_use_id":"a"`, `"content":"own","is_error":false,"tool_use_id":"b"`, `"content":"failed: no clock","is_error":true,"tool_use_id":"c"`}
	got, at := transcriptOf(t, next[0]), 0
	for _, w := range want {
		i := strings.Index(got[at:], w)
		if i < 0 {
			t.Fatalf("the model hears %s, without %s", got, w)
		}
		at += i
	}
}

// A call that is not answered, as where time runs out, is told to the model; one
// that is cancelled ends the agent.
func TestACallOfTheCallersThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	r, effects := takesCallers(t, `"caller.*"`).Start(graph.Input{Now: epoch, Input: brought("weather")})
	asked := asksFor(r, effects[0], "caller.weather")
	if got := transcriptOf(t, r.Done(asked[0].ID, map[string]any{"expired": true}, epoch)[0]); !strings.Contains(got, `"is_error":true`) {
		t.Errorf("the model hears %s", got)
	}
	r, effects = takesCallers(t, `"caller.*"`).Start(graph.Input{Now: epoch, Input: brought("weather")})
	asked = asksFor(r, effects[0], "caller.weather")
	if next := r.Done(asked[0].ID, map[string]any{"cancelled": true}, epoch); len(next) != 0 {
		t.Errorf("after a cancel comes %+v", next)
	}
	if out, over := r.Outcome(); !over || !out.Suppressed {
		t.Errorf("%+v", out)
	}
}

// A caller's tool is never one of the graph's, and a graph that does not take them
// is not changed by them.
func TestTheCallersToolsStandApart(t *testing.T) {
	t.Parallel()
	r, effects := takesCallers(t, `"echo","caller.*"`).Start(graph.Input{Now: epoch, Input: brought("echo")})
	next := asksFor(r, effects[0], "echo", "caller.other")
	if len(next) != 1 || next[0].Call == nil || next[0].Call.Tool != "echo" {
		t.Fatalf("the graph's own tool is not called: %+v", next)
	}
	r, effects = takesCallers(t, `"echo"`).Start(graph.Input{Now: epoch, Input: brought("weather")})
	if _, there := effects[0].Call.Inputs[graph.CallerInput]; there {
		t.Error("a graph that takes no tools of the caller offers them")
	}
	if got := transcriptOf(t, asksFor(r, effects[0], "caller.weather")[0]); !strings.Contains(got, "there is no tool") {
		t.Errorf("the model hears %s", got)
	}
	r, effects = takesCallers(t, `"caller.*"`).Start(graph.Input{Now: epoch})
	if _, there := effects[0].Call.Inputs[graph.CallerInput]; there {
		t.Error("tools are offered that nobody brought")
	}
	_ = r
}

// The caller goes on as long as it will, far beyond max_rounds, and not for ever.
func TestRoundsOfTheCallersToolsAreBounded(t *testing.T) {
	t.Parallel()
	r, effects := takesCallers(t, `"caller.*"`).Start(graph.Input{Now: epoch, Input: brought("weather")})
	rounds := 0
	for ; len(effects) > 0 && rounds < 200; rounds++ {
		asked := asksFor(r, effects[0], "caller.weather")
		if len(asked) == 0 {
			break
		}
		effects = r.Done(asked[0].ID, map[string]any{"answer": map[string]any{"1": map[string]any{"content": "x"}}}, epoch)
	}
	if out, over := r.Outcome(); !over || rounds < 64 || rounds > 80 {
		t.Errorf("%d rounds, %v %+v", rounds, over, out.Err)
	}
}

// A document with a list of tools names the caller's in it.
func TestADocumentAllowsTheCallersTools(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]bool{`["echo"]`: false, `["echo","caller.*"]`: true, `["*"]`: true} {
		doc := `{"kind":"workflow.chat","entrypoint":"g","tools":` + list + `,"nodes":[{"id":"g","type":"agent","tools":["caller.*"]}]}`
		_, err := graph.Parse([]byte(doc), registry([]graph.Tool{{Name: graph.StepTool, Idempotent: true}, {Name: "echo", Idempotent: true}}), graph.ChatLimits())
		if (err == nil) != want {
			t.Errorf("%s: %v", list, err)
		}
	}
}

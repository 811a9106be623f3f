package graph_test

import (
	"errors"
	"fmt"
	"time"

	"liminal/internal/graph"
)

// A graph is data, and its run is driven by whoever makes its effects happen: a
// Temporal workflow, a rehearsal, or, as here, a loop. The machine itself calls
// nothing; it says what is to happen, is told what came of it, and says what is
// next.
func Example() {
	doc := []byte(`{"kind": "workflow.chat", "entrypoint": "measure", "nodes": [
		{"id": "measure", "type": "tool_call", "tool": "weather.now", "inputs": {"city": "${input.message}"}, "outputs": ["celsius"]},
		{"id": "judge", "type": "switch", "branches": [
			{"when": "celsius < 5", "next": "cold"},
			{"when": "true", "next": "mild"}]},
		{"id": "cold", "type": "end", "response": "${vars.celsius} degrees in ${input.message}: take a coat."},
		{"id": "mild", "type": "end", "response": "${vars.celsius} degrees in ${input.message}."}]}`)
	g, err := graph.Parse(doc, graph.Tools{"weather.now": {Name: "weather.now", Idempotent: true}}, graph.ChatLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r, effects := g.Start(graph.Input{Input: map[string]any{"message": "Oslo"}, Now: clock})
	for len(effects) > 0 {
		e := effects[0]
		fmt.Println(e.ID, e.Kind, e.Call.Tool, e.Call.Inputs)
		clock = clock.Add(time.Second)
		effects = append(effects[1:], r.Done(e.ID, map[string]any{"celsius": -3}, clock)...)
	}
	end, _ := r.Outcome()
	fmt.Println(end.Response)
	// Output:
	// measure#1 call weather.now map[city:Oslo]
	// -3 degrees in Oslo: take a coat.
}

// A document is refused with everything that is wrong with it at once, each
// fault at its place and, where there is one, with what to write instead.
func ExampleParse() {
	_, err := graph.Parse([]byte(`{"kind": "workflow.chat", "entrypoint": "ask", "nodes": [
		{"id": "ask", "type": "interrupt", "interrupt_type": "text_input", "message": "Which city?", "next": "measure"},
		{"id": "judge", "type": "switch", "branches": [{"when": "celsius <", "next": "judge"}]}]}`), nil, graph.ChatLimits())
	var faults graph.Faults
	if errors.As(err, &faults) {
		for _, f := range faults {
			fmt.Println(f.Path)
		}
	}
	// Output:
	// /nodes/0/next
	// /nodes/1/branches/0/when
}

// A question to a person is an effect like any other. Its answer may come in a
// minute or in a week; meanwhile the run is plain JSON.
func ExampleRun_Done() {
	g, err := graph.Parse([]byte(`{"kind": "workflow.chat", "entrypoint": "city", "nodes": [
		{"id": "city", "type": "interrupt", "interrupt_type": "text_input", "message": "Which city?", "next": "done"},
		{"id": "done", "type": "end", "response": "It is ${vars.city}."}]}`), nil, graph.ChatLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	asked := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r, effects := g.Start(graph.Input{Now: asked})
	fmt.Println(effects[0].Kind, effects[0].Ask.Message, r.Waiting())
	r.Done(effects[0].ID, map[string]any{"answer": "Oslo"}, asked.AddDate(0, 0, 7))
	end, _ := r.Outcome()
	fmt.Println(end.Response)
	// Output:
	// ask Which city? true
	// It is Oslo.
}

package rehearsal_test

import (
	"encoding/json"
	"fmt"
	"time"

	"liminal/artifacts"
	"liminal/internal/graph"
	"liminal/internal/rehearsal"
	"liminal/internal/tool"
)

// A change to a graph is tried on what really happened before anybody decides
// about it. Here a run answered at once; the changed graph searches first, which
// was not recorded: the run goes another way, and nothing outside was touched.
func ExamplePlay() {
	happened := rehearsal.Record{
		Input: graph.Input{
			Input: map[string]any{"message": "How long is the notice period?"},
			Now:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		},
		Outputs: map[string][]rehearsal.Output{
			"answer#1": {{Tool: "llm.chat", Result: map[string]any{"answer": "Three months."}, Took: time.Second}},
		},
	}
	tools := map[string]artifacts.Bound{
		"llm.chat":   {Spec: tool.Spec{Name: "llm.chat"}},
		"rag.search": {Spec: tool.Spec{Name: "rag.search", OutputSchema: json.RawMessage(`{"type": "object", "required": ["passages"], "properties": {"passages": {"type": "array"}}}`)}},
	}
	changed := json.RawMessage(`{"kind": "workflow.chat", "entrypoint": "search", "nodes": [
		{"id": "search", "type": "tool_call", "tool": "rag.search", "next": "answer"},
		{"id": "answer", "type": "tool_call", "tool": "llm.chat"}]}`)

	through, err := rehearsal.Play(changed, tools, graph.ChatLimits(), happened)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(through.Path, through.Outcome.Response)
	for _, d := range through.Divergences {
		fmt.Println(d.Effect, d.Message)
	}
	// Output:
	// [search answer] Three months.
	// search#1 the tool rag.search was called, which was not called here then
}

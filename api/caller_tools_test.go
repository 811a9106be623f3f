package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/graph"
)

func callersTool(name string, parameters any) map[string]any {
	return map[string]any{"type": "function", "function": map[string]any{"name": name, "description": "d", "parameters": parameters}}
}

// taker is a workflow that offers its model what a caller brings.
func (p *person) taker(name string) {
	p.Helper()
	_, err := p.store.CreateArtifact(p.Context(), p.viewer(), artifacts.Artifact{
		OwnerID: p.viewer().UserID, Type: artifacts.KindWorkflow, Name: name, Visibility: artifacts.Private, CreatedBy: "user",
		Schema: json.RawMessage(`{"kind":"workflow.chat","title":"T","entrypoint":"a","nodes":[{"id":"a","type":"agent","tools":["caller.*"]}]}`),
	}, "")
	p.must(err)
}

// A call of a caller's tool is the protocol's own; its results, all together, have
// the same run go on, and the client's next message goes on in its conversation.
func TestACompletionCallsTheCallersTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	ada.taker("taker")
	body := func(messages ...map[string]any) map[string]any {
		return map[string]any{"model": "taker", "messages": messages, "tools": []any{callersTool("weather", map[string]any{"type": "object"}), callersTool("clock", nil)}}
	}
	user := map[string]any{"role": "user", "content": "call both"}
	asked := ada.completes(body(user))
	calls := asked.Choices[0].Message.Calls
	if asked.Choices[0].FinishReason != "tool_calls" || len(calls) != 2 || calls[0].Function.Name != "weather" || calls[0].Function.Arguments != `{"city":"Jena"}` || len(asked.About.Ignored) != 0 {
		t.Fatalf("%+v", asked)
	}
	if list, _ := w.engine.turns[0].Fields[graph.CallerInput].([]any); len(list) != 2 {
		t.Errorf("the turn brings %v", w.engine.turns[0].Fields)
	}
	assistant := map[string]any{"role": "assistant", "content": nil, "tool_calls": calls}
	result := func(i int, text string) map[string]any {
		return map[string]any{"role": "tool", "tool_call_id": calls[i].ID, "content": text}
	}
	for name, got := range map[string]completion{
		"one of two":     ada.completes(body(user, assistant, result(0, "sunny"))),
		"another person": bob.completes(map[string]any{"model": automatic, "messages": []any{user, assistant, result(0, "x"), result(1, "y")}}),
		"no call":        ada.completes(body(user, assistant, map[string]any{"role": "tool", "tool_call_id": "call_1", "content": "x"})),
	} {
		if got.Code != 400 || value(got.Error.Param) != "messages" {
			t.Errorf("%s: %d %+v", name, got.Code, got.Error)
		}
	}
	all := []map[string]any{user, assistant, result(0, "sunny"), result(1, "noon")}
	said := ada.completes(body(all...))
	if said.Code != 200 || said.About.RunID != asked.About.RunID || !strings.Contains(said.said(), `"content":"noon"`) || said.Choices[0].FinishReason != "stop" {
		t.Fatalf("%+v", said)
	}
	if again := ada.completes(body(all...)); again.said() != said.said() {
		t.Errorf("repeated: %+v", again)
	}
	if other := ada.completes(body(user, assistant, result(0, "rain"), result(1, "noon"))); other.Code != 409 {
		t.Errorf("another answer: %+v", other)
	}
	next := ada.completes(body(append(slices.Clone(all), map[string]any{"role": "assistant", "content": said.said()}, map[string]any{"role": "user", "content": "Thanks"})...))
	if next.About.ConversationID != asked.About.ConversationID || next.said() != "Thanks" {
		t.Errorf("%+v", next)
	}
}

// In a stream the calls are deltas, and who says something else instead of answering
// them skips them.
func TestACompletionStreamsCallsAndIsInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	ada := w.signUp("ada@example.org")
	ada.taker("taker")
	tools := []any{callersTool("weather", nil), callersTool("clock", nil)}
	text, chunks, failed := ada.chunks(map[string]any{"model": "taker", "messages": dialogue("call both"), "tools": tools})
	var calls []CompletionCall
	for _, c := range chunks {
		calls = append(calls, c.Choices[0].Delta.ToolCalls...)
	}
	last := chunks[len(chunks)-1]
	if failed != nil || text != "" || len(calls) != 2 || value(calls[1].Index) != 1 || value(last.Choices[0].FinishReason) != "tool_calls" {
		t.Fatalf("%q %+v %+v", text, calls, failed)
	}
	got := ada.completes(map[string]any{"model": "taker", "messages": []any{
		map[string]any{"role": "user", "content": "call both"}, map[string]any{"role": "assistant", "content": nil, "tool_calls": calls},
		map[string]any{"role": "user", "content": `{"1": {"content": "no"}}`},
	}})
	if got.said() != `{"1": {"content": "no"}}` || got.About.ConversationID != last.Liminal.ConversationID {
		t.Errorf("%+v", got)
	}
	if open, err := ada.store.PendingInterrupts(t.Context(), ada.viewer(), got.About.ConversationID); err != nil || len(open) > 0 {
		t.Errorf("%v still waits, %v", open, err)
	}
}

package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// A run that waits for its caller's own tool goes on with what came of it after the
// program was killed and started again, whatever day that is: the client keeps the
// conversation, and the run keeps its place. Nobody else is asked meanwhile.
//
// Requirements: INT-03, INT-05, INT-29
func TestWhatACallersToolGaveIsDeliveredAfterACrash(t *testing.T) {
	t.Parallel()
	p := start(t, script(t, `{"answers":[
		{"task":"agent","after":"caller.clock","steps":[{"echo":"noon exactly"}]},
		{"task":"agent","steps":[{"tool":{"name":"caller.clock","input":{"zone":"UTC"}}}]}]}`)...)
	ada := p.signUp("ada@example.org")
	ada.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "taker", "visibility": "private", "schema": object{
		"kind": "workflow.chat", "title": "Taker", "entrypoint": "work", "nodes": []object{
			{"id": "work", "type": "agent", "inputs": object{"message": "${input.message}"}, "tools": []string{"caller.*"}, "save_as": "said", "next": "end"},
			{"id": "end", "type": "end", "response": "${vars.said.text}"},
		}}})
	clock := object{"type": "function", "function": object{"name": "clock", "parameters": object{"type": "object"}}}
	said := []object{{"role": "user", "content": "What time is it?"}}
	status, _, asked := ada.bare("POST", "/v1/chat/completions", object{"model": "taker", "messages": said, "tools": []object{clock}})
	if status != http.StatusOK {
		t.Fatalf("%d %v", status, asked)
	}
	choice := asked["choices"].([]any)[0].(object)
	calls, _ := choice["message"].(object)["tool_calls"].([]any)
	if choice["finish_reason"] != "tool_calls" || len(calls) != 1 {
		t.Fatalf("asked is %v", asked)
	}
	open := ada.must("GET", "/v1/interrupts", nil)["data"].([]any)
	if len(open) != 1 || open[0].(object)["waits_for"] != "program" {
		t.Errorf("open is %v", open)
	}

	p.kill()
	p.again()
	said = append(said, choice["message"].(object), object{"role": "tool", "tool_call_id": calls[0].(object)["id"], "content": "It is noon exactly."})
	ada.signIn()
	status, _, told := ada.bare("POST", "/v1/chat/completions", object{"model": "taker", "messages": said, "tools": []object{clock}})
	if status != http.StatusOK {
		t.Fatalf("%d %v", status, told)
	}
	answer := told["choices"].([]any)[0].(object)["message"].(object)["content"]
	before, after := asked["x_liminal"].(object), told["x_liminal"].(object)
	if answer != "noon exactly" || after["run_id"] != before["run_id"] {
		t.Errorf("the run %v goes on as %v with %v", before["run_id"], after["run_id"], answer)
	}
	if got := ada.messages(after["conversation_id"].(string)); !strings.HasSuffix(strings.Join(got, "|"), "assistant: noon exactly") {
		t.Errorf("the conversation holds %q", got)
	}
	if left := ada.must("GET", "/v1/interrupts", nil)["data"].([]any); len(left) != 0 {
		t.Errorf("still open is %v", left)
	}
}

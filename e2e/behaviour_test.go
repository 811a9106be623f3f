package e2e

import (
	"strings"
	"testing"
)

// Requirements: PLAT-03 (an edited artifact changes behaviour), PLAT-06, GRAPH-23, INT-02 (the four types), CHAT-22 (routing trace)
func TestANewBehaviourIsAnArtifactAndNoCode(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := p.signUp("ada@example.org")
	greeter := ada.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "greeter", "schema": object{
		"kind": "workflow.chat", "entrypoint": "ask",
		"nodes": []object{
			{"id": "ask", "type": "interrupt", "interrupt_type": "text_input", "message": "What is your name?", "save_as": "name", "next": "greet"},
			{"id": "greet", "type": "end", "response": "Good day, ${vars.name}. You said: ${input.message}"},
		},
	}})
	say := object{"message": "hello", "workflow_id": greeter["id"]}
	question := ada.must("POST", "/v1/chat", say)["interrupt"].(object)
	if question["message"] != "What is your name?" || question["interrupt_type"] != "text_input" || question["options"] != nil {
		t.Errorf("it asked %v", question)
	}
	ada.must("POST", "/v1/chat/resume", object{"interrupt_id": question["interrupt_id"], "resume_value": object{"type": "text_input", "value": "Ada"}})
	done := last(t, ada.follow(question["run_id"].(string), 0, nil), "message_done").object()
	if done["content"] != "Good day, Ada. You said: hello" {
		t.Errorf("it answered %q", done["content"])
	}

	// Editing the document changes what the next turn does, and nothing else.
	path := "/v1/artifacts/" + greeter["id"].(string)
	edited := ada.must("PATCH", path, []object{{"op": "replace", "path": "/nodes/0/message", "value": "Who are you?"}})
	if edited["version"] != 2.0 {
		t.Errorf("the edit is version %v", edited["version"])
	}
	again := ada.must("POST", "/v1/chat", say)["interrupt"].(object)
	if again["message"] != "Who are you?" {
		t.Errorf("after the edit it asked %q", again["message"])
	}
}

// Requirements: CHAT-02, CHAT-22 (routing trace)
func TestABlockingReplySaysHowItWasRouted(t *testing.T) {
	t.Parallel()
	p := start(t)
	reply := p.signUp("ada@example.org").must("POST", "/v1/chat", object{"message": "hello"})
	routing, _ := reply["routing"].(object)
	policy, _ := routing["policy"].(object)
	if policy["name"] != "default" || policy["version"] != 1.0 {
		t.Errorf("the routing is %v", reply["routing"])
	}
	var fired []string
	rules, _ := routing["rules"].([]any)
	for _, r := range rules {
		if r.(object)["fired"] == true {
			fired = append(fired, r.(object)["rule"].(string))
		}
	}
	if strings.Join(fired, " ") != "always_persona" {
		t.Errorf("the rules that fired are %v, of %v", fired, rules)
	}
	if adapters, ok := reply["adapters"].([]any); !ok || len(adapters) != 0 {
		t.Errorf("adapters are %v, want none", reply["adapters"])
	}
}

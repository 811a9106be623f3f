package e2e

import (
	"fmt"
	"testing"
	"time"
)

// activated makes a shipped draft a workflow of the person's own.
func (who *person) activated(name string) string {
	who.p.t.Helper()
	page := who.must("GET", "/v1/artifacts?type=workflow.chat&status=draft&limit=100", nil)
	for _, one := range page["data"].([]any) {
		a := one.(object)
		if a["name"] != name {
			continue
		}
		schema := who.must("GET", "/v1/artifacts/"+a["id"].(string), nil)["schema"].(object)
		delete(schema, "status")
		return who.must("POST", "/v1/artifacts", object{"type": "workflow", "name": name + " for me", "schema": schema})["id"].(string)
	}
	who.p.t.Fatalf("no draft %q ships: %v", name, page["data"])
	return ""
}

// The graphs for tests of clients: what they say is exact, and what they say
// next comes when it is due.
//
// Requirements: LG-25, LG-31
func TestTheGraphsForTestsOfClientsSayWhatIsWrittenDown(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := p.signUp("ada@example.org")
	doc := ada.policies()[0]
	echo, stub := ada.activated("echo"), ada.activated("stub")

	const steps = "intent_resolver doc_resolver validate_inputs "
	began := time.Now()
	got := ada.told("/api/chat", object{"message": "Hello world", "workflow_id": echo, "tagged_doc_ids": []string{doc}, "action": "compare"})
	if nodes(got) != steps+"compare =response" || end(got)["response"] != "Echo: Hello world" {
		t.Errorf("the echo told %q: %v", nodes(got), end(got))
	}
	if docs, _ := got[1]["docs_found"].([]any); len(docs) != 1 {
		t.Errorf("the echo found %v", got[1]["docs_found"])
	}
	if took, least := time.Since(began), (300+300+200+500)*time.Millisecond; took < least {
		t.Errorf("the echo took %v, its pauses alone are %v", took, least)
	}
	if got := ada.told("/api/chat", object{"message": "Hi", "workflow_id": echo}); nodes(got) != steps+"inquire =response" {
		t.Errorf("without an action the echo told %q", nodes(got))
	}

	for _, action := range []string{"summarize", "inquire", "compare", "audit"} {
		got := ada.told("/api/chat", object{"message": "What about it?", "workflow_id": stub, "tagged_doc_ids": []string{doc}, "action": action})
		want := fmt.Sprintf("[%s action coming soon] Query: What about it?. Resolved docs: [%q]", action, doc)
		last := end(got)
		if nodes(got) != steps+action+" =response" || last["response"] != want {
			t.Errorf("the stub told %q: %q, want %q", nodes(got), last["response"], want)
		}
		if last["retrieval_confidence"] != "high" || last["tokens_used"] != 0.0 || last["cost_usd"] != 0.0 || len(last["citations"].([]any)) != 0 {
			t.Errorf("the stub answered %v", last)
		}
		said := ada.history(last["thread_id"].(string))["messages"].([]any)
		if about, _ := said[len(said)-1].(object)["metadata"].(object); about["confidence_score"] != 1.0 {
			t.Errorf("in the history the stub is %v", said[len(said)-1])
		}
	}
	web := end(ada.told("/api/chat", object{"message": "leave", "workflow_id": stub, "action": "inquire", "enable_web_search": true}))
	if want := "[inquire action coming soon] Query: leave. Resolved docs: [] [Web search would be performed here for: leave]"; web["response"] != want {
		t.Errorf("with the web the stub answered %q, want %q", web["response"], want)
	}
}

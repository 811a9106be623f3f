package e2e

import (
	"fmt"
	"net/http"
	"testing"
)

// A response in the background goes on over a kill -9, and a client that comes back
// with the number of the last event it has seen is told the rest of it, once.
func TestAResponseInTheBackgroundGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := p.signUp("ada@example.org")
	ada.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "slow", "visibility": "private", "schema": object{
		"kind": "workflow.chat", "title": "Slow", "entrypoint": "wait", "nodes": []object{
			{"id": "wait", "type": "tool_call", "tool": "time.wait_v1", "inputs": object{"ms": 3000}, "description": "Waiting", "next": "end"},
			{"id": "end", "type": "end", "response": "slowly: ${input.message}"},
		}}})
	status, _, begun := ada.bare("POST", "/v1/responses", object{"model": "slow", "input": "one", "background": true})
	if status != http.StatusOK || begun["status"] != "in_progress" {
		t.Fatalf("%d %v", status, begun)
	}
	at := "/v1/responses/" + begun["id"].(string)
	before := ada.hears(at+"?stream=true", func(e groundedTold) bool { return e.name == "response.in_progress" })
	seen := before[len(before)-1].data["sequence_number"].(float64)
	p.kill()
	p.again()
	ada.signIn()
	rest := ada.hears(fmt.Sprintf("%s?stream=true&starting_after=%.0f", at, seen), nil)
	if len(rest) == 0 {
		t.Fatal("nothing is told after the crash")
	}
	texts := 0
	for _, e := range rest {
		if n := e.data["sequence_number"].(float64); n <= seen {
			t.Errorf("%s has the number %.0f after %.0f", e.name, n, seen)
		} else {
			seen = n
		}
		if e.name == "response.output_text.done" && e.data["text"] == "slowly: one" {
			texts++
		}
	}
	last := rest[len(rest)-1]
	if response, _ := last.data["response"].(object); last.name != "response.completed" || response["id"] != begun["id"] || response["status"] != "completed" || texts != 1 {
		t.Errorf("told %s", toldNames(rest))
	}
	if _, _, now := ada.bare("GET", at, nil); now["status"] != "completed" || now["background"] != true {
		t.Errorf("read again: %v", now)
	}
}

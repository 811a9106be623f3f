package api

import (
	"encoding/json"
	"testing"
)

// A client's own name for a conversation keeps two apart in which the same was said,
// and finds one whose answers it holds in other words. What is not of it, such as the
// question for a title that is asked under the same name, begins another.
func TestAClientsNameForAConversationFindsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	says := func(p *person, name string, texts ...string) CompletionOf {
		t.Helper()
		return p.completes(map[string]any{"model": automatic, "messages": dialogue(texts...)}, "X-OpenWebUI-Chat-Id", name).About
	}
	one, two := says(ada, "one", "Hi"), says(ada, "two", "Hi")
	if got := says(ada, "one", "Hi", "Hi", "And?"); got.ConversationID != one.ConversationID {
		t.Error("the latest in which the same was said is gone on with, not the one of that name")
	}
	if got := says(ada, "two", "Hi", "<b>Hi</b> and a list of sources", "And?"); got.ConversationID != two.ConversationID {
		t.Error("an answer that its client holds in other words hides the conversation")
	}
	asked := says(ada, "three", "ask which")
	if got := says(ada, "three", "ask which", "which?", "2"); got.RunID != asked.RunID {
		t.Error("a question is not found by the name")
	}
	for what, got := range map[string]CompletionOf{
		"a title for it": says(ada, "one", "Hi", "Hi", "And?", "And?", "Find a title."), "words before it that were edited": says(ada, "two", "Hello", "Hi", "And?"),
		"another person": says(bob, "one", "Hi", "Hi", "And?"), "no name": says(ada, "", "Hi", "Hi", "And?"),
	} {
		if what == "a title for it" && got.ConversationID != one.ConversationID {
			t.Errorf("%s: what goes on in it is another", what)
		}
		if what != "a title for it" && (got.ConversationID == one.ConversationID || got.ConversationID == two.ConversationID) {
			t.Errorf("%s goes on there", what)
		}
	}
	if got := says(ada, "one", "### Task: find a title for\nUSER: Hi"); got.ConversationID == one.ConversationID {
		t.Error("what is asked beside the conversation is said in it")
	}
	for what, body := range map[string]map[string]any{
		completionsPath: {"model": automatic, "messages": dialogue("Where?")}, messagesPath: {"model": automatic, "max_tokens": 9, "messages": dialogue("Where?")},
		responsesPath: {"model": automatic, "input": "Where?"},
	} {
		body["metadata"] = map[string]any{"conversation_id": one.ConversationID, "user_id": "somebody else"}
		mine, theirs := ada.post(what, body), bob.post(what, body)
		if mine.status != 200 || theirs.status != 200 || mine.header.Get(conversationHeader) != one.ConversationID || theirs.header.Get(conversationHeader) == one.ConversationID {
			t.Errorf("%s: mine %d in %s, another's %d in %s", what, mine.status, mine.header.Get(conversationHeader), theirs.status, theirs.header.Get(conversationHeader))
		}
	}
	var again struct{ Metadata map[string]string }
	body := map[string]any{"model": automatic, "input": "Where?", "metadata": map[string]any{"conversation_id": "mine"}}
	if w.must(json.Unmarshal(ada.post(responsesPath, body).body, &again)); again.Metadata["conversation_id"] != "mine" {
		t.Errorf("a response comes back with %v", again.Metadata)
	}
}

// What waits for a program does not wait for its person: it is told apart, and the
// conversation is not marked.
func TestWhatWaitsForAProgramDoesNotWaitForItsPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	ada.taker("taker")
	called := ada.completes(map[string]any{"model": "taker", "messages": dialogue("call both"), "tools": []any{callersTool("weather", nil), callersTool("clock", nil)}}).About
	asked := ada.asks("ask which").About
	for conversation, want := range map[string]string{called.ConversationID: "program", asked.ConversationID: "person"} {
		list := items(ada.get("/v1/interrupts?conversation_id=" + conversation).ok())
		if len(list) != 1 || list[0]["waits_for"] != want {
			t.Errorf("%v, not for the %s", list, want)
		}
		one := ada.get("/v1/conversations/" + conversation).ok()["conversation"].(map[string]any)
		if one["pending"] != (want == "person") {
			t.Errorf("what waits for the %s marks its conversation: %v", want, one["pending"])
		}
	}
	for _, c := range items(ada.get("/v1/conversations?from=programs").ok()) {
		if c["pending"] != (c["id"] == asked.ConversationID) {
			t.Errorf("listed is %v", c)
		}
	}
}

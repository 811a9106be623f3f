package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/id"
)

// aguiEvent is an event as a client reads it.
type aguiEvent struct {
	Type, MessageID, Delta, Name, StepName, ThreadID, RunID, Message, Code, ToolCallID string

	Outcome struct {
		Type       string
		Interrupts []struct {
			ID, Reason, Message, ExpiresAt string
			ResponseSchema                 map[string]any
		}
	}
	Messages []struct{ ID, Role, Content string }
}

// aguiEvents reads a stream, and holds it to the protocol's order: a message and a
// step end before the run does, and nothing follows that.
func aguiEvents(t *testing.T, body string) (list []aguiEvent) {
	t.Helper()
	messages, steps := map[string]bool{}, map[string]bool{}
	for block := range strings.SplitSeq(body, "\n\n") {
		data, ok := strings.CutPrefix(strings.TrimSpace(block), "data: ")
		if !ok {
			continue
		}
		var e aguiEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if n := len(list); n > 0 && (list[n-1].Type == "RUN_FINISHED" || list[n-1].Type == "RUN_ERROR") || n == 0 && e.Type != "RUN_STARTED" {
			t.Errorf("%s stands at %d", e.Type, n)
		}
		switch e.Type {
		case "TEXT_MESSAGE_START":
			if messages[e.MessageID] {
				t.Errorf("the message %s begins twice", e.MessageID)
			}
			messages[e.MessageID] = true
		case "TEXT_MESSAGE_CONTENT":
			if !messages[e.MessageID] || e.Delta == "" {
				t.Errorf("words of no message: %+v", e)
			}
		case "TEXT_MESSAGE_END":
			delete(messages, e.MessageID)
		case "STEP_STARTED":
			steps[e.StepName] = true
		case "STEP_FINISHED":
			if !steps[e.StepName] {
				t.Errorf("the step %s ends and did not begin", e.StepName)
			}
			delete(steps, e.StepName)
		case "RUN_FINISHED":
			if len(messages)+len(steps) > 0 {
				t.Errorf("under way at the end: %v, %v", messages, steps)
			}
		}
		list = append(list, e)
	}
	return list
}

// aguiText is the last message as a client has it in the end.
func aguiText(list []aguiEvent) (text string) {
	for _, e := range list {
		switch e.Type {
		case "TEXT_MESSAGE_START", "MESSAGES_SNAPSHOT":
			text = ""
		case "TEXT_MESSAGE_CONTENT":
			text += e.Delta
		}
	}
	return text
}

func aguiTypes(list []aguiEvent) string {
	var types []string
	for _, e := range list {
		if len(types) == 0 || types[len(types)-1] != e.Type {
			types = append(types, e.Type)
		}
	}
	return strings.Join(types, " ")
}

func (p *person) agent(thread string, body map[string]any) []aguiEvent {
	p.Helper()
	body["threadId"], body["tools"], body["context"], body["state"], body["forwardedProps"] = thread, []any{}, []any{}, map[string]any{}, map[string]any{}
	if body["runId"] == nil {
		body["runId"] = id.New()
	}
	if body["messages"] == nil {
		body["messages"] = []any{}
	}
	got := p.post("/agui/"+automatic, body)
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/event-stream" {
		p.Fatalf("%d %s", got.status, got.body)
	}
	return aguiEvents(p.T, string(got.body))
}

func (p *person) tellsAgent(thread, text string) []aguiEvent {
	p.Helper()
	return p.agent(thread, map[string]any{"messages": []any{map[string]any{"id": id.New(), "role": "user", "content": text}}})
}

func resume(id, status string, payload any) map[string]any {
	return map[string]any{"interruptId": id, "status": status, "payload": payload}
}

// §7, AG-UI: a thread by any name, tokens, steps, and the end.
func TestAnAgentAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	got := ada.tellsAgent("my thread", "hello there")
	if aguiTypes(got) != "RUN_STARTED CUSTOM STEP_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT CUSTOM TEXT_MESSAGE_END STEP_FINISHED RUN_FINISHED" || aguiText(got) != "hello there" {
		t.Errorf("%s: %q", aguiTypes(got), aguiText(got))
	}
	if end := got[len(got)-1]; end.Outcome.Type != "success" || end.ThreadID != "my thread" {
		t.Errorf("%+v", end)
	}
	ada.tellsAgent("my thread", "more")
	bob.tellsAgent("my thread", "mine")
	if turns := w.engine.turns; turns[0].ConversationID != turns[1].ConversationID || turns[2].ConversationID == turns[0].ConversationID {
		t.Errorf("%+v", turns)
	}
	thread := lg[LangGraphThread](ada, "GET", "/threads/"+w.engine.turns[0].ConversationID, nil)
	if len(thread.Values.V.Messages) != 4 {
		t.Errorf("%+v", thread.Values.V)
	}
	again := map[string]any{"runId": "r1", "messages": []any{map[string]any{"id": "1", "role": "user", "content": "once"}}}
	ada.agent("t", again)
	if got := ada.agent("t", again); aguiText(got) != "once" || len(w.engine.turns) < 5 {
		t.Errorf("%+v", got)
	}
}

// §7, AG-UI: a question is the outcome interrupt, its answer a resume; cancelled
// skips it. All that is open is answered together.
func TestAnAgentAsksAndIsResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	ada := w.signUp("ada@example.org")
	asks := func(text string) (ids []string) {
		t.Helper()
		got := ada.tellsAgent("t", text)
		end := got[len(got)-1]
		if end.Outcome.Type != "interrupt" {
			t.Fatalf("%+v", end)
		}
		for _, q := range end.Outcome.Interrupts {
			if q.Reason != "input_required" || q.ResponseSchema["type"] == nil || q.Message == "" {
				t.Errorf("%+v", q)
			}
			ids = append(ids, q.ID)
		}
		return ids
	}
	one := asks("ask which")[0]
	got := ada.agent("t", map[string]any{"resume": []any{resume(one, "resolved", "two")}})
	if aguiText(got) != `You chose "two"` || got[len(got)-1].Outcome.Type != "success" {
		t.Errorf("%+v", got)
	}
	one = asks("ask again")[0]
	if got := ada.agent("t", map[string]any{"resume": []any{resume(one, "cancelled", nil)}}); aguiText(got) != "You chose null" {
		t.Errorf("%+v", got)
	}
	form := asks("form")[0]
	if got := ada.agent("t", map[string]any{"resume": []any{resume(form, "resolved", map[string]any{"to": "Graz", "nights": 2})}}); aguiText(got) != `You chose {"nights":2,"to":"Graz"}` {
		t.Errorf("%+v", got)
	}
	two := asks("ask this that")
	for what, c := range map[string]struct {
		list []any
		code string
	}{
		"a part":   {[]any{resume(two[0], "resolved", "one")}, "partial_resume"},
		"too much": {[]any{resume(two[0], "resolved", "one"), resume(two[1], "resolved", "one"), resume(one, "resolved", "one")}, "not_pending"},
		"no words": {[]any{resume(two[0], "resolved", "three"), resume(two[1], "resolved", "one")}, "validation_error"},
	} {
		got := ada.agent("t", map[string]any{"resume": c.list})
		if end := got[len(got)-1]; end.Type != "RUN_ERROR" || end.Code != c.code || end.Message == "" {
			t.Errorf("%s: %+v", what, end)
		}
	}
	got = ada.agent("t", map[string]any{"resume": []any{resume(two[1], "resolved", "two"), resume(two[0], "resolved", "one")}})
	if got[len(got)-1].Outcome.Type != "success" || !strings.HasPrefix(aguiText(got), "You chose") {
		t.Errorf("%+v", got)
	}
	if asked := ada.asks("ask which"); asked.About.Interrupt != nil { // of another protocol
		got := ada.agent(asked.About.ConversationID, map[string]any{"resume": []any{resume(asked.About.Interrupt.ID, "resolved", "one")}})
		if aguiText(got) != `You chose "one"` {
			t.Errorf("%+v", got)
		}
	}
}

// §7, AG-UI: errors are RUN_ERROR, and what no run was begun for has its status.
func TestAnAgentFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	got := ada.tellsAgent("t", "fail")
	if end := got[len(got)-1]; end.Type != "RUN_ERROR" || end.Message != "The model is away." || end.Code != "server_error" {
		t.Errorf("%+v", end)
	}
	got = ada.agent("t", map[string]any{"messages": []any{map[string]any{"id": "1", "role": "assistant", "content": "x"}}})
	if end := got[len(got)-1]; end.Type != "RUN_ERROR" {
		t.Errorf("%+v", end)
	}
	if got := ada.post("/agui/nobody", map[string]any{"threadId": "t", "runId": "r", "messages": []any{}}); got.status != http.StatusNotFound || !strings.Contains(string(got.body), "RUN_ERROR") {
		t.Errorf("%d %s", got.status, got.body)
	}
	stranger := &person{world: w}
	if got := stranger.post("/agui/"+automatic, map[string]any{"threadId": "t", "runId": "r", "messages": []any{}}); got.status != http.StatusUnauthorized {
		t.Errorf("%d %s", got.status, got.body)
	}
	var turn chat.NewTurn
	ada.agent("t", map[string]any{"messages": []any{map[string]any{"id": "1", "role": "user", "content": []any{map[string]any{"type": "text", "text": "parts"}}}}})
	if turn = w.engine.turns[len(w.engine.turns)-1]; turn.Message != "parts" {
		t.Errorf("%s", fmt.Sprint(turn))
	}
}

package api

import (
	"fmt"
	"reflect"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/run"
)

// history reads a thread and its entries' roles and words.
func (p *person) history(thread string) (data map[string]any, said []string) {
	p.Helper()
	data = p.get("/api/chat/history/" + thread).ok()
	for _, one := range data["messages"].([]any) {
		m := one.(map[string]any)
		said = append(said, fmt.Sprint(m["role"], ": ", m["content"]))
	}
	return data, said
}

// Requirements: CHAT-15, CHAT-16, CHAT-17
func TestThreeMessagesAreSixEntriesOfAHistory(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	thread := id.New()
	var want []string
	for _, text := range []string{"one", "two", "three"} {
		ada.hear("/api/chat", map[string]any{"message": text, "thread_id": thread})
		want = append(want, "user: "+text, "assistant: "+text)
	}
	data, said := ada.history(thread)
	if !reflect.DeepEqual(said, want) || data["thread_id"] != thread || data["pending_interrupt"] != nil {
		t.Errorf("said %v, %v", said, data)
	}
	if _, there := data["pending_interrupt"]; !there || len(data) != 3 {
		t.Errorf("the history has %v", data)
	}
	entry := data["messages"].([]any)[1].(map[string]any)
	meta := entry["metadata"].(map[string]any)
	if len(entry) != 4 || !id.Valid(entry["id"].(string)) || meta["tokens_used"] != 8.0 || meta["cost_usd"] != 0.0 || len(meta["citations"].([]any)) != 1 {
		t.Errorf("an answer is %v", entry)
	}
}

// Requirements: CHAT-15, LG-33
func TestAHistoryIsOfOnesOwnThread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	empty := ada.post("/v1/conversations", map[string]any{}).ok()["conversation"].(map[string]any)["id"].(string)
	if data, said := ada.history(empty); len(said) != 0 || data["messages"] == nil {
		t.Errorf("an empty thread: %v", data)
	}
	bob.get("/api/chat/history/"+empty).fails(404, "not_found")
	ada.get("/api/chat/history/"+id.New()).fails(404, "not_found")
	ada.get("/api/chat/history/thread-1").fails(400, "validation_error")
}

// Requirements: INT-15, INT-16
func TestAHistoryHasTheQuestionThatWaits(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	list := ada.hear("/api/chat", map[string]any{"message": "ask which"})
	asked := list[len(list)-1]
	data, said := ada.history(asked.ThreadID)
	pending, _ := data["pending_interrupt"].(map[string]any)
	want := map[string]any{
		"type": "interrupt", "interrupt_type": "doc_choice", "message": "which", "interrupt_id": asked.InterruptID, "thread_id": asked.ThreadID,
		"options": []any{map[string]any{"id": "one", "label": "One"}, map[string]any{"id": "two", "label": "Two"}},
	}
	if !reflect.DeepEqual(pending, want) || len(said) != 1 {
		t.Errorf("pending is %v after %v", pending, said)
	}
	ada.hear("/api/chat/resume", map[string]any{"thread_id": asked.ThreadID, "resume_value": resumeValue})
	if data, _ := ada.history(asked.ThreadID); data["pending_interrupt"] != nil {
		t.Errorf("after the answer: %v", data["pending_interrupt"])
	}
}

// Requirements: CHAT-15, INT-10, INT-29
func TestOfSystemMessagesAHistoryShowsTheAssistantsQuestions(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	thread := ada.thread(&chat.Message{
		Role: "assistant", Content: "It is.", Meta: map[string]any{
			"usage": map[string]any{"input_tokens": 3, "output_tokens": 4, "cost_usd": 0.5},
			"data":  map[string]any{"action": "audit", "inference_confidence": "low", "retrieval_confidence": "medium", "confidence_score": 0.7},
		},
	}, chat.Message{Role: "system", Content: "Earlier they spoke of law.", Meta: map[string]any{"summary": true}},
		chat.Message{Role: "system", Content: "Which document?", Meta: map[string]any{"type": "pal_assist_prompt", "interrupt_type": "doc_choice"}},
		chat.Message{Role: "user", Content: "GDPR", Meta: map[string]any{"value": "1"}})
	data, said := ada.history(thread)
	if want := []string{"user: hello", "system: Which document?", "user: GDPR", "assistant: It is."}; !reflect.DeepEqual(said, want) {
		t.Errorf("said %v", said)
	}
	list := data["messages"].([]any)
	notice, meta := list[1].(map[string]any)["metadata"], list[3].(map[string]any)["metadata"]
	if want := map[string]any{"type": "pal_assist_prompt", "interrupt_type": "doc_choice"}; !reflect.DeepEqual(notice, want) {
		t.Errorf("the notice has %v", notice)
	}
	if want := map[string]any{
		"citations": []any{}, "action": "audit", "inference_confidence": "low", "retrieval_confidence": "medium", "confidence_score": 0.7, "tokens_used": 7.0, "cost_usd": 0.5,
	}; !reflect.DeepEqual(meta, want) {
		t.Errorf("the answer has %v", meta)
	}
	skipped := ada.thread(&chat.Message{Role: "assistant", Content: "unseen", Meta: map[string]any{"suppressed": true}})
	if _, said := ada.history(skipped); len(said) != 1 {
		t.Errorf("after a question that was skipped: %v", said)
	}
}

// thread is a conversation with one turn that has ended.
func (p *person) thread(answer *chat.Message, notices ...chat.Message) string {
	p.Helper()
	a, err := p.store.Accept(p.Context(), p.viewer(), chat.NewTurn{Message: "hello"})
	p.must(err)
	_, err = p.store.CloseTurn(p.Context(), p.viewer(), chat.Close{RunID: a.Run.ID, End: run.End{Status: run.Done}, Message: answer, Notices: notices})
	p.must(err)
	return a.ConversationID
}

// Requirements: CHAT-15
func TestALongHistoryIsWhole(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	notices := make([]chat.Message, 230)
	for i := range notices {
		notices[i] = chat.Message{Role: "user", Content: fmt.Sprint(i)}
	}
	thread := ada.thread(&chat.Message{Role: "assistant", Content: "end"}, notices...)
	if _, said := ada.history(thread); len(said) != 232 || said[231] != "assistant: end" || said[1] != "user: 0" || said[230] != "user: 229" {
		t.Errorf("%d entries", len(said))
	}
}

package api

import (
	"fmt"
	"testing"

	"liminal/internal/id"
)

// Requirements: API-14, PREF-01, PREF-07
func TestAnswersTakeFeedbackFromTheirPersonOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	said := ada.post("/v1/chat", map[string]any{"message": "hello"}).ok()
	about := map[string]any{"conversation_id": said["conversation_id"], "message_id": said["message_id"], "signal": "dislike", "notes": "too short", "user_id": bob.id}
	got := ada.post("/v1/preferences", about, "Idempotency-Key", "once").ok()["preference"].(map[string]any)
	if got["score"] != -1.0 || got["notes"] != "too short" || got["message_id"] != said["message_id"] {
		t.Errorf("preference = %v", got)
	}
	again := ada.post("/v1/preferences", about, "Idempotency-Key", "once").ok()["preference"].(map[string]any)
	if again["id"] != got["id"] {
		t.Errorf("the same key gave event %v after %v", again["id"], got["id"])
	}
	list, _, err := w.store.ListPreferences(t.Context(), ada.viewer(), "", 10)
	if w.must(err); len(list) != 1 || list[0].UserID != ada.id || len(list[0].Embedding) == 0 || list[0].ContextText != "hello" {
		t.Errorf("kept: %+v", list)
	}
	bob.post("/v1/preferences", about).fails(404, "not_found")
	about["message_id"] = said["user_message_id"]
	ada.post("/v1/preferences", about).fails(400, "validation_error")
	about["message_id"] = id.New()
	ada.post("/v1/preferences", about).fails(404, "not_found")
	about["signal"] = "love"
	ada.post("/v1/preferences", about).fails(400, "validation_error")
}

// Requirements: PREF-04 (stored)
func TestFeedbackIsSeenWithItsAnswerAndTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	said := ada.post("/v1/chat", map[string]any{"message": "hello"}).ok()
	thread := fmt.Sprint("/v1/conversations/", said["conversation_id"], "/messages")
	stands := func() any {
		t.Helper()
		list := items(ada.get(thread).ok())
		if asked := list[0]; asked["feedback"] != nil {
			t.Errorf("of a question: %v", asked["feedback"])
		}
		return list[len(list)-1]["feedback"]
	}
	say := func(signal, corrected string) string {
		t.Helper()
		return fmt.Sprint("/v1/preferences/", int64(ada.post("/v1/preferences", map[string]any{
			"conversation_id": said["conversation_id"], "message_id": said["message_id"], "signal": signal, "corrected_text": corrected,
		}).ok()["preference"].(map[string]any)["id"].(float64)))
	}
	if got := stands(); got != nil {
		t.Errorf("before: %v", got)
	}
	say("like", "")
	second := say("dislike", "hello to you")
	if got, _ := stands().(map[string]any); got["signal"] != "dislike" || got["corrected_text"] != "hello to you" || got["notes"] != "" {
		t.Errorf("what stands: %v", got)
	}
	bob.do("DELETE", second, nil).fails(404, "not_found")
	ada.do("DELETE", second+"?message_id="+said["user_message_id"].(string), nil).fails(404, "not_found")
	if left := ada.do("DELETE", second+"?message_id="+said["message_id"].(string), nil).ok()["feedback"].(map[string]any); left["signal"] != "like" {
		t.Errorf("what stands again: %v", left)
	}
	ada.do("DELETE", second, nil).fails(404, "not_found")
	third := say("never", "")
	if left := ada.do("DELETE", third+"?earlier=true", nil).ok()["feedback"]; left != nil || stands() != nil {
		t.Errorf("in the end: %v", left)
	}
}

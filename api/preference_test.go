package api

import (
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

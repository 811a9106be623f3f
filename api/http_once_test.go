package api

import (
	"strings"
	"testing"

	"liminal/internal/id"
)

// Requirements: API-05
func TestAKeyOfOneEndpointIsRefusedAtAnother(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	bodies := map[string]map[string]any{
		"/v1/chat":          {"message": "hello"},
		"/api/chat":         {"message": "hello"},
		"/v1/tools/run":     {"tool_id": "test.echo_v1", "input": map[string]any{"x": 1}},
		"/v1/workflows/run": {"workflow_id": "w"},
		"/v1/conversations": {"title": "t"},
		"/v1/artifacts":     {"type": "workflow", "name": "w", "schema": workflow("a")},
	}
	for first, body := range bodies {
		key := id.New()
		if got := ada.post(first, body, "Idempotency-Key", key); got.status != 200 {
			t.Fatalf("%s: %d %s", first, got.status, got.body)
		}
		for second, body := range bodies {
			if second == first {
				continue
			}
			got := ada.post(second, body, "Idempotency-Key", key).fails(400, "validation_error")
			if !strings.Contains(got.Message, "key") {
				t.Errorf("%s, then %s: %s", first, second, got.Message)
			}
		}
	}
}

// What failed has left its run, and the key with it.
//
// Requirements: API-05
func TestTheKeyOfARunThatFailedIsRefusedForATurn(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	key := id.New()
	ada.post("/v1/tools/run", map[string]any{"tool_id": "test.broken_v1"}, "Idempotency-Key", key).fails(400, "validation_error")
	got := ada.post("/v1/chat", map[string]any{"message": "hello"}, "Idempotency-Key", key).fails(400, "validation_error")
	if !strings.Contains(got.Message, "another endpoint") {
		t.Error(got.Message)
	}
}

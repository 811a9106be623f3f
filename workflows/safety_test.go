package workflows_test

import (
	"context"
	"testing"

	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/tool"
)

// What a call took out of its text is in the turn's message.
//
// Requirements: SAFE-03
func TestRedactionsOfACallReachTheMessage(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("say", inline, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		c.Redacted(tool.Redaction{Policy: "p", Rule: "r", Reason: "API key", Text: "yes"})
		return map[string]any{"answer": "yes"}, nil
	})
	setup(t, w).chat("hello")
	if len(w.Closed) != 1 {
		t.Fatalf("%d messages", len(w.Closed))
	}
	m := w.Closed[0].Message
	if last := m.Struct.Segments[len(m.Struct.Segments)-1]; m.Content != "yes" || last.Type != chat.SegmentRedaction || last.Text != "yes" || last.Policy != "p" || last.Reason != "API key" {
		t.Errorf("%+v", m.Struct.Segments)
	}
}

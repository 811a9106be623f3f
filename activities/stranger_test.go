package activities_test

import (
	"context"
	"testing"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// Requirements: STREAM-30, TOOL-08
func TestAStrangersTextKeepsItsFlagInTheStream(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"html_untrusted", ""} {
		w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"t"}]}`).
			Tool("t", tool.Spec{Runs: tool.Activity, ContentType: kind}, func(context.Context, *tool.Call) (map[string]any, error) {
				return map[string]any{"text": "<b>hi</b>"}, nil
			})
		_, err := w.Set().Call(t.Context(), activities.CallInput{
			Run: w.Chat("hello", chat.TurnInput{}), Tool: run.Pin{Name: "t", Version: 1}, Effect: "a#1", Node: "a", Attempt: 1,
		})
		if said, _ := w.Event(stream.ToolResult)["content_type"].(string); err != nil || said != kind {
			t.Errorf("of a tool of the type %q the stream says %q, %v", kind, said, err)
		}
	}
}

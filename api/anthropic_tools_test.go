package api

import (
	"errors"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"

	"liminal/internal/graph"
)

// A call of a caller's tool is a tool_use; its results, all together, have the same
// run go on, and the client's next message goes on in its conversation.
func TestAMessageCallsTheCallersTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	ada.taker("taker")
	c := ada.messages()
	tool := func(name string) anthropic.ToolUnionParam {
		return anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: map[string]any{"city": map[string]any{"type": "string"}}}, name)
	}
	params := asksMessage(userSays("call both"))
	params.Model, params.Tools = "taker", []anthropic.ToolUnionParam{tool("weather"), tool("clock")}
	asked, err := c.Messages.New(t.Context(), params)
	w.must(err)
	streamed, err := heardMessage(t, c, params)
	w.must(err)
	for _, m := range []anthropic.Message{*asked, streamed} {
		if len(m.Content) != 2 || m.StopReason != anthropic.StopReasonToolUse || m.Content[0].Name != "weather" || string(m.Content[0].Input) != `{"city":"Jena"}` || m.Content[1].ID == "" {
			t.Fatalf("%+v", m)
		}
	}
	if list, _ := w.engine.turns[0].Fields[graph.CallerInput].([]any); len(list) != 2 || strings.Contains(strings.Join(aboutMessage(t, asked).Ignored, " "), "tools") {
		t.Errorf("the turn brings %v", w.engine.turns[0].Fields)
	}
	result := func(i int, text string) anthropic.ContentBlockParamUnion {
		return anthropic.NewToolResultBlock(asked.Content[i].ID, text, i == 1)
	}
	said := params.Messages
	params.Messages = append(said[:1:1], asked.ToParam(), anthropic.NewUserMessage(result(0, "sunny")))
	var told *anthropic.Error
	if _, err := c.Messages.New(t.Context(), params); !errors.As(err, &told) || told.Type() != "invalid_request_error" {
		t.Errorf("one of two: %v", err)
	}
	params.Messages = append(said[:1:1], asked.ToParam(), anthropic.NewUserMessage(result(0, "sunny"), result(1, "no clock"), anthropic.NewTextBlock("Be quick.")))
	got, err := c.Messages.New(t.Context(), params)
	w.must(err)
	if text := saidIn(got); aboutMessage(t, got).RunID != aboutMessage(t, asked).RunID || !strings.Contains(text, `no clock\n\nBe quick.`) || !strings.Contains(text, `"is_error":true`) {
		t.Fatalf("%s", got.RawJSON())
	}
	params.Messages = append(params.Messages, got.ToParam(), userSays("Thanks"))
	next, err := c.Messages.New(t.Context(), params)
	if err != nil || saidIn(next) != "Thanks" || aboutMessage(t, next).ConversationID != aboutMessage(t, asked).ConversationID {
		t.Errorf("%v, %v", next, err)
	}
}

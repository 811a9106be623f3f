package builtin

import (
	"context"

	"liminal/internal/model"
	"liminal/internal/tool"
)

// plainly is the system text of a conversation without documents.
const plainly = "Answer the person's last message. Be exact and brief, say what you do not know, and use the language they write in."

// genericChat answers a message with the model and the conversation so far.
type genericChat struct{ completer }

func (genericChat) Name() string { return "llm.generic_chat_v1" }

func (t genericChat) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	talk, err := t.dialogue(ctx, c, 0)
	if err != nil {
		return nil, err
	}
	system := words(c, "system")
	if system == "" {
		system = plainly
	}
	req := model.Request{
		Model:     words(c, "model"),
		Task:      "chat",
		System:    paragraphs(system, talk.note),
		Messages:  append(talk.messages, says(model.User, words(c, "message"))),
		MaxTokens: number(c, "max_tokens", 0),
	}
	if f, ok := c.Inputs["temperature"].(float64); ok {
		req.Temperature = &f
	}
	s, err := t.speak(ctx, c, req)
	if err != nil {
		return nil, err
	}
	return talk.summarise(s.result(t.model)), nil
}

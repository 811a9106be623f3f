package builtin

import (
	"context"

	"liminal/internal/learning"
	"liminal/internal/model"
	"liminal/internal/tool"
)

// compareAnswer answers a question with an adapter or without it, and keeps the
// answer where its person compares the two.
type compareAnswer struct{ asker }

func (compareAnswer) Name() string { return "adapter.compare_v1" }

func (t compareAnswer) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	pair := comparison(c)
	pair.Question = words(c, "question")
	which := words(c, "which")
	with, lessons, err := t.steps.Compared(ctx, c.Viewer, pair, which, c.Locale)
	if err != nil {
		return nil, err
	}
	quiet := *c
	quiet.Final, quiet.Adapters = false, with
	s, err := t.speak(ctx, &quiet, model.Request{
		Task: "chat", System: plainly, MaxTokens: maxTried, Messages: []model.Message{says(model.User, pair.Question)},
	})
	if err != nil {
		return nil, err
	}
	err = t.steps.KeepCompared(ctx, c.Viewer, pair, learning.Compared{
		Which: which, Text: s.text.String(), Model: s.asked, Lessons: lessons, Read: s.usage.Input, Written: s.usage.Output,
	})
	return spent(map[string]any{"message_id": pair.AnswerID(which)}, s.asked, s.usage), err
}

// comparison is the one that a call is part of.
func comparison(c *tool.Call) learning.Comparison {
	return learning.Comparison{RunID: c.RunID, AdapterID: words(c, "adapter_id")}
}

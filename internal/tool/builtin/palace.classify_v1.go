package builtin

import (
	"context"

	"liminal/internal/model"
	"liminal/internal/tool"
	"liminal/internal/view"
)

// mostClassifying bounds an answer, in tokens: of lists of numbers, and what a model may
// think before.
const mostClassifying = 4000

// classifyHistory asks a model what an agent should go on to see (PAL-07, PAL-08).
type classifyHistory struct{ palaceAsker }

func (classifyHistory) Name() string { return "palace.classify_v1" }

func (t classifyHistory) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	q, err := t.palace.Question(ctx, c.Viewer, words(c, "lineage"))
	if err != nil {
		return nil, err
	}
	round := number(c, "round", 0) + 1
	out := map[string]any{"round": round, "shown": len(q.Window.Blocks), "outcome": "empty", "more": false}
	if len(q.Window.Blocks) == 0 {
		return out, nil
	}
	reply, asked, err := t.reply(ctx, c, q, model.Request{
		System: view.Asking, MaxTokens: mostClassifying, Messages: []model.Message{says(model.User, model.Frame("data", q.Window.Text(q.Agent)))},
	})
	if err != nil {
		return nil, err
	}
	heard, more, err := t.palace.Heard(ctx, c.Viewer, q, reply)
	if err != nil {
		return nil, err
	}
	out["outcome"], out["ms"], out["more"] = string(heard.Outcome), reply.Took.Milliseconds(), more && round < mostRounds
	if asked != nil {
		spent(out, asked.asked, asked.usage)
	}
	return out, notAllowed(reply)
}

// mostRounds bounds the questions of one run; the next run goes on.
const mostRounds = 50

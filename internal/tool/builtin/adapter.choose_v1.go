package builtin

import (
	"context"

	"liminal/internal/tool"
)

// chooseAnswer records which answer of a comparison is better.
type chooseAnswer struct{ steps Learning }

func (chooseAnswer) Name() string { return "adapter.choose_v1" }

func (t chooseAnswer) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	pair, which := comparison(c), words(c, "which")
	if err := t.steps.Chosen(ctx, c.Viewer, pair, which); err != nil {
		return nil, err
	}
	return map[string]any{"with": which == pair.With()}, nil
}

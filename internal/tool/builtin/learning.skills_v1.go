package builtin

import (
	"context"

	"liminal/internal/tool"
)

// skills says of which situations something is learnt (CLUS-04).
type skills struct{ steps Learning }

func (skills) Name() string { return "learning.skills_v1" }

func (t skills) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	subjects, proposed, err := t.steps.Skills(ctx, c.Viewer)
	if err != nil {
		return nil, err
	}
	return object(map[string]any{"subjects": subjects, "proposed": proposed})
}

package builtin

import (
	"context"

	"liminal/internal/tool"
)

// rehearsePatch rehearses a patch on recorded runs.
type rehearsePatch struct{ desk Desk }

func (rehearsePatch) Name() string { return "config.rehearse_v1" }

func (t rehearsePatch) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	id, err := patchOf(c)
	if err != nil {
		return nil, err
	}
	done, err := t.desk.StepRehearse(ctx, id)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"open": done.Open, "verdict": done.Verdict, "moved": float64(done.Moved), "taken": float64(done.Taken), "said": done.Said,
	}, nil
}

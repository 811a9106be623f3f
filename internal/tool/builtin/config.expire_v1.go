package builtin

import (
	"context"

	"liminal/internal/changes"
	"liminal/internal/tool"
)

// expirePatch ends a patch that waited too long.
type expirePatch struct{ desk Desk }

func (expirePatch) Name() string { return "config.expire_v1" }

func (t expirePatch) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	id, err := patchOf(c)
	if err != nil {
		return nil, err
	}
	status, err := t.desk.StepExpire(ctx, id, changes.Stage(words(c, "stage")))
	if err != nil {
		return nil, err
	}
	return map[string]any{"status": string(status)}, nil
}

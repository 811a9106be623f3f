package builtin

import (
	"context"

	"liminal/internal/tool"
)

// watchPatch looks at how an applied patch goes.
type watchPatch struct{ desk Desk }

func (watchPatch) Name() string { return "config.watch_v1" }

func (t watchPatch) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	id, err := patchOf(c)
	if err != nil {
		return nil, err
	}
	look, err := t.desk.StepWatch(ctx, id)
	if err != nil {
		return nil, err
	}
	return map[string]any{"over": look.Over, "verdict": look.Verdict, "said": look.Said, "soon": look.Soon}, nil
}

package builtin

import (
	"context"

	"liminal/internal/fault"
	"liminal/internal/tool"
)

// patchOf is the patch a step is about. Only the system's own runs make steps:
// a person's graph that calls these tools does not.
func patchOf(c *tool.Call) (int64, error) {
	if !c.Viewer.IsSystem() {
		return 0, fault.New(fault.Forbidden, "Only the workflow of a patch makes its steps.")
	}
	n, _ := c.Inputs["patch_id"].(float64)
	return int64(n), nil
}

// checkPatch makes the checks of a patch.
type checkPatch struct{ desk Desk }

func (checkPatch) Name() string { return "config.check_v1" }

func (t checkPatch) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	id, err := patchOf(c)
	if err != nil {
		return nil, err
	}
	done, err := t.desk.StepCheck(ctx, id)
	if err != nil {
		return nil, err
	}
	return map[string]any{"ok": done.OK, "problems": float64(done.Problems), "about": done.About}, nil
}

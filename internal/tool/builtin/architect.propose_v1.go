package builtin

import (
	"context"

	"liminal/internal/architect"
	"liminal/internal/fault"
	"liminal/internal/tool"
)

// propose hands proposals in as the system's; people decide (CFG-13).
type propose struct{ architect Architect }

func (propose) Name() string { return "architect.propose_v1" }

func (t propose) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	// As the system's proposal an administrator could approve what they wrote
	// themselves.
	if !c.Viewer.IsSystem() {
		return nil, fault.New(fault.Forbidden, "Only the architect's own run proposes as the system. Propose it yourself at /v1/config/patches.")
	}
	b := architect.Batch{ByModel: words(c, "by") != "rules"}
	if err := given(c, "proposals", &b.Proposals); err != nil {
		return nil, err
	}
	if err := given(c, "shown", &b.Shown); err != nil {
		return nil, err
	}
	handed, err := t.architect.Propose(ctx, b)
	if err != nil {
		return nil, err
	}
	return object(handed)
}

package builtin

import (
	"context"
	"time"

	"liminal/internal/architect"
	"liminal/internal/tool"
)

// rules reads figures by the architect's rules, which need no model (CFG-13).
type rules struct{ architect Architect }

func (rules) Name() string { return "architect.rules_v1" }

func (t rules) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	var f architect.Figures
	var err error
	if c.Inputs["figures"] != nil {
		err = given(c, "figures", &f)
	} else {
		f, err = t.architect.Figures(ctx, time.Time{})
	}
	if err != nil {
		return nil, err
	}
	advice, err := t.architect.Advise(ctx, f)
	if err != nil {
		return nil, err
	}
	return object(advice)
}

package builtin

import (
	"context"

	"liminal/internal/tool"
)

// retire puts away what is past its time (PAL-20, PAL-22).
type retire struct{ palace Palace }

func (retire) Name() string { return "palace.retire_v1" }

func (t retire) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	var deletes, archives []string
	for name, into := range map[string]*[]string{"delete": &deletes, "archive": &archives} {
		if c.Inputs[name] == nil {
			continue
		}
		if err := given(c, name, into); err != nil {
			return nil, err
		}
	}
	deleted, archived, err := t.palace.Retire(ctx, c.Viewer, deletes, archives)
	return map[string]any{"deleted": deleted, "archived": archived}, err
}

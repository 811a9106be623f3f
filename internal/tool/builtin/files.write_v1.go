package builtin

import (
	"context"

	"liminal/internal/files"
	"liminal/internal/quota"
	"liminal/internal/tool"
)

// writeFile writes a text file of the person's own, and keeps what it writes over
// (files.Trash). Its spec says that it is tried once and that an agent asks first.
type writeFile struct {
	files Files
	plans *quota.PlanTable
}

func (writeFile) Name() string { return "files.write_v1" }

func (t writeFile) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	path, err := placed(c)
	if err != nil {
		return nil, err
	}
	text, _ := c.Inputs["text"].(string)
	p := t.plans.Of(c.Viewer)
	f, created, err := t.files.Put(ctx, c.Viewer, path, []byte(text), files.Bounds{File: p.MaxFileBytes, Total: p.MaxStorageBytes, Count: p.MaxFiles})
	if err != nil {
		return nil, err
	}
	return map[string]any{"path": f.Path, "size": float64(len(text)), "created": created}, nil
}

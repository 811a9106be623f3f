package builtin

import (
	"context"
	"errors"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/files"
	"liminal/internal/quota"
	"liminal/internal/tool"
)

// writeFile writes a text file of the person's own. Its spec says that it is
// tried once and that an agent asks first.
type writeFile struct {
	files Files
	plans *quota.PlanTable
}

func (writeFile) Name() string { return "files.write_v1" }

func (t writeFile) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	path := words(c, "path")
	text, _ := c.Inputs["text"].(string)
	_, err := t.files.File(ctx, c.Viewer, path)
	created := errors.Is(err, fault.NotFound)
	if err != nil && !created {
		return nil, err
	}
	p := t.plans.Of(c.Viewer)
	f, err := t.files.Replace(ctx, c.Viewer, path, strings.NewReader(text), files.Bounds{File: p.MaxFileBytes, Total: p.MaxStorageBytes, Count: p.MaxFiles})
	if err != nil {
		return nil, err
	}
	return map[string]any{"path": f.Path, "size": float64(len(text)), "created": created}, nil
}

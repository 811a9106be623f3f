package builtin

import (
	"context"
	"fmt"
	"strings"

	"liminal/internal/tool"
)

// listFolder lists one folder of the person's own.
type listFolder struct{ files Files }

func (listFolder) Name() string { return "files.dir_v1" }

func (t listFolder) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	p, err := placed(c)
	if err != nil {
		return nil, err
	}
	found, more, err := t.files.Dir(ctx, c.Viewer, p, maxListed)
	if err != nil {
		return nil, err
	}
	entries, lines := make([]any, 0, len(found)), make([]string, 0, len(found)+1)
	for _, e := range found {
		kind, line := "file", fmt.Sprintf("%s (%s)", e.Name, count(int(e.Size), "byte", false))
		if e.Folder {
			kind, line = "folder", e.Name+"/"
		}
		entries = append(entries, map[string]any{"name": e.Name, "kind": kind, "size": float64(e.Size)})
		lines = append(lines, line)
	}
	switch {
	case more:
		lines = append(lines, fmt.Sprintf("… and more than these %d", maxListed))
	case len(lines) == 0:
		lines = append(lines, "(empty)")
	}
	return map[string]any{"entries": entries, "more": more, "text": strings.Join(lines, "\n"), "summary": count(len(found), "name", german(c))}, nil
}

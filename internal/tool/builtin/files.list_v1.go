package builtin

import (
	"context"
	"strings"

	"liminal/internal/files"
	"liminal/internal/tool"
)

// maxListed bounds how many files one call lists.
const maxListed = 500

// listFiles lists the person's own files.
type listFiles struct{ files Files }

func (listFiles) Name() string { return "files.list_v1" }

func (t listFiles) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	found, more, err := t.below(ctx, c, strings.Trim(words(c, "folder"), "/"))
	if err != nil {
		return nil, err
	}
	out := make([]any, 0, len(found))
	for _, f := range found {
		out = append(out, map[string]any{"path": f.Path, "size": float64(f.Size), "mime": f.MIME})
	}
	return map[string]any{"files": out, "more": more}, nil
}

func (t listFiles) below(ctx context.Context, c *tool.Call, folder string) (found []files.File, more bool, err error) {
	for cursor := ""; ; {
		page, next, err := t.files.List(ctx, c.Viewer, cursor, 100)
		if err != nil {
			return nil, false, err
		}
		for _, f := range page {
			if folder == "" || strings.HasPrefix(f.Path, folder+"/") {
				found = append(found, f)
			}
		}
		if len(found) > maxListed {
			return found[:maxListed], true, nil
		}
		if next == "" {
			return found, false, nil
		}
		cursor = next
	}
}

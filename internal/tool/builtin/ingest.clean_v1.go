package builtin

import (
	"context"

	"liminal/internal/tool"
)

// clean takes out of a document's text what nobody searches for.
type clean struct{ intake Extraction }

func (clean) Name() string { return "ingest.clean_v1" }

func (t clean) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	d, err := t.intake.Clean(ctx, c.Viewer, words(c, "document_id"))
	if err != nil {
		return nil, err
	}
	return map[string]any{"document_id": d.ID, "length": float64(d.Length)}, nil
}

package builtin

import (
	"context"

	"liminal/internal/tool"
)

// accept stores what another reader found in a document's file.
type accept struct{ intake Extraction }

func (accept) Name() string { return "ingest.accept_v1" }

func (t accept) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	d, err := t.intake.Accept(ctx, c.Viewer, words(c, "document_id"), words(c, "title"), words(c, "text"), words(c, "format") == "markdown")
	if err != nil {
		return nil, err
	}
	return map[string]any{"document_id": d.ID, "length": float64(d.Length)}, nil
}

package builtin

import (
	"context"

	"liminal/internal/tool"
)

// chunk cuts a document's text into passages.
type chunk struct{ intake Indexing }

func (chunk) Name() string { return "ingest.chunk_v1" }

func (t chunk) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	d, err := t.intake.Cut(ctx, c.Viewer, words(c, "document_id"))
	if err != nil {
		return nil, err
	}
	return map[string]any{"document_id": d.ID, "chunks": float64(d.Chunks)}, nil
}

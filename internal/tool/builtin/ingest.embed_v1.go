package builtin

import (
	"context"

	"liminal/internal/knowledge"
	"liminal/internal/tool"
)

// embedBatch computes the vectors of a batch of passages.
type embedBatch struct{ intake Indexing }

func (embedBatch) Name() string { return "ingest.embed_v1" }

func (t embedBatch) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	p, err := t.intake.Embed(ctx, c.Viewer, words(c, "document_id"), knowledge.Span{From: number(c, "from", 0), To: number(c, "to", 0)})
	if err != nil {
		return nil, err
	}
	return map[string]any{"parcel": packed(p)}, nil
}

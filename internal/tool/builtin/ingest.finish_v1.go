package builtin

import (
	"context"

	"liminal/internal/tool"
)

// finish makes a document whose passages are indexed ready.
type finish struct{ intake Indexing }

func (finish) Name() string { return "ingest.finish_v1" }

func (t finish) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	d, err := t.intake.Store(ctx, c.Viewer, words(c, "document_id"), func(done, _ int) { c.Heartbeat(done) })
	if err != nil {
		return nil, err
	}
	return map[string]any{"document_id": d.ID, "chunks": float64(d.Chunks), "pages": float64(d.Pages)}, nil
}

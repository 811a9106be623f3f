package builtin

import (
	"context"

	"liminal/internal/stream"
	"liminal/internal/tool"
)

// index embeds a document's passages and makes them searchable. It says how
// far it is after each batch.
type index struct{ intake Indexing }

func (index) Name() string { return "ingest.index_v1" }

func (t index) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	d, err := t.intake.Store(ctx, c.Viewer, words(c, "document_id"), func(done, total int) {
		c.Heartbeat(done)
		c.Emit(stream.ProgressData{Done: &done, Total: &total, Unit: "passages", Message: "Indexing the passages…"})
	})
	if err != nil {
		return nil, err
	}
	return map[string]any{"document_id": d.ID, "chunks": float64(d.Chunks)}, nil
}

package builtin

import (
	"context"

	"liminal/internal/tool"
)

// cut cuts a document's text into passages, and those into batches.
type cut struct{ intake Indexing }

func (cut) Name() string { return "ingest.cut_v1" }

func (t cut) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	d, err := t.intake.Cut(ctx, c.Viewer, words(c, "document_id"))
	if err != nil {
		return nil, err
	}
	batches := []any{}
	for _, s := range t.intake.Spans(d.Chunks) {
		batches = append(batches, map[string]any{"from": float64(s.From), "to": float64(s.To)})
	}
	return map[string]any{"document_id": d.ID, "chunks": float64(d.Chunks), "batches": batches}, nil
}

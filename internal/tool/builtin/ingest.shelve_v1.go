package builtin

import (
	"context"

	"liminal/internal/knowledge"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// indexBatch puts a batch of passages with its vectors into the index, and says
// how far the document is.
type indexBatch struct{ intake Indexing }

func (indexBatch) Name() string { return "ingest.shelve_v1" }

func (t indexBatch) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	p, err := unpacked(c.Inputs["parcel"])
	if err != nil {
		return nil, err
	}
	done, total, err := t.intake.IndexBatch(ctx, c.Viewer, words(c, "document_id"), p)
	if err != nil {
		return nil, err
	}
	c.Emit(stream.ProgressData{Done: &done, Total: &total, Unit: "passages", Message: "Indexing the passages…"})
	// The vectors are where they belong; the run need not carry them on.
	return map[string]any{"parcel": packed(knowledge.VectorBatch{Span: p.Span, Total: total, Encoder: p.Encoder}), "done": float64(done), "total": float64(total)}, nil
}

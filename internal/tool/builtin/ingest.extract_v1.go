package builtin

import (
	"context"
	"path"

	"liminal/internal/knowledge/extract"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// extractText reads a document's file and stores its text; of a file the program
// cannot read it tells the type instead.
type extractText struct {
	intake Extraction
	files  Files
}

func (extractText) Name() string { return "ingest.extract_v1" }

func (t extractText) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	c.Emit(stream.ProgressData{Message: "Reading the file…"})
	ctx = extract.WithProgress(ctx, func(at extract.Progress) {
		switch {
		case at.Preparing:
			c.Emit(stream.ProgressData{Preparing: true, Message: "Preparing the reader of PDF files: the first time takes some seconds…"})
		case at.Total == 0:
			c.Emit(stream.ProgressData{Message: "Reading the file…"})
		default:
			c.Emit(stream.ProgressData{Done: &at.Done, Total: &at.Total, Unit: "pages", Message: "Reading the file…"})
		}
	})
	d, outcome, err := t.intake.Extract(ctx, c.Viewer, words(c, "document_id"), c.RunID, parse(t).open)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"document_id": d.ID, "outcome": string(outcome), "path": d.Path, "name": path.Base(d.Path), "mime": d.MIME,
		"size": float64(d.Size), "pages": float64(d.Pages), "length": float64(d.Length),
	}, nil
}

package builtin

import (
	"context"
	"os"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// parse reads a document's file and stores its text.
type parse struct {
	intake Extraction
	files  Files
}

func (parse) Name() string { return "ingest.parse_v1" }

func (t parse) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	c.Emit(stream.ProgressData{Message: "Reading the file…"})
	d, err := t.intake.Read(ctx, c.Viewer, words(c, "document_id"), c.RunID, t.open)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"document_id": d.ID, "pages": float64(d.Pages), "length": float64(d.Length), "skipped": d.Status == knowledge.Ready,
	}, nil
}

// open opens a document's file within the person's own folder.
func (t parse) open(ctx context.Context, v identity.Viewer, path string) (knowledge.File, error) {
	f, err := t.files.Open(ctx, v, path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close() // it was only looked at
		return nil, err
	}
	return sized{f, info.Size()}, nil
}

// sized is an open file that knows how large it was when it was opened.
type sized struct {
	*os.File
	size int64
}

func (f sized) Size() int64 { return f.size }

package builtin

import (
	"context"

	"liminal/internal/tool"
)

// parseFile stands for whoever reads files the program does not. A tool.spec
// that says it reads a document's type takes its place when the run opens
// (RAG-02); where none does, the document is passed over.
type parseFile struct{ intake Extraction }

func (parseFile) Name() string { return tool.ParseForeign }

func (t parseFile) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	_, err := t.intake.Pass(ctx, c.Viewer, words(c, "document_id"))
	return map[string]any{"text": ""}, err
}

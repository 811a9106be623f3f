package builtin

import (
	"context"
	"io"

	"liminal/internal/speech"
	"liminal/internal/tool"
)

// transcribe makes text of a recording of the person's own (TOOL-12).
type transcribe struct {
	files       Files
	transcriber Transcriber
}

func (transcribe) Name() string { return "speech.transcribe_v1" }

func (t transcribe) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	path := words(c, "path")
	f, err := t.files.Open(ctx, c.Viewer, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	body, err := io.ReadAll(io.LimitReader(f, speech.MaxRecording+1))
	if err != nil {
		return nil, err
	}
	said, err := t.transcriber.Transcribe(ctx, speech.Recording{Name: path, Language: words(c, "language"), Body: body})
	if err != nil {
		return nil, err
	}
	out := map[string]any{"text": said.Text, "path": path, "summary": count(len([]rune(said.Text)), "character", german(c))}
	if said.Language != "" {
		out["language"] = said.Language
	}
	if said.Seconds > 0 {
		out["seconds"] = said.Seconds
	}
	return out, nil
}

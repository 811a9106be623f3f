package builtin

import (
	"context"

	"liminal/internal/fault"
	"liminal/internal/tool"
)

// fail notes on a document why it could not be read in.
type fail struct{ intake Intake }

func (fail) Name() string { return "ingest.fail_v1" }

func (t fail) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	d, err := t.intake.Fail(ctx, c.Viewer, words(c, "document_id"), cause(c.Inputs["error"]))
	if err != nil {
		return nil, err
	}
	return map[string]any{"document_id": d.ID, "error": d.Error}, nil
}

// cause is a node's failure as an error again. Only what the program meant
// for people reaches the document.
func cause(v any) error {
	switch x := v.(type) {
	case string:
		if x != "" {
			return fault.New(fault.Invalid, "%s", x)
		}
	case map[string]any:
		if message, _ := x["message"].(string); message != "" {
			return fault.New(fault.Invalid, "%s", message)
		}
	}
	return fault.New(fault.Internal, "The document could not be read in. Try again; if it stays, the server's log says why.")
}

package builtin

import (
	"context"

	"liminal/internal/fault"
	"liminal/internal/tool"
	"liminal/internal/training"
)

// failTraining notes why a training failed.
type failTraining struct{ training Training }

func (failTraining) Name() string { return "train.fail_v1" }

func (t failTraining) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	code, message := string(fault.Internal), ""
	if e, ok := c.Inputs["error"].(map[string]any); ok {
		if said, _ := e["code"].(string); said != "" {
			code = said
		}
		message, _ = e["message"].(string)
	}
	out, err := t.training.Fail(ctx, c.Viewer, claimOf(c), training.Failure{Code: code, Message: message})
	if err != nil {
		return nil, err
	}
	return object(out)
}

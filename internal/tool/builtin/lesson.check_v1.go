package builtin

import (
	"context"

	"liminal/internal/tool"
)

// checkLessons drops what is no sentence about manner.
type checkLessons struct{ steps Learning }

func (checkLessons) Name() string { return "lesson.check_v1" }

func (t checkLessons) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	checked, err := t.steps.Check(ctx, c.Viewer, words(c, "cluster_id"), ids(c, "lessons"))
	if err != nil {
		return nil, err
	}
	return object(checked)
}

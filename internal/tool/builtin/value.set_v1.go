package builtin

import (
	"context"
	"maps"

	"liminal/internal/tool"
)

// setValue returns what it is given: the end of a stage of a graph, whose
// status is then told with the values people see.
type setValue struct{}

func (setValue) Name() string { return "value.set_v1" }

func (setValue) Run(_ context.Context, c *tool.Call) (map[string]any, error) {
	return maps.Clone(c.Inputs), nil
}

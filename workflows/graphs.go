package workflows

import (
	"sync"

	"liminal/activities"
	"liminal/internal/graph"
)

// graphs are the parsed graphs of a process by what they were parsed from.
// Parsing is pure, so a workflow that finds its graph here behaves exactly as
// one that parses it.
type graphs struct {
	most   int
	mu     sync.Mutex
	parsed map[string]*graph.Graph
}

func (c *graphs) parse(o *activities.Opened) (*graph.Graph, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g, ok := c.parsed[o.Digest]; ok {
		return g, nil
	}
	tools := make(graph.Tools, len(o.Tools))
	for _, name := range keys(o.Tools) {
		tools[name] = o.Tools[name].Tool
	}
	g, err := graph.Parse(o.Graph, tools, o.Limits())
	if err != nil {
		return nil, err
	}
	if c.parsed == nil || len(c.parsed) >= c.most {
		c.parsed = map[string]*graph.Graph{}
	}
	c.parsed[o.Digest] = g
	return g, nil
}

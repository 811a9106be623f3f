package architect

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"liminal/artifacts"
	"liminal/internal/graph"
	"liminal/internal/identity"
)

// Document is a workflow as the rules read it.
type Document struct {
	Artifact artifacts.Artifact
	nodes    []node
	index    map[string]int
	edges    []graph.Edge
	limits   graph.Limits
	runTime  time.Duration // a run may take, without the time it waits for a person
	tools    map[string]artifacts.Bound
}

// node is a node of a document: what the rules ask of it, and all of it.
type node struct {
	ID         string   `json:"id"`
	Type       string   `json:"type"`
	Tool       string   `json:"tool"`
	OnError    string   `json:"on_error"`
	TimeoutMS  int64    `json:"timeout_ms"`
	MaxRetries *int     `json:"max_retries"`
	Outputs    []string `json:"outputs"`
	SaveAs     string   `json:"save_as"`
	Branches   []branch `json:"branches"`
	Options    any      `json:"options"`
	Next       string   `json:"next"`
	Body       string   `json:"body"`

	declared bool // outputs were given
	all      map[string]any
}

type branch struct {
	When string `json:"when"`
	Next string `json:"next"`
}

// Read prepares a workflow at its current version.
func Read(ctx context.Context, l *artifacts.Library, a artifacts.Artifact) (*Document, error) {
	tools, err := l.ToolsOf(ctx, identity.System(), a.Schema)
	if err != nil {
		return nil, err
	}
	limits := artifacts.Limits(identity.System(), a, tools)
	limits.Stored = true
	g, err := graph.Parse(a.Schema, artifacts.GraphTools(tools), limits)
	if err != nil {
		return nil, err
	}
	var read struct {
		Nodes []json.RawMessage `json:"nodes"`
	}
	if err := json.Unmarshal(a.Schema, &read); err != nil {
		return nil, err
	}
	d := &Document{
		Artifact: a, nodes: make([]node, len(read.Nodes)), index: map[string]int{}, edges: g.Edges(),
		limits: limits, runTime: g.Timeout(), tools: tools,
	}
	for i, raw := range read.Nodes {
		n := &d.nodes[i]
		if err := json.Unmarshal(raw, n); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &n.all); err != nil {
			return nil, err
		}
		_, n.declared = n.all["outputs"]
		d.index[n.ID] = i
	}
	return d, nil
}

func (d *Document) node(id string) *node {
	if i, ok := d.index[id]; ok {
		return &d.nodes[i]
	}
	return nil
}

// timeout is what one attempt of a node may take by the document, whatever its
// tool allows.
func (d *Document) timeout(n *node) time.Duration {
	if n.TimeoutMS > 0 {
		return time.Duration(n.TimeoutMS) * time.Millisecond
	}
	return min(d.limits.Timeout, d.limits.MaxTimeout)
}

// bound is what an attempt of a node may take at most: the cap, the time of the
// run, and what its tool's spec allows.
func (d *Document) bound(n *node) time.Duration {
	most := min(d.limits.MaxTimeout, d.runTime)
	name := n.Tool
	if n.Type == string(graph.Agent) {
		name = graph.StepTool
	}
	if spec, ok := d.tools[name]; ok && spec.Workflow == "" {
		most = min(most, spec.Timeout())
	}
	return most
}

// limit is what an attempt of a node may take as it is.
func (d *Document) limit(n *node) time.Duration { return min(d.timeout(n), d.bound(n)) }

// after is where control goes from a node that has done its work; empty: the
// run, or the branch it is in, ends.
func (d *Document) after(id string) string {
	for _, e := range d.edges {
		if e.From == id && e.Label == "" {
			return e.To
		}
	}
	return ""
}

// reached are the nodes a run may come to from one on, itself included, in the
// order they are found, and not beyond those to stop at.
func (d *Document) reached(from string, stop ...string) []string {
	var order []string
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == "" || slices.Contains(order, queue[0]) || slices.Contains(stop, queue[0]) {
			continue
		}
		order = append(order, queue[0])
		for _, e := range d.edges {
			if e.From == queue[0] {
				queue = append(queue, e.To)
			}
		}
	}
	return order
}

// entrances are the nodes from which a run may come to one.
func (d *Document) entrances(id string) int {
	n := 0
	for _, e := range d.edges {
		if e.To == id {
			n++
		}
	}
	return n
}

// sets are the vars a node writes.
func (n *node) sets() []string {
	switch graph.NodeType(n.Type) {
	case graph.Switch, graph.Parallel, graph.End:
		return nil
	case graph.Set:
		values, _ := n.all["values"].(map[string]any)
		return slices.Sorted(maps.Keys(values))
	default:
	}
	switch {
	case n.SaveAs != "":
		return []string{n.SaveAs}
	case n.declared && len(n.Outputs) > 0:
		return n.Outputs
	}
	return []string{n.ID}
}

// literal are the options of a question by id when the document lists them;
// nil when they come from a template.
func (n *node) literal() []string {
	list, ok := n.Options.([]any)
	if !ok {
		return nil
	}
	var ids []string
	for _, o := range list {
		id := optionID(o)
		if id == "" || containsTemplate(o) {
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// optionID is the id of an option, or of an answer that picks one.
func optionID(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case map[string]any:
		id, _ := x["id"].(string)
		return id
	}
	return ""
}

// persisted are the vars that are kept for the next turn.
func (d *Document) persisted() []string {
	var read struct {
		Persist []string `json:"persist"`
	}
	if json.Unmarshal(d.Artifact.Schema, &read) != nil {
		return nil
	}
	return read.Persist
}

package graph

import "time"

// Shape is what a node is, without what it is given: for pictures, coverage and
// comparisons of graphs.
type Shape struct {
	ID       string
	Type     NodeType
	Does     string // the tool or the workflow it runs; empty for other types
	Body     string // of a map: where an item begins
	Next     string // where control goes from it; empty: the run, or the branch, ends
	Branches []Branch
}

// Branch is one way out of a switch, or one that a parallel starts.
type Branch struct {
	When string // empty: no condition
	Next string
}

// Shapes gives the nodes in the order of the document.
func (g *Graph) Shapes() []Shape {
	shapes := make([]Shape, len(g.nodes))
	for i := range g.nodes {
		n := &g.nodes[i]
		s := Shape{ID: n.id, Type: n.kind, Does: n.tool, Body: n.body, Next: g.after(i)}
		if n.kind == Workflow {
			s.Does = n.workflow
		}
		for _, b := range n.branches {
			branch := Branch{Next: b.next}
			if b.when != nil {
				branch.When = b.when.String()
			}
			s.Branches = append(s.Branches, branch)
		}
		shapes[i] = s
	}
	return shapes
}

// Spent is how much of its Timeout a run has used: the time in which it did not
// only wait for a person (C-23).
func (r *Run) Spent() time.Duration { return r.state.Spent }

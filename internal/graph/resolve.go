package graph

import (
	"errors"
	"slices"
	"strconv"

	"liminal/internal/check"
	"liminal/internal/expr"
)

var roots = []string{"input", "vars", "conversation", "user"}

// resolve checks what needs the whole document: the nodes control goes to, the
// names conditions and templates read.
func (p *parser) resolve() {
	for _, t := range p.targets {
		if _, ok := p.g.index[t.id]; !ok {
			p.faultOf(check.References, t.path, expr.Nearest(t.id, p.ids()), "%q is not a node", t.id)
		}
	}
	slices.Sort(p.vars)
	p.vars = slices.Compact(p.vars)
	slices.Sort(p.items)
	p.items = slices.Compact(p.items)
	scope := expr.Scope{
		Names:  slices.Concat(p.vars, p.items, roots),
		Fields: map[string][]string{"vars": p.vars},
	}
	if p.closed {
		scope.Fields["input"] = p.input
	}
	for _, c := range p.conditions {
		p.compile(c, scope)
	}
	for _, t := range p.templates {
		t.t.references(t.path, p.reference)
	}
}

func (p *parser) compile(c condition, scope expr.Scope) {
	program, err := expr.Compile(c.source, scope)
	var at *expr.Error
	switch {
	case errors.As(err, &at):
		p.faultOf(check.Expressions, c.path, at.Hint, "the condition %s does not compile: character %d: %s", expr.Show(c.source), at.Offset+1, at.Message)
	case err != nil:
		p.faultOf(check.Expressions, c.path, "", "the condition does not compile: %v", err)
	default:
		c.set(program)
	}
}

func (p *parser) reference(path string, r reference) {
	root := r.path[0]
	switch {
	case slices.Contains(p.items, root):
	case slices.Contains(p.vars, root) && !slices.Contains(roots, root):
		p.faultOf(check.Expressions, path, "write ${vars."+root+"}", "${%s} starts with the name of a var", r)
	case !slices.Contains(roots, root):
		p.faultOf(check.Expressions, path, "templates read input, vars, conversation, user and the item of a map", "${%s} starts with %q, which is nothing a template can read", r, root)
	case len(r.path) == 1:
	case root == "vars" && !r.optional && !slices.Contains(p.vars, r.path[1]):
		p.faultOf(check.Expressions, path, expr.Nearest(r.path[1], p.vars), "${%s} can never have a value: nothing in the graph sets %q", r, r.path[1])
	case root == "input" && p.closed && !r.optional && !slices.Contains(p.input, r.path[1]):
		p.faultOf(check.Expressions, path, expr.Nearest(r.path[1], p.input), "${%s} can never have a value: input_schema has no %q", r, r.path[1])
	}
}

// finish checks and computes what needs a graph without faults.
func (p *parser) finish() {
	g := p.g
	for i := range g.nodes {
		n := &g.nodes[i]
		if n.kind == Parallel {
			p.clashes(i)
		}
		if n.kind == Map && n.body == n.next {
			p.fault("/nodes/"+strconv.Itoa(i)+"/body", "", "the body of a map is its next: nothing would be done for the items")
		}
		if s := g.node(n.stage); s != nil && s.stage != "" && !p.lim.Stored {
			p.faultOf(check.References, "/nodes/"+strconv.Itoa(i)+"/stage", "name "+s.stage, "the stage %q is itself a step of %q", n.stage, s.stage)
		}
		n.final = g.final(n, g.after(i))
	}
}

// clashes finds vars that two branches of a parallel both set.
func (p *parser) clashes(i int) {
	g := p.g
	n := &g.nodes[i]
	set := map[string]int{}
	for b, branch := range n.branches {
		seen := map[string]bool{}
		for _, at := range g.reachable(branch.next, n.next) {
			for _, name := range g.nodes[at].sets() {
				first, taken := set[name]
				if taken && first != b && !seen[name] {
					p.fault("/nodes/"+strconv.Itoa(i)+"/branches/"+strconv.Itoa(b), "give one of them another name",
						"branches %d and %d both set %q, the second in node %q", first+1, b+1, name, g.nodes[at].id)
				}
				seen[name] = true
				if !taken {
					set[name] = b
				}
			}
		}
	}
}

// sets gives the vars a node writes.
func (n *node) sets() []string {
	switch n.kind {
	case ToolCall, Workflow, Map:
		if n.declared && (n.kind != Map || len(n.outputs) > 0) {
			return n.outputs
		}
		return []string{n.id}
	case Set:
		return n.outputs
	case Interrupt, Agent:
		return []string{n.talk.saveAs}
	default:
		return nil
	}
}

// reachable gives the nodes from one on, without those at and behind a join,
// and without the bodies of maps, whose vars stay their own.
func (g *Graph) reachable(from, join string) []int {
	var order []int
	seen := map[string]bool{"": true, join: true}
	queue := []string{from}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		i := g.index[id]
		order = append(order, i)
		for _, e := range g.edgesOf(i) {
			if e.Label != "each" || e.To != g.nodes[i].body {
				queue = append(queue, e.To)
			}
		}
	}
	return order
}

// final says whether nothing follows a node but the end, with the node's text
// as the response: its tokens are the answer and may be shown as they come. In
// doubt it says no. The author's stream field wins.
func (g *Graph) final(n *node, next string) bool {
	if n.stream != nil {
		return *n.stream
	}
	if n.kind != ToolCall && n.kind != Agent || n.kind == ToolCall && g.tools[n.tool].Workflow != "" {
		return false
	}
	if next == "" {
		return n.text(g.tools) != ""
	}
	end := g.node(next)
	if end.kind != End {
		return false
	}
	switch response := end.end.response; response.kind {
	case absent:
		return n.text(g.tools) != ""
	case single:
		return n.isText(response.ref.path)
	default:
		return false
	}
}

// text names the output of a node that is its text, as far as can be told.
func (n *node) text(tools Tools) string {
	outputs := tools[n.tool].Outputs
	switch {
	case n.kind == Agent:
		return "text"
	case n.declared:
		outputs = n.outputs
	case outputs == nil:
		return textKeys[0]
	}
	for _, key := range textKeys {
		if slices.Contains(outputs, key) {
			return key
		}
	}
	return ""
}

// isText says whether a path names the node's text among the vars.
func (n *node) isText(path []string) bool {
	if path[0] != "vars" {
		return false
	}
	switch {
	case n.kind == Agent:
		return slices.Equal(path[1:], []string{n.talk.saveAs, "text"})
	case n.declared:
		return len(path) == 2 && slices.Contains(n.outputs, path[1]) && slices.Contains(textKeys[:], path[1])
	}
	return len(path) == 3 && path[1] == n.id && slices.Contains(textKeys[:], path[2])
}

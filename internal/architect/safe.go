package architect

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/graph"
)

// What a rule may change without anybody's thinking is decided here, and in
// doubt it may not.

// handler is the node this workflow's other failures go to, when it and all
// that follows it read nothing but the input and the error.
func (d *Document) handler(n *node) string {
	target := ""
	for i := range d.nodes {
		switch to := d.nodes[i].OnError; {
		case to == "" || to == target:
		case target != "":
			return "" // they go to several
		default:
			target = to
		}
	}
	if target == "" || target == n.ID || d.inside(n.ID) {
		return ""
	}
	reached := d.reached(target)
	if slices.Contains(reached, n.ID) {
		return "" // it would come by again
	}
	for _, id := range reached {
		for i := range d.nodes {
			if d.node(id).reads(d.nodes[i].sets()) {
				return ""
			}
		}
	}
	return target
}

// without is the node after n, when a run may go there without n: nothing that
// follows reads what n sets, and what follows has the last word.
func (d *Document) without(n *node) string {
	next := d.after(n.ID)
	if next == "" || d.inside(n.ID) {
		return ""
	}
	sets := n.sets()
	if persist := d.persisted(); slices.ContainsFunc(sets, func(s string) bool { return slices.Contains(persist, s) }) {
		return "" // the next turn reads it
	}
	for _, id := range d.reached(next) {
		m := d.node(id)
		if id == n.ID || m.reads(sets) || d.last(m) && !m.speaks() {
			return ""
		}
	}
	return next
}

// inside reports whether a node is done for the items of a map or in a branch
// of a parallel, whose results are gathered.
func (d *Document) inside(id string) bool {
	for _, n := range d.nodes {
		switch graph.NodeType(n.Type) {
		case graph.Map:
			if slices.Contains(d.reached(n.Body, n.Next), id) {
				return true
			}
		case graph.Parallel:
			for _, b := range n.Branches {
				if slices.Contains(d.reached(b.Next, n.Next), id) {
					return true
				}
			}
		default:
		}
	}
	return false
}

// last reports whether a run ends at a node.
func (d *Document) last(n *node) bool {
	return n.Type != string(graph.Switch) && d.after(n.ID) == ""
}

// speaks reports whether a run that ends at a node has a result of its own,
// and not the text of what went before.
func (n *node) speaks() bool {
	switch graph.NodeType(n.Type) {
	case graph.End:
		return n.all["response"] != nil || n.all["data"] != nil
	case graph.ToolCall, graph.Agent, graph.Workflow:
		return n.all["when"] == nil
	default:
		return false
	}
}

// quietKeys are members of a node that read no var.
var quietKeys = []string{"id", "type", "tool", "next", "on_error", "on_cancel", "outputs", "save_as", "stage", "workflow", "timeout_ms", "max_retries"}

// reads reports whether a node may read one of some vars: any text in it that
// holds the name as a word counts.
func (n *node) reads(names []string) bool {
	for _, key := range slices.Sorted(maps.Keys(n.all)) {
		if !slices.Contains(quietKeys, key) && mentions(n.all[key], names) {
			return true
		}
	}
	return false
}

var word = regexp.MustCompile(`[\p{L}\p{N}_.-]+`)

func mentions(v any, names []string) bool {
	switch x := v.(type) {
	case string:
		for _, w := range word.FindAllString(x, -1) {
			if slices.ContainsFunc(names, func(name string) bool { return named(w, name) }) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(x, func(e any) bool { return mentions(e, names) })
	case map[string]any:
		for _, e := range x {
			if mentions(e, names) {
				return true
			}
		}
	}
	return false
}

// named reports whether a word is a path that names a var: x, x.y, vars.x.y.
// "vars" alone names all of them.
func named(word, name string) bool {
	word = strings.Trim(word, ".-")
	rest := strings.TrimPrefix(word, "vars.")
	return word == "vars" || rest == name || strings.HasPrefix(rest, name+".") || slices.Contains(strings.Split(rest, "-"), name)
}

func containsTemplate(v any) bool {
	switch x := v.(type) {
	case string:
		return strings.Contains(x, "${")
	case map[string]any:
		for _, e := range x {
			if containsTemplate(e) {
				return true
			}
		}
	}
	return false
}

// guarded says what a question stands before that changes something; empty:
// nothing does, as far as the tools' specs tell.
func (d *Document) guarded(id string) string {
	for _, reached := range d.reached(id) {
		n := d.node(reached)
		switch graph.NodeType(n.Type) {
		case graph.ToolCall:
			if spec, ok := d.tools[n.Tool]; !ok || !spec.ReadOnly || spec.Workflow != "" {
				return fmt.Sprintf("node %q calls %s, which may change something", n.ID, n.Tool)
			}
		case graph.Agent:
			return fmt.Sprintf("the agent %q works", n.ID)
		case graph.Workflow:
			return fmt.Sprintf("node %q runs another workflow", n.ID)
		default:
		}
	}
	return ""
}

// answered is a node that gives an answer in a question's place.
func answered(n *node, option string) map[string]any {
	name := n.SaveAs
	if name == "" {
		name = n.ID
	}
	set := map[string]any{"id": n.ID, "type": string(graph.Set), "values": map[string]any{name: option}}
	for _, key := range []string{"description", "quiet", "next", "when"} {
		if v, ok := n.all[key]; ok {
			set[key] = v
		}
	}
	return set
}

package artifacts

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"liminal/internal/check"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
)

// maxReach bounds how many other workflows a document may lead to.
const maxReach = 200

// flow is what one run hands on of an input of its own when it begins another.
type flow int

const (
	lost   flow = iota // another value: nobody knows of what size
	kept               // the same value
	shrunk             // a part of it, which is smaller
)

// handover is one place where a document begins a run of another.
type handover struct {
	path   string // where in the document
	to     *unit
	inputs map[string]flow
	all    bool // every input is kept: a tool hands its own to its workflow
}

func (h handover) flow(input string) flow {
	if h.all {
		return kept
	}
	return h.inputs[input]
}

// unit is a workflow, or the tool.spec that is being written.
type unit struct {
	name  string
	calls []handover
}

// cycles refuses a workflow, or a tool.spec, that would begin itself again, by
// itself or over others, unless each round hands on a smaller part of the same
// input: such a recursion has an end, as one over the children of a tree has.
// The budget of a tree of runs bounds whatever gets past this, as a name that
// means another artifact by the time of the run.
func (c *checking) cycles(r *reach) {
	for len(r.unread) > 0 && c.err == nil {
		next := r.unread[0]
		r.unread = r.unread[1:]
		if len(r.known) > maxReach {
			c.add(check.Limits, "", "begin fewer workflows", "the document leads to more than %d other workflows", maxReach)
			return
		}
		next.unit.calls = r.calls(next.doc)
	}
	if c.err != nil {
		return
	}
	if loop := around(r.root); loop != nil && !bounded(r.root) {
		names := []string{r.root.name}
		for _, h := range loop {
			names = append(names, h.to.name)
		}
		c.add(check.References, loop[0].path, "hand on a part of an input under its own name, such as \"tree\": \"${input.tree.left}\", or begin it as the body of a map over a part of that input",
			"it would begin itself again without an end: %s", strings.Join(names, " → "))
	}
}

// workflowCycles checks the workflows that a workflow leads to.
func (c *checking) workflowCycles() {
	r := &reach{checking: c, root: &unit{name: c.name}, workflowName: c.name, known: map[string]*unit{}}
	if c.name == "" {
		return // nothing can name it yet
	}
	a, err := c.library.usable(c.ctx, c.v, KindWorkflow, c.name)
	if err == nil && (a.OwnerID == c.v.UserID || c.v.IsAdmin()) {
		r.rootID = a.ID
	}
	r.root.calls = r.calls(c.doc)
	c.cycles(r)
}

// toolCycles checks the workflows that a tool leads to, which it hands all its
// inputs.
func (c *checking) toolCycles(name, workflow string) {
	r := &reach{checking: c, root: &unit{name: "the tool " + name}, toolName: name, known: map[string]*unit{}}
	if to := r.workflow(workflow); to != nil {
		r.root.calls = []handover{{path: "/workflow", to: to, all: true}}
		c.cycles(r)
	}
}

// reach reads the documents that a document leads to, each once.
type reach struct {
	*checking
	root         *unit
	rootID       string // of the workflow that is being changed; empty for a new one
	workflowName string // one of these two is set
	toolName     string
	known        map[string]*unit
	unread       []unread
}

type unread struct {
	unit *unit
	doc  json.RawMessage
}

// workflow gives the unit of a workflow by name or id; nil for one that is not
// there, which is another check's to tell.
func (r *reach) workflow(idOrName string) *unit {
	if r.workflowName != "" && idOrName == r.workflowName {
		return r.root
	}
	a, err := r.find(idOrName)
	switch {
	case errors.Is(err, fault.NotFound) || err == nil && a.Type != KindWorkflow:
		return nil
	case err != nil:
		r.err = err
		return nil
	case a.ID == r.rootID:
		return r.root
	}
	if u := r.known[a.ID]; u != nil {
		return u
	}
	u := &unit{name: a.Name}
	r.known[a.ID] = u
	r.unread = append(r.unread, unread{u, a.Schema})
	return u
}

func (r *reach) find(idOrName string) (Artifact, error) {
	if id.Valid(idOrName) {
		return r.library.store.Artifact(r.ctx, r.v, idOrName)
	}
	return r.library.usable(r.ctx, r.v, KindWorkflow, idOrName)
}

// step is what a node of a workflow says of the runs it begins.
type step struct {
	ID       string                     `json:"id"`
	Type     string                     `json:"type"`
	Workflow string                     `json:"workflow"`
	Tool     string                     `json:"tool"`
	Tools    []string                   `json:"tools"`
	Inputs   map[string]json.RawMessage `json:"inputs"`
	Over     json.RawMessage            `json:"over"`
	As       string                     `json:"as"`
	Body     string                     `json:"body"`
	Next     string                     `json:"next"`
	OnError  string                     `json:"on_error"`
	OnCancel string                     `json:"on_cancel"`
	Branches []struct {
		Next string `json:"next"`
	} `json:"branches"`
}

// calls reads where a workflow begins runs.
func (r *reach) calls(doc json.RawMessage) []handover {
	var d struct {
		Entrypoint string `json:"entrypoint"`
		Nodes      []step `json:"nodes"`
	}
	if json.Unmarshal(doc, &d) != nil {
		return nil // Parse has said so
	}
	bound, err := r.library.Tools(r.ctx, r.v, toolNames(doc)...)
	if err != nil {
		r.err = err
		return nil
	}
	var out []handover
	add := func(path string, to *unit, inputs map[string]flow) {
		if to != nil {
			out = append(out, handover{path: path, to: to, inputs: inputs})
		}
	}
	for i, n := range d.Nodes {
		path := fmt.Sprintf("/nodes/%d", i)
		if n.Workflow != "" {
			add(path+"/workflow", r.workflow(n.Workflow), flows(n, d.Nodes, d.Entrypoint))
		}
		if n.Tool != "" {
			add(path+"/tool", r.tool(n.Tool, bound), flows(n, d.Nodes, d.Entrypoint))
		}
		for _, name := range slices.Sorted(maps.Keys(bound)) {
			if slices.ContainsFunc(n.Tools, func(pattern string) bool { return names(pattern, name) }) {
				add(path+"/tools", r.tool(name, bound), nil) // the model chooses the inputs
			}
		}
	}
	return out
}

// tool gives the unit of the workflow that implements a tool; nil for a tool
// that begins none.
func (r *reach) tool(name string, bound map[string]Bound) *unit {
	if r.toolName != "" && name == r.toolName {
		return r.root
	}
	if b := bound[name]; b.Workflow != "" {
		return r.workflow(b.Workflow)
	}
	return nil
}

func names(pattern, name string) bool {
	prefix, wild := strings.CutSuffix(pattern, "*")
	return pattern == name || wild && strings.HasPrefix(name, prefix)
}

// flows is what a node hands on of the inputs of its own run.
func flows(n step, all []step, entrypoint string) map[string]flow {
	items := itemsOf(n, all, entrypoint)
	out := map[string]flow{}
	for name, raw := range n.Inputs {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			continue
		}
		path := pathOf(text)
		switch {
		case len(path) == 2 && path[0] == "input" && path[1] == name:
			out[name] = kept
		case len(path) > 2 && path[0] == "input" && path[1] == name:
			out[name] = shrunk
		case len(path) > 0 && name != "" && items[path[0]] == name:
			out[name] = shrunk
		}
	}
	return out
}

// itemsOf gives the item variable of the map that a node is the body of, with
// the input whose part it is. A node that control can come to by another way
// has none: there the name may mean anything.
func itemsOf(n step, all []step, entrypoint string) map[string]string {
	out := map[string]string{}
	for _, m := range all {
		var over string
		_ = json.Unmarshal(m.Over, &over) // no text: no path
		path := pathOf(over)
		if m.Type == string(graph.Map) && m.Body == n.ID && len(path) >= 2 && path[0] == "input" {
			out[cmp.Or(m.As, "item")] = path[1]
		}
		reached := m.Next == n.ID || m.OnError == n.ID || m.OnCancel == n.ID || entrypoint == n.ID
		for _, b := range m.Branches {
			reached = reached || b.Next == n.ID
		}
		if reached {
			return nil
		}
	}
	if len(out) > 1 {
		return nil
	}
	return out
}

// pathOf is the path of a template that is one reference and nothing else, and
// that fails where there is no value; nil for any other.
func pathOf(text string) []string {
	inside, ok := strings.CutPrefix(text, "${")
	inside, closed := strings.CutSuffix(inside, "}")
	if !ok || !closed || strings.ContainsAny(inside, "${}?") {
		return nil
	}
	inside = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(inside), "[", "."), "]", "")
	return strings.Split(inside, ".")
}

// around is the shortest way from a unit back to itself; nil if there is none.
func around(root *unit) []handover {
	type way struct {
		at   *unit
		path []handover
	}
	seen, queue := map[*unit]bool{}, []way{{at: root}}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		for _, h := range w.at.calls {
			path := append(slices.Clone(w.path), h)
			if h.to == root {
				return path
			}
			if !seen[h.to] {
				seen[h.to] = true
				queue = append(queue, way{h.to, path})
			}
		}
	}
	return nil
}

// bounded reports whether there is an input that every way around hands on,
// and that gets smaller on each of them.
func bounded(root *unit) bool {
	on := onCycle(root)
	inputs := map[string]bool{}
	for u := range on {
		for _, h := range u.calls {
			for name := range h.inputs {
				inputs[name] = true
			}
		}
	}
	for name := range inputs {
		if shrinks(on, name) {
			return true
		}
	}
	return false
}

// onCycle are the units that root leads to and that lead to root.
func onCycle(root *unit) map[*unit]bool {
	from := reachable(root)
	on := map[*unit]bool{}
	for u := range from {
		if u == root || reachable(u)[root] {
			on[u] = true
		}
	}
	return on
}

func reachable(from *unit) map[*unit]bool {
	seen, queue := map[*unit]bool{}, []*unit{from}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		for _, h := range u.calls {
			if !seen[h.to] {
				seen[h.to] = true
				queue = append(queue, h.to)
			}
		}
	}
	return seen
}

// shrinks reports whether no way around among units leaves an input as it is,
// or loses it.
func shrinks(on map[*unit]bool, input string) bool {
	const open, done = 1, 2
	state := map[*unit]int{}
	var walk func(*unit) bool
	walk = func(u *unit) bool {
		state[u] = open
		for _, h := range u.calls {
			switch {
			case !on[h.to]:
			case h.flow(input) == lost:
				return false
			case h.flow(input) == shrunk:
			case state[h.to] == open || state[h.to] == 0 && !walk(h.to):
				return false // a way around on which it stays the same
			}
		}
		state[u] = done
		return true
	}
	for u := range on {
		if state[u] == 0 && !walk(u) {
			return false
		}
	}
	return true
}

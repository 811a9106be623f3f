package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/check"
	"liminal/internal/expr"
)

// Warnings tells what a document without faults says that its author hardly
// meant: inputs that a tool does not take, a var to save as where the type of
// the node saves under its id, nodes that nothing leads to, and vars that are not set after a node was skipped, where a later node needs
// them. Such a document ran before and may be stored, so it is never refused
// for one. A document with faults has none.
//
// Requirements: GRAPH-19.
func Warnings(doc []byte, tools Tools, lim Limits) Faults {
	p, err := parse(doc, tools, lim)
	if err != nil {
		return nil
	}
	w := warner{parser: p, g: p.g, told: map[string]bool{}}
	w.unknownInputs()
	w.unsaved()
	w.unreachable()
	w.skipped()
	slices.SortStableFunc(w.found, func(a, b Fault) int { return comparePaths(a.Path, b.Path) })
	return w.found
}

type warner struct {
	parser    *parser
	g         *Graph
	parallels []parallel
	found     Faults
	told      map[string]bool
}

// parallel is the nodes in the branches of a parallel, and what joins them.
type parallel struct {
	inside []bool
	next   string
}

func (w *warner) warn(kind check.Kind, path, hint, format string, args ...any) {
	f := Fault{Path: path, Message: fmt.Sprintf(format, args...), Hint: hint, Kind: kind}
	if !w.told[f.Path+" "+f.Message] {
		w.told[f.Path+" "+f.Message] = true
		w.found = append(w.found, f)
	}
}

func placeOf(i int) string { return "/nodes/" + strconv.Itoa(i) }

// unknownInputs finds inputs that the schema of a tool has no place for: the
// call is refused when the run comes to it.
func (w *warner) unknownInputs() {
	for i := range w.g.nodes {
		n := &w.g.nodes[i]
		spec := w.g.tools[n.tool]
		if n.kind != ToolCall || n.absent || spec.Inputs == nil {
			continue
		}
		for _, name := range n.inputs.members() {
			if !slices.Contains(spec.Inputs, name) {
				w.warn(check.References, placeOf(i)+"/inputs/"+pointer(name), expr.Nearest(name, spec.Inputs), "tool %s takes no input %q and refuses the call", n.tool, name)
			}
		}
	}
}

// unsaved finds nodes that name a var their type does not write.
func (w *warner) unsaved() {
	for _, i := range w.parser.unsaved {
		n := &w.g.nodes[i]
		w.warn(check.References, placeOf(i)+"/save_as", "read ${vars."+n.id+"}", "save_as is read of interrupt and agent nodes; what this %s node gives is in the var %q", n.kind, n.id)
	}
}

// members are the names of an object.
func (t template) members() []string {
	if t.kind == object {
		return t.keys
	}
	m, _ := t.value.(map[string]any)
	return sortedKeys(m)
}

// unreachable finds nodes that no way leads to from the entrypoint. One whose
// words people see while its steps are at work has its use all the same.
func (w *warner) unreachable() {
	reached := w.within(w.g.Entrypoint(), "")
	for i := range w.g.nodes {
		if s := w.g.nodes[i].stage; reached[i] && s != "" {
			reached[w.g.index[s]] = true
		}
	}
	for i := range w.g.nodes {
		if !reached[i] {
			w.warn(check.References, placeOf(i), "name it in the next of another node, or take it out", "nothing leads to node %q: it never runs", w.g.nodes[i].id)
		}
	}
}

// within gives the nodes from one on, with the bodies of maps and without what
// is at or behind a join.
func (w *warner) within(from, join string) []bool {
	reached := make([]bool, len(w.g.nodes))
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		if id == "" || id == join || reached[w.g.index[id]] {
			continue
		}
		reached[w.g.index[id]] = true
		for _, e := range w.g.edgesOf(w.g.index[id]) {
			queue = append(queue, e.To)
		}
	}
	return reached
}

// skipped finds what reads a var that is not set because the node that sets it
// was skipped, by its when.
func (w *warner) skipped() {
	for i := range w.g.nodes {
		n := &w.g.nodes[i]
		for b := range n.branches {
			if n.kind == Parallel {
				w.parallels = append(w.parallels, parallel{w.within(n.branches[b].next, n.next), n.next})
			}
		}
	}
	for i := range w.g.nodes {
		n := &w.g.nodes[i]
		if n.when == nil {
			continue
		}
		for _, name := range w.setBy(i) {
			if n.when.Without(name) == expr.Holds {
				continue // it is skipped only where the var is set
			}
			before := walk{warner: w, name: name, skipped: n}
			before.goOn(w.g.Entrypoint())
			before.run()
			if before.seen[i] { // else something has always set it already
				after := walk{warner: w, name: name, skipped: n, warns: true, room: w.bodyOf(i)}
				after.goAfter(i)
				after.run()
			}
		}
	}
}

// setBy is what a node sets, with all that happens inside it.
func (w *warner) setBy(i int) []string {
	n := &w.g.nodes[i]
	names := slices.Clone(n.sets())
	if n.kind == Parallel {
		for _, b := range n.branches {
			for _, at := range w.g.reachable(b.next, n.next) {
				names = append(names, w.g.nodes[at].sets()...)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// bodyOf is the nodes of the innermost map around a node, whose vars are their
// own; nil outside of all.
func (w *warner) bodyOf(i int) []bool {
	var room []bool
	least := len(w.g.nodes) + 1
	for at := range w.g.nodes {
		m := &w.g.nodes[at]
		if m.kind != Map || at == i {
			continue
		}
		body := w.within(m.body, m.next)
		size := 0
		for _, in := range body {
			if in {
				size++
			}
		}
		if body[i] && size < least {
			room, least = body, size
		}
	}
	return room
}

// walk goes every way on which a var is not set, as far as can be told.
type walk struct {
	*warner
	name    string
	skipped *node  // whose skipping leaves the var unset
	warns   bool   // of what needs the var
	room    []bool // where the var can be seen; nil: everywhere
	seen    []bool
	queue   []string
}

func (k *walk) run() {
	k.seen = make([]bool, len(k.g.nodes))
	for len(k.queue) > 0 {
		id := k.queue[0]
		k.queue = k.queue[1:]
		i, there := k.g.index[id]
		if !there || k.seen[i] || k.room != nil && !k.room[i] {
			continue
		}
		k.seen[i] = true
		k.node(i)
	}
}

func (k *walk) goOn(id string) { k.queue = append(k.queue, id) }

// node looks at a node the walk has come to, and goes on from it.
func (k *walk) node(i int) {
	n := &k.g.nodes[i]
	sets := slices.Contains(k.setBy(i), k.name)
	if n.when != nil {
		verdict := k.judged(n.when, placeOf(i)+"/when")
		switch {
		case n.when.Without(k.name) == expr.NoAnswer:
			k.goOn(n.onError)
			return
		case sets && verdict == asked:
			return // one of the two sets it
		case verdict != always:
			k.goAfter(i)
		}
		if verdict == never || verdict == asked {
			return
		}
	}
	k.reads(i)
	k.goOn(n.onError)
	if n.kind == Switch || n.kind == Parallel {
		k.branches(i, n)
	}
	if n.kind == Switch || sets {
		return
	}
	k.goAfter(i)
	k.goOn(n.body)
	k.goOn(n.talk.onCancel)
}

// goAfter goes to what comes after a node: where its branch of a parallel ends,
// what joins them.
func (k *walk) goAfter(i int) {
	if next := k.g.after(i); next != "" {
		k.goOn(next)
		return
	}
	for _, p := range k.parallels {
		if p.inside[i] {
			k.goOn(p.next)
		}
	}
}

// judgement is what a condition says about the ways on which the var is unset.
type judgement int

const (
	perhaps judgement = iota // true or not, whatever the var is
	always
	never
	asked // it asks for the var, or for what the skipping asked for: behind it somebody has thought of that
)

// judged judges a condition, and warns of one that has no answer.
func (k *walk) judged(c *expr.Program, path string) judgement {
	switch c.Without(k.name) {
	case expr.Holds:
		return always
	case expr.HoldsNot:
		return never
	case expr.NoAnswer:
		if k.warns {
			k.warn(check.Expressions, path, "ask for it first, as in "+k.name+" != null and …",
				"the condition %s has no answer when node %q was skipped: nothing has set %s then", expr.Show(c.String()), k.skipped.id, k.name)
		}
		return never
	case expr.Depends:
	}
	if k.asks(c) || k.akin(c) {
		return asked
	}
	return perhaps
}

// asks reports whether a condition reads the var.
func (k *walk) asks(c *expr.Program) bool {
	return slices.ContainsFunc(c.Paths(), func(path string) bool { return path == k.name || strings.HasPrefix(path, k.name+".") })
}

// akin reports whether a condition reads what the when of the skipped node
// reads: the one is likely to say where the other was not met.
func (k *walk) akin(c *expr.Program) bool {
	read := k.skipped.when.Paths()
	return slices.ContainsFunc(c.Paths(), func(path string) bool {
		return slices.ContainsFunc(read, func(other string) bool {
			return path == other || strings.HasPrefix(path, other+".") || strings.HasPrefix(other, path+".")
		})
	})
}

// branches goes the ways of a switch or a parallel on which the var is unset.
func (k *walk) branches(i int, n *node) {
	certain := true // that no branch of a switch is true
	for b, branch := range n.branches {
		verdict := always
		if branch.when != nil {
			verdict = k.judged(branch.when, placeOf(i)+"/branches/"+strconv.Itoa(b)+"/when")
		}
		certain = certain && verdict == never
		if verdict == always || verdict == perhaps {
			k.goOn(branch.next)
		}
		switch {
		case n.kind != Switch:
		case verdict == always, branch.when.Without(k.name) == expr.NoAnswer:
			return
		case verdict == asked && !k.asks(branch.when) && branch.when.String() != k.skipped.when.String():
			return // which of the branches behind it stand for the skipping cannot be told
		}
	}
	if certain && n.kind == Switch && k.warns {
		k.warn(check.Expressions, placeOf(i)+"/branches", `add a branch with when "true"`,
			"no branch is true when node %q was skipped: nothing has set %s then", k.skipped.id, k.name)
	}
}

// reads warns of the templates of a node that need the var.
func (k *walk) reads(i int) {
	if !k.warns {
		return
	}
	prefix := placeOf(i) + "/"
	for _, t := range k.parser.templates {
		if !strings.HasPrefix(t.path, prefix) || t.path == prefix+"description" {
			continue
		}
		t.t.references(t.path, func(path string, r reference) {
			if r.optional || len(r.path) < 2 || r.path[0] != "vars" || r.path[1] != k.name {
				return
			}
			k.warn(check.Expressions, path, "write ${"+r.String()+"?} where it may be missing, or set it before",
				"${%s} has no value when node %q was skipped, and node %q fails", r, k.skipped.id, k.g.nodes[i].id)
		})
	}
}

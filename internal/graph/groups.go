package graph

import (
	"strconv"
)

// The bounds of threads: how deep groups nest, and how many run at once.
const (
	maxDepth   = 6
	maxThreads = 512
)

// enterParallel starts the branches together; a branch with a when starts only
// if it is true (GRAPH-08).
func (r *Run) enterParallel(t *thread, n *node) {
	env := r.scope(t).env
	g := &group{}
	for _, b := range n.branches {
		if b.when != nil {
			yes, err := b.when.Within(env, &r.work)
			if err != nil {
				r.refuse(t, failuref(CodeValidation, "the condition %s has no answer: %v", b.when.Explain(env), err))
				return
			}
			if !yes {
				continue
			}
		}
		g.Targets = append(g.Targets, b.next)
	}
	r.startGroup(t, g, len(g.Targets))
}

// enterMap starts the body for the first items, as many as may run at once.
func (r *Run) enterMap(t *thread, n *node) {
	v, f := n.over.resolve(r.scope(t))
	if f != nil {
		r.refuse(t, f)
		return
	}
	items, ok := v.([]any)
	switch most := r.graph.limits.MaxItems; {
	case !ok:
		r.refuse(t, failuref(CodeValidation, "over of map %q is no list but %s", n.id, typeName(v)))
	case len(items) > most:
		r.refuse(t, failuref(CodeLimit, "map %q has %d items, the limit is %d: split the list into batches", n.id, len(items), most))
	default:
		r.startGroup(t, &group{Items: items}, n.concurrency)
	}
}

// startGroup opens the group and starts its first children.
func (r *Run) startGroup(t *thread, g *group, atOnce int) {
	atOnce = min(atOnce, g.size())
	switch {
	case t.Depth >= maxDepth:
		r.refuse(t, failuref(CodeLimit, "node %q is inside %d parallel and map nodes, which is the limit", t.Node, maxDepth))
		return
	case len(r.state.Threads)+atOnce > maxThreads:
		r.refuse(t, failuref(CodeLimit, "node %q would bring the run to more than %d branches at once, which is the limit", t.Node, maxThreads))
		return
	}
	g.Joined = make([]*child, g.size())
	g.Trace = r.openTrace(t, "", 0)
	t.Group = g
	if g.size() == 0 {
		r.join(t)
		return
	}
	g.Live = atOnce
	for range atOnce {
		r.startChild(t)
	}
}

// startChild starts the next child of a thread's group.
func (r *Run) startChild(t *thread) {
	g, n := t.Group, r.graph.node(t.Node)
	r.state.LastThread++
	c := &thread{
		ID: r.state.LastThread, Parent: t.ID, Slot: g.Next, Depth: t.Depth + 1,
		Join: n.next, Suffix: t.Suffix, Vars: map[string]any{},
	}
	if n.kind == Map {
		c.Node = n.body
		c.Suffix += "[" + strconv.Itoa(g.Next) + "]"
		c.Item = map[string]any{n.as: g.Items[g.Next], "index": float64(g.Next)}
		r.grow(bytesOf(c.Item))
	} else {
		c.Node = g.Targets[g.Next]
	}
	g.Next++
	r.state.Threads = append(r.state.Threads, c)
	r.ready = append(r.ready, c.ID)
}

// finish ends a thread: the run with the root, else its place in the group.
func (r *Run) finish(t *thread) {
	if t.Parent == 0 {
		r.end(nil)
		return
	}
	p := r.thread(t.Parent)
	g := p.Group
	g.Joined[t.Slot] = &child{Vars: t.Vars, Text: t.Text, Citations: t.Citations, Result: t.Result}
	r.remove(t)
	if g.Next < g.size() && r.graph.node(p.Node).kind == Map {
		r.startChild(p)
		return
	}
	if g.Live--; g.Live == 0 {
		r.join(p)
	}
}

func (r *Run) remove(t *thread) {
	kept := r.state.Threads[:0]
	for _, x := range r.state.Threads {
		if x != t {
			kept = append(kept, x)
		}
	}
	clear(r.state.Threads[len(kept):])
	r.state.Threads = kept
}

// join goes on once every child has ended.
func (r *Run) join(t *thread) {
	n, g := r.graph.node(t.Node), t.Group
	var f *Failure
	if n.kind == Map {
		r.joinItems(t, n, g)
	} else {
		f = r.joinBranches(t, g)
	}
	if f != nil {
		r.fail(t, f)
		return
	}
	r.closeTrace(g.Trace, ResultOK, "")
	r.goOn(t)
}

// joinBranches merges what the branches set, in their order. Two that set the
// same var are a failure: which one wins would be chance to a reader.
func (r *Run) joinBranches(t *thread, g *group) *Failure {
	set, ends := map[string]int{}, r.graph.after(r.graph.index[t.Node]) == ""
	for i, c := range g.Joined {
		for _, key := range sortedKeys(c.Vars) {
			if first, ok := set[key]; ok && key != "error" {
				return failuref(CodeValidation, "branches %d and %d of parallel %q both set %q; give one of them another output name",
					first+1, i+1, t.Node, key)
			}
			set[key] = i
			t.Vars[key] = c.Vars[key]
		}
		t.mergeEnd(c)
		if c.Result != nil && c.Result.Data != nil && ends {
			t.Result = &endResult{Data: c.Result.Data}
		}
	}
	return nil
}

// mergeEnd keeps the last text and citations of a joined branch. What its end node
// said stands only if the run ends here: a later node may still answer.
func (t *thread) mergeEnd(c *child) {
	if c.Text != nil {
		t.Text = c.Text
	}
	if c.Citations != nil {
		t.Citations = c.Citations
	}
	if said := c.Result; said != nil {
		if said.Response != nil {
			t.Text = said.Response
		}
		if said.Citations != nil {
			t.Citations = said.Citations
		}
	}
}

// joinItems collects the results of a map in the order of its list. An output
// name that the bodies set collects the values of that var; another one, or
// the node's id when none is declared, collects each body's whole result.
func (r *Run) joinItems(t *thread, n *node, g *group) {
	names := n.outputs
	if len(names) == 0 {
		names = []string{n.id}
	}
	for _, name := range names {
		values := make([]any, len(g.Joined))
		whole := true
		for i, c := range g.Joined {
			v, ok := c.named(name)
			values[i] = v
			whole = whole && !ok
		}
		if whole {
			for i, c := range g.Joined {
				values[i] = c.whole()
			}
		}
		t.Vars[name] = values
		if !r.grow(bytesOf(values)) {
			return // the run is over
		}
	}
}

// named gives what a body set under a name, in its end node's data or as a var.
func (c *child) named(name string) (any, bool) {
	if c.Result != nil {
		if v, ok := c.Result.Data[name]; ok {
			return v, true
		}
	}
	v, ok := c.Vars[name]
	return v, ok
}

// whole gives a body's result: the data or response of its end node, else the
// vars it set.
func (c *child) whole() any {
	switch said := c.Result; {
	case said != nil && said.Data != nil:
		return said.Data
	case said != nil && said.Response != nil:
		return *said.Response
	}
	return c.Vars
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a truth value"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return "a number"
}

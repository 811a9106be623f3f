package graph

import (
	"maps"
	"slices"
	"strings"

	"liminal/internal/expr"
)

// maxWork bounds what the machine does between two answers, so that no graph
// can hold up the process that runs it: a step of a condition costs 1, a node
// stepCost, an element of a value or 64 bytes of text in a template 1. It is
// some tens of milliseconds.
const (
	maxWork  = 2_000_000
	stepCost = 50
)

// textKeys are the outputs that are a node's text, the best first.
var textKeys = [...]string{"answer", "response", "content", "text"}

// enter executes the node a thread has come to: control nodes to their end,
// others up to their effects.
func (r *Run) enter(t *thread) {
	n := r.graph.node(t.Node)
	if !r.step(t, n) {
		return
	}
	if n.when != nil {
		yes, err := n.when.Within(r.scope(t).env, &r.work)
		if err != nil {
			r.refuse(t, failuref(CodeValidation, "the when of node %q has no answer: %v", n.id, err))
			return
		}
		if !yes {
			r.note(t, Step{Outcome: ResultSkipped, Condition: n.when.String()})
			r.goOn(t)
			return
		}
	}
	switch n.kind {
	case Switch:
		r.enterSwitch(t, n)
	case Parallel:
		r.enterParallel(t, n)
	case Map:
		r.enterMap(t, n)
	case Interrupt:
		r.enterInterrupt(t, n)
	case Agent:
		r.enterAgent(t, n)
	case Set:
		r.enterSet(t, n)
	case End:
		r.enterEnd(t, n)
	default:
		r.enterCall(t, n)
	}
}

// step takes the step; a run that takes too many is over, whatever its
// on_error says (GRAPH-20).
func (r *Run) step(t *thread, n *node) bool {
	s := &r.state
	t.Visit = s.Visits[n.id+t.Suffix] + 1
	switch {
	case t.Visit > r.graph.maxVisits:
		r.end(failuref(CodeLimit, "node %q was visited %d times, which is the limit: the graph loops without an end", n.id, r.graph.maxVisits).at(n.id))
	case r.work < stepCost:
		r.endOfWork(n)
	case s.Budget != nil && s.Budget.Steps < 1:
		r.endOfBudget(n.id, "steps")
	case s.Total >= r.graph.limits.MaxTotal:
		r.end(failuref(CodeLimit, "the run took %d steps with all the items of its maps, which is the limit, and was at node %q", s.Total, n.id).at(n.id))
	case s.Steps[t.Suffix] >= r.graph.maxSteps:
		r.end(failuref(CodeLimit, "the run took %d steps, which is the limit, and was not at its end but at node %q", s.Steps[t.Suffix], n.id).at(n.id))
	default:
		s.Visits[n.id+t.Suffix] = t.Visit
		s.Steps[t.Suffix]++
		s.Total++
		if s.Budget != nil {
			s.Budget.Steps--
		}
		r.work -= stepCost
		return true
	}
	return false
}

func (r *Run) endOfWork(n *node) {
	r.end(failuref(CodeLimit, "the run did too much without calling or asking anyone, and was at node %q: its loops, conditions or templates are too large", n.id).at(n.id))
}

// refuse fails a node that has no effect under way, with a step in the trace.
func (r *Run) refuse(t *thread, f *Failure) {
	if r.work < stepCost {
		r.endOfWork(r.graph.node(t.Node))
		return
	}
	r.note(t, Step{Outcome: ResultFailed, Detail: f.Message, Said: f.Said})
	r.fail(t, f)
}

// enterSwitch takes the first branch whose condition is true (GRAPH-06); none
// is a failure that shows the conditions with what they read (GRAPH-07).
func (r *Run) enterSwitch(t *thread, n *node) {
	env := r.scope(t).env
	for i, b := range n.branches {
		yes, err := b.when.Within(env, &r.work)
		if err != nil {
			r.refuse(t, failuref(CodeValidation, "the condition %s has no answer: %v", b.when.Explain(env), err))
			return
		}
		if yes {
			r.note(t, Step{Outcome: ResultOK, Condition: b.when.String(), Values: r.read(n, i, env)})
			r.move(t, b.next)
			return
		}
	}
	r.refuse(t, failuref(CodeNoBranch, "no branch of switch %q is true: %s; add a branch with when \"true\" to have a default",
		n.id, n.explained(env)))
}

// maxExplained bounds the sentence that shows the conditions of a switch.
const maxExplained = 16 << 10

// explained shows the conditions of a switch with what they read.
func (n *node) explained(env expr.Env) string {
	var b strings.Builder
	for i, branch := range n.branches {
		if i > 0 {
			b.WriteString("; ")
		}
		if b.Len() > maxExplained {
			b.WriteString("…")
			break
		}
		b.WriteString(branch.when.Explain(env))
	}
	return b.String()
}

// read is what the conditions of a switch read, up to the branch taken; nil
// unless somebody asked to be told. No order comes of the copying.
//
//workflowcheck:ignore
func (r *Run) read(n *node, taken int, env expr.Env) map[string]any {
	if !r.graph.limits.Explain {
		return nil
	}
	values := map[string]any{}
	for _, b := range n.branches[:taken+1] {
		maps.Copy(values, b.when.Values(env))
	}
	return values
}

// enterSet gives values to vars. All are read before the first is written, so
// that two vars can change places.
func (r *Run) enterSet(t *thread, n *node) {
	v, f := n.values.resolve(r.scope(t))
	if f != nil {
		r.refuse(t, f)
		return
	}
	values, _ := v.(map[string]any)
	r.work -= weight(values)
	for _, name := range n.outputs {
		t.Vars[name] = values[name]
	}
	r.note(t, Step{Outcome: ResultOK})
	r.goOn(t)
}

// enterEnd says what the run, or the branch it is in, results in (GRAPH-09).
func (r *Run) enterEnd(t *thread, n *node) {
	said, f := r.endResult(t, n)
	if f != nil {
		r.refuse(t, f)
		return
	}
	t.Result = said
	r.note(t, Step{Outcome: ResultOK})
	r.move(t, "")
}

func (r *Run) endResult(t *thread, n *node) (*endResult, *Failure) {
	s, said := r.scope(t), &endResult{}
	if n.end.response.kind != absent {
		v, f := n.end.response.resolve(s)
		if f != nil {
			return nil, f
		}
		text, f := boundedText(v)
		if f != nil {
			return nil, f
		}
		said.Response = &text
	}
	v, f := n.end.citations.resolve(s)
	if f != nil {
		return nil, f
	}
	if v != nil {
		l, ok := v.([]any)
		if !ok {
			return nil, failuref(CodeValidation, "the citations of node %q are no list", n.id)
		}
		said.Citations = l
	}
	if v, f = n.end.data.resolve(s); f != nil {
		return nil, f
	}
	if v != nil {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, failuref(CodeValidation, "the data of node %q is no object", n.id)
		}
		said.Data = m
	}
	return said, nil
}

// merge puts a node's output into the vars: the declared names, each of which
// must be there, or else the whole under the node's id (GRAPH-04).
func (r *Run) merge(t *thread, n *node, out map[string]any) *Failure {
	seen := out
	if n.declared {
		seen = make(map[string]any, len(n.outputs))
		for _, name := range n.outputs {
			v, ok := out[name]
			if !ok {
				return failuref(CodeValidation, "%s returned no %q, which node %q declares in outputs; it returned %s",
					n.worker(), name, n.id, named(sortedKeys(out)))
			}
			seen[name] = v
		}
		for _, name := range n.outputs {
			t.Vars[name] = seen[name]
		}
	} else {
		t.Vars[n.id] = out
	}
	t.hear(seen)
	return nil
}

// hear keeps the last text and citations of the path walked, which are the
// response where no end node names one.
func (t *thread) hear(out map[string]any) {
	for _, key := range textKeys {
		if s, ok := out[key].(string); ok {
			t.Text = &s
			break
		}
	}
	if l, ok := out["citations"].([]any); ok {
		t.Citations = l
	}
}

func (n *node) worker() string {
	if n.kind == Workflow {
		return "workflow " + n.workflow
	}
	return "tool " + n.tool
}

func named(keys []string) string {
	if len(keys) == 0 {
		return "nothing"
	}
	if len(keys) > 12 {
		keys = append(slices.Clone(keys[:12]), "…")
	}
	return strings.Join(keys, ", ")
}

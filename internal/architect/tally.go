package architect

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// tally counts the steps of the runs of one version.
type tally struct {
	document *Document
	runs     int
	nodes    map[string]*Trouble
	switches map[string]*crossed
	asked    map[string]*asked
	paths    map[string][]string // the nodes of a way, by its name
}

// crossed is a switch: the runs that came to it, and those that took each
// condition.
type crossed struct {
	runs  int
	taken map[string]int
}

// asked is a question and its answers.
type asked struct {
	Question
	answers map[string]int
}

func newTally(d *Document) *tally {
	return &tally{
		document: d, nodes: map[string]*Trouble{}, switches: map[string]*crossed{},
		asked: map[string]*asked{}, paths: map[string][]string{},
	}
}

// add counts one run.
func (t *tally) add(h run.Recording, rec rehearsal.Record) {
	t.runs++
	ways := map[string]map[string]bool{} // conditions taken, by switch
	well := map[string]bool{}            // visits whose call went well
	for _, s := range rec.Steps {
		n := t.document.node(s.Node)
		if n == nil {
			continue
		}
		switch {
		case s.Type == graph.Switch:
			if s.Outcome == graph.ResultOK {
				into(ways, s.Node)[s.Condition] = true
			}
		case s.Type == graph.Interrupt:
			t.question(n, s, rec.Outputs[s.Effect])
		case called(n, s):
			t.call(n, s, rec.Outputs[s.Effect], well)
		}
	}
	for id, taken := range ways {
		t.cross(id, taken)
	}
	t.path(h.Branch, rec.Steps)
}

func into(m map[string]map[string]bool, key string) map[string]bool {
	if m[key] == nil {
		m[key] = map[string]bool{}
	}
	return m[key]
}

// called reports whether a step is an attempt of the node's own work, or the
// node's failure without one. What an agent's tools do, they tell the agent.
func called(n *node, s graph.Step) bool {
	switch s.Type {
	case graph.ToolCall, graph.Workflow:
		return s.Attempt > 0 || s.Effect == "" && s.Outcome == graph.ResultFailed
	case graph.Agent:
		within := strings.TrimPrefix(s.Effect, n.ID)
		return s.Attempt > 0 && strings.Contains(within, ".m") || s.Effect == "" && s.Outcome == graph.ResultFailed
	default:
		return false
	}
}

// call counts one attempt. A node that failed over a result that came well is
// one call that failed.
func (t *tally) call(n *node, s graph.Step, outputs []rehearsal.Output, well map[string]bool) {
	c := t.nodes[n.ID]
	if c == nil {
		c = &Trouble{Node: n.ID}
		t.nodes[n.ID] = c
	}
	visit := n.ID + "#" + strconv.Itoa(s.Visit)
	switch s.Outcome {
	case graph.ResultOK:
		c.Calls++
		well[visit] = true
		if s.Attempt > 1 {
			c.Mended++
		}
	case graph.ResultRetried:
		c.Retried++
	case graph.ResultFailed:
		c.Failed++
		if s.Effect != "" || !well[visit] {
			c.Calls++
		}
		if t.late(n, s, outputs) {
			c.Timeouts++
		}
	default: // a question of the tool's, or left behind when the run ended
	}
}

// late reports whether an attempt used up the node's own time: a shorter one
// was cut by the end of the run's.
func (t *tally) late(n *node, s graph.Step, outputs []rehearsal.Output) bool {
	if s.Attempt < 1 || s.Attempt > len(outputs) {
		return false
	}
	out := outputs[s.Attempt-1]
	if out.Failure == nil || out.Failure.Code != graph.CodeTimeout {
		return false
	}
	return out.Took == 0 || out.Took >= t.document.limit(n)*9/10
}

// question counts one. The answer itself is missing where a recording was cut.
func (t *tally) question(n *node, s graph.Step, outputs []rehearsal.Output) {
	q := t.asked[n.ID]
	if q == nil {
		kind, _ := n.all["interrupt_type"].(string)
		q = &asked{Question: Question{Node: n.ID, Type: kind}, answers: map[string]int{}}
		t.asked[n.ID] = q
	}
	switch s.Outcome {
	case graph.ResultCancelled:
		q.Cancelled++
	case graph.ResultExpired:
		q.Expired++
	case graph.ResultOK:
		q.Answered++
		if len(outputs) > 0 {
			answer, _ := outputs[len(outputs)-1].Result["answer"].(string) // of any other form: not counted as the same
			q.answers[answer]++
		}
	default:
		return // the run ended before an answer
	}
	q.Asked++
}

func (t *tally) cross(id string, taken map[string]bool) {
	c := t.switches[id]
	if c == nil {
		c = &crossed{taken: map[string]int{}}
		t.switches[id] = c
	}
	c.runs++
	for when := range taken {
		c.taken[when]++
	}
}

// path keeps the nodes of a way, as its first run took them.
func (t *tally) path(name string, steps []graph.Step) {
	if _, known := t.paths[name]; known || name == "" {
		return
	}
	nodes := []string{}
	for _, s := range steps {
		if len(nodes) < 12 && !slices.Contains(nodes, s.Node) && s.Outcome != graph.ResultSkipped {
			nodes = append(nodes, s.Node)
		}
	}
	t.paths[name] = nodes
}

// troubles are the nodes that failed or were tried again, the worst first; at
// most twelve.
func (t *tally) troubles() []Trouble {
	list := []Trouble{}
	for _, c := range t.nodes {
		if c.Failed+c.Retried > 0 {
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(x, y Trouble) int {
		return cmp.Or(cmp.Compare(y.Failed, x.Failed), cmp.Compare(y.Retried, x.Retried), cmp.Compare(x.Node, y.Node))
	})
	return list[:min(len(list), 12)]
}

// crossings are the switches with branches no run took, the most frequented
// first; at most eight of each.
func (t *tally) crossings() []Crossing {
	list := []Crossing{}
	for id, c := range t.switches {
		n := t.document.node(id)
		x := Crossing{Node: id, Runs: c.runs, Branches: len(n.Branches)}
		for i, b := range n.Branches {
			if c.taken[b.When] == 0 && len(x.Untaken) < 8 {
				x.Untaken = append(x.Untaken, Untaken{i, cut(b.When, 80), b.Next})
			}
		}
		if len(x.Untaken) > 0 {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(x, y Crossing) int {
		return cmp.Or(cmp.Compare(y.Runs, x.Runs), cmp.Compare(x.Node, y.Node))
	})
	return list[:min(len(list), 8)]
}

// questions are the questions people were asked, the most frequent first; at
// most eight.
func (t *tally) questions() []Question {
	list := []Question{}
	for id, q := range t.asked {
		if q.Asked == 0 {
			continue
		}
		options := t.document.node(id).literal()
		for _, answer := range slices.Sorted(maps.Keys(q.answers)) {
			if answer != "" && q.answers[answer] > q.Same {
				q.Same, q.Option = q.answers[answer], answer
			}
		}
		if !slices.Contains(options, q.Option) {
			q.Option = ""
		}
		list = append(list, q.Question)
	}
	slices.SortFunc(list, func(x, y Question) int {
		return cmp.Or(cmp.Compare(y.Asked, x.Asked), cmp.Compare(x.Node, y.Node))
	})
	return list[:min(len(list), 8)]
}

// cut is s with at most so many characters.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func notThere(err error) bool { return fault.CodeOf(err) == fault.NotFound }

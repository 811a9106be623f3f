package rehearsal

import (
	"slices"
	"strings"

	"liminal/internal/graph"
)

// mark is one visit of a node on the way of a run.
type mark struct {
	node string // by its name in the base document
	show string // for people, in the document it is from
	lane string // marks of one lane have an order of their own
}

// unordered is the lane of nodes that may run for several items at once: how
// often they ran is all that can be compared.
const unordered = "*"

// lanes tells for each node of a graph which order it belongs to: the run's
// own, the empty one; that of a branch of a parallel, by the node it begins
// with; or none. Two runs that differ only in which of two branches was quicker
// went the same way.
func lanes(g *graph.Graph) map[string]string {
	w := &laning{shapes: map[string]graph.Shape{}, next: map[string][]string{}, lane: map[string]string{}}
	for _, s := range g.Shapes() {
		w.shapes[s.ID] = s
		if len(inner(s)) > 0 && s.Next != "" {
			w.next[s.ID] = []string{s.Next}
		}
	}
	for _, e := range g.Edges() {
		if len(inner(w.shapes[e.From])) == 0 || e.Label == "error" {
			w.next[e.From] = append(w.next[e.From], e.To)
		}
	}
	w.walk(g.Entrypoint(), "", "")
	return w.lane
}

// laning is one lanes under way.
type laning struct {
	shapes map[string]graph.Shape
	next   map[string][]string // where control goes, without the branches a group begins
	lane   map[string]string
}

// walk gives a lane to everything from a node up to the join. A node of two
// lanes is of none, and so is what follows it: so each is come by twice at most.
func (w *laning) walk(node, join, in string) {
	was, seen := w.lane[node]
	switch {
	case node == "" || node == join && join != "" || seen && (was == in || was == unordered):
		return
	case seen:
		in = unordered
	}
	w.lane[node] = in
	for _, to := range w.next[node] {
		w.walk(to, join, in)
	}
	s := w.shapes[node]
	for _, to := range inner(s) {
		below := in + "/" + s.ID + ">" + to
		if s.Type == graph.Map || in == unordered {
			below = unordered
		}
		w.walk(to, s.Next, below)
	}
}

// inner are the nodes a parallel or map begins its branches with.
func inner(s graph.Shape) []string {
	switch s.Type {
	case graph.Map:
		return []string{s.Body}
	case graph.Parallel:
		var first []string
		for _, b := range s.Branches {
			first = append(first, b.Next)
		}
		return first
	default:
		return nil
	}
}

// marks are the visits of a trace, in order. A visit is one mark, however often
// it called and asked.
func marks(trace []graph.Step, lane map[string]string, base func(node string) string) []mark {
	seen := map[string]bool{}
	var way []mark
	for _, s := range trace {
		if s.Effect != "" {
			visit := visitOf(s.Effect)
			if seen[visit] {
				continue
			}
			seen[visit] = true
		}
		m := mark{node: base(s.Node), show: s.Node, lane: lane[s.Node]}
		if s.Outcome == graph.ResultSkipped {
			m.node, m.show = m.node+skippedMark, m.show+skippedMark
		}
		way = append(way, m)
	}
	return way
}

const skippedMark = " (skipped)"

// visitOf is the part of an effect's id that names the visit: node#visit[i].
func visitOf(effect string) string {
	at := strings.IndexByte(effect, '#')
	if at < 0 {
		return effect
	}
	if end := strings.IndexAny(effect[at:], ".~"); end >= 0 {
		return effect[:at+end]
	}
	return effect
}

// shown are the nodes of a way as people read them.
func shown(way []mark) []string {
	names := make([]string, len(way))
	for i, m := range way {
		names[i] = m.show
	}
	return names
}

// sameWay compares two ways; of one that was stopped, as far as it came.
func sameWay(a, b []mark, aStopped, bStopped bool) bool {
	if slices.EqualFunc(a, b, func(x, y mark) bool { return x.node == y.node }) {
		return true
	}
	inA, inB := byLane(a), byLane(b)
	for lane := range inA {
		if _, ok := inB[lane]; !ok {
			inB[lane] = nil
		}
	}
	for lane, y := range inB {
		if !sameLane(lane, inA[lane], y, aStopped, bStopped) {
			return false
		}
	}
	return true
}

func sameLane(lane string, x, y []string, xStopped, yStopped bool) bool {
	if lane == unordered {
		if xStopped || yStopped {
			return true // how far each item had come is chance
		}
		slices.Sort(x)
		slices.Sort(y)
	}
	if xStopped && len(x) < len(y) {
		y = y[:len(x)]
	}
	if yStopped && len(y) < len(x) {
		x = x[:len(y)]
	}
	return slices.Equal(x, y)
}

func byLane(way []mark) map[string][]string {
	in := map[string][]string{}
	for _, m := range way {
		in[m.lane] = append(in[m.lane], m.node)
	}
	return in
}

// part is the first place two ways differ at.
func part(a, b []mark) int {
	for i := range min(len(a), len(b)) {
		if a[i].node != b[i].node {
			return i
		}
	}
	return min(len(a), len(b))
}

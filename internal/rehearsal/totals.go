package rehearsal

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"liminal/internal/graph"
)

// The bounds of what a report shows.
const (
	maxPlaces   = 20
	maxExamples = 5 // of each kind
	maxUnseen   = 100
)

// The kinds of examples.
const (
	exampleMoved   = "moved"
	exampleFailed  = "failed" // with the change, and not without it
	exampleMended  = "mended" // the other way round
	exampleUnknown = "unknown"
	exampleAsked   = "asked"   // a question more
	exampleUnasked = "unasked" // a question less
	exampleCut     = "cut"     // at a bound, and not without the change
)

// totals are a report being added up.
type totals struct {
	r        *Prepared
	report   Report
	ms       [2][]float64
	gates    [2]float64
	seen     map[string]bool // nodes and branches of the new document, rules of a policy
	places   map[Place]int
	examples map[string][]Example
}

func (r *Prepared) totals(s Sample) *totals {
	t := &totals{r: r, seen: map[string]bool{}, places: map[Place]int{}, examples: map[string][]Example{}}
	t.report = Report{
		Sample: s, Base: r.artifact.Version, After: r.artifact.Version + 1,
		ByTool: map[string]Two{}, Gates: map[string]Two{}, Places: []Place{}, Reasons: []string{},
	}
	return t
}

// add takes in one run. Runs are added newest first.
func (t *totals) add(c compared) {
	if c.unreadable != "" {
		t.report.Sample.Unreadable++
		return
	}
	if c.moved {
		t.report.Moved++
		t.places[c.place()]++
		t.example(exampleMoved, c)
	}
	switch {
	case c.old.stopped != "":
		t.report.Sample.Short++
	case c.new.stopped != "":
		t.report.Unknown++
		t.example(exampleUnknown, c)
		// Nobody knows what would have been answered, but that it is asked is sure.
		if fresh, _ := c.asked(); fresh > 0 {
			t.report.New += fresh
			t.example(exampleAsked, c)
		}
	}
	if c.new.tally.scripted {
		t.report.scripted++
	}
	t.cover(c)
	if c.whole() {
		t.report.Compared++
		t.figures(c)
		t.turns(c)
	}
}

// figures adds what both sides did.
func (t *totals) figures(c compared) {
	rep := &t.report
	rep.Failed.add(c.old.failed, c.new.failed)
	rep.Cut.add(c.old.cut, c.new.cut)
	rep.Questions.Before += len(c.old.tally.asks)
	rep.Questions.After += len(c.new.tally.asks)
	rep.Models.Before += c.old.tally.models
	rep.Models.After += c.new.tally.models
	rep.Tools.Before += c.old.tally.tools
	rep.Tools.After += c.new.tally.tools
	rep.Cost.Before += c.old.tally.cost
	rep.Cost.After += c.new.tally.cost
	for name, n := range c.old.tally.byTool {
		two := rep.ByTool[name]
		two.Before += n
		rep.ByTool[name] = two
	}
	for name, n := range c.new.tally.byTool {
		two := rep.ByTool[name]
		two.After += n
		rep.ByTool[name] = two
	}
	t.ms[0], t.ms[1] = append(t.ms[0], c.old.ms), append(t.ms[1], c.new.ms)
	t.weigh(0, c.old, func(two *Two) { two.Before++ })
	t.weigh(1, c.new, func(two *Two) { two.After++ })
}

// weigh adds the gates of one side, in the order of the adapters' names, so
// that the sum is the same to the last bit.
func (t *totals) weigh(at int, s side, count func(*Two)) {
	for _, name := range sortedNames(s.gates) {
		two := t.report.Gates[name]
		count(&two)
		t.report.Gates[name] = two
		t.gates[at] += s.gates[name]
	}
}

func sortedNames[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (two *Two) add(before, after bool) {
	if before {
		two.Before++
	}
	if after {
		two.After++
	}
}

// turns looks for examples of what turned out otherwise.
func (t *totals) turns(c compared) {
	fresh, gone := c.asked()
	t.report.New += fresh
	t.report.Vanished += gone
	for _, kind := range []struct {
		name string
		is   bool
	}{
		{exampleFailed, c.new.failed && !c.old.failed},
		{exampleMended, c.old.failed && !c.new.failed},
		{exampleCut, c.new.cut && !c.old.cut},
		{exampleAsked, fresh > 0},
		{exampleUnasked, gone > 0},
	} {
		if kind.is {
			t.example(kind.name, c)
		}
	}
}

func (t *totals) example(kind string, c compared) {
	if len(t.examples[kind]) >= maxExamples {
		return
	}
	t.examples[kind] = append(t.examples[kind], Example{
		RunID: c.head.RunID, At: c.head.At, Old: shown(c.old.way), New: shown(c.new.way), Part: c.part, Message: c.says(),
	})
}

// place is where the two sides part.
func (c compared) place() Place {
	at := func(way []mark, i int) string {
		if i < 0 || i >= len(way) {
			return ""
		}
		return way[i].show
	}
	if c.new.gates != nil { // of a routing, the heaviest adapter on either side
		return Place{Old: nameOf(at(c.old.way, 0)), New: nameOf(at(c.new.way, 0))}
	}
	return Place{After: at(c.new.way, c.part-1), Old: at(c.old.way, c.part), New: at(c.new.way, c.part)}
}

// nameOf is an adapter of a way without its gate.
func nameOf(shown string) string {
	return shown[:max(0, strings.LastIndexByte(shown, ' '))]
}

// says tells in one sentence what became of a run, without a word of what
// anybody wrote.
func (c compared) says() string {
	var said []string
	add := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if c.moved && c.new.gates == nil {
		p := c.place()
		add("after %s it %s, and %s", cmp.Or(p.After, "the start"), going("goes to ", p.New, "ends"), going("went to ", p.Old, "ended"))
	} else if c.moved {
		add("it uses %s, and used %s", cmp.Or(strings.Join(shown(c.new.way), ", "), "no adapter"), cmp.Or(strings.Join(shown(c.old.way), ", "), "no adapter"))
	}
	switch {
	case c.new.stopped != "":
		add("it stops at %s: the record does not tell %s", c.new.stopped, c.new.lacks)
	case c.new.cut:
		add("it is stopped at %s by a bound of the run (%s)", c.new.at, c.new.code)
	case c.new.failed:
		add("it fails at %s (%s)", c.new.at, c.new.code)
	case c.old.failed && c.old.stopped == "":
		add("it failed at %s (%s) and does not any more", c.old.at, c.old.code)
	}
	if fresh, gone := c.asked(); c.whole() && fresh+gone > 0 {
		add("%s new, %s left out", questions(fresh), questions(gone))
	}
	return strings.Join(said, "; ")
}

func going(verb, node, nowhere string) string {
	if node == "" {
		return nowhere
	}
	return verb + node
}

// questions counts those that one side puts only.
func questions(n int) string {
	switch n {
	case 0:
		return "no question"
	case 1:
		return "1 question"
	}
	return fmt.Sprintf("%d questions", n)
}

// cover notes what of the new document the run came by.
func (t *totals) cover(c compared) {
	for _, rule := range c.new.fired {
		t.seen[rule] = true
	}
	for _, m := range c.new.way {
		t.seen[m.show] = true
	}
	for _, b := range c.new.branches {
		t.seen[b] = true
	}
}

// coverage compares what was seen with what there is.
func (t *totals) coverage() Coverage {
	out := Coverage{UnseenNodes: []string{}, UnseenBranches: []string{}}
	note := func(name string, all, seen *int, unseen *[]string) {
		*all++
		if t.seen[name] {
			*seen++
		} else if len(*unseen) < maxUnseen {
			*unseen = append(*unseen, name)
		}
	}
	if t.r.policy != nil {
		for _, rule := range t.r.policy.rules {
			note(rule, &out.Nodes, &out.NodesSeen, &out.UnseenNodes)
		}
		return out
	}
	for _, s := range t.r.new.graph.Shapes() {
		note(s.ID, &out.Nodes, &out.NodesSeen, &out.UnseenNodes)
		for i, b := range s.Branches {
			note(branchName(s.ID, i, b), &out.Branches, &out.BranchesSeen, &out.UnseenBranches)
		}
	}
	return out
}

func branchName(node string, i int, b graph.Branch) string {
	return fmt.Sprintf("%s[%d]: %s", node, i+1, cmp.Or(b.When, "true"))
}

// branches are the branches a trace took.
func branches(trace []graph.Step, shapes map[string]graph.Shape) []string {
	began, groups := map[string]bool{}, map[string]bool{}
	var taken []string
	for _, s := range trace {
		began[s.Node] = true
		switch shape := shapes[s.Node]; {
		case shape.Type == graph.Parallel:
			groups[s.Node] = true
		case shape.Type == graph.Switch && s.Condition != "" && s.Outcome == graph.ResultOK:
			i := slices.IndexFunc(shape.Branches, func(b graph.Branch) bool { return b.When == s.Condition })
			if i >= 0 {
				taken = append(taken, branchName(s.Node, i, shape.Branches[i]))
			}
		}
	}
	for _, node := range sortedNames(groups) {
		for i, b := range shapes[node].Branches {
			if began[b.Next] {
				taken = append(taken, branchName(node, i, b))
			}
		}
	}
	slices.Sort(taken)
	return slices.Compact(taken)
}

// done closes the report.
func (t *totals) done() Report {
	rep := t.report
	rep.MS = BeforeAfter{median(t.ms[0]), median(t.ms[1])}
	if rep.Compared > 0 {
		rep.Weight = BeforeAfter{t.gates[0] / float64(rep.Compared), t.gates[1] / float64(rep.Compared)}
	}
	rep.Cost = BeforeAfter{rounded(rep.Cost.Before), rounded(rep.Cost.After)}
	rep.Weight = BeforeAfter{rounded(rep.Weight.Before), rounded(rep.Weight.After)}
	rep.Coverage = t.coverage()
	for place, n := range t.places {
		place.Runs = n
		rep.Places = append(rep.Places, place)
	}
	slices.SortFunc(rep.Places, func(a, b Place) int {
		return cmp.Or(b.Runs-a.Runs, strings.Compare(a.After, b.After), strings.Compare(a.Old, b.Old), strings.Compare(a.New, b.New))
	})
	rep.Places = rep.Places[:min(len(rep.Places), maxPlaces)]
	rep.Examples = t.examples
	return rep
}

// rounded is a figure without the noise of adding; a damaged one is 0.
func rounded(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return math.Round(f*1e9) / 1e9
}

// median of figures; of none, 0.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	mid := len(values) / 2
	if len(values)%2 == 1 {
		return values[mid]
	}
	return (values[mid-1] + values[mid]) / 2
}

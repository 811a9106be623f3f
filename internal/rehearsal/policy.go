package rehearsal

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"liminal/internal/routing"
)

// gateStep is the least difference of a gate that counts.
const gateStep = 0.001

// policies are a routing policy before and after a change.
type policies struct {
	old, new *routing.Policy // old is nil where it cannot be followed any more
	rules    []string        // ids of the new one, in order
}

// compare routes one recorded turn by both. A turn that was not routed cannot
// be followed.
func (p *policies) compare(c *compared, rec *Record) {
	in := rec.Router
	if in == nil {
		c.old.stopped, c.new.stopped = "router", "router"
		c.new.lacks = "what it was routed by"
		return
	}
	before, after := recordedGates(rec), p.new.Route(*in)
	if p.old != nil {
		before = p.old.Route(*in)
	}
	c.old, c.new = routed(before, in), routed(after, in)
	c.moved = !sameGates(before.Gates, after.Gates) || p.old != nil && before.Backend != after.Backend
	if c.moved {
		c.part = part(c.old.way, c.new.way)
	}
}

// recordedGates is what a turn was routed to, the heaviest first.
func recordedGates(rec *Record) (r routing.Result) {
	for _, id := range sortedNames(rec.Gates) {
		r.Gates = append(r.Gates, routing.Gate{ID: id, Weight: rec.Gates[id]})
	}
	slices.SortStableFunc(r.Gates, func(a, b routing.Gate) int { return cmp.Compare(b.Weight, a.Weight) })
	return r
}

// routed is a routing as a side: its way is the adapters with their gates, the
// heaviest first; the rules that fired are its calls.
func routed(r routing.Result, in *routing.Input) side {
	s := side{tally: tally{byTool: map[string]int{}}, gates: map[string]float64{}}
	for _, g := range r.Gates {
		name := g.ID
		if i := slices.IndexFunc(in.Adapters, func(a routing.Adapter) bool { return a.ID == g.ID }); i >= 0 && in.Adapters[i].Name != "" {
			name = in.Adapters[i].Name
		}
		s.gates[name] += g.Weight
		show := fmt.Sprintf("%s %.3f", name, g.Weight)
		s.way = append(s.way, mark{node: show, show: show})
	}
	if r.Backend != "" {
		show := "backend " + r.Backend
		s.way = append(s.way, mark{node: show, show: show})
	}
	for _, step := range r.Trace {
		if step.Fired {
			s.fired = append(s.fired, step.Rule)
		}
		if step.Error != "" && !s.failed {
			s.failed, s.code, s.at = true, "rule_error", step.Rule
		}
	}
	return s
}

// sameGates compares which adapters are used and how much.
func sameGates(a, b []routing.Gate) bool {
	if len(a) != len(b) {
		return false
	}
	for _, g := range a {
		i := slices.IndexFunc(b, func(o routing.Gate) bool { return o.ID == g.ID })
		if i < 0 || math.Abs(b[i].Weight-g.Weight) > gateStep {
			return false
		}
	}
	return true
}

package routing

import (
	"slices"
	"strings"
)

// Route follows the policy's rules. Its time is bounded by MaxSteps for the
// conditions, and by rules times candidates for the actions.
func (p *Policy) Route(in Input) Result {
	var out Result
	in.Adapters, out.Left = compatible(in.Adapters, in.Backend.Modes)
	t := newTurn(in)
	for i := range p.rules {
		out.Trace = append(out.Trace, t.follow(&p.rules[i], MaxSteps/len(p.rules)))
	}
	weighed, left := guard(t.candidates, in.Backend.Max)
	out.Gates, out.Left = weighed, append(out.Left, left...)
	out.Backend, out.Firm = t.backend, t.firm
	return out
}

// compatible puts the candidates in order of their ids, each once, and leaves
// out those of a mode the backend cannot serve, before any rule sees them
// (LORA-04).
func compatible(adapters []Adapter, modes []string) (fit []Adapter, left []Left) {
	sorted := slices.Clone(adapters)
	slices.SortStableFunc(sorted, func(a, b Adapter) int { return strings.Compare(a.ID, b.ID) })
	sorted = slices.CompactFunc(sorted, func(a, b Adapter) bool { return a.ID == b.ID })
	for _, a := range sorted {
		if a.Mode == "" || len(modes) == 0 || slices.Contains(modes, a.Mode) {
			fit = append(fit, a)
		} else {
			left = append(left, Left{ID: a.ID, Reason: FilteredByMode})
		}
	}
	return fit, left
}

// follow evaluates one rule within a budget of steps and does what it says.
// The budget is the rule's own: one that spends too much cannot starve a rule
// about safety that comes after it.
func (t *turn) follow(r *rule, budget int) Step {
	s := Step{Rule: r.id}
	if r.fault != "" {
		s.Error = r.fault
		return s
	}
	held := t.candidates
	if r.each {
		held = t.holds(r, budget, &s)
		s.Fired = len(held) > 0
	} else {
		var err error
		if s.Fired, err = r.when.Within(t.env(nil), &budget); err != nil {
			s.Error = short(err.Error())
		}
	}
	if s.Fired {
		t.act(&r.action, held, &s)
	}
	return s
}

// short cuts a reason to what a trace should carry: traces travel with every
// turn, and a condition's names may be as long as its author likes.
func short(reason string) string {
	if len(reason) <= maxReason {
		return reason
	}
	return strings.ToValidUTF8(reason[:maxReason], "") + "..."
}

// maxReason bounds an error in a trace, in bytes.
const maxReason = 400

// holds gives the candidates a rule's condition holds for. One it cannot be
// evaluated for is passed over; the step keeps the first such error.
func (t *turn) holds(r *rule, budget int, s *Step) []*candidate {
	var held []*candidate
	for _, c := range t.candidates {
		ok, err := r.when.Within(t.env(c), &budget)
		if err != nil && s.Error == "" {
			s.Error = short("adapter " + c.ID + ": " + err.Error())
		}
		if ok {
			held = append(held, c)
			s.Adapters = append(s.Adapters, c.ID)
		}
	}
	return held
}

// act does what an action says to the adapters it selects.
func (t *turn) act(a *action, held []*candidate, s *Step) {
	if a.do == useBackend {
		if t.backend == "" || a.overwrite {
			t.backend, t.firm, s.Backend = a.backend, a.overwrite, a.backend
		} else {
			s.Note = "an earlier rule named the backend " + t.backend
		}
		return
	}
	selected := t.selects(a, held)
	if len(selected) == 0 {
		s.Note = t.nobody(a)
	}
	for _, c := range selected {
		switch {
		case a.do == scale && !c.decided:
			continue // nothing to scale
		case a.do == scale:
			c.weight *= t.weight(a, c)
		case a.do == deactivate || a.do == deactivateAll:
			c.weight = 0
		case c.decided && !a.overwrite:
			s.Kept = append(s.Kept, c.ID)
			continue
		default:
			c.weight = t.weight(a, c)
		}
		c.decided = true
		s.set(c.ID, c.weight)
	}
}

func (s *Step) set(id string, weight float64) {
	if s.Weights == nil {
		s.Weights = map[string]float64{}
	}
	s.Weights[id] = weight
}

// selects gives the candidates an action is about.
func (t *turn) selects(a *action, held []*candidate) []*candidate {
	byID := a.adapter != "" && a.adapter != current
	if byID || a.do == deactivateAll {
		held = t.candidates
	}
	cluster := a.cluster
	if cluster == closest {
		cluster = t.closest.ID
		if cluster == "" {
			return nil // nothing is near
		}
	}
	var out []*candidate
	for _, c := range held {
		if (!byID || c.ID == a.adapter || c.Name == a.adapter) &&
			(a.adapterType == "" || c.Type == a.adapterType) &&
			(cluster == "" || c.cluster.ID == cluster) {
			out = append(out, c)
		}
	}
	return out
}

// nobody says why an action selected no adapter.
func (t *turn) nobody(a *action) string {
	switch {
	case len(t.candidates) == 0:
		return "there is no adapter to choose from"
	case a.cluster == closest && t.closest.ID == "":
		return "no cluster is near"
	case a.cluster == closest:
		return "it selects no adapter of the closest cluster " + t.closest.ID
	}
	return "it selects none of the candidates"
}

// weight is what an action says for a candidate. Chosen by its cluster, an
// adapter is as similar as the cluster is (ROUTE-07).
func (t *turn) weight(a *action, c *candidate) float64 {
	switch {
	case !a.similar:
		return a.weight
	case a.cluster != "":
		return c.cluster.Similarity
	}
	return c.similarity
}

package graph

import (
	"slices"
	"time"
)

// Budget is what a run and every run below it, its tree, may use together. A
// run hands a part of what it has left to each child it begins and takes back
// what the child did not use, so no tree ever uses more than its root was
// given, and no run needs to ask another one.
//
// The zero value allows nothing. A run without a budget, one that was begun
// before there were any, has the limits of its document only.
type Budget struct {
	Runs   int           `json:"runs"`    // runs that may be begun below this one
	Depth  int           `json:"depth"`   // levels of runs below this one
	Steps  int           `json:"steps"`   // nodes executed; see workPerStep
	Calls  int           `json:"calls"`   // attempts at calls of tools and models
	AtOnce int           `json:"at_once"` // calls under way at the same time
	Bytes  int64         `json:"bytes"`   // of what calls and children are given and give
	Work   time.Duration `json:"work"`    // the time calls took, added up
}

// workPerStep is how much of maxWork counts as one more step of a budget: a
// graph that computes much in few steps uses it up as well.
const workPerStep = 2000

// ChatBudget bounds the tree of a turn or of a run a person began.
func ChatBudget() Budget {
	return Budget{
		Runs: 2000, Depth: 8, Steps: 40_000, Calls: 10_000, AtOnce: 32,
		Bytes: 256 << 20, Work: 2 * time.Hour,
	}
}

// JobBudget bounds the tree of background work (C-24).
func JobBudget() Budget {
	return Budget{
		Runs: 20_000, Depth: 8, Steps: 400_000, Calls: 200_000, AtOnce: 32,
		Bytes: 4 << 30, Work: 14 * 24 * time.Hour,
	}
}

// Used is what a run has used of its budget, with its children; the zero
// value without one. What is in the hands of children counts as used.
func (r *Run) Used() Budget {
	if r.state.Budget == nil {
		return Budget{}
	}
	given, left := r.state.Given, r.state.Budget
	return Budget{
		Runs: given.Runs - left.Runs, Steps: given.Steps - left.Steps, Calls: given.Calls - left.Calls,
		Bytes: given.Bytes - left.Bytes, Work: given.Work - left.Work,
	}
}

// Refund says what a child used, before its Done or Fail: the rest of what it
// was given is its parent's again. Without it, all of that counts as used.
func (r *Run) Refund(id string, spent Budget) {
	o := r.find(id)
	if o == nil || o.Given == nil || r.state.Budget == nil {
		return
	}
	given, left := o.Given, r.state.Budget
	left.Runs += unused(given.Runs, spent.Runs)
	left.Steps += unused(given.Steps, spent.Steps)
	left.Calls += unused(given.Calls, spent.Calls)
	left.Bytes += unused(given.Bytes, spent.Bytes)
	left.Work += unused(given.Work, spent.Work)
	kept := Budget{AtOnce: given.AtOnce}
	o.Given = &kept
}

// unused is never more than was given, whatever a child says.
func unused[T int | int64 | time.Duration](given, spent T) T {
	return max(0, given-max(0, spent))
}

// waiter is a slot that waits until fewer calls are under way.
type waiter struct {
	Thread int `json:"thread"`
	Slot   int `json:"slot"`
}

// apartWidth is for how many calls one of a tool that is Apart counts, and a
// child at least: the engine does more for them, so fewer are under way at once.
const apartWidth = 4

// dispatch begins as many of the waiting calls as may be under way at once, the
// oldest first, and reports whether it has done anything.
func (r *Run) dispatch() bool {
	did := false
	for r.state.Outcome == nil {
		free, waiting := 0, len(r.state.Queue)
		if waiting > 0 {
			free = r.state.Budget.AtOnce - r.atOnce()
		}
		i := slices.IndexFunc(r.state.Queue, func(w waiter) bool { return r.width(w) <= free })
		if i < 0 {
			break
		}
		w := r.state.Queue[i]
		r.state.Queue = slices.Delete(r.state.Queue, i, i+1)
		did = true
		r.begin(r.thread(w.Thread), w.Slot, free, waiting)
	}
	return did
}

// width is how much room a waiting slot needs. The first child of a run that
// has little has all of it.
func (r *Run) width(w waiter) int {
	s := r.thread(w.Thread).Slots[w.Slot]
	if s.Workflow == "" && !r.graph.tools[s.Tool].Apart {
		return 1
	}
	return min(apartWidth, r.state.Budget.AtOnce)
}

// share takes a child's part out of a budget: of what may be under way at once
// an equal part with the others that wait, and at most half, so that the run
// itself goes on beside it; of the rest the same part.
func (b *Budget) share(free, waiting int) *Budget {
	if b == nil {
		return nil
	}
	width := max(min(apartWidth, b.AtOnce), min(free/2, free/waiting))
	part := func(n int64) int64 { return n / int64(free+1) * int64(width) }
	g := &Budget{
		Runs: int(part(int64(b.Runs))), Depth: b.Depth - 1, Steps: int(part(int64(b.Steps))),
		Calls: int(part(int64(b.Calls))), AtOnce: width, Bytes: part(b.Bytes), Work: time.Duration(part(int64(b.Work))),
	}
	b.Runs, b.Steps, b.Calls = b.Runs-g.Runs, b.Steps-g.Steps, b.Calls-g.Calls
	b.Bytes, b.Work = b.Bytes-g.Bytes, b.Work-g.Work
	return g
}

// atOnce is how many calls are under way, those that children may make counted
// with them. A question and a pause hold nothing up.
func (r *Run) atOnce() int {
	sum := 0
	for _, o := range r.state.Open {
		switch {
		case o.Given != nil:
			sum += o.Given.AtOnce
		case o.Effect.Kind == KindCall:
			sum += r.width(waiter{o.Thread, o.Slot})
		}
	}
	return sum
}

// charge takes a call or child out of the budget before it begins, and reports
// whether there was enough. Where there was not, the run is over, whatever its
// on_error says: nothing that it could still do is free. Only a tree that is
// too deep fails just its node.
func (r *Run) charge(t *thread, place int, e *Effect) bool {
	b, s := r.state.Budget, t.Slots[place]
	if b == nil {
		return true
	}
	b.Bytes -= int64(bytesOf(s.Inputs))
	what := ""
	switch {
	case b.Bytes < 0:
		what = "bytes of values"
	case b.Work <= 0:
		what = "time of calls"
	case e.Kind == KindSpawn && b.Depth < 1:
		s.Phase, s.Failure = settled, failuref(CodeLimit,
			"workflow %q would be more than %d runs below the one that began it all, which is the limit: a workflow that runs itself needs an end", s.Workflow, ChatBudget().Depth)
		r.settled(t, place)
		return false
	case e.Kind == KindSpawn && b.Runs < 1:
		what = "runs"
	case e.Kind == KindCall && b.Calls < 1:
		what = "calls"
	}
	if what != "" {
		r.endOfBudget(t.Node, what)
		return false
	}
	if e.Kind == KindSpawn {
		b.Runs--
	} else {
		b.Calls--
	}
	return true
}

func (r *Run) endOfBudget(node, what string) {
	r.end(failuref(CodeLimit, "the run, with all the runs it began, has used up the %s it may have, and was at node %q: let it do less, or split the work into several runs", what, node).at(node))
}

// spend takes what an effect used out of the budget, now that it is over and
// gave so many bytes.
func (r *Run) spend(o *open, bytes int) {
	b := r.state.Budget
	if b == nil {
		return
	}
	b.Bytes -= int64(bytes)
	if o.Effect.Kind == KindCall {
		b.Work -= max(0, r.state.Clock.Sub(o.Since))
	}
}

// worked charges what the machine itself did since the last answer.
func (r *Run) worked() {
	if r.state.Budget != nil {
		r.state.Budget.Steps -= (maxWork - r.work) / workPerStep
	}
}

// unqueue takes the calls of a thread that is given up out of the queue.
func (r *Run) unqueue(match func(thread int) bool) {
	kept := r.state.Queue[:0]
	for _, q := range r.state.Queue {
		if !match(q.Thread) {
			kept = append(kept, q)
		}
	}
	r.state.Queue = kept
}

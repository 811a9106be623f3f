package graph

import (
	"strconv"
	"time"
)

// Start begins a run. The effects are the first things to happen; there are
// none when the run has ended at once, for good or bad: see Outcome.
func (g *Graph) Start(in Input) (*Run, []Effect) {
	r := &Run{graph: g, work: maxWork, state: state{
		Version:      stateVersion,
		Digest:       g.digest,
		Input:        mapOf(in.Input),
		Conversation: mapOf(in.Conversation),
		User:         mapOf(in.User),
		Visits:       map[string]int{},
		Steps:        map[string]int{},
		LastThread:   1,
		Clock:        in.Now.UTC().Round(0),
	}}
	if in.Budget != nil {
		given, left := *in.Budget, *in.Budget
		r.state.Given, r.state.Budget = &given, &left
	}
	root := &thread{ID: 1, Node: g.nodes[g.entry].id, Vars: mapOf(in.Persisted)}
	r.state.Threads = []*thread{root}
	r.takeApproved(in)
	r.state.Held = r.count()
	r.ready = append(r.ready, root.ID)
	return r, r.flush()
}

// Done says that an effect has happened, with what came of it: the output of a
// Call or Spawn, the answer of an Ask, nothing for a Wait. An id that is not
// outstanding, such as a call abandoned meanwhile, changes nothing.
func (r *Run) Done(id string, out map[string]any, now time.Time) []Effect {
	o := r.removeOpen(id, now)
	if o == nil {
		return nil
	}
	t, out := r.thread(o.Thread), mapOf(out)
	bytes := bytesOf(out)
	r.spend(o, bytes)
	r.grow(bytes)
	switch o.Effect.Kind {
	case KindWait:
		r.launch(t, o.Slot)
	case KindAsk:
		r.answered(t, o.Slot, out)
	default:
		r.returned(t, o.Slot, out)
	}
	return r.flush()
}

// Fail says that an effect did not happen. The machine decides what follows:
// another attempt, the node's on_error, or the end of the run.
//
// Requirements: GRAPH-13, GRAPH-15, GRAPH-16.
func (r *Run) Fail(id string, f Failure, now time.Time) []Effect {
	o := r.removeOpen(id, now)
	if o == nil {
		return nil
	}
	t := r.thread(o.Thread)
	r.spend(o, 0)
	if o.Effect.Kind == KindWait {
		r.launch(t, o.Slot)
		return r.flush()
	}
	if f.Code == "" {
		f.Code = CodeServer
	}
	f = Failure{Code: validText(f.Code), Message: validText(f.Message), Retryable: f.Retryable, Soon: f.Soon, GivenUp: f.GivenUp, After: max(f.After, 0), RetryAt: f.RetryAt, Said: validSaid(f.Said)}
	if o.Effect.Kind == KindAsk {
		f.Retryable = false
	}
	r.failed(t, o.Slot, f)
	return r.flush()
}

// Cancel ends a run for the person it belongs to. A run that only waits for
// an answer gets null as the answer and goes on to its end, which may still
// call tools; every later question is null as well, and what it says is
// Suppressed. A run at work stops here: its calls are abandoned and their
// results, should they come, ignored.
//
// Requirements: INT-09.
func (r *Run) Cancel(now time.Time) []Effect {
	if r.state.Outcome != nil {
		return nil
	}
	r.tick(now)
	asked := r.asking() != nil
	waits := r.Waiting()
	r.state.Cancelled = true
	r.state.Suppressed = r.state.Suppressed || asked
	if !waits {
		r.end(nil)
		return nil
	}
	return r.flush()
}

// Pending gives the outstanding effects in the order they were emitted, as
// they are after Restore.
func (r *Run) Pending() []Effect {
	var effects []Effect
	for _, o := range r.state.Open {
		if !o.Held {
			effects = append(effects, o.Effect.copied())
		}
	}
	return effects
}

// Waiting says whether nothing but an answer is outstanding. Such time does
// not count against the run's timeout (C-23).
func (r *Run) Waiting() bool {
	for _, o := range r.state.Open {
		if o.Effect.Kind != KindAsk {
			return false
		}
	}
	return len(r.state.Open) > 0
}

// Outcome gives how the run ended, and whether it has.
func (r *Run) Outcome() (Outcome, bool) {
	if r.state.Outcome == nil {
		return Outcome{}, false
	}
	return *r.state.Outcome, true
}

// Trace gives the nodes in the order they were executed, with every attempt
// (GRAPH-18, GRAPH-29). It keeps the first 2,000 steps.
func (r *Run) Trace() []Step {
	return append([]Step(nil), r.state.Trace...)
}

// Persist gives the vars the document keeps for the conversation's next turn
// (GRAPH-28), as far as they are set.
func (r *Run) Persist() map[string]any {
	kept := map[string]any{}
	for _, name := range r.graph.persist {
		if v, ok := r.root().Vars[name]; ok {
			kept[name] = copied(v)
		}
	}
	r.putApproved(kept)
	return kept
}

// flush lets every thread go on as far as it can, puts the next question, and
// gives the effects that came of it and still stand.
func (r *Run) flush() []Effect {
	for r.state.Outcome == nil {
		if !r.roomy() {
			break
		}
		if len(r.ready) > 0 {
			t := r.thread(r.ready[0])
			r.ready = r.ready[1:]
			switch {
			case t == nil: // abandoned meanwhile
			case r.joins(t):
				r.finish(t)
			default:
				r.enter(t)
			}
			continue
		}
		if !r.dispatch() && !r.putQuestion() {
			break
		}
	}
	r.ready = nil
	r.worked()
	var effects []Effect
	for _, id := range r.out {
		if o := r.find(id); o != nil {
			effects = append(effects, o.Effect.copied())
		}
	}
	r.out = nil
	return effects
}

// removeOpen removes an outstanding effect and lets the run's clock pass to now; nil
// if there is none of that id.
func (r *Run) removeOpen(id string, now time.Time) *open {
	o := r.find(id)
	if o == nil || r.state.Outcome != nil {
		return nil
	}
	r.tick(now)
	r.drop(func(x *open) bool { return x == o })
	return o
}

func (r *Run) find(id string) *open {
	for _, o := range r.state.Open {
		if o.Effect.ID == id && !o.Held {
			return o
		}
	}
	return nil
}

// drop removes the outstanding effects that match.
func (r *Run) drop(match func(*open) bool) {
	kept := r.state.Open[:0]
	for _, o := range r.state.Open {
		if !match(o) {
			kept = append(kept, o)
		}
	}
	clear(r.state.Open[len(kept):])
	r.state.Open = kept
}

// tick begins to take something in and moves the clock. Time in which only a person was waited for is free, and
// so is a pause a tool asked for; a clock that goes backwards stands still.
func (r *Run) tick(now time.Time) {
	r.work = maxWork
	now = now.UTC().Round(0)
	d := now.Sub(r.state.Clock)
	if d <= 0 {
		return
	}
	if !r.resting() {
		spoken := r.spoken(d)
		r.state.Spoken += spoken
		r.state.Spent += d - spoken
	}
	r.state.Clock = now
}

// spoken is how much of a time that passed is a model's and not the run's: all
// of it while a tool speaks, as far as Limits.Speech goes.
func (r *Run) spoken(d time.Duration) time.Duration {
	for _, o := range r.state.Open {
		if o.Effect.Call != nil && o.Effect.Call.Longest > 0 {
			return min(d, r.speech())
		}
	}
	return 0
}

// speech is how long tools of the run may still speak on top of its time.
func (r *Run) speech() time.Duration { return max(0, r.graph.limits.Speech-r.state.Spoken) }

// Spoken is for how long tools spoke that do not count against the run's time.
func (r *Run) Spoken() time.Duration { return r.state.Spoken }

func (r *Run) remaining() time.Duration { return r.graph.timeout - r.state.Spent }

// emit makes an effect outstanding.
func (r *Run) emit(t *thread, place int, e Effect) {
	n := r.graph.node(t.Node)
	e.Node, e.Stage, e.Description, e.Quiet = n.id, n.stage, r.described(t, n), n.quiet
	r.state.Open = append(r.state.Open, &open{Effect: e, Thread: t.ID, Slot: place})
	r.out = append(r.out, e.ID)
}

// maxDescription bounds what people see at a node, in characters.
const maxDescription = 300

// described is what people see at a node. What its template cannot say yet is
// left out.
func (r *Run) described(t *thread, n *node) string {
	v, failure := r.graph.shownAs(n).description.resolve(r.scope(t))
	if failure != nil {
		return ""
	}
	text, failure := boundedText(v)
	if failure != nil {
		return ""
	}
	return cut(text, maxDescription)
}

// move sends a thread to a node, or ends it where there is none.
func (r *Run) move(t *thread, next string) {
	t.Slots, t.Group, t.Agent = nil, nil, nil
	if next == "" {
		r.finish(t)
		return
	}
	t.Node = next
	r.ready = append(r.ready, t.ID)
}

// joins says whether a thread has come to the join of a parallel or map around
// it, where it ends.
func (r *Run) joins(t *thread) bool {
	for at := t; at != nil; at = r.thread(at.Parent) {
		if at.Join != "" && at.Join == t.Node {
			return true
		}
	}
	return false
}

// goOn moves a thread past the node it is at.
func (r *Run) goOn(t *thread) {
	r.move(t, r.graph.after(r.graph.index[t.Node]))
}

// fail gives up the node a thread is at: its on_error takes over, or the
// nearest one of the nodes around it, or the run fails (GRAPH-08, GRAPH-16).
func (r *Run) fail(t *thread, f *Failure) {
	failure := *f
	if failure.Node == "" {
		failure.Node = t.Node
	}
	for {
		n := r.graph.node(t.Node)
		r.abandon(t, failure.Message)
		if n.onError != "" {
			told := map[string]any{"node": failure.Node, "code": failure.Code, "message": failure.Message}
			t.Vars["error"] = told
			r.grow(bytesOf(told))
			r.move(t, n.onError)
			return
		}
		if t.Parent == 0 {
			r.end(&failure)
			return
		}
		t = r.thread(t.Parent)
	}
}

// abandon takes back everything a thread has under way at its node, with all
// its descendants.
func (r *Run) abandon(t *thread, why string) {
	gone := map[int]bool{}
	kept := r.state.Threads[:0]
	for _, x := range r.state.Threads { // parents come before their children
		if x.Parent != 0 && (x.Parent == t.ID || gone[x.Parent]) {
			gone[x.ID] = true
			r.closeTraces(x, ResultAbandoned, "")
			continue
		}
		kept = append(kept, x)
	}
	clear(r.state.Threads[len(kept):])
	r.state.Threads = kept
	r.drop(func(o *open) bool { return o.Thread == t.ID || gone[o.Thread] })
	r.unqueue(func(thread int) bool { return thread == t.ID || gone[thread] })
	if t.Group != nil {
		r.closeTrace(t.Group.Trace, ResultFailed, why)
	}
	r.closeTraces(t, ResultAbandoned, "")
	t.Slots, t.Group, t.Agent = nil, nil, nil
}

// end ends the run; f is nil unless it failed.
func (r *Run) end(f *Failure) {
	root := r.root()
	for _, t := range r.state.Threads {
		r.closeTraces(t, ResultAbandoned, "")
	}
	out := &Outcome{
		Err: f, Vars: copiedObject(root.Vars), Citations: root.Citations,
		Cancelled: r.state.Cancelled, Suppressed: r.state.Suppressed,
	}
	if root.Text != nil {
		out.Response = *root.Text
	}
	if said := root.Result; said != nil {
		out.Data = said.Data
		if said.Response != nil {
			out.Response = *said.Response
		}
		if said.Citations != nil {
			out.Citations = said.Citations
		}
	}
	r.state.Outcome = out
	r.state.Threads = []*thread{root}
	r.state.Open, r.state.Queue, r.ready, r.out = nil, nil, nil, nil
	root.Slots, root.Group, root.Agent = nil, nil, nil
}

// id names the visit a thread is at: node#visit, with the items around it.
func (t *thread) id() string {
	return t.Node + "#" + strconv.Itoa(t.Visit) + t.Suffix
}

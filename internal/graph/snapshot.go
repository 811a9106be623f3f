package graph

import (
	"encoding/json"
	"errors"
	"fmt"
)

// stateVersion is the format of snapshots.
const stateVersion = 1

// Snapshot gives everything a run knows as JSON: for continue-as-new, the run
// page and rehearsal. It is complete at any point between two calls. What an
// effect is given is stored once, with its slot.
func (r *Run) Snapshot() ([]byte, error) {
	s := r.state
	s.Open = make([]*open, len(r.state.Open))
	for i, o := range r.state.Open {
		slim := *o
		slim.Effect = o.Effect.with(nil)
		s.Open[i] = &slim
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("snapshot of a run: %w", err)
	}
	return b, nil
}

// Restore goes on from a snapshot of a run of the same document. The run then
// gives the same effects for the same answers as the one that was stored. A
// snapshot of another document, or one that was damaged, is an error.
func (g *Graph) Restore(b []byte) (*Run, error) {
	r := &Run{graph: g}
	if err := json.Unmarshal(b, &r.state); err != nil {
		return nil, fmt.Errorf("restore a run: %w", err)
	}
	s := &r.state
	switch {
	case s.Version != stateVersion:
		return nil, fmt.Errorf("restore a run: the snapshot has format %d, this program reads %d", s.Version, stateVersion)
	case s.Digest != g.digest:
		return nil, errors.New("restore a run: the snapshot belongs to another document")
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("restore a run: %w", err)
	}
	for _, o := range s.Open {
		o.Effect = o.Effect.with(r.thread(o.Thread).Slots[o.Slot].Inputs)
	}
	if s.Held == 0 { // of a version that did not count
		s.Held = r.count()
	}
	if s.Visits == nil {
		s.Visits = map[string]int{}
	}
	if s.Steps == nil {
		s.Steps = map[string]int{}
	}
	return r, nil
}

// check refuses whatever the machine relies on and a damaged snapshot may
// break, so that no answer can lead to a panic later.
func (r *Run) check() error {
	s := &r.state
	if len(s.Threads) == 0 || len(s.Threads) > maxThreads || s.Threads[0] == nil || s.Threads[0].Parent != 0 || s.Threads[0].ID != 1 {
		return errors.New("it has no root thread")
	}
	last := 0
	for i, t := range s.Threads {
		if t == nil || t.ID <= last || t.ID > s.LastThread {
			return errors.New("its threads are out of order")
		}
		last = t.ID
		if err := r.checkThread(t, i == 0); err != nil {
			return err
		}
	}
	ids := map[string]bool{}
	for _, o := range s.Open {
		if o == nil || ids[o.Effect.ID] {
			return errors.New("its effects are not distinct")
		}
		ids[o.Effect.ID] = true
		if err := r.checkOpen(o); err != nil {
			return err
		}
	}
	if err := r.checkBudget(); err != nil {
		return err
	}
	return r.checkChildren()
}

// checkBudget sees that what waits can be begun.
func (r *Run) checkBudget() error {
	s := &r.state
	if (s.Budget == nil) != (s.Given == nil) || s.Budget == nil && len(s.Queue) > 0 || s.Budget != nil && s.Budget.AtOnce < 1 {
		return errors.New("its budget is damaged")
	}
	seen := map[waiter]bool{}
	for _, q := range s.Queue {
		t := r.thread(q.Thread)
		if seen[q] || t == nil || q.Slot < 0 || q.Slot >= len(t.Slots) || t.Slots[q.Slot].Phase != queued || s.Outcome != nil {
			return errors.New("a call that waits is damaged")
		}
		seen[q] = true
	}
	return nil
}

func (r *Run) checkThread(t *thread, root bool) error {
	n := r.graph.node(t.Node)
	switch {
	case n == nil:
		return fmt.Errorf("it is at node %q, which the document does not have", t.Node)
	case t.Visit < 0 || t.Depth < 0 || t.Depth > maxDepth:
		return errors.New("its threads are damaged")
	case !root && (t.Parent >= t.ID || r.thread(t.Parent) == nil || r.thread(t.Parent).Group == nil):
		return errors.New("a thread has no parent")
	}
	if t.Vars == nil {
		t.Vars = map[string]any{}
	}
	for _, s := range t.Slots {
		if s == nil || s.Attempt < 0 || s.GivenUp < 0 || s.GivenUp > maxGivenUp || s.Attempt > s.Retries+s.GivenUp+1 || s.Retries > r.graph.limits.MaxRetries || s.Asked < 0 || s.Later < 0 || s.Rested < 0 {
			return errors.New("a call is damaged")
		}
	}
	grouped := n.kind == Parallel || n.kind == Map
	if (t.Group != nil) != grouped && r.state.Outcome == nil || t.Agent != nil && n.kind != Agent {
		return fmt.Errorf("the work at node %q is not of its type", t.Node)
	}
	if t.Agent != nil && (t.Agent.Repairs < 0 || t.Agent.Repairs > t.Agent.Round) {
		return errors.New("an agent is damaged")
	}
	if n.kind == Agent && r.state.Outcome == nil && (t.Agent == nil || len(t.Slots) == 0 || !t.Agent.InTools && len(t.Slots) != 1) {
		return errors.New("an agent is damaged")
	}
	return nil
}

func (r *Run) checkOpen(o *open) error {
	t := r.thread(o.Thread)
	if t == nil || o.Slot < 0 || o.Slot >= len(t.Slots) || r.state.Outcome != nil {
		return fmt.Errorf("effect %q belongs to nothing", o.Effect.ID)
	}
	s, e, ok := t.Slots[o.Slot], o.Effect, false
	switch e.Kind {
	case KindCall:
		ok = e.Call != nil && s.Phase == calling
	case KindSpawn:
		ok = e.Spawn != nil && s.Phase == calling
	case KindWait:
		ok = e.Wait != nil && (s.Phase == waiting || s.Phase == resting)
	case KindAsk:
		ok = e.Ask != nil && (s.Phase == asking || s.Phase == confirming && t.Agent != nil)
	}
	if !ok {
		return fmt.Errorf("effect %q is damaged", e.ID)
	}
	return nil
}

// checkChildren sees that every group knows exactly its own children.
func (r *Run) checkChildren() error {
	for _, t := range r.state.Threads {
		if t.Group == nil {
			continue
		}
		live, ok := r.liveOf(t)
		if !ok || !r.whole(t.Group, live) {
			return errors.New("a parallel or map is damaged")
		}
	}
	return nil
}

// liveOf gives the slots of a group whose children are under way; false when
// two children claim one slot, or one that was not started.
func (r *Run) liveOf(t *thread) (map[int]bool, bool) {
	live := map[int]bool{}
	for _, c := range r.state.Threads {
		if c.Parent != t.ID || c.ID == 1 {
			continue
		}
		if c.Slot < 0 || c.Slot >= t.Group.Next || live[c.Slot] {
			return nil, false
		}
		live[c.Slot] = true
	}
	return live, true
}

// whole sees that a group's counts fit its live children, that what ended has
// joined, and that its targets are nodes.
func (r *Run) whole(g *group, live map[int]bool) bool {
	if g.Next > g.size() || len(g.Joined) != g.size() || g.Live != len(live) || g.Live == 0 && r.state.Outcome == nil {
		return false
	}
	for i, c := range g.Joined {
		if ended := i < g.Next && !live[i]; ended != (c != nil) {
			return false
		}
	}
	for _, target := range g.Targets {
		if r.graph.node(target) == nil {
			return false
		}
	}
	return true
}

// with is a copy of an effect with other inputs, if it has any.
func (e Effect) with(inputs map[string]any) Effect {
	if e.Call != nil {
		c := *e.Call
		c.Inputs = inputs
		e.Call = &c
	}
	if e.Spawn != nil {
		s := *e.Spawn
		s.Inputs = inputs
		e.Spawn = &s
	}
	return e
}

// copied keeps what leaves the machine apart from its state.
func (e Effect) copied() Effect {
	if e.Call != nil {
		c := *e.Call
		c.Inputs, c.Resume = copiedObject(c.Inputs), copied(c.Resume)
		e.Call = &c
	}
	if e.Spawn != nil {
		s := *e.Spawn
		s.Inputs = copiedObject(s.Inputs)
		e.Spawn = &s
	}
	if e.Ask != nil {
		a := *e.Ask
		a.Options = append([]Option(nil), a.Options...)
		e.Ask = &a
	}
	if e.Wait != nil {
		w := *e.Wait
		e.Wait = &w
	}
	return e
}

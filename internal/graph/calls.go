package graph

// maxQuestions bounds how often one tool call may ask before it answers.
const maxQuestions = 16

// enterCall starts a tool_call or workflow node.
func (r *Run) enterCall(t *thread, n *node) {
	if n.absent {
		r.refuse(t, failuref(CodeMissing, "the tool %s of node %q is not there", n.tool, n.id))
		return
	}
	v, f := n.inputs.resolve(r.scope(t))
	if f != nil {
		r.refuse(t, f)
		return
	}
	inputs, _ := v.(map[string]any)
	s := r.newSlot(t.id(), n.tool, inputs, n)
	if n.kind == Workflow {
		s.Workflow = n.workflow
	}
	t.Slots = []*slot{s}
	r.launch(t, 0)
}

// newSlot prepares a call of a tool. One that is not idempotent is tried once
// (C-49, TOOL-16).
func (r *Run) newSlot(id, tool string, inputs map[string]any, n *node) *slot {
	s := &slot{ID: id, CallID: id, Tool: tool, Inputs: inputs, Retries: n.retries, Trace: -1}
	if spec, ok := r.graph.tools[tool]; ok {
		s.Workflow = spec.Workflow
		if !spec.Idempotent {
			s.Retries = 0
		}
	}
	return s
}

// launch begins the next attempt of a slot, or with a budget lets it wait until
// it may (see dispatch).
func (r *Run) launch(t *thread, place int) {
	if r.state.Budget == nil {
		r.begin(t, place, 0, 0)
		return
	}
	t.Slots[place].Phase = queued
	r.state.Queue = append(r.state.Queue, waiter{Thread: t.ID, Slot: place})
}

// begin emits the next attempt of a slot. When the run's time or budget is
// spent the run is over instead (GRAPH-12). With a budget, free is the room
// there is for calls and waiting how many slots wait for it.
func (r *Run) begin(t *thread, place, free, waiting int) {
	n, s := r.graph.node(t.Node), t.Slots[place]
	if r.remaining() <= 0 {
		what := "was not started"
		if s.Attempt > 0 {
			what = "was not tried again"
		}
		r.endOfTime(n.id, what)
		return
	}
	e := Effect{ID: s.CallID, Attempt: s.Attempt + 1, Kind: KindCall}
	if s.Workflow != "" {
		e.Kind = KindSpawn
	}
	if !r.charge(t, place, &e) {
		return
	}
	s.Attempt++
	s.Phase = calling
	if s.Trace < 0 { // a call that is made again after a pause goes on with its step
		s.Trace = r.openTrace(t, s.CallID, s.Attempt)
	}
	limit := min(n.timeout, r.remaining())
	var part *Budget
	if s.Workflow != "" {
		part = r.state.Budget.share(free, waiting)
		e.Spawn = &Spawn{Workflow: s.Workflow, Inputs: s.Inputs, Timeout: limit, Budget: part}
	} else {
		e.Call = &Call{Tool: s.Tool, Inputs: s.Inputs, Timeout: limit, Resume: s.Resume, Approved: s.Approved}
		if speech := r.speech(); speech > 0 && r.graph.tools[s.Tool].Speaks {
			e.Call.Longest = r.remaining() + speech
			e.Call.Timeout = min(n.timeout, e.Call.Longest)
		}
		e.Call.Final = n.final && t.Parent == 0 && (n.kind != Agent || !t.Agent.InTools)
	}
	r.emit(t, place, e)
	if r.state.Budget != nil {
		o := r.state.Open[len(r.state.Open)-1]
		o.Since, o.Given = r.state.Clock, part
	}
}

func (r *Run) endOfTime(id, what string) {
	f := failuref(CodeTimeout, "the run has used up its %s (timeout_ms): node %q %s", r.graph.timeout, id, what).at(id)
	f.Spent = true
	r.end(f)
}

// returned takes what a call gave: a question, a later time, or the output.
func (r *Run) returned(t *thread, place int, out map[string]any) {
	s := t.Slots[place]
	if raw, ok := out["interrupt"].(map[string]any); ok && s.Workflow == "" {
		r.question(t, place, raw)
		return
	}
	if raw, ok := out["later"].(map[string]any); ok && s.Workflow == "" {
		r.later(t, place, raw)
		return
	}
	r.closeTrace(s.Trace, ResultOK, "")
	s.Trace, s.Phase, s.Output = -1, settled, out
	r.settled(t, place)
}

// settled goes on once a slot has its output or failure.
func (r *Run) settled(t *thread, place int) {
	n, s := r.graph.node(t.Node), t.Slots[place]
	switch {
	case n.kind == Agent:
		r.agentSettled(t, n)
	case s.Failure != nil:
		r.fail(t, s.Failure)
	default:
		if f := r.merge(t, n, s.Output); f != nil {
			r.refuse(t, f)
			return
		}
		r.goOn(t)
	}
}

package graph

// maxTrace bounds the steps a trace keeps, and with it the snapshot.
const maxTrace = 2000

// note records a node that decided without an effect.
func (r *Run) note(t *thread, s Step) {
	i := r.addStep(t, s)
	if i >= 0 {
		r.state.Trace[i].Ended = r.state.Clock
	}
}

// openTrace begins the step of an attempt and gives its place, or -1 when the
// trace is full.
func (r *Run) openTrace(t *thread, effect string, attempt int) int {
	return r.addStep(t, Step{Effect: effect, Attempt: attempt})
}

func (r *Run) addStep(t *thread, s Step) int {
	if len(r.state.Trace) >= maxTrace {
		r.state.Dropped++
		return -1
	}
	n := r.graph.node(t.Node)
	s.Node, s.Type, s.Visit, s.Started = n.id, n.kind, t.Visit, r.state.Clock
	r.state.Trace = append(r.state.Trace, s)
	return len(r.state.Trace) - 1
}

// closeTrace ends an open step.
func (r *Run) closeTrace(i int, result Result, detail string) {
	if i < 0 || i >= len(r.state.Trace) || r.state.Trace[i].Outcome != "" {
		return
	}
	s := &r.state.Trace[i]
	s.Ended, s.Outcome, s.Detail = r.state.Clock, result, clipped(detail)
}

// failTrace ends an open step with a failure.
func (r *Run) failTrace(i int, result Result, f *Failure) {
	if i >= 0 && i < len(r.state.Trace) && r.state.Trace[i].Outcome == "" {
		r.closeTrace(i, result, f.Message)
		r.state.Trace[i].Said = f.Said
	}
}

// closeTraces ends every open step of a thread's node.
func (r *Run) closeTraces(t *thread, result Result, detail string) {
	for _, s := range t.Slots {
		if s.Phase != settled {
			r.closeTrace(s.Trace, result, detail)
			s.Trace = -1
		}
	}
	if t.Group != nil {
		r.closeTrace(t.Group.Trace, result, detail)
	}
}

// clipped keeps a detail to a size a page can show.
func clipped(s string) string {
	return cut(s, 500)
}

// cut is s with at most so many characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "…"
}

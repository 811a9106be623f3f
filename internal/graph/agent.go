package graph

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// The bounds of an agent's round.
const (
	maxToolCalls  = 16
	maxToolResult = 256 << 10 // bytes of one result given to the model
)

// Why an agent stopped, when it was not the model that did.
const (
	StopToolLoop  = "tool_loop_cap" // max_rounds rounds of tools were not enough (GRND-21)
	StopCancelled = "cancelled"     // a person cancelled the question before a tool
)

// enterAgent begins the loop of model and tools. Every model step and every
// tool call is an effect of its own.
func (r *Run) enterAgent(t *thread, n *node) {
	s := r.scope(t)
	v, f := n.inputs.resolve(s)
	object, _ := v.(map[string]any)
	inputs := nonNil(object)
	set := func(name string, from template) {
		if from.kind == absent || f != nil {
			return
		}
		inputs[name], f = from.resolve(s)
	}
	set("model", n.talk.model)
	set("system", n.talk.system)
	set("message", n.talk.message)
	if f != nil {
		r.refuse(t, f)
		return
	}
	inputs["tools"] = names(n.talk.tools)
	t.Agent = &agentState{Inputs: inputs, Transcript: []any{}}
	r.modelStep(t, n)
}

func names(l []string) []any {
	out := make([]any, len(l))
	for i, s := range l {
		out[i] = s
	}
	return out
}

func (r *Run) modelStep(t *thread, n *node) {
	a := t.Agent
	a.Round++
	a.InTools = false
	inputs := copiedObject(a.Inputs)
	inputs["transcript"] = copied(a.Transcript)
	r.grow(bytesOf(inputs))
	id := t.id() + ".m" + strconv.Itoa(a.Round)
	t.Slots = []*slot{r.newSlot(id, StepTool, inputs, n)}
	r.launch(t, 0)
}

// agentSettled goes on with the loop when the model step, or the last tool
// call of the round, is settled.
func (r *Run) agentSettled(t *thread, n *node) {
	a := t.Agent
	if a.InTools {
		if !slices.ContainsFunc(t.Slots, func(s *slot) bool { return s.Phase != settled }) {
			r.roundDone(t, n)
		}
		return
	}
	s := t.Slots[0]
	if s.Failure != nil {
		r.fail(t, s.Failure)
		return
	}
	if text, ok := s.Output["text"].(string); ok {
		a.Text = text
	}
	if l, ok := s.Output["citations"].([]any); ok {
		t.Citations = l
	}
	calls, _ := s.Output["tool_calls"].([]any)
	switch {
	case len(calls) == 0:
		stop, _ := s.Output["stop"].(string)
		r.agentDone(t, n, stop)
	case a.Round > n.talk.maxRounds:
		r.agentDone(t, n, StopToolLoop)
	default:
		a.Transcript = append(a.Transcript, map[string]any{"role": "assistant", "content": s.Output["content"]})
		r.toolRound(t, n, calls)
	}
}

// agentDone saves what the agent said and goes on.
func (r *Run) agentDone(t *thread, n *node, stop string) {
	out := map[string]any{"text": t.Agent.Text, "stop": stop}
	t.Vars[n.talk.saveAs] = out
	t.hear(out)
	r.goOn(t)
}

// toolRound makes the tool calls the model asked for, all at once.
func (r *Run) toolRound(t *thread, n *node, calls []any) {
	a := t.Agent
	a.InTools = true
	t.Slots = nil
	for k, raw := range calls {
		call, _ := raw.(map[string]any)
		t.Slots = append(t.Slots, r.toolSlot(t, n, k, call))
	}
	slots := t.Slots
	for k, s := range slots {
		if s.Phase == settled || r.state.Outcome != nil {
			continue
		}
		if spec := r.graph.tools[s.Tool]; spec.Confirm {
			r.confirm(t, k)
		} else {
			r.launch(t, k)
		}
	}
	if r.state.Outcome == nil {
		r.agentSettled(t, n)
	}
}

// toolSlot prepares one tool call. One that cannot be made is settled with a
// failure, which the model is told: it is no failure of the node.
func (r *Run) toolSlot(t *thread, n *node, k int, call map[string]any) *slot {
	name, _ := call["name"].(string)
	use, _ := call["id"].(string)
	arguments, ok := call["arguments"].(map[string]any)
	if s, isText := call["arguments"].(string); isText {
		ok = json.Unmarshal([]byte(s), &arguments) == nil
	}
	id := fmt.Sprintf("%s.t%d.%d", t.id(), t.Agent.Round, k+1)
	s := r.newSlot(id, name, nonNil(arguments), n)
	s.Use = use
	r.grow(bytesOf(s.Inputs))
	var f *Failure
	switch {
	case !slices.Contains(n.talk.tools, name):
		f = failuref(CodeValidation, "there is no tool %q; the tools are %s", name, named(n.talk.tools))
	case !ok && call["arguments"] != nil:
		f = failuref(CodeValidation, "the arguments of %s are no object", name)
	case k >= maxToolCalls:
		f = failuref(CodeLimit, "more than %d tool calls at once; call this one in the next step", maxToolCalls)
	}
	if f != nil {
		s.Phase, s.Failure = settled, f
	}
	return s
}

// confirm asks a person before a tool that wants it.
func (r *Run) confirm(t *thread, place int) {
	s := t.Slots[place]
	r.ask(t, place, s.ID+".c", confirming, Ask{
		Type:    "action_choice",
		Message: "Run " + s.Tool + " with " + clipped(rendered(nonNil(s.Inputs))) + "?",
		Options: []Option{{ID: "yes", Label: "Yes"}, {ID: "no", Label: "No"}},
	})
}

func nonNil(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// confirmed makes the call or tells the model that the person declined. A
// cancel ends the agent: there is nobody left to go on for.
func (r *Run) confirmed(t *thread, place int, answer any, result Result) {
	s := t.Slots[place]
	if option, ok := answer.(map[string]any); ok {
		answer = option["id"]
	}
	switch {
	case result == ResultCancelled:
		r.stopAgent(t)
	case answer == "yes" || answer == true:
		r.launch(t, place)
	default:
		s.Phase = settled
		s.Failure = failuref("declined", "the person declined this call of %s; do not repeat it", s.Tool)
		r.settled(t, place)
	}
}

// stopAgent ends an agent's round in the middle.
func (r *Run) stopAgent(t *thread) {
	n, a := r.graph.node(t.Node), t.Agent
	r.abandon(t, "")
	t.Agent = a
	r.agentDone(t, n, StopCancelled)
}

// roundDone gives the results to the model for its next step.
func (r *Run) roundDone(t *thread, n *node) {
	results := make([]any, len(t.Slots))
	for i, s := range t.Slots {
		results[i] = s.result()
	}
	t.Agent.Transcript = append(t.Agent.Transcript, map[string]any{"role": "user", "content": results})
	r.grow(bytesOf(results))
	r.modelStep(t, n)
}

// result is the block that tells a model what came of its call.
func (s *slot) result() map[string]any {
	var text string
	if s.Failure != nil {
		text = s.Failure.Code + ": " + s.Failure.Message
	} else {
		text = rendered(nonNil(s.Output))
	}
	if len(text) > maxToolResult {
		text = validText(text[:maxToolResult]) + " … (cut)"
	}
	return map[string]any{
		"type": "tool_result", "tool_use_id": s.Use, "content": text, "is_error": s.Failure != nil,
	}
}

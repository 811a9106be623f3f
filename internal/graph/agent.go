package graph

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// StopUngrounded is why a model step ended that said what no result of the run
// holds: what was shown of it stays, and the model is asked again (GRND-19).
const StopUngrounded = "ungrounded"

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
	if brought := r.brought(n); len(brought) > 0 {
		inputs["caller_tools"] = brought
	}
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
	if g := n.talk.grounded; g != nil {
		rules := copiedObject(g.rules)
		rules["last"] = a.Repairs >= g.repairs
		inputs["ground"] = rules
		if a.Said != nil {
			inputs["said"] = copiedObject(a.Said)
		}
	}
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
	if n.talk.grounded != nil {
		a.Grounds = grounds(s.Output)
	}
	calls, _ := s.Output["tool_calls"].([]any)
	stop, _ := s.Output["stop"].(string)
	switch {
	case stop == StopUngrounded && n.talk.grounded != nil && a.Repairs < n.talk.grounded.repairs:
		r.repair(t, n, s.Output)
	case len(calls) == 0:
		r.agentDone(t, n, stop)
	case a.Round-a.Repairs-a.Called > n.talk.maxRounds:
		r.agentDone(t, n, StopToolLoop)
	default:
		a.Transcript = append(a.Transcript, map[string]any{"role": "assistant", "content": s.Output["content"]})
		r.toolRound(t, n, calls)
	}
}

// grounds are what a model step says of what its words stand on.
func grounds(out map[string]any) map[string]any {
	kept := map[string]any{}
	for _, key := range []string{"calls", "evidence", "links", "tag", "left_out"} {
		if v, ok := out[key]; ok {
			kept[key] = v
		}
	}
	return kept
}

// repair has the model asked again, beside the rounds of tools, after it said
// what no result holds. What people were shown until then is its own text, and
// stays (GRND-19).
func (r *Run) repair(t *thread, n *node, out map[string]any) {
	a := t.Agent
	a.Repairs++
	a.Said = map[string]any{"text": a.Text, "citations": []any{}}
	if l, ok := out["citations"].([]any); ok {
		a.Said["citations"] = l
	}
	if content, ok := out["content"].([]any); ok && len(content) > 0 {
		a.Transcript = append(a.Transcript, map[string]any{"role": "assistant", "content": content})
	}
	a.Transcript = append(a.Transcript, map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": rebuke(out["unsupported"])},
	}})
	r.grow(bytesOf(a.Said) + bytesOf(a.Transcript[len(a.Transcript)-1]))
	r.modelStep(t, n)
}

// rebuke tells a model what it said that no result holds.
func rebuke(unsupported any) string {
	list, _ := unsupported.([]any)
	var said []string
	for _, v := range list {
		if text, ok := v.(string); ok && len(said) < 8 {
			said = append(said, clipped(text))
		}
	}
	return "Not in any tool result: " + strings.Join(said, "; ") + ". What you wrote before it has been shown and stays; the sentence with it has not. " +
		"Go on from there: state only what a tool returned, call a tool if you need one, or say that you do not know. Do not repeat what was shown."
}

// agentDone saves what the agent said and goes on.
func (r *Run) agentDone(t *thread, n *node, stop string) {
	out := map[string]any{"text": t.Agent.Text, "stop": stop}
	if n.talk.grounded != nil {
		out["calls"], out["evidence"], out["links"] = []any{}, []any{}, []any{}
		for _, key := range sortedKeys(t.Agent.Grounds) {
			out[key] = t.Agent.Grounds[key]
		}
	}
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
		if s.Phase == settled || s.Caller || r.state.Outcome != nil {
			continue
		}
		if !slices.Contains(n.talk.unasked, s.Tool) && r.asksFirst(n, s.Tool) {
			r.confirm(t, k)
		} else {
			r.launch(t, k)
		}
	}
	if r.state.Outcome == nil {
		r.callBack(t)
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
	case k < maxToolCalls && r.brings(n, name) && (ok || call["arguments"] == nil):
		s.Caller = true
	case !slices.Contains(n.talk.tools, name) && !r.brings(n, name):
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

func nonNil(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
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

// resultText is a result as a model reads it: one whose sole member is a text is that text
// (CLAUDE-12).
func resultText(out map[string]any) string {
	if text, ok := out["text"].(string); ok && len(out) == 1 {
		return text
	}
	return rendered(out)
}

// result is the block that tells a model what came of its call.
func (s *slot) result() map[string]any {
	var text string
	if s.Failure != nil {
		text = s.Failure.Code + ": " + s.Failure.Message
	} else {
		text = resultText(nonNil(s.Output))
	}
	text = s.edited(text)
	if len(text) > maxToolResult {
		text = validText(text[:maxToolResult]) + " … (cut)"
	}
	return map[string]any{
		"type": "tool_result", "tool_use_id": s.Use, "content": text, "is_error": s.Failure != nil,
	}
}

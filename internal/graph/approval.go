package graph

import (
	"encoding/json"
	"slices"
	"strings"
)

// Approval is how a person is asked before a call of a tool that wants it: what
// the question says, what of the call they may change, and whether they may be
// asked no more in this conversation (GRND-49).
type Approval struct {
	Message  map[string]any `json:"message,omitempty"`  // by language; {name} is an argument. nil: one of the house's
	Edit     []Editable     `json:"edit,omitempty"`     // arguments the person may change, in order
	Remember bool           `json:"remember,omitempty"` // the person may say not to be asked again
	Key      string         `json:"key,omitempty"`      // names the tool at its version: what was allowed of one version is not of the next
}

// Editable is an argument that a person may change before a call.
type Editable struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"` // as the tool's input_schema has it
}

// The answers to a question before a call. One that lets the person edit is
// answered by an object: decision is approve or decline, beside it the arguments
// as they are to be, and remember.
const (
	approveYes    = "yes"
	approveAlways = "always"
	approveNo     = "no"

	decisionKey = "decision"
	rememberKey = "remember"
	approve     = "approve"
	decline     = "decline"
)

// ApprovedVar is the member of what a conversation keeps under which the
// approvals stand that are not to be asked for again. No graph reads or writes
// it: Start takes it out of the vars, and Persist puts it back.
const ApprovedVar = "$approved"

// maxApproved bounds how many of them a conversation keeps; the oldest goes.
const maxApproved = 50

// asksFirst reports whether a person is asked before an agent's call of a tool: its spec
// or the node wants it, and they did not say that it need not be asked again.
func (r *Run) asksFirst(n *node, tool string) bool {
	spec := r.graph.tools[tool]
	if !spec.Confirm && !slices.Contains(n.talk.confirm, tool) {
		return false
	}
	return spec.Approval == nil || !spec.Approval.Remember || !r.state.Remembers || !slices.Contains(r.state.Approved, spec.Approval.Key)
}

// confirm asks a person before a tool that wants it.
func (r *Run) confirm(t *thread, place int) {
	s := t.Slots[place]
	r.ask(t, place, s.ID+".c", confirming, r.approvalOf(s))
}

// approvalOf is the question before a call: the call as it would be made, and
// what the person may do about it.
func (r *Run) approvalOf(s *slot) Ask {
	say := r.phrases()
	a := r.graph.tools[s.Tool].Approval
	if a == nil {
		return Ask{
			Type:    "action_choice",
			Message: say.run(s.Tool, clipped(rendered(nonNil(s.Inputs)))),
			Options: []Option{{ID: approveYes, Label: say.yes}, {ID: approveNo, Label: say.no}},
		}
	}
	remember := a.Remember && r.state.Remembers
	ask := Ask{Type: "action_choice", Message: r.draft(s, a)}
	if len(a.Edit) > 0 {
		ask.AnswerSchema = r.editSchema(s, a, remember)
		return ask
	}
	ask.Options = []Option{{ID: approveYes, Label: say.yes}}
	if remember {
		ask.Options = append(ask.Options, Option{ID: approveAlways, Label: say.always})
	}
	ask.Options = append(ask.Options, Option{ID: approveNo, Label: say.no})
	return ask
}

// draft is the question in words, with the arguments that stand neither in them
// nor in fields of their own.
func (r *Run) draft(s *slot, a *Approval) string {
	inputs, told := nonNil(s.Inputs), map[string]bool{}
	pattern, _ := inLanguage(a.Message, r.language()).(string)
	if pattern == "" {
		pattern = r.phrases().runBare(s.Tool)
	}
	message := filled(pattern, inputs, told)
	for _, e := range a.Edit {
		told[e.Name] = true
	}
	var lines []string
	for _, name := range sortedKeys(inputs) {
		if !told[name] {
			lines = append(lines, name+": "+longClipped(rendered(inputs[name])))
		}
	}
	if len(lines) > 0 {
		message += "\n\n" + strings.Join(lines, "\n")
	}
	return validText(message)
}

// filled writes arguments into a text: {name} is one. told learns which stood there.
func filled(pattern string, inputs map[string]any, told map[string]bool) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !validID(name) {
			out.WriteString("{")
			pattern = rest
			continue
		}
		told[name] = true
		if v, there := inputs[name]; there && v != nil {
			out.WriteString(longClipped(rendered(v)))
		}
		pattern = after
	}
}

// maxDraft bounds one argument in a question, in bytes.
const maxDraft = 8 << 10

func longClipped(s string) string {
	if len(s) <= maxDraft {
		return s
	}
	return validText(s[:maxDraft]) + " …"
}

// editSchema is the form that a person edits a call in. What is declined need
// not be filled in.
func (r *Run) editSchema(s *slot, a *Approval, remember bool) json.RawMessage {
	say, inputs := r.phrases(), nonNil(s.Inputs)
	properties := map[string]any{decisionKey: map[string]any{
		"title": say.decision, "default": approve,
		"oneOf": []any{map[string]any{"const": approve, "title": say.approve}, map[string]any{"const": decline, "title": say.decline}},
	}}
	order, needed := []any{}, []any{decisionKey}
	for _, e := range a.Edit {
		var field map[string]any
		if json.Unmarshal(e.Schema, &field) != nil || field == nil {
			field = map[string]any{}
		}
		field, _ = SchemaIn(field, r.language()).(map[string]any)
		if v, there := inputs[e.Name]; there {
			field["default"] = v
		}
		properties[e.Name] = field
		order = append(order, e.Name)
		if slices.Contains(r.graph.tools[s.Tool].Required, e.Name) {
			needed = append(needed, e.Name)
		}
	}
	if remember {
		properties[rememberKey] = map[string]any{"type": "boolean", "title": say.always, "default": false}
		order = append(order, rememberKey)
	}
	schema := map[string]any{
		"type": "object", "additionalProperties": false, "properties": properties, "required": []any{decisionKey},
		"if":      map[string]any{"properties": map[string]any{decisionKey: map[string]any{"const": approve}}},
		"then":    map[string]any{"required": needed},
		"x-order": append(order, decisionKey),
		"x-call":  map[string]any{"tool": s.Tool},
	}
	raw, _ := json.Marshal(schema) // plain values: it cannot fail
	return raw
}

// confirmed makes the call as it was approved, or tells the model that the
// person declined. A cancel ends the agent: there is nobody left to go on for.
func (r *Run) confirmed(t *thread, place int, answer any, result Result) {
	s := t.Slots[place]
	a := r.graph.tools[s.Tool].Approval
	if result == ResultCancelled {
		r.stopAgent(t)
		return
	}
	yes, always := r.decided(s, a, answer)
	if !yes {
		s.Phase = settled
		s.Failure = failuref("declined", "the person declined this call of %s; do not repeat it", s.Tool)
		r.settled(t, place)
		return
	}
	if always && a != nil && a.Remember && r.state.Remembers {
		r.allow(a.Key)
	}
	s.Approved = true
	r.launch(t, place)
}

// decided reads an answer. What the person changed of the call is the call from
// here on.
func (r *Run) decided(s *slot, a *Approval, answer any) (yes, always bool) {
	given, isObject := answer.(map[string]any)
	if a == nil || len(a.Edit) == 0 {
		if isObject {
			answer = given["id"]
		}
		return answer == approveYes || answer == approveAlways || answer == true, answer == approveAlways
	}
	if given[decisionKey] != approve {
		return false, false
	}
	inputs := copiedObject(nonNil(s.Inputs))
	for _, e := range a.Edit {
		v, there := given[e.Name]
		if there && rendered(v) != rendered(inputs[e.Name]) {
			inputs[e.Name] = copied(v)
			s.Edited = append(s.Edited, e.Name)
		}
	}
	if len(s.Edited) > 0 {
		s.Inputs = inputs
		r.grow(bytesOf(inputs))
	}
	return true, given[rememberKey] == true
}

// edited tells a model, after what came of its call, what the person had changed
// of it: else it would speak of its own draft.
func (s *slot) edited(text string) string {
	if len(s.Edited) == 0 {
		return text
	}
	changed := map[string]any{}
	for _, name := range s.Edited {
		changed[name] = s.Inputs[name]
	}
	return text + "\n(The person changed the call before it was made: " + longClipped(rendered(changed)) + ")"
}

// allow keeps an approval for the rest of the conversation.
func (r *Run) allow(key string) {
	if slices.Contains(r.state.Approved, key) {
		return
	}
	r.state.Approved = append(r.state.Approved, key)
	r.state.Approved = slices.Clone(r.state.Approved[max(0, len(r.state.Approved)-maxApproved):])
	r.state.Allowed = true
}

// disallow has a person asked again before the next call of a tool of which
// nobody knows whether the last one happened: a second one may be one too many.
func (r *Run) disallow(tool string) {
	a := r.graph.tools[tool].Approval
	if a == nil {
		return
	}
	if i := slices.Index(r.state.Approved, a.Key); i >= 0 {
		r.state.Approved = slices.Delete(r.state.Approved, i, i+1)
		r.state.Allowed = true
	}
}

// takeApproved reads what is allowed in the conversation out of what it keeps.
func (r *Run) takeApproved(in Input) {
	r.state.Remembers = in.Remembers
	vars := r.root().Vars
	list, _ := vars[ApprovedVar].([]any)
	delete(vars, ApprovedVar)
	if !in.Remembers {
		return
	}
	for _, v := range list {
		if key, ok := v.(string); ok && len(r.state.Approved) < maxApproved {
			r.state.Approved = append(r.state.Approved, key)
		}
	}
}

// putApproved adds it again to what the conversation keeps, where it is another now.
func (r *Run) putApproved(kept map[string]any) {
	delete(kept, ApprovedVar)
	if r.state.Allowed {
		list := make([]any, len(r.state.Approved))
		for i, key := range r.state.Approved {
			list[i] = key
		}
		kept[ApprovedVar] = list
	}
}

// phrase are the house's own words in a question before a call.
type phrase struct {
	yes, no, always, decision, approve, decline string
	ask, with, callBack                         string
}

func (p phrase) run(tool, inputs string) string {
	return p.ask + " " + tool + " " + p.with + " " + inputs + "?"
}

func (p phrase) runBare(tool string) string { return p.ask + " " + tool + "?" }

// phrases are in the language of the run's person.
func (r *Run) phrases() phrase {
	if base, _, _ := strings.Cut(r.language(), "-"); base == "de" {
		return phrase{
			yes: "Ja", no: "Nein", always: "Ja, und in dieser Unterhaltung nicht mehr fragen", decision: "Entscheidung",
			approve: "Freigeben", decline: "Ablehnen", ask: "Ausführen:", with: "mit", callBack: "Wartet auf das Programm, das gefragt hat. Es soll ausführen:",
		}
	}
	return phrase{
		yes: "Yes", no: "No", always: "Yes, and do not ask again in this conversation", decision: "Decision",
		approve: "Approve", decline: "Decline", ask: "Run", with: "with", callBack: "Waits for the program that asked. It is to run:",
	}
}

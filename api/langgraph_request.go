package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/chat"
	"liminal/internal/fault"
)

// LangGraphRunRequest is a run as it is asked for; other members are let be.
type LangGraphRunRequest struct {
	_               struct{}        `additionalProperties:"true"`
	AssistantID     string          `json:"assistant_id" minLength:"1" maxLength:"200" doc:"an assistant's id, or its graph_id"`
	Input           json.RawMessage `json:"input,omitempty" doc:"{messages: [...]}: the last of them is said, and those before it were said in the thread; further members are inputs of the workflow. null with a checkpoint: what was said there is answered again"`
	Command         json.RawMessage `json:"command,omitempty" doc:"{resume}: the answer to what waits, or answers by interrupt id; null skips it"`
	Modes           StreamModes     `json:"stream_mode,omitempty"`
	Multitask       *string         `json:"multitask_strategy,omitempty" nullable:"true" enum:"reject,enqueue,interrupt,rollback" doc:"while another run of the thread goes on; missing: enqueue. rollback stops that one and says this in the place of it, as another version"`
	IfNotExists     *string         `json:"if_not_exists,omitempty" nullable:"true" enum:"reject,create" doc:"what becomes of a thread that there is not; missing: reject"`
	OnDisconnect    *string         `json:"on_disconnect,omitempty" nullable:"true" enum:"cancel,continue" doc:"of a stream; missing: continue"`
	Checkpoint      json.RawMessage `json:"checkpoint,omitempty" doc:"where in the thread this is said, as another version of what was said next"`
	CheckpointID    *string         `json:"checkpoint_id,omitempty" nullable:"true" doc:"the same"`
	Metadata        *map[string]any `json:"metadata,omitempty" nullable:"true" doc:"is told again, and not kept"`
	Webhook         *string         `json:"webhook,omitempty" nullable:"true" doc:"is not called"`
	AfterSeconds    *float64        `json:"after_seconds,omitempty" nullable:"true" doc:"a run begins at once"`
	InterruptBefore json.RawMessage `json:"interrupt_before,omitempty" doc:"where a run asks is the workflow's"`
	InterruptAfter  json.RawMessage `json:"interrupt_after,omitempty" doc:"where a run asks is the workflow's"`
}

// StreamModes is one mode or several.
type StreamModes []string

// UnmarshalJSON reads both forms.
func (m *StreamModes) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		if *m = nil; one != "" {
			*m = StreamModes{one}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(m))
}

// Schema describes both forms.
func (StreamModes) Schema(huma.Registry) *huma.Schema {
	list := &huma.Schema{Type: "array", Items: &huma.Schema{Type: "string"}}
	list.Items.PrecomputeMessages()
	list.PrecomputeMessages()
	return &huma.Schema{
		AnyOf:       []*huma.Schema{{Type: "string"}, list, {Type: "null"}},
		Description: "values, updates, messages-tuple or custom, one or a list; missing: values. Of the protocol's other modes there are no events",
	}
}

// spokenModes are the modes that have events, and silentModes those that the SDK
// knows and that have none here.
var (
	spokenModes = []string{"values", "updates", "messages-tuple", "custom"}
	silentModes = []string{"events", "debug", "tasks", "checkpoints", "tools", "lifecycle"}
)

// streamModes are the modes of a stream; none named: values.
func streamModes(asked []string) (modes []string, err error) {
	for _, m := range asked {
		switch {
		case slices.Contains(spokenModes, m):
			modes = append(modes, m)
		case !slices.Contains(silentModes, m):
			return nil, fault.New(fault.Invalid, "stream_mode %q has no events here; %s have.", m, list(spokenModes)).With([]Problem{{"stream_mode", "is not spoken here"}})
		}
	}
	if len(asked) == 0 {
		modes = []string{"values"}
	}
	return modes, nil
}

// refused says what of a request is not done here and would change what it means.
func (b LangGraphRunRequest) refused() error {
	refuse := func(field, sentence string) error {
		return fault.New(fault.Invalid, "%s", sentence).With([]Problem{{field, "is not possible here"}})
	}
	switch {
	case value(b.Webhook) != "":
		return refuse("webhook", "No webhook is called for a single run; leave webhook out, and join the run.")
	case value(b.AfterSeconds) > 0:
		return refuse("after_seconds", "A run begins at once; leave after_seconds out.")
	case given(b.InterruptBefore) || given(b.InterruptAfter):
		return refuse("interrupt_before", "Where a run asks a person is its workflow's; leave interrupt_before and interrupt_after out.")
	case b.command().Goto || b.command().Update:
		return fault.New(fault.Invalid, "A command resumes what waits; goto and update, which write a state by hand, are not done here.").
			With(map[string]any{"reason": notImplemented})
	case b.resumes() && given(b.Input):
		return refuse("input", "A run has an input or a command, and not both.")
	}
	return nil
}

// given reports whether a member of a request is there and says something.
func given(raw json.RawMessage) bool {
	text := string(bytes.TrimSpace(raw))
	return !slices.Contains([]string{"", "null", "[]", "{}", `""`}, text)
}

// command is what a request orders.
type command struct {
	Resume       json.RawMessage
	Goto, Update bool
}

func (b LangGraphRunRequest) command() command {
	var c struct{ Resume, Goto, Update json.RawMessage }
	_ = json.Unmarshal(b.Command, &c) // what is no object orders nothing
	return command{c.Resume, given(c.Goto), given(c.Update)}
}

// resumes reports whether a request answers what waits: the SDK for Python leaves a
// resume of None out of its command.
func (b LangGraphRunRequest) resumes() bool {
	text := bytes.TrimSpace(b.Command)
	return len(text) > 0 && text[0] == '{'
}

// strategy is what the request says of other runs.
func (b LangGraphRunRequest) strategy() string {
	return cmp.Or(value(b.Multitask), chat.MultitaskEnqueue)
}

// multitask is the same in the engine's words; rollback is an interruption there.
func (b LangGraphRunRequest) multitask() string {
	if s := b.strategy(); s != "rollback" {
		return s
	}
	return chat.MultitaskInterrupt
}

// checkpoint is where something is said; empty: at the end.
func (b LangGraphRunRequest) checkpoint() string {
	return cmp.Or(value(b.CheckpointID), placeNamed(b.Checkpoint))
}

// inputMessage is a message of an input.
type inputMessage struct{ ID, role, text string }

// runInput is what a run is told.
type runInput struct {
	before []inputMessage // was said before
	last   string         // is said
	fields map[string]any // further inputs
	again  bool           // nothing: what was said last is answered again
}

func (r runInput) said() (list []chat.Said) {
	for _, m := range r.before {
		list = append(list, chat.Said{Role: m.role, Content: m.text})
	}
	return list
}

// maxInputFields bounds the further inputs of a run, in bytes of JSON.
const maxInputFields = 16 << 10

// input reads what a run is told.
func (b LangGraphRunRequest) input() (r runInput, err error) {
	refuse := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).With([]Problem{{"input", "is not possible here"}})
	}
	if !given(b.Input) {
		if b.checkpoint() == "" {
			return r, refuse("The run has no input. Give it {messages: [{role, content}]}.")
		}
		return runInput{again: true}, nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(b.Input, &members) != nil {
		var text string
		if err := json.Unmarshal(b.Input, &text); err != nil {
			return r, refuse("The input is neither an object nor a text.")
		}
		return runInput{last: text}, nil
	}
	messages, err := inputMessages(members["messages"])
	if err != nil {
		return r, err
	}
	delete(members, "messages")
	size := 0
	for name, raw := range members {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return r, err
		}
		if size += len(raw); r.fields == nil {
			r.fields = map[string]any{}
		}
		r.fields[name] = v
	}
	if size > maxInputFields {
		return r, refuse("The input has more than %d KiB beside its messages.", maxInputFields>>10)
	}
	if len(messages) == 0 {
		text, _ := r.fields["message"].(string)
		if text == "" {
			return r, refuse("The input has no messages. Give it {messages: [{role, content}]}.")
		}
		delete(r.fields, "message")
		return runInput{last: text, fields: r.fields}, nil
	}
	last := messages[len(messages)-1]
	if last.role != "user" {
		return r, refuse("The last message of the input is of %s; a run begins with one of the person.", last.role)
	}
	r.before, r.last = messages[:len(messages)-1], last.text
	return r, nil
}

// inputMessages reads messages in the forms that LangChain takes: objects with a
// role or a type, pairs of role and text, and texts.
func inputMessages(raw json.RawMessage) (list []inputMessage, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var each []json.RawMessage
	if json.Unmarshal(raw, &each) != nil {
		each = []json.RawMessage{raw}
	}
	for i, one := range each {
		m, err := readMessage(one)
		if err != nil {
			return nil, fault.New(fault.Invalid, "Message %d of the input %s.", i+1, err).With([]Problem{{"input.messages", err.Error()}})
		}
		if m.role != "tool" && (strings.TrimSpace(m.text) != "" || i == len(each)-1) {
			list = append(list, m)
		}
	}
	return list, nil
}

func readMessage(raw json.RawMessage) (m inputMessage, err error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return inputMessage{role: "user", text: text}, nil
	}
	var pair []string
	if json.Unmarshal(raw, &pair) == nil && len(pair) == 2 {
		m.text = pair[1]
		m.role, err = roleOf(pair[0])
		return m, err
	}
	var object struct {
		ID, Role, Type string
		Content        CompletionContent
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return m, errProblem("is no message")
	}
	if object.Content.Other != "" {
		return m, errProblem("has a part of the type " + object.Content.Other + "; only text is read")
	}
	m.ID, m.text = object.ID, object.Content.Text
	m.role, err = roleOf(cmp.Or(object.Role, object.Type))
	return m, err
}

// errProblem is what is wrong with a part of a request.
type errProblem string

func (e errProblem) Error() string { return string(e) }

// roleOf is a role of LangChain in the words of the house.
func roleOf(name string) (string, error) {
	switch name {
	case "human", "user", "HumanMessage":
		return "user", nil
	case "ai", "assistant", "AIMessage", "AIMessageChunk":
		return "assistant", nil
	case "tool", "function", "ToolMessage", "remove":
		return "tool", nil
	case "system", "developer":
		return "", errProblem("is of the system; what the system says is the assistant's")
	}
	return "", errProblem("is of nobody that is known")
}

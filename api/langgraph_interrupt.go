package api

import (
	"bytes"
	"encoding/json"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/run"
)

// LangGraphInterrupt is a question as the protocol has it.
type LangGraphInterrupt struct {
	ID     string         `json:"id" format:"uuid"`
	Value  HumanInterrupt `json:"value"`
	NS     []string       `json:"ns"`
	When   string         `json:"when" enum:"during"`
	Resume bool           `json:"resumable"`
	Schema map[string]any `json:"response_schema,omitempty" doc:"of the answer"`
}

// HumanInterrupt is what Agent Inbox draws, and beside it what the question is here.
type HumanInterrupt struct {
	Action      ActionRequest        `json:"action_request"`
	Config      HumanInterruptConfig `json:"config"`
	Description string               `json:"description"`
	Interrupt
}

// ActionRequest is what is asked about: a call of a tool as drafted, or a form with
// its defaults.
type ActionRequest struct {
	Action string         `json:"action"`
	Args   map[string]any `json:"args"`
}

// HumanInterruptConfig is which answers there are.
type HumanInterruptConfig struct {
	Ignore  bool `json:"allow_ignore"`
	Respond bool `json:"allow_respond"`
	Edit    bool `json:"allow_edit"`
	Accept  bool `json:"allow_accept"`
}

// langgraphInterrupt is a question as the protocol has it.
func langgraphInterrupt(q run.Interrupt) LangGraphInterrupt {
	f := formOf(q)
	defaults, whole := f.defaults()
	choice := f.choice()
	value := HumanInterrupt{
		Interrupt: interruptView(q), Description: askedText(q, ""),
		Action: ActionRequest{Action: q.Type, Args: map[string]any{}},
		Config: HumanInterruptConfig{Ignore: true, Respond: true},
	}
	out := LangGraphInterrupt{ID: q.ID, NS: []string{}, When: "during", Resume: true}
	if len(q.AnswerSchema) > 0 {
		_ = json.Unmarshal(q.AnswerSchema, &out.Schema) // one that is no object is told in answer_schema
	}
	if tool := calledIn(q); tool != "" {
		value.Action.Action = tool
	}
	if len(f.Properties) > 0 {
		for name, v := range defaults {
			if name != choice {
				value.Action.Args[name] = v
			}
		}
		value.Config.Edit = len(f.Properties) > 1 || choice == ""
		value.Config.Accept = whole && choice != ""
		value.Config.Respond = f.only() != ""
	}
	if len(q.Options) > 0 {
		value.Action.Args["options"] = q.Options
	}
	out.Value = value
	return out
}

// calledIn is the tool before whose call a question is asked; empty: before none.
func calledIn(q run.Interrupt) string {
	var schema struct {
		Call struct {
			Tool string `json:"tool"`
		} `json:"x-call"`
	}
	_ = json.Unmarshal(q.AnswerSchema, &schema) // another shape names none
	return schema.Call.Tool
}

// answerTo is an answer and the question it is to.
type answerTo struct {
	question run.Interrupt
	answer   run.Answer
}

// resumed reads command.resume: the answer where one question is open, or answers
// by the ids of their questions. What it does not name stays open.
func resumed(open []run.Interrupt, resume json.RawMessage) (list []answerTo, err error) {
	var byID map[string]json.RawMessage
	if json.Unmarshal(resume, &byID) == nil && len(byID) > 0 {
		for _, q := range open {
			for key, raw := range byID {
				if id.Canonical(key) != q.ID {
					continue
				}
				a, err := resumedAnswer(q, raw)
				if err != nil {
					return nil, err
				}
				list = append(list, answerTo{q, a})
			}
		}
		switch {
		case len(list) == len(byID):
			return list, nil
		case len(list) > 0 || id.Valid(anyKey(byID)):
			return nil, fault.New(fault.Conflict, "An interrupt that command.resume names does not wait in this thread.").With(map[string]any{"reason": "not_pending"})
		}
	}
	if len(open) > 1 {
		ids := make([]string, 0, len(open))
		for _, q := range open {
			ids = append(ids, q.ID)
		}
		return nil, fault.New(fault.Invalid, "%d interrupts wait in this thread. Give command.resume as an object with an answer for the id of each.", len(open)).
			With(map[string]any{"reason": "ambiguous_resume", "interrupts": ids})
	}
	a, err := resumedAnswer(open[0], resume)
	return []answerTo{{open[0], a}}, err
}

func anyKey(m map[string]json.RawMessage) string {
	for key := range m {
		return key
	}
	return ""
}

// humanResponse is how Agent Inbox answers.
type humanResponse struct {
	Type string          `json:"type"`
	Args json.RawMessage `json:"args"`
}

// resumedAnswer reads the answer to one question: null skips it, and else it is as
// Agent Inbox says it, or as it is said here: an option, a text, or the form filled
// in.
func resumedAnswer(q run.Interrupt, raw json.RawMessage) (run.Answer, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return run.Answer{Cancel: true}, nil
	}
	var list []humanResponse
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 && list[0].known() {
		return list[0].answer(q)
	}
	var one humanResponse
	if json.Unmarshal(raw, &one) == nil && one.known() {
		return one.answer(q)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return saidTo(q, text)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return run.Answer{}, fault.New(fault.Invalid, "command.resume is no answer: %s.", err)
	}
	return run.Answer{Value: v}, nil
}

// saidTo reads a text as an answer.
func saidTo(q run.Interrupt, text string) (run.Answer, error) {
	if a, ok := answerIn(q, text); ok {
		return a, nil
	}
	return run.Answer{}, fault.New(fault.Invalid, "%q does not answer this: %s", text, askedText(q, "")).With(map[string]any{"interrupt_id": q.ID})
}

func (h humanResponse) known() bool {
	return h.Type == "accept" || h.Type == "ignore" || h.Type == "response" || h.Type == "edit"
}

func (h humanResponse) answer(q run.Interrupt) (run.Answer, error) {
	f := formOf(q)
	defaults, _ := f.defaults()
	choice := f.choice()
	switch h.Type {
	case "ignore":
		if choice == "" {
			return run.Answer{Cancel: true}, nil
		}
		return run.Answer{Value: map[string]any{choice: f.other(choice)}}, nil
	case "accept":
		if len(defaults) > 0 {
			return run.Answer{Value: defaults}, nil
		}
		return saidTo(q, "yes")
	case "edit":
		var edited struct{ Args map[string]any }
		if err := json.Unmarshal(h.Args, &edited); err != nil || edited.Args == nil {
			return run.Answer{}, fault.New(fault.Invalid, "An answer of the type edit has args {action, args}.")
		}
		delete(edited.Args, "options")
		for name, value := range edited.Args {
			defaults[name] = value
		}
		return run.Answer{Value: defaults}, nil
	}
	var text string
	if err := json.Unmarshal(h.Args, &text); err != nil || strings.TrimSpace(text) == "" {
		return run.Answer{}, fault.New(fault.Invalid, "An answer of the type response has a text as args.")
	}
	return saidTo(q, text)
}

package graph

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// askTypes are the kinds of question a client knows (INT-02).
var askTypes = []string{"doc_choice", "text_input", "action_choice", "retrieval_low"}

// enterInterrupt puts the question of an interrupt node.
func (r *Run) enterInterrupt(t *thread, n *node) {
	ask := Ask{Type: n.talk.kind, AnswerSchema: answerSchema(n.talk.schema, r.language())}
	message, f := n.talk.message.resolve(r.scope(t))
	if f != nil {
		r.refuse(t, f)
		return
	}
	if ask.Message, f = boundedText(inLanguage(message, r.language())); f != nil {
		r.refuse(t, f)
		return
	}
	raw, f := n.talk.options.resolve(r.scope(t))
	if f == nil {
		ask.Options, f = options(raw, r.language())
	}
	if f != nil {
		r.refuse(t, f)
		return
	}
	t.Slots = []*slot{{ID: t.id(), Trace: -1}}
	r.ask(t, 0, t.id(), asking, ask)
}

// options reads a list of {id, label}; a plain string is both. A label may be
// given by language.
func options(v any, language string) ([]Option, *Failure) {
	if v == nil {
		return nil, nil
	}
	l, ok := v.([]any)
	if !ok {
		return nil, failuref(CodeValidation, "the options of a question are no list")
	}
	out := make([]Option, 0, len(l))
	for i, e := range l {
		switch x := e.(type) {
		case string:
			out = append(out, Option{ID: x, Label: x})
			continue
		case map[string]any:
			id, _ := x["id"].(string)
			label, _ := inLanguage(x["label"], language).(string)
			if id != "" && label == "" {
				label = id
			}
			if id != "" {
				out = append(out, Option{ID: id, Label: label})
				continue
			}
		}
		return nil, failuref(CodeValidation, "option %d of a question has no id; options are a list of {id, label}", i)
	}
	return out, nil
}

// question is a tool's result that asks a person (GRAPH-27): the call waits
// with what it wants back and is made again with the answer.
func (r *Run) question(t *thread, place int, raw map[string]any) {
	s := t.Slots[place]
	ask, f := toolAsk(raw, r.language())
	if f == nil && s.Asked >= maxQuestions {
		f = failuref(CodeLimit, "tool %s asked %d questions without an answer of its own, which is the limit", s.Tool, maxQuestions)
	}
	if f != nil {
		r.failTrace(s.Trace, ResultFailed, f)
		s.Trace, s.Phase, s.Failure = -1, settled, f
		r.settled(t, place)
		return
	}
	r.closeTrace(s.Trace, ResultAsked, ask.Message)
	s.Trace = -1
	s.Asked++
	s.State = raw["state"]
	r.ask(t, place, s.ID+".a"+strconv.Itoa(s.Asked), asking, ask)
}

func toolAsk(raw map[string]any, language string) (Ask, *Failure) {
	var ask Ask
	ask.Type, _ = raw["interrupt_type"].(string)
	ask.Message, _ = inLanguage(raw["message"], language).(string)
	if !slices.Contains(askTypes, ask.Type) {
		return ask, failuref(CodeValidation, "a tool asked with interrupt_type %q; it is one of doc_choice, text_input, action_choice, retrieval_low", ask.Type)
	}
	var f *Failure
	if ask.Type != "text_input" {
		ask.Options, f = options(raw["options"], language)
	}
	if schema, ok := raw["answer_schema"].(map[string]any); ok && f == nil {
		ask.AnswerSchema, _ = json.Marshal(SchemaIn(schema, language))
	}
	return ask, f
}

// ask makes a question outstanding, behind any other one: a person is asked
// one thing at a time (INT-03).
func (r *Run) ask(t *thread, place int, id string, p phase, ask Ask) {
	n, s := r.graph.node(t.Node), t.Slots[place]
	s.Phase = p
	s.Trace = r.openTrace(t, id, 0)
	r.emit(t, place, Effect{ID: id, Kind: KindAsk, Ask: &ask})
	o := r.state.Open[len(r.state.Open)-1]
	o.Held = true
	if n.kind == Interrupt {
		o.Within = n.timeout
	}
	r.out = r.out[:len(r.out)-1]
}

// asking is the question that is put, if any.
func (r *Run) asking() *open {
	for _, o := range r.state.Open {
		if o.Effect.Kind == KindAsk && !o.Held {
			return o
		}
	}
	return nil
}

// putQuestion puts the next question behind none other, and says whether the
// run can go on: after a cancel every question is answered null at once.
func (r *Run) putQuestion() bool {
	if o := r.asking(); o != nil && r.state.Cancelled {
		r.answerNull(o)
		return true
	} else if o != nil {
		return false
	}
	i := slices.IndexFunc(r.state.Open, func(o *open) bool { return o.Held })
	if i < 0 {
		return false
	}
	o := r.state.Open[i]
	if r.state.Cancelled {
		r.answerNull(o)
		return true
	}
	o.Held = false
	if o.Within > 0 {
		o.Effect.Ask.Expires = r.state.Clock.Add(o.Within)
	}
	r.out = append(r.out, o.Effect.ID)
	return false
}

func (r *Run) answerNull(o *open) {
	r.drop(func(x *open) bool { return x == o })
	r.answered(r.thread(o.Thread), o.Slot, map[string]any{"cancelled": true})
}

// answered takes a person's answer to where the question came from.
func (r *Run) answered(t *thread, place int, out map[string]any) {
	n, s := r.graph.node(t.Node), t.Slots[place]
	answer, result := out["answer"], ResultOK
	if out["expired"] == true {
		answer, result = nil, ResultExpired
	}
	if out["cancelled"] == true {
		answer, result = nil, ResultCancelled
		r.state.Cancelled, r.state.Suppressed = true, true
	}
	r.closeTrace(s.Trace, result, "")
	s.Trace = -1
	switch {
	case s.Caller:
		r.calledBack(t, place, answer, result)
	case s.Phase == confirming:
		r.confirmed(t, place, answer, result)
	case n.kind == Interrupt:
		r.answeredNode(t, n, answer)
	default:
		s.Resume = map[string]any{"answer": answer, "state": s.State}
		s.State = nil
		s.CallID = s.ID + ".r" + strconv.Itoa(s.Asked)
		s.Attempt = 0
		r.launch(t, place)
	}
}

// answeredNode goes on from an interrupt node; null takes on_cancel if there
// is one (INT-09).
func (r *Run) answeredNode(t *thread, n *node, answer any) {
	t.Vars[n.talk.saveAs] = answer
	if answer == nil && n.talk.onCancel != "" {
		r.move(t, n.talk.onCancel)
		return
	}
	r.goOn(t)
}

// within turns a document's milliseconds into time.
func within(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

package openai

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"liminal/internal/model"
	"liminal/internal/words"
)

// answer is an answer as far as it has come.
type answer struct {
	q        *question
	thinking *thinking
	citer    *model.Citer    // nil: nothing is to be cited
	document strings.Builder // of an answer under a schema, which is told whole
	all      strings.Builder // of everything that was said, to estimate tokens by
	calls    calls
	usage    *usage
	refused  bool
	begun    bool   // there is an answer at all
	finished bool   // the server has said why it ends
	reason   string // what it said
	done     bool   // the protocol's own end came
}

func newAnswer(q *question) *answer {
	a := &answer{q: q}
	if !q.dialect.own {
		a.thinking = &thinking{}
	}
	if q.cites() {
		a.citer = model.NewCiter(q.passages)
	}
	return a
}

// add takes a chunk in and gives the events it makes.
func (a *answer) add(c chunk) ([]model.Event, error) {
	a.done = a.done || c.done
	if c.Usage != nil && c.Usage.Prompt+c.Usage.Completion > 0 {
		a.usage = c.Usage // some send a running count: the last is right
	}
	var out []model.Event
	for _, one := range c.Choices {
		if one.Index != 0 {
			continue
		}
		a.begun = true
		for _, d := range []*delta{one.Delta, one.Message} {
			if d == nil {
				continue
			}
			events, err := a.delta(d)
			out = append(out, events...)
			if err != nil {
				return out, err
			}
		}
		if one.FinishReason != "" {
			a.finished, a.reason = true, strings.ToLower(one.FinishReason)
		}
	}
	return out, nil
}

func (a *answer) delta(d *delta) ([]model.Event, error) {
	text, thought := said(d.Content)
	reasoning, _ := said(d.ReasoningContent)
	if reasoning == "" {
		reasoning, _ = said(d.Reasoning) // some send both, with the same words
	}
	out := a.think(reasoning + thought)
	out = append(out, a.text(text)...)
	if refusal, _ := said(d.Refusal); refusal != "" {
		a.refused = true
		out = append(out, a.text(refusal)...)
	}
	pieces := d.ToolCalls
	if d.FunctionCall != nil {
		pieces = append(pieces, piece{Function: d.FunctionCall})
	}
	for _, p := range pieces {
		if p.Function != nil {
			a.all.WriteString(p.Function.Name)
			a.all.Write(p.Function.Arguments)
		}
	}
	return out, a.calls.add(pieces)
}

func (a *answer) think(thought string) []model.Event {
	if thought == "" {
		return nil
	}
	a.all.WriteString(thought)
	return []model.Event{{Type: model.ThinkingDelta, Text: thought}}
}

// text is words of the answer, after thoughts were taken out of them.
func (a *answer) text(text string) []model.Event {
	if text == "" {
		return nil
	}
	if a.thinking == nil {
		return a.words(text)
	}
	text, thought := a.thinking.add(text)
	return append(a.think(thought), a.words(text)...)
}

func (a *answer) words(text string) []model.Event {
	a.all.WriteString(text)
	switch {
	case text == "":
		return nil
	case a.q.req.Schema != nil:
		a.document.WriteString(text)
		return nil
	case a.citer != nil:
		return a.citer.Add(text)
	}
	return []model.Event{{Type: model.TextDelta, Text: text}}
}

// end gives the events an answer ends with: what was held back, the tool
// calls, the usage and the stop. It fails for an answer that did not come to
// its end.
func (a *answer) end() ([]model.Event, error) {
	if !a.finished && !a.done {
		return nil, errors.New("the stream ended without an end of the answer")
	}
	if !a.begun {
		return nil, errors.New("there is no answer in it")
	}
	stop, err := a.stop()
	if err != nil {
		return nil, err
	}
	out := a.rest()
	called, err := a.calls.events(a.q.names, stop == model.MaxTokens)
	if err != nil {
		return nil, err
	}
	if stop == model.EndTurn && len(called) > 0 {
		stop = model.ToolCalls
	}
	if stop == model.Refusal {
		called = nil
	}
	out = append(out, called...)
	return append(out,
		model.Event{Type: model.UsageReport, Usage: a.used()},
		model.Event{Type: model.Stop, Reason: stop}), nil
}

// rest is the text that was held back.
func (a *answer) rest() []model.Event {
	var out []model.Event
	if a.thinking != nil {
		text, thought := a.thinking.end()
		out = append(a.think(thought), a.words(text)...)
	}
	if a.citer != nil {
		out = append(out, a.citer.End()...)
	}
	if a.document.Len() > 0 {
		out = append(out, model.Event{Type: model.TextDelta, Text: document(a.document.String())})
	}
	return out
}

// The words servers have for an end that is not simply one.
var (
	cutEnds     = []string{"length", "max_tokens", "max_output_tokens", "model_length", "max_length"}
	refusedEnds = []string{"content_filter", "safety", "refusal", "prohibited_content", "recitation"}
	failedEnds  = []string{"error", "abort", "aborted", "cancelled", "unload", "insufficient_system_resource", "malformed_function_call"}
)

// stop reads why the answer ended. That it ended for tools is seen by the
// tools: several servers call that "stop".
func (a *answer) stop() (model.StopReason, error) {
	switch {
	case slices.Contains(failedEnds, a.reason):
		return "", fmt.Errorf("the answer ended with %q", a.reason)
	case a.refused || slices.Contains(refusedEnds, a.reason):
		return model.Refusal, nil
	case slices.Contains(cutEnds, a.reason):
		return model.MaxTokens, nil
	}
	return model.EndTurn, nil
}

// used is the usage as the server counts it, or, from one that does not, as
// words does.
func (a *answer) used() model.Usage {
	u := a.usage
	if u == nil {
		return model.Usage{Input: a.q.tokens(), Output: max(1, words.Tokens(a.all.String())), Estimated: true}
	}
	cached := min(max(u.Details.Cached, u.Hit, 0), u.Prompt)
	return model.Usage{Input: u.Prompt - cached, Output: u.Completion, CacheRead: cached}
}

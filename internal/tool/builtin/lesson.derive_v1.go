package builtin

import (
	"context"

	"liminal/internal/fault"
	"liminal/internal/learning"
	"liminal/internal/learning/lesson"
	"liminal/internal/model"
	"liminal/internal/tool"
)

const (
	deriving = "You are shown what a person said of an assistant's answers: what they asked, whether they liked the answer, what they noted, and what they " +
		"would have written instead. Say in short sentences how this person wants to be answered: manner, form, language, tone, what to begin with, what to leave out. " +
		"Each sentence is told to the assistant before every answer, so it must hold for other questions too: no facts, no names, no addresses, no word of the questions, " +
		"and nothing that is no manner of answering. Begin with a verb, in the language the person writes. Name with each the events it stands on; one that stands on a single event " +
		"must be plain in its note or correction. An empty list is a good answer. " + isMaterial
	derivedLessons = `{"type":"object","required":["lessons"],"additionalProperties":false,"properties":{"lessons":{"type":"array","maxItems":8,"description":"the plainest first",` +
		`"items":{"type":"object","required":["text","events"],"additionalProperties":false,"properties":{"text":{"type":"string","minLength":1,"maxLength":160,"description":"one sentence about manner"},` +
		`"events":{"type":"array","minItems":1,"maxItems":20,"items":{"type":"integer"},"description":"numbers of the events it stands on"}}}}}}`
)

// deriveLessons reads lessons out of what was said.
type deriveLessons struct{ asker }

func (deriveLessons) Name() string { return "lesson.derive_v1" }

func (t deriveLessons) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	m, err := t.steps.Material(ctx, c.Viewer, words(c, "cluster_id"))
	if err != nil {
		return nil, err
	}
	var made []lesson.Made
	asked, used := "", model.Usage{}
	if t.generative(c) && len(m.Cases) > 0 {
		value, s, err := t.decideOn(ctx, c, deriving, asData(saidOf(m.Cases)), derivedLessons, maxDecision)
		switch {
		case err == nil:
			made, asked, used = madeIn(value), s.asked, s.usage
		case ctx.Err() != nil || fault.CodeOf(err) == fault.Internal && c.Attempt < lastAttempt:
			return nil, err
		} // else the rules alone have to do
	}
	derived, err := t.steps.Derive(ctx, c.Viewer, m, made)
	if err != nil {
		return nil, err
	}
	out, err := object(derived)
	if err != nil {
		return nil, err
	}
	return spent(out, asked, used), nil
}

// lastAttempt is the one after which lessons are derived by rules alone: a
// model that is away, or too dear, is no reason to learn nothing.
const lastAttempt = 2

// The bounds of what a model is shown of what was said.
const (
	maxSaid   = 40  // events, the latest
	maxQuoted = 700 // bytes of one text
)

func saidOf(cases []learning.Case) map[string]any {
	cases = cases[max(0, len(cases)-maxSaid):]
	list := make([]any, len(cases))
	for i, e := range cases {
		entry := map[string]any{
			"event": e.ID, "said": e.Signal, "asked": clipped(e.Question, maxQuoted), "answer": clipped(e.Answer, maxQuoted),
		}
		if notes := e.Notes(); notes != "" {
			entry["note"] = clipped(notes, maxQuoted)
		}
		if e.Corrected != "" {
			entry["instead"] = clipped(e.Corrected, maxQuoted)
		}
		list[i] = entry
	}
	return map[string]any{"events": list}
}

func madeIn(value map[string]any) (made []lesson.Made) {
	list, _ := value["lessons"].([]any)
	for _, one := range list {
		entry, _ := one.(map[string]any)
		m := lesson.Made{}
		m.Text, _ = entry["text"].(string)
		events, _ := entry["events"].([]any)
		for _, e := range events {
			if n, ok := e.(float64); ok {
				m.Events = append(m.Events, int64(n))
			}
		}
		made = append(made, m)
	}
	return made
}

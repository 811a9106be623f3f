package builtin

import (
	"context"

	"liminal/internal/learning"
	"liminal/internal/learning/lesson"
	"liminal/internal/model"
	"liminal/internal/tool"
)

const (
	// maxTried is how long an answer is that is written to try lessons, in tokens.
	maxTried  = 700
	comparing = "You compare two answers to the same question, for a person of whom you are shown what they said of an earlier answer to it. " +
		"Say which of the two this person would like better. Length and form count as much as they told. " + isMaterial
	compared = `{"type":"object","required":["better"],"additionalProperties":false,"properties":{"better":{"enum":["first","second","same"],"description":"which answer this person would like better"}}}`
)

// answerText tries lessons on one event: with and without them.
type answerText struct{ asker }

func (answerText) Name() string { return "text.answers_v1" }

func (t answerText) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	e, err := t.steps.HeldOut(ctx, c.Viewer, int64(number(c, "event_id", 0)))
	if err != nil {
		return nil, err
	}
	told, err := t.steps.Tell(ctx, c.Viewer, ids(c, "lessons"), nil, c.Locale)
	if err != nil {
		return nil, err
	}
	with := []model.Adapter{{ID: "lessons", Mode: model.ModePrompt, Weight: 1, Instructions: told.Instructions, Directives: told.Directives}}
	pair := lesson.Compared{Case: e}
	var used model.Usage
	asked := ""
	for _, one := range []struct {
		text     *string
		adapters []model.Adapter
	}{{&pair.Without, nil}, {&pair.With, with}} {
		s, err := t.answer(ctx, c, e.Question, one.adapters)
		if err != nil {
			return nil, err
		}
		*one.text, asked, used = s.text.String(), s.asked, used.Add(s.usage)
	}
	if t.generative(c) {
		u, err := t.compare(ctx, c, &pair)
		if err != nil {
			return nil, err
		}
		used = used.Add(u)
	}
	score, err := object(lesson.Score(pair))
	if err != nil {
		return nil, err
	}
	return spent(map[string]any{"score": score}, asked, used), nil
}

// answer asks what the person asked once more.
func (t answerText) answer(ctx context.Context, c *tool.Call, question string, adapters []model.Adapter) (*completion, error) {
	quiet := *c
	quiet.Final, quiet.Adapters = false, adapters
	return t.speak(ctx, &quiet, model.Request{
		Task: "chat", System: plainly, MaxTokens: maxTried, Messages: []model.Message{says(model.User, question)},
	})
}

// compare has the model say which answer is better, in both orders: what it
// likes for its place alone counts for nothing.
func (t answerText) compare(ctx context.Context, c *tool.Call, pair *lesson.Compared) (used model.Usage, err error) {
	sum, said := 0.0, 0
	for _, with := range []string{"first", "second"} {
		data := saidBefore(pair.Case)
		data["first"], data["second"] = clipped(pair.Without, maxCompared), clipped(pair.Without, maxCompared)
		data[with] = clipped(pair.With, maxCompared)
		value, s, err := t.decideOn(ctx, c, comparing, asData(data), compared, maxDecision)
		if err != nil {
			return used, err
		}
		used = used.Add(s.usage)
		better, ok := value["better"].(string)
		if !ok {
			continue
		}
		said++
		switch better {
		case with:
			sum++
		case "same":
		default:
			sum--
		}
	}
	if pair.Judged = said == 2; pair.Judged {
		pair.Preference = sum / 2
	}
	return used, nil
}

// maxCompared bounds one answer that is compared, in bytes.
const maxCompared = 4000

// saidBefore is what a person said of the answer an event is about.
func saidBefore(e learning.Case) map[string]any {
	data := map[string]any{"question": clipped(e.Question, maxQuoted), "earlier_answer": clipped(e.Answer, maxCompared), "said_of_it": e.Signal}
	if notes := e.Notes(); notes != "" {
		data["note"] = notes
	}
	if e.Corrected != "" {
		data["wanted_instead"] = clipped(e.Corrected, maxCompared)
	}
	return data
}

package builtin_test

import (
	"context"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// breaksOff sends the events and then fails, before it tells what it used.
func breaksOff(err error, events ...model.Event) *script {
	return &script{play: func(_ context.Context, yield func(model.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(model.Event{}, err)
		}
	}}
}

// What a provider has said is to be paid, whether or not anybody sees it: of
// an answer that broke off, that is not shown, or that was only thought.
//
// Requirements: OBS-09
func TestWhatWasSaidIsCountedThoughItIsNoAnswer(t *testing.T) {
	t.Parallel()
	lost := fault.New(fault.Internal, "The answer broke off.")
	half := strings.Repeat("All of these words are paid for. ", 20)
	for name, c := range map[string]struct {
		model model.Model
		parts builtin.Parts
	}{
		"the connection was lost":  {model: breaksOff(lost, text(half))},
		"lost while it thought":    {model: breaksOff(lost, model.Event{Type: model.ThinkingDelta, Text: half})},
		"the answer is not shown":  {model: breaksOff(nil, letters(recipe+half+half+half)...), parts: builtin.Parts{Safety: judge(t)}},
		"stopped while it thought": {model: breaksOff(context.Canceled, model.Event{Type: model.ThinkingDelta, Text: half})},
	} {
		c.parts.Model = c.model
		var spent []model.Usage
		_, _ = run(t, c.parts, "llm.generic_chat_v1", &tool.Call{ // whether it fails is not the question
			Inputs: inputs("message", "x"), Spent: func(_ string, u model.Usage) { spent = append(spent, u) },
		})
		if len(spent) != 1 || spent[0].Input == 0 || spent[0].Output < len(recipe)/8 {
			t.Errorf("%s: %+v", name, spent)
		}
	}
}

// priced is a model whose prices are known.
type priced struct{ *script }

func (priced) Cost(_ string, u model.Usage) *float64 {
	usd := float64(u.Tokens())
	return &usd
}

// A budget in dollars holds for who stops every answer as well.
//
// Requirements: OBS-09
func TestAnAnswerThatBrokeOffHasItsPrice(t *testing.T) {
	t.Parallel()
	var spent model.Usage
	_, _ = run(t, builtin.Parts{Model: priced{breaksOff(context.Canceled, text("A few words."))}}, "llm.generic_chat_v1", &tool.Call{
		Inputs: inputs("message", "x"), Spent: func(_ string, u model.Usage) { spent = u },
	})
	if spent.CostUSD == nil || *spent.CostUSD != float64(spent.Tokens()) || spent.Tokens() == 0 {
		t.Errorf("%+v", spent)
	}
}

package builtin

import (
	"context"
	"time"

	"liminal/internal/grounding"
	"liminal/internal/model"
	"liminal/internal/tool"
)

// Bounds of a second look at a paragraph. It holds the paragraph back, so it is
// short; without an answer in time the rules judge alone.
const (
	checkWithin      = 20 * time.Second
	checkTokens      = 200 // of its answer, and for each sentence
	checkPerSentence = 120
	roleCheck        = "check"
)

// checker asks the model of the role check about a paragraph, in a request of its
// own: what the person is told is not part of it. What it costs is the person's,
// and is added to spent.
func (v completer) checker(ctx context.Context, c *tool.Call, spent *model.Usage) grounding.Checker {
	v.gate, v.safety = nil, nil // nobody is shown what it says
	aside := *c
	aside.Final, aside.Adapters = false, nil // it judges by no taste of a person's
	aside.Inputs = map[string]any{"role": roleCheck}
	return func(a grounding.Asking) (string, bool) {
		ctx, cancel := context.WithTimeout(ctx, checkWithin)
		defer cancel()
		s, err := v.speak(ctx, &aside, model.Request{
			Task: roleCheck, System: grounding.Instruction(), MaxTokens: checkTokens + checkPerSentence*a.Sentences,
			Messages: model.ByTurns(a.Turns()...),
		})
		if s != nil {
			*spent = spent.Add(s.usage)
		}
		if err != nil || s.partial {
			return "", false
		}
		return s.text.String(), true
	}
}

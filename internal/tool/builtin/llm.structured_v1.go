package builtin

import (
	"context"
	"encoding/json"

	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/tool"
	"liminal/schemas"
)

// maxDecision is how long a structured answer may be, in tokens, where the
// call does not say.
const maxDecision = 800

// decide asks a model for an answer under a JSON Schema (LORA-27).
type decide struct{ completer }

func (decide) Name() string { return "llm.structured_v1" }

func (t decide) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	schema, err := json.Marshal(c.Inputs["schema"])
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The schema of %s cannot be read.", t.Name())
	}
	if _, err := schemas.Compile(schema); err != nil && schemas.Refused(err) {
		return nil, fault.Wrap(fault.Invalid, err, "The schema of %s cannot be used: %s.", t.Name(), schemas.Reason(err))
	}
	message, err := decision(c)
	if err != nil {
		return nil, err
	}
	earlier, err := t.recall(ctx, c, number(c, "history", 0))
	if err != nil {
		return nil, err
	}
	quiet := *c
	quiet.Final = false // its text is never an answer
	s, err := t.speak(ctx, &quiet, model.Request{
		Model: words(c, "model"), Task: words(c, "role"), System: words(c, "system"), Schema: schema,
		MaxTokens: number(c, "max_tokens", maxDecision), Messages: append(earlier.messages, says(model.User, message)),
	})
	if err != nil {
		return nil, err
	}
	defaults, _ := c.Inputs["defaults"].(map[string]any)
	value, valid := structured(ctx, s.text.String(), schema, defaults)
	if valid && t.hides(ctx, c, s.text.String(), value) {
		value, valid = structured(ctx, "", schema, defaults)
	}
	return map[string]any{"value": value, "valid": valid, "model": s.asked, "usage": usage(s.usage)}, nil
}

// decision is the message with what the model is to know besides.
func decision(c *tool.Call) (string, error) {
	data, ok := c.Inputs["data"].(map[string]any)
	if !ok || len(data) == 0 {
		return words(c, "message"), nil
	}
	doc, err := json.Marshal(data)
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "The data of %s cannot be told.", (decide{}).Name())
	}
	return paragraphs(model.Frame("data", string(doc)), words(c, "message")), nil
}

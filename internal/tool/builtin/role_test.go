package builtin_test

import (
	"encoding/json"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// Requirements: LORA-26
func TestAToolAsksTheModelOfItsRole(t *testing.T) {
	t.Parallel()
	choose := func(role string) model.Choice { return model.Choice{Model: "for " + role, MaxTokens: 10} }
	for name, c := range map[string]struct {
		inputs map[string]any
		want   string
	}{
		"llm.generic_chat_v1":      {inputs("message", "Hi"), "for chat"},
		"llm.intent_classifier_v1": {inputs("message", "Hi"), "for intent"},
		"llm.structured_v1":        {inputs("message", "Hi", "role", "documents", "schema", map[string]any{"type": "object"}), "for documents"},
		"llm.compose_v1":           {inputs("message", "Hi", "role", "audit", "instructions", "Check.", "technique", "quote_by_quote", "passages", []any{}), "for audit"},
		"llm.step_v1":              {inputs("message", "Hi", "transcript", []any{}, "model", "mine"), "mine"},
	} {
		m := says(text(`{"intent":"other","confidence":1}`))
		out := must(t, builtin.Parts{Model: m}, name, &tool.Call{Inputs: c.inputs, Choose: choose})
		if m.last.Model != c.want || out["model"] != c.want {
			t.Errorf("%s asks %q and says %v, want %q", name, m.last.Model, out["model"], c.want)
		}
	}
}

func TestAProviderLearnsThatAPersonIsTheSameAndNotWho(t *testing.T) {
	t.Parallel()
	told := func(id string) string {
		m := says(text("Hello."))
		must(t, builtin.Parts{Model: m}, "llm.generic_chat_v1", &tool.Call{Viewer: identity.Viewer{UserID: id}, Inputs: inputs("message", "Hi")})
		return m.last.User
	}
	first, again, other := told("ann"), told("ann"), told("bob")
	if first != again || first == other || first == "ann" || first == "" {
		t.Errorf("ann is %q and %q, bob is %q", first, again, other)
	}
}

// Thoughts are signed one by one: joined they would be refused.
func TestThoughtsComeBackAsTheModelSignedThem(t *testing.T) {
	t.Parallel()
	think := func(text, signature string) model.Event {
		return model.Event{Type: model.ThinkingDelta, Text: text, Signature: signature}
	}
	m := says(think("I ", ""), think("think.", ""), think("", "one"), think("", "redacted_thinking:x"), think("So", "two"), text("Yes."))
	first := must(t, builtin.Parts{Model: m}, "llm.step_v1", &tool.Call{Inputs: inputs("message", "Hi", "transcript", []any{})})
	var content []any
	doc, err := json.Marshal(first["content"])
	if err != nil || json.Unmarshal(doc, &content) != nil {
		t.Fatal(err, first)
	}
	must(t, builtin.Parts{Model: m}, "llm.step_v1", &tool.Call{Inputs: inputs("message", "Hi", "transcript", []any{
		map[string]any{"role": "assistant", "content": content},
	})})
	var got []string
	for _, b := range m.last.Messages[1].Content {
		got = append(got, string(b.Type)+" "+b.Text+" "+b.Signature)
	}
	want := []string{"thinking I think. one", "thinking  redacted_thinking:x", "thinking So two", "text Yes. "}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("block %d is %q, want %q", i, got[i], want[i])
		}
	}
}

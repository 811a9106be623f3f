package model_test

import (
	"errors"
	"fmt"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/model"
)

const everybodys = `{
	"default": {"tier": "small", "temperature": 0},
	"roles": {"chat": {"tier": "large", "temperature": 0.7, "max_tokens": 900}, "compare": {"tier": "large"}},
	"backends": {"anthropic": {"small": "haiku", "large": "sonnet"}, "openai": {"small": "mini", "large": "4o"}},
	"plans": {"free": {"tiers": {"large": "small"}, "max_tokens": 500, "roles": {"compare": {"max_tokens": 50}}}}
}`

const anns = `{
	"default": {"temperature": 0.1},
	"roles": {"chat": {"tier": "best", "max_tokens": 7000}, "intent": {"tier": "large"}},
	"backends": {"anthropic": {"best": "opus"}},
	"plans": {"free": {"tiers": {"small": "best"}, "max_tokens": 100000}}
}`

// Requirements: LORA-22, LORA-26
func TestTheModelOfARole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		docs                []string
		backend, plan, role string
		want                string
	}{
		{nil, "openai", "paid", "chat", "|-|0|0"},
		{[]string{everybodys}, "openai", "paid", "chat", "4o|0.7|900|0"},
		{[]string{everybodys}, "anthropic", "paid", "chat", "sonnet|0.7|900|0"},
		{[]string{everybodys}, "ollama", "paid", "chat", "|0.7|900|0"},
		{[]string{everybodys}, "openai", "paid", "intent", "mini|0|0|0"},
		{[]string{everybodys}, "openai", "free", "chat", "mini|0.7|500|500"},
		{[]string{everybodys}, "openai", "free", "compare", "mini|0|50|500"},
		{[]string{anns, everybodys}, "anthropic", "paid", "chat", "opus|0.1|7000|0"},
		{[]string{anns, everybodys}, "openai", "paid", "chat", "|0.1|7000|0"},
		{[]string{anns, everybodys}, "anthropic", "free", "chat", "opus|0.1|500|500"},
		{[]string{anns, everybodys}, "anthropic", "free", "intent", "haiku|0.1|0|500"},
		{[]string{anns, everybodys}, "openai", "free", "compare", "mini|0.1|50|500"},
		{[]string{`{}`}, "openai", "free", "chat", "|-|0|0"},
	} {
		var policies []model.Policy
		for _, doc := range c.docs {
			p, err := model.ReadPolicy([]byte(doc))
			if err != nil {
				t.Fatal(err)
			}
			policies = append(policies, p)
		}
		got, warmth := model.Choose(policies, c.backend, c.plan, c.role), "-"
		if got.Temperature != nil {
			warmth = fmt.Sprint(*got.Temperature)
		}
		if is := fmt.Sprintf("%s|%s|%d|%d", got.Model, warmth, got.MaxTokens, got.Most); is != c.want {
			t.Errorf("%d policies, %s %s %s: %s, want %s", len(c.docs), c.backend, c.plan, c.role, is, c.want)
		}
	}
	if _, err := model.ReadPolicy([]byte(`{"roles":7}`)); !errors.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

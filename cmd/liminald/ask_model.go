package main

import (
	"context"

	"liminal/internal/config"
	"liminal/internal/model/probe"
)

// askModel asks the server that a configuration says answers what it has.
func askModel(ctx context.Context, m config.Model) finding {
	s := probe.Server{
		Backend: m.Backend, URL: m.OpenAIServer(), Key: m.OpenAIKey, APIVersion: m.OpenAIVersion, Model: m.Name,
		URLSetting: "OPENAI_BASE_URL", KeySetting: "OPENAI_API_KEY", ModelSetting: "LIMINAL_MODEL", Limit: probeLimit,
	}
	if m.Backend == "anthropic" {
		s.URL, s.Key, s.URLSetting, s.KeySetting = m.AnthropicURL, m.AnthropicKey, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"
	}
	found := probe.Ask(ctx, s)
	f := finding{Check: "language model", Health: well, Says: found.Says, Hint: found.Hint, unreachable: found.Unreachable}
	switch found.Health {
	case probe.Ill:
		f.Health = ill
	case probe.Warning:
		f.Health = warning
	}
	return f
}

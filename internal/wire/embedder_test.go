package wire

import (
	"testing"

	"liminal/internal/config"
)

// Requirements: SAFE-08
func TestTheModelsKeyGoesToNoOtherServer(t *testing.T) {
	t.Parallel()
	model := config.Model{Backend: "openai", OpenAIKey: "of the model"}
	for _, c := range []struct{ url, key, want string }{
		{"", "", "of the model"},
		{"", "of the encoder", "of the encoder"},
		{"http://elsewhere/v1", "", ""},
		{"http://elsewhere/v1", "of the encoder", "of the encoder"},
	} {
		got := embedKey(config.Config{Model: model, Embed: config.Embedding{URL: c.url, Key: c.key}})
		if got != c.want {
			t.Errorf("%q with key %q is sent %q, want %q", c.url, c.key, got, c.want)
		}
	}
}

// Requirements: OPS-08, LORA-22
func TestABackendIsOpenedOrSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, backend := range config.Backends() {
		if backend == "scripted" || backend == localLoRA {
			continue // they need a script, and a folder
		}
		c := config.Model{Backend: backend, OpenAIURL: "http://127.0.0.1:9/v1", AnthropicURL: "http://127.0.0.1:9"}
		m, err := theModel(c, nil)
		if err != nil {
			t.Errorf("%s: %v", backend, err)
			continue
		}
		_, missing := m.(absent)
		if missing != (c.MissingKey() != "") {
			t.Errorf("%s without a key is %T", backend, m)
		}
	}
}

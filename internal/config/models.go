package config

import (
	"slices"
	"strings"
	"time"
)

// Backends are the values of MODEL_BACKEND. All but the first six speak the
// protocol of OpenAI; they differ in how adapters reach them (LORA-07).
func Backends() []string {
	return []string{
		"extractive", "scripted", "local_lora", "anthropic", "textfile", "process",
		"openai", "azure", "vertex", "bedrock", "sagemaker", "together", "lorax", "adapter_server", "vllm", "ollama", "llamacpp",
	}
}

// servers are the backends that ask a server which speaks OpenAI's protocol;
// OpenAI itself is the first.
func servers() []string { return Backends()[6:] }

// homes are the servers of backends that have a usual place.
var homes = map[string]string{
	"openai":   "https://api.openai.com/v1",
	"together": "https://api.together.xyz/v1",
	"ollama":   OllamaURL + "/v1",
	"vllm":     "http://127.0.0.1:8000/v1",
}

// OllamaURL is where an Ollama on this machine is.
const OllamaURL = "http://127.0.0.1:11434"

// OpenAIServer is where the backend's server is.
func (m Model) OpenAIServer() string {
	if m.OpenAIURL != "" {
		return m.OpenAIURL
	}
	return homes[m.Backend]
}

// MissingKey is the variable that must name a key before the backend can
// answer; empty when nothing is missing. The program starts without (OPS-08).
func (m Model) MissingKey() string {
	switch {
	case m.Backend == "anthropic" && m.AnthropicKey == "":
		return "ANTHROPIC_API_KEY"
	case slices.Contains([]string{"openai", "azure", "together"}, m.Backend) && m.OpenAIKey == "":
		return "OPENAI_API_KEY"
	}
	return ""
}

// models are the settings of the language model.
func models() []Variable {
	return []Variable{
		{
			Name: "MODEL_BACKEND", Default: "extractive",
			Doc: "extractive quotes documents and needs no model; local_lora runs a small one from shared/models in the data folder; textfile asks a program that reads and writes files, process one that is started for each question; anthropic, openai and compatible servers: " + strings.Join(servers()[1:], ", "),
			set: func(c *Config, s string) error { return oneOf(&c.Model.Backend, s, Backends()...) },
		},
		{
			Name: "LIMINAL_MODEL", Doc: "one model for every role; unset: those that policy.models names, or the server's own choice; of MODEL_BACKEND=local_lora: a folder of shared/models",
			set: func(c *Config, s string) error { return nonEmpty(&c.Model.Name, s) },
		},
		{
			Name: "ANTHROPIC_API_KEY", Secret: true, Doc: "key of MODEL_BACKEND=anthropic",
			set: func(c *Config, s string) error { return nonEmpty(&c.Model.AnthropicKey, s) },
		},
		{
			Name: "ANTHROPIC_BASE_URL", Default: "https://api.anthropic.com", Doc: "where Anthropic's API is",
			set: func(c *Config, s string) error { return webURL(&c.Model.AnthropicURL, s) },
		},
		{
			Name: "OPENAI_API_KEY", Secret: true, Doc: "key of the server of every other backend",
			set: func(c *Config, s string) error { return nonEmpty(&c.Model.OpenAIKey, s) },
		},
		{
			Name: "OPENAI_BASE_URL", Doc: "URL of that server, up to and with /v1; unset: the backend's usual one",
			set: func(c *Config, s string) error { return webURL(&c.Model.OpenAIURL, s) },
		},
		{
			Name: "OPENAI_API_VERSION", Default: "2024-10-21", Doc: "api-version of MODEL_BACKEND=azure",
			set: func(c *Config, s string) error { return nonEmpty(&c.Model.OpenAIVersion, s) },
		},
		{
			Name: "LIMINAL_ADAPTER_CACHE", Default: "6GB",
			Doc: "memory for adapters of MODEL_BACKEND=local_lora, as in 512MB or 6GB",
			set: func(c *Config, s string) error { return bytes(&c.Model.AdapterCache, s) },
		},
		{
			Name: "LIMINAL_MODEL_PROGRAM", Doc: "program of MODEL_BACKEND=process, which speaks stream-json; deploy/process has a script for one",
			set: func(c *Config, s string) error { return file(&c.Model.Program, s) },
		},
		{
			Name: "LIMINAL_MODEL_SCRIPT", Doc: "script of MODEL_BACKEND=scripted",
			set: func(c *Config, s string) error { return file(&c.Model.Script, s) },
		},
		{
			Name: "LIMINAL_PRICES", Doc: "JSON file of what models cost: {model: {input, output, cache_read, cache_write, cache_write_1h}} in US dollars a million tokens",
			set: func(c *Config, s string) error { return file(&c.Model.Prices, s) },
		},
		{
			Name: "LIMINAL_MODEL_SILENCE", Default: "60s",
			Doc: "how long a model may say nothing, before its first word or between two, until its answer is given up, 5s to 1h",
			set: func(c *Config, s string) error {
				return duration(&c.Model.Silence, s, 5*time.Second, time.Hour)
			},
		},
		{
			Name: "LIMINAL_ANSWER_TOKENS", Default: "32768",
			Doc: "tokens one answer has at most, 256 to 1000000; policy.models says less for each plan",
			set: func(c *Config, s string) error { return integer(&c.Model.AnswerTokens, s, 256, 1_000_000) },
		},
		{
			Name: "LIMINAL_RERANKER", Default: "auto",
			Doc: "auto compares quotes with questions by meaning if the small model for it lies in shared/models; or off",
			set: func(c *Config, s string) error { return oneOf(&c.Model.Reranker, s, "auto", "off") },
		},
		{
			Name: "LIMINAL_SAFETY", Default: "rules", Doc: "rules, model or off: who looks at what people ask and models answer",
			set: func(c *Config, s string) error { return oneOf(&c.Model.Safety, s, "rules", "model", "off") },
		},
	}
}

// encoders are the settings of vectors.
func encoders() []Variable {
	return []Variable{
		{
			Name: "LIMINAL_EMBEDDER", Default: "auto",
			Doc: "auto takes a static model from shared/models in the data folder, else hash; or hash, static, openai, ollama",
			set: func(c *Config, s string) error {
				return oneOf(&c.Embed.Encoder, s, "auto", "hash", "static", "openai", "ollama")
			},
		},
		{
			Name: "LIMINAL_EMBED_MODEL", Doc: "its model: a folder of shared/models, or a name on the server",
			set: func(c *Config, s string) error { return nonEmpty(&c.Embed.Model, s) },
		},
		{
			Name: "LIMINAL_EMBED_URL", Doc: "URL of its server; unset: OPENAI_BASE_URL, or Ollama on this machine",
			set: func(c *Config, s string) error { return webURL(&c.Embed.URL, s) },
		},
		{
			Name: "LIMINAL_EMBED_KEY", Secret: true, Doc: "key of its server; unset with LIMINAL_EMBED_URL: none, else OPENAI_API_KEY",
			set: func(c *Config, s string) error { return nonEmpty(&c.Embed.Key, s) },
		},
	}
}

// webAccess are the settings of what tools may reach.
func webAccess() []Variable {
	return []Variable{
		{
			Name: "LIMINAL_WEB_ALLOW", Doc: "hosts tools may fetch pages from, separated by commas: example.org, *.example.org, or * for every public one; unset: none",
			set: func(c *Config, s string) error { return names(&c.Web.Allow, s) },
		},
		{
			Name: "LIMINAL_WEB_DENY", Doc: "hosts they may not, whatever is allowed",
			set: func(c *Config, s string) error { return names(&c.Web.Deny, s) },
		},
		{
			Name: "TAVILY_API_KEY", Secret: true, Doc: "key of Tavily, for searching the web",
			set: func(c *Config, s string) error { return nonEmpty(&c.Web.TavilyKey, s) },
		},
		{
			Name: "BRAVE_API_KEY", Secret: true, Doc: "key of Brave Search, for searching the web",
			set: func(c *Config, s string) error { return nonEmpty(&c.Web.BraveKey, s) },
		},
		{
			Name: "SEARXNG_URL", Doc: "URL of a SearXNG server, for searching the web",
			set: func(c *Config, s string) error { return webURL(&c.Web.SearXNG, s) },
		},
	}
}

// speech are the settings of what listens and speaks.
func speech() []Variable {
	return []Variable{
		{
			Name: "LIMINAL_STT_URL", Doc: "URL of a server that makes text of recordings by OpenAI's protocol, up to and with /v1; unset: nobody does",
			set: func(c *Config, s string) error { return webURL(&c.Speech.Transcriber.URL, s) },
		},
		{
			Name: "LIMINAL_STT_KEY", Secret: true, Doc: "its key; unset: none is sent",
			set: func(c *Config, s string) error { return nonEmpty(&c.Speech.Transcriber.Key, s) },
		},
		{
			Name: "LIMINAL_STT_MODEL", Default: "whisper-1", Doc: "its model",
			set: func(c *Config, s string) error { return nonEmpty(&c.Speech.Transcriber.Model, s) },
		},
		{
			Name: "LIMINAL_TTS_URL", Doc: "URL of a server that speaks texts by OpenAI's protocol, up to and with /v1; unset: nobody does",
			set: func(c *Config, s string) error { return webURL(&c.Speech.Speaker.URL, s) },
		},
		{
			Name: "LIMINAL_TTS_KEY", Secret: true, Doc: "its key; unset: none is sent",
			set: func(c *Config, s string) error { return nonEmpty(&c.Speech.Speaker.Key, s) },
		},
		{
			Name: "LIMINAL_TTS_MODEL", Default: "tts-1", Doc: "its model",
			set: func(c *Config, s string) error { return nonEmpty(&c.Speech.Speaker.Model, s) },
		},
		{
			Name: "LIMINAL_TTS_VOICE", Default: "alloy", Doc: "its voice for people who chose none in their settings",
			set: func(c *Config, s string) error { return nonEmpty(&c.Speech.Voice, s) },
		},
	}
}

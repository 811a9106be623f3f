package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/config"
	"liminal/internal/embed/bert"
	"liminal/internal/wire"
)

// ollama is a server that has two models installed.
func ollama(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/tags" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"models":[{"name":"llama3.2:latest"},{"name":"qwen3:8b"}]}`)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// lists is a model's server that knows one key and lists one model.
func lists(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer k" && r.Header.Get("X-Api-Key") != "k" && r.Header.Get("Api-Key") != "k":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/v1/models" || r.URL.Path == "/openai/models" && r.URL.Query().Get("api-version") == "2024-10-21":
			fmt.Fprint(w, `{"data":[{"id":"large-3-20260101"},{"id":"small-3"}]}`)
		case strings.HasPrefix(r.URL.Path, "/ill/"):
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Requirements: OPS-08, LORA-22
func TestDoctorSaysWhatIsMissingBeforeAModelCanAnswer(t *testing.T) {
	t.Parallel()
	here, other, gone := ollama(t), lists(t), "http://u:hunter2@"+unused(t)+"/v1"
	for _, c := range []struct {
		name   string
		model  config.Model
		health health
		says   string
	}{
		{"a key is missing", config.Model{Backend: "anthropic"}, ill, "ANTHROPIC_API_KEY"},
		{"a key is there", config.Model{Backend: "anthropic", AnthropicKey: "k", AnthropicURL: other}, well, "anthropic at " + other + ", which answers and has 2 models"},
		{"a key is refused", config.Model{Backend: "anthropic", AnthropicKey: "x", AnthropicURL: other}, ill, "check ANTHROPIC_API_KEY"},
		{"a model that is listed", config.Model{Backend: "vllm", OpenAIURL: other + "/v1", OpenAIKey: "k", Name: "large-3"}, well, "large-3 at " + other + "/v1, which answers"},
		{"a model that is not listed", config.Model{Backend: "openai", OpenAIURL: other, OpenAIKey: "k", Name: "huge"}, warning, "huge is not among its models"},
		{"Azure's own form", config.Model{Backend: "azure", OpenAIURL: other, OpenAIKey: "k", OpenAIVersion: "2024-10-21", Name: "small-3"}, well, "has 2 models"},
		{"a server that lists nothing", config.Model{Backend: "llamacpp", OpenAIURL: other + "/elsewhere", OpenAIKey: "k", Name: "m"}, well, "does not list its models"},
		{"a server that is not well", config.Model{Backend: "vllm", OpenAIURL: other + "/ill", OpenAIKey: "k"}, warning, "HTTP status 503"},
		{"no server", config.Model{Backend: "vllm", OpenAIURL: gone, Name: "m"}, ill, "no server answers at http://u:xxxxx@"},
		{"no address", config.Model{Backend: "llamacpp", Name: "m"}, ill, "OPENAI_BASE_URL names no server"},
		{"a model that is installed", config.Model{Backend: "ollama", OpenAIURL: here, Name: "llama3.2"}, well, "llama3.2"},
		{"a model that is not", config.Model{Backend: "ollama", OpenAIURL: here, Name: "mistral"}, ill, "ollama pull mistral"},
		{"no Ollama", config.Model{Backend: "ollama", OpenAIURL: "http://127.0.0.1:9/v1", Name: "mistral"}, ill, "ollama serve"},
	} {
		f := checkModel(t.Context(), c.model)
		if f.Health != c.health || !strings.Contains(f.Says+" "+f.Hint, c.says) {
			t.Errorf("%s: %+v", c.name, f)
		}
		if strings.Contains(f.Says+f.Hint, "hunter2") || f.unreachable != (c.name == "no server" || c.name == "no Ollama") {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// Requirements: EMB-06
func TestDoctorSaysWhatMakesVectors(t *testing.T) {
	t.Parallel()
	c := config.Config{Data: t.TempDir(), Embed: config.Embedding{Encoder: "auto"}}
	if f := checkEncoder(c); f.Health != well || !strings.Contains(f.Says, "hash-v1") {
		t.Errorf("without a model: %+v", f)
	}
	c.Embed.Encoder = "static"
	if f := checkEncoder(c); f.Health != ill || !strings.Contains(f.Says, c.ModelsDir()) {
		t.Errorf("with none to find: %+v", f)
	}
	c.Embed.Encoder = "auto"
	from := os.DirFS("../../internal/embed/static/testdata/wordlevel")
	for _, name := range []string{"one", "two"} {
		if err := os.CopyFS(filepath.Join(c.ModelsDir(), name), from); err != nil {
			t.Fatal(err)
		}
	}
	if f := checkEncoder(c); !strings.Contains(f.Says, "hash-v1") {
		t.Errorf("with two, and none named: %+v", f)
	}
	c.Embed.Model = "two"
	if f := checkEncoder(c); f.Health != well || !strings.Contains(f.Says, "two") {
		t.Errorf("with the second named: %+v", f)
	}
}

// Requirements: TOOL-06, SAFE-05
func TestDoctorSaysWhatOfTheWebIsOpen(t *testing.T) {
	t.Parallel()
	if f := checkWeb(config.Web{}); f.Health != off {
		t.Errorf("nothing is open: %+v", f)
	}
	f := checkWeb(config.Web{Allow: []string{"*.example.org"}, BraveKey: "k", SearXNG: "http://s"})
	if f.Health != well || !strings.Contains(f.Says, "*.example.org") || !strings.Contains(f.Says, "Brave") || strings.Contains(f.Says, "SearXNG") {
		t.Errorf("got %+v", f)
	}
}

// Requirements: RAG-12
func TestTheDoctorSaysWhatFindsQuotesByMeaning(t *testing.T) {
	t.Parallel()
	c := config.Config{Data: t.TempDir(), Model: config.Model{Reranker: "auto"}}
	path, _ := wire.RerankerFile(c)
	if !bert.Quick() { // the model would not help, so none is advised
		if f := checkReranker(c); f.Health != off || f.Hint != "" {
			t.Errorf("without AVX2: %+v", f)
		}
		return
	}
	if f := checkReranker(c); f.Health != off || !strings.Contains(f.Hint, path) || !strings.Contains(f.Hint, "scripts/reranker.sh") {
		t.Errorf("without the model: %+v", f)
	}
	if err := os.MkdirAll(c.ModelsDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("cut short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := checkReranker(c); f.Health != ill || !strings.Contains(f.Says, "another file") {
		t.Errorf("with a broken one: %+v", f)
	}
	c.Model.Reranker = "off"
	if f := checkReranker(c); f.Health != off || !strings.Contains(f.Says, "LIMINAL_RERANKER=off") {
		t.Errorf("switched off: %+v", f)
	}
}

func TestTheDoctorSaysWhoListensAndSpeaks(t *testing.T) {
	t.Parallel()
	if f := checkSpeech(config.Speech{Voice: "alloy"}); f.Health != off {
		t.Errorf("%+v", f)
	}
	f := checkSpeech(config.Speech{Speaker: config.SpeechServer{URL: "http://s/v1", Key: "secret"}})
	if f.Health != well || !strings.Contains(f.Says, "http://s/v1") || strings.Contains(f.Says, "secret") || strings.Contains(f.Says, "recordings") {
		t.Errorf("%+v", f)
	}
}

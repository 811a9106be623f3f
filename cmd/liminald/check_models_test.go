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

// Requirements: OPS-08, LORA-22
func TestDoctorSaysWhatIsMissingBeforeAModelCanAnswer(t *testing.T) {
	t.Parallel()
	here := ollama(t)
	for _, c := range []struct {
		name   string
		model  config.Model
		health health
		says   string
	}{
		{"a key is missing", config.Model{Backend: "anthropic"}, ill, "ANTHROPIC_API_KEY"},
		{"a key is there", config.Model{Backend: "anthropic", AnthropicKey: "k", AnthropicURL: "https://api.anthropic.com"}, well, "api.anthropic.com"},
		{"a model that is installed", config.Model{Backend: "ollama", OpenAIURL: here, Name: "llama3.2"}, well, "llama3.2"},
		{"a model that is not", config.Model{Backend: "ollama", OpenAIURL: here, Name: "mistral"}, ill, "ollama pull mistral"},
		{"no Ollama", config.Model{Backend: "ollama", OpenAIURL: "http://127.0.0.1:9/v1", Name: "mistral"}, ill, "ollama serve"},
	} {
		f := checkModel(t.Context(), c.model)
		if f.Health != c.health || !strings.Contains(f.Says+" "+f.Hint, c.says) {
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

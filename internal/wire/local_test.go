package wire

import (
	"errors"
	"io"
	"liminal/internal/telemetry"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/internal/config"
	"liminal/internal/fault"
	"liminal/internal/lora/llm"
	"liminal/internal/model"
	"liminal/internal/tensors"
	"liminal/internal/tokens"
)

// languageModel makes a model of that name in the data folder.
func languageModel(t *testing.T, c config.Config, name string) string {
	t.Helper()
	dir := filepath.Join(c.ModelsDir(), name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	shape := llm.NewConfig(1, 32, 2, 1, 48, 260, 128)
	raw, err := tokens.Learn(slices.Values([]string{"a lake"}), 258, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(shape.WriteConfig(dir), os.WriteFile(filepath.Join(dir, "tokenizer.json"), raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := tensors.Write(filepath.Join(dir, "model.safetensors"), llm.New(shape, 1).Tensors(), nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Requirements: LORA-22, DATA-16 (models in shared/models)
func TestTheModelOfThisProcessIsTheOneThatIsNamedOrTheOnlyOne(t *testing.T) {
	t.Parallel()
	c := config.Config{Data: t.TempDir(), Model: config.Model{Backend: localLoRA, AdapterCache: 1 << 20}, Embed: config.Embedding{Encoder: "auto"}}
	p, o := &Platform{}, Options{Config: c, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	m, err := p.modelOf(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range m.Stream(t.Context(), model.Request{}) {
		if fault.Reason(err) != fault.NotConfigured || !strings.Contains(err.Error(), "liminald models make") || !strings.Contains(err.Error(), c.ModelsDir()) {
			t.Errorf("without a model it says %v", err)
		}
	}
	languageModel(t, c, "little")
	if m, err = p.modelOf(o); err != nil || m.Name() != "little" {
		t.Errorf("the only model is %v, %v", m, err)
	}
	// It stands where encoders of vectors stand, and is not taken for one.
	if e, err := Encoder(c); err != nil || !strings.HasPrefix(e.Version(), "hash-") {
		t.Errorf("vectors are made with %v, %v", e, err)
	}
	// A model that only compares texts is neither.
	ranks := filepath.Join(c.ModelsDir(), "ranks")
	if err := os.CopyFS(ranks, os.DirFS(filepath.Join(c.ModelsDir(), "little"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ranks, "config.json"), []byte(`{"model_type":"bert","architectures":["BertForSequenceClassification"],"num_hidden_layers":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err = p.modelOf(o); err != nil || m.Name() != "little" {
		t.Errorf("beside a model that compares texts the only model is %v, %v", m, err)
	}
	if e, err := Encoder(c); err != nil || !strings.HasPrefix(e.Version(), "hash-") {
		t.Errorf("beside it vectors are made with %v, %v", e, err)
	}
	languageModel(t, c, "other")
	if _, err = p.modelOf(o); err == nil || !strings.Contains(err.Error(), "little, other") {
		t.Errorf("of two, none of them named: %v", err)
	}
	o.Config.Model.Name = "other"
	if m, err = p.modelOf(o); err != nil || m.Name() != "other" {
		t.Errorf("the one that is named is %v, %v", m, err)
	}
	for _, name := range []string{"none", "../other", ".."} {
		o.Config.Model.Name = name
		if _, err := p.modelOf(o); err == nil || !strings.Contains(err.Error(), "LIMINAL_MODEL="+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.Config.Model.Name = "other"
	if err := os.WriteFile(filepath.Join(c.ModelsDir(), "other", "tokenizer.json"), []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.modelOf(o); fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), "tokenizer.json") {
		t.Errorf("of a broken one: %v", err)
	}
}

// What the model of this process does is told at /metrics.
func TestTheModelOfThisProcessTellsItsFigures(t *testing.T) {
	t.Parallel()
	c := config.Config{Data: t.TempDir(), Model: config.Model{Backend: localLoRA, AdapterCache: 1 << 20}, Embed: config.Embedding{Encoder: "auto"}}
	languageModel(t, c, "little")
	p := &Platform{observability: observability{metrics: telemetry.NewMetrics("v")}}
	m, err := p.modelOf(Options{Config: c, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	hello := model.Request{Task: "chat", MaxTokens: 3, Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: "a lake"}}}}}
	for _, err := range m.Stream(t.Context(), hello) {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := httptest.NewRecorder()
	p.metrics.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, line := range []string{"liminal_local_model_requests_total 1\n", `liminal_local_model_rows{state="most"} 8`, "liminal_local_model_adapters 0\n"} {
		if !strings.Contains(w.Body.String(), line) {
			t.Errorf("no line %s", line)
		}
	}
	if strings.Contains(w.Body.String(), `liminal_local_model_tokens_total{class="read"} 0`) {
		t.Error("it read nothing")
	}
}

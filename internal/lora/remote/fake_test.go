package remote_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
)

var shape = llm.NewConfig(2, 32, 4, 2, 48, 64, 32)

// prompt is what every server here is asked, whatever it is told.
var prompt = []int{3, 1, 4, 1, 5}

// saying is what a model says: the first of its logits.
func saying(m *llm.Model, adapters ...llm.Gated) string {
	r := m.NewRunner()
	x := r.Forward(llm.Step{Sequence: m.NewSequence(len(prompt), adapters...), Tokens: prompt})
	return fmt.Sprintf("%.3f %.3f %.3f %.3f", x[0], x[1], x[2], x[3])
}

// fake is a server that reads adapters as vLLM does, by its HTTP protocol
// (entrypoints/openai/models/serving.py, plugins/lora_resolvers and the checks of
// lora/peft_helper.py), or as LoRAX. It answers with what the model and the
// adapter it was asked for compute.
type fake struct {
	t     *testing.T
	model *llm.Model
	// root is the model as it was started with, served the name it goes by.
	root, served string
	runtime      bool   // it takes adapters while it runs
	resolver     string // the folder it looks for names in; empty: none
	rank         int
	lorax        bool
	broken       int // status of the next question; 0: it answers

	mu     sync.Mutex
	loaded map[string]*llm.Adapter
	paths  map[string]string
	asked  []map[string]any // of chats
	told   []string         // load and unload, in their order
}

func (f *fake) start(t *testing.T) string {
	t.Helper()
	f.t = t
	f.loaded, f.paths = map[string]*llm.Adapter{}, map[string]string{}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// restart loses what was loaded.
func (f *fake) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.loaded)
	clear(f.paths)
}

func (f *fake) chats() []map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]map[string]any{}, f.asked...)
}

func (f *fake) words() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.told...)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer the-key" {
		refuse(w, http.StatusUnauthorized, "AuthenticationError", "Unauthorized")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	switch path := r.Method + " " + r.URL.Path; {
	case path == "GET /v1/models" && !f.lorax:
		f.models(w)
	case path == "GET /info" && f.lorax:
		write(w, http.StatusOK, map[string]any{"model_id": f.root, "model_dtype": "torch.float16"})
	case path == "POST /v1/load_lora_adapter" && f.runtime && !f.lorax:
		f.load(w, body)
	case path == "POST /v1/unload_lora_adapter" && f.runtime && !f.lorax:
		f.unload(w, body)
	case path == "POST /v1/chat/completions":
		f.chat(w, body)
	default:
		write(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
	}
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	write(w, status, map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": status}})
}

func (f *fake) models(w http.ResponseWriter) {
	list := []map[string]any{{"id": f.served, "object": "model", "root": f.root, "parent": nil}}
	for name, path := range f.paths {
		list = append(list, map[string]any{"id": name, "object": "model", "root": path, "parent": f.served})
	}
	write(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

func (f *fake) load(w http.ResponseWriter, body []byte) {
	var q struct {
		Name string `json:"lora_name"`
		Path string `json:"lora_path"`
	}
	if json.Unmarshal(body, &q) != nil || q.Name == "" || q.Path == "" {
		refuse(w, http.StatusBadRequest, "InvalidUserInput", "Both 'lora_name' and 'lora_path' must be provided.")
		return
	}
	f.told = append(f.told, "load "+q.Name)
	if f.loaded[q.Name] != nil {
		refuse(w, http.StatusBadRequest, "InvalidUserInput", fmt.Sprintf("The lora adapter '%s' has already been loaded. If you want to load the adapter in place, set 'load_inplace' to True.", q.Name))
		return
	}
	if err := f.add(q.Name, q.Path); err != nil {
		refuse(w, http.StatusInternalServerError, "InternalServerError", err.Error())
		return
	}
	_, _ = fmt.Fprintf(w, "Success: LoRA adapter '%s' added successfully.", q.Name)
}

func (f *fake) unload(w http.ResponseWriter, body []byte) {
	var q struct {
		Name string `json:"lora_name"`
	}
	if json.Unmarshal(body, &q) != nil || q.Name == "" {
		refuse(w, http.StatusBadRequest, "InvalidUserInput", "'lora_name' needs to be provided to unload a LoRA adapter.")
		return
	}
	if f.loaded[q.Name] == nil {
		refuse(w, http.StatusNotFound, "NotFoundError", fmt.Sprintf("The lora adapter '%s' cannot be found.", q.Name))
		return
	}
	f.told = append(f.told, "unload "+q.Name)
	delete(f.loaded, q.Name)
	delete(f.paths, q.Name)
	_, _ = fmt.Fprintf(w, "Success: LoRA adapter '%s' removed successfully.", q.Name)
}

// add reads an adapter as the engine does.
func (f *fake) add(name, path string) error {
	var c struct {
		Rank int `json:"r"`
	}
	raw, err := os.ReadFile(filepath.Join(path, peft.ConfigFile))
	if err != nil {
		return fmt.Errorf("Loading lora %s failed: No adapter found for %s", name, path) //nolint:staticcheck // vLLM's words
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	if c.Rank > f.rank {
		return fmt.Errorf("LoRA rank %d is greater than max_lora_rank %d.", c.Rank, f.rank) //nolint:staticcheck // vLLM's words
	}
	a, err := peft.Read(path, peft.Base{Config: shape})
	if err != nil {
		return err
	}
	f.loaded[name], f.paths[name] = a, path
	return nil
}

// resolve is lora_filesystem_resolver: the folder of that name, if it is for this
// base.
func (f *fake) resolve(name string) (found bool, err error) {
	if f.loaded[name] != nil {
		return true, nil
	}
	if f.resolver == "" || !f.runtime || strings.HasPrefix(name, "/") {
		return false, nil
	}
	path := filepath.Join(f.resolver, name)
	raw, err := os.ReadFile(filepath.Join(path, peft.ConfigFile))
	if err != nil {
		return false, nil
	}
	var c struct {
		Type string `json:"peft_type"`
		Base string `json:"base_model_name_or_path"`
	}
	if json.Unmarshal(raw, &c) != nil || c.Type != "LORA" || c.Base != f.root {
		return false, nil
	}
	return true, f.add(name, path)
}

func (f *fake) chat(w http.ResponseWriter, body []byte) {
	var q map[string]any
	if err := json.Unmarshal(body, &q); err != nil {
		f.t.Error(err)
	}
	f.asked = append(f.asked, q)
	name, _ := q["model"].(string)
	if f.broken != 0 {
		status := f.broken
		f.broken = 0
		refuse(w, status, "BadRequestError", "max_tokens must be at least 1, got 0.")
		return
	}
	var adapters []llm.Gated
	switch {
	case f.lorax && name != "" && name != f.root:
		if q["adapter_source"] != "local" {
			refuse(w, http.StatusUnprocessableEntity, "generation", "Adapter "+name+" was not found in the hub")
			return
		}
		if err := f.add(name, name); err != nil {
			refuse(w, http.StatusUnprocessableEntity, "generation", err.Error()+" "+name)
			return
		}
		adapters = append(adapters, llm.Gated{Adapter: f.loaded[name], Gate: 1})
	case name == f.served, name == "", f.lorax:
	default:
		found, err := f.resolve(name)
		if err != nil {
			refuse(w, http.StatusBadRequest, "BadRequestError", fmt.Sprintf("LoRA adapter '%s' was found but could not be loaded.", name))
			return
		}
		if !found {
			refuse(w, http.StatusNotFound, "NotFoundError", fmt.Sprintf("The model `%s` does not exist.", name))
			return
		}
		adapters = append(adapters, llm.Gated{Adapter: f.loaded[name], Gate: 1})
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, delta := range []any{
		map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "content": saying(f.model, adapters...)}}}},
		map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": "stop"}}},
		map[string]any{"choices": []any{}, "usage": map[string]any{"prompt_tokens": 5, "completion_tokens": 4}},
	} {
		raw, _ := json.Marshal(delta)
		_, _ = fmt.Fprintf(w, "data: %s\n\n", raw)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

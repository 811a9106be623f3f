package openai_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"liminal/internal/model/openai"
)

func TestAnOllamaIsAskedWhatItHas(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/tags" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"models":[{"name":"qwen3:8b","size":5},{"name":""},{"name":"llama3.2:latest"}]}`))
	}))
	defer server.Close()
	detected := func(url string) (models []string, err error) {
		for range 20 { // each has half a second, and a busy machine may pause for longer
			if models, err = openai.Detect(t.Context(), url); err == nil {
				break
			}
		}
		return models, err
	}
	for _, url := range []string{server.URL, server.URL + "/", server.URL + "/v1"} {
		if got, err := detected(url); err != nil || !slices.Equal(got, []string{"qwen3:8b", "llama3.2:latest"}) {
			t.Errorf("%s has %v, %v", url, got, err)
		}
	}
}

func TestWhatIsNoOllamaIsNotOffered(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	defer page.Close()
	leave := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-leave:
		}
	}))
	defer silent.Close()
	defer close(leave)
	began := time.Now()
	for name, url := range map[string]string{"nothing": gone.URL, "another server": other.URL, "a page": page.URL, "silence": silent.URL, "no address": "::"} {
		if got, err := openai.Detect(t.Context(), url); err == nil || got != nil {
			t.Errorf("%s is taken for an Ollama with %v", name, got)
		}
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v to find that out", took)
	}
}

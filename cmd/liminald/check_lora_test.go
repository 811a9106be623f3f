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

func TestDoctorSaysWhetherAdaptersReachTheServer(t *testing.T) {
	t.Parallel()
	runtime := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/models":
			fmt.Fprint(w, `{"data":[{"id":"org/little","root":"/models/little","parent":null}]}`)
		case r.URL.Path == "/v1/unload_lora_adapter" && runtime:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"message":"The lora adapter 'x' cannot be found.","type":"NotFoundError","code":404}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"detail":"Not Found"}`)
		}
	}))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "composed")
	c := config.Config{Data: t.TempDir(), Model: config.Model{Backend: "extractive", OpenAIURL: server.URL + "/v1", Name: "org/little"}}
	c.Adapters.MaxRank = 16
	see := func(health health, words string) {
		t.Helper()
		f := checkAdapters(t.Context(), c)
		if f.Health != health || !strings.Contains(f.Says+" "+f.Hint, words) {
			t.Errorf("it finds %+v, not %s and %q", f, health, words)
		}
	}
	see(off, "takes none from here")
	c.Model.Backend = "vllm"
	see(off, "LIMINAL_LORA_DIR")
	c.Adapters.Dir = dir
	see(warning, "VLLM_LORA_RESOLVER_CACHE_DIR")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	see(ill, "LIMINAL_LORA_BASE")
	base := filepath.Join(c.ModelsDir(), "little")
	if err := os.MkdirAll(base, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "config.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	see(well, "up to rank 16")
	runtime = false
	see(ill, "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True")
	c.Adapters.Dir = "/proc/no/such"
	see(ill, "cannot be written to")
}

func TestDoctorSaysWhoTrains(t *testing.T) {
	t.Parallel()
	c := config.Config{}
	if f := checkTrainer(c); f.Health != well || !strings.Contains(f.Says, "in this program") {
		t.Errorf("%+v", f)
	}
	c.Adapters = config.Adapters{Trainer: "command", Command: "sh -c {dir}"}
	if f := checkTrainer(c); f.Health != well || !strings.Contains(f.Says, "by sh") {
		t.Errorf("%+v", f)
	}
	c.Adapters.Command = "no-such-trainer {dir}"
	if f := checkTrainer(c); f.Health != ill || !strings.Contains(f.Says, "no-such-trainer") {
		t.Errorf("%+v", f)
	}
}

package wire

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/config"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/train"
	"liminal/internal/model"
)

// With LIMINAL_LORA_DIR the server of the settings is asked for an adapter that
// was made here; without, it is told what the adapter says.
func TestTheServerOfTheSettingsIsHandedAdapters(t *testing.T) {
	t.Parallel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			fmt.Fprint(w, `{"data":[{"id":"org/little","root":"/models/little","parent":null}]}`)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		asked = append(asked, string(raw))
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	c := config.Config{Data: t.TempDir(), Model: config.Model{Backend: "vllm", OpenAIURL: server.URL + "/v1", Name: "org/little"}}
	base := languageModel(t, c, "little")
	dir := filepath.Join(c.Data, "users", "ann", "adapters", "law")
	shape, err := llm.ReadConfig(base)
	if err = errors.Join(err, os.MkdirAll(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := peft.Write(dir, llm.NewAdapter(shape, 2, 2, 1, llm.Query), peft.Base{Config: shape}, 0); err != nil {
		t.Fatal(err)
	}
	req := model.Request{
		Adapters: []model.Adapter{{ID: "law", Mode: model.ModeHybrid, Dir: "/users/ann/adapters/law", Weight: 1, Instructions: "Speak like a lawyer."}},
		Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: "Is it?"}}}},
	}
	for _, folder := range []string{"", filepath.Join(c.Data, "composed")} {
		c.Adapters = config.Adapters{Dir: folder, Load: "resolver", MaxRank: 16, Keep: 4}
		p := &Platform{}
		m, err := p.modelOf(Options{Config: c, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		want, said, named := folder != "", true, false
		for tries := 0; tries == 0 || want && !named && tries < 20; tries++ { // whose folder is read for longer than two seconds is there later
			for _, err := range m.Stream(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
			}
			said, named = strings.Contains(asked[len(asked)-1], "Speak like a lawyer."), strings.Contains(asked[len(asked)-1], `"model":"liminal-`)
		}
		if said == want || named != want || takesOf(c).Takes(model.ModeLocal) != want {
			t.Errorf("with the folder %q it was asked %s", folder, asked[len(asked)-1])
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestTheTrainerIsTheOneOfTheSettings(t *testing.T) {
	t.Parallel()
	inside := train.Inside{}
	if got, err := Trainer(config.Config{}, inside); err != nil || got != train.Trainer(inside) {
		t.Errorf("%v, %v", got, err)
	}
	c := config.Config{Adapters: config.Adapters{Trainer: "command", Command: "docker run -v {dir}:/job trainer"}}
	if got, err := Trainer(c, inside); err != nil || got.(*train.Command).Args[3] != "{dir}:/job" {
		t.Errorf("%v, %v", got, err)
	}
	c.Adapters.Command = `docker "{dir}`
	if _, err := Trainer(c, inside); err == nil || !strings.Contains(err.Error(), "LIMINAL_TRAIN_COMMAND") {
		t.Errorf("%v", err)
	}
}

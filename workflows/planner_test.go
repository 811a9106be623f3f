package workflows_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/activities/activitiestest"
	"liminal/internal/backends"
	"liminal/internal/backends/backendstest"
	"liminal/internal/chat"
	"liminal/internal/lora/llm"
	"liminal/internal/model"
	"liminal/internal/model/local"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tensors"
	"liminal/internal/tokens"
	"liminal/internal/tool/builtin"
)

// localModel is a language model that runs in this process; what it writes is no
// sense, and always the same.
func localModel(t *testing.T) model.Model {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "little")
	shape := llm.NewConfig(1, 32, 2, 1, 48, 260, 512)
	raw, err := tokens.Learn(slices.Values([]string{"a lake"}), 258, nil)
	if err = errors.Join(err, os.MkdirAll(dir, 0o700), shape.WriteConfig(dir), os.WriteFile(filepath.Join(dir, "tokenizer.json"), raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := tensors.Write(filepath.Join(dir, "model.safetensors"), llm.New(shape, 1).Tensors(), nil); err != nil {
		t.Fatal(err)
	}
	m, err := local.Open(local.Options{Dir: dir, Seed: func() uint64 { return 4 }})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The graph of docs/examples/planner.json: a model in this process says how to
// answer, and a server writes the answer by that. Its person is shown the latter
// only.
//
// Requirements: LORA-11 (a local controller plans and an API model executes)
func TestAModelHerePlansAndAServerExecutes(t *testing.T) {
	t.Parallel()
	graph, err := os.ReadFile("../docs/examples/planner.json")
	if err != nil {
		t.Fatal(err)
	}
	here := localModel(t)
	r := backendstest.Open(t, backendstest.NewStore(), here)
	office := served(t, r, "office", true)
	if _, err := r.Change(t.Context(), backendstest.Admin, "environment", backends.Edit{Choosable: backendstest.P(true)}); err != nil {
		t.Fatal(err)
	}
	w := activitiestest.New(string(graph))
	for _, one := range builtin.Tools(builtin.Parts{Model: here}) {
		if one.Name() == "llm.generic_chat_v1" {
			w.Tool(one.Name(), models, one.Run)
		}
	}
	b := setup(t, w)
	b.set.Backends, b.set.Backend = r, "local_lora"
	b.turn(w.Chat("Where is the lake?", chat.TurnInput{}))
	if closed := b.closed(); closed.End.Status != run.Done || closed.Message.Content != "office as tiny" {
		t.Fatalf("the turn ended %s with %+v, %s", closed.End.Status, closed.Message, closed.End.Error)
	}
	told := office.Told()
	if len(told) != 1 {
		t.Fatalf("the server was asked %d times", len(told))
	}
	_, plan, _ := strings.Cut(told[0], `Answer by this plan:\n`)
	if plan, _, _ = strings.Cut(plan, `"`); len(plan) < 10 || !strings.Contains(told[0], "Where is the lake?") {
		t.Errorf("the server was told %s", told[0])
	}
	done := w.Event(stream.MessageDone)
	if done["content"] != "office as tiny" || done["model"] != "tiny" {
		t.Errorf("its person is told %v", done)
	}
}

package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"liminal/internal/config"
)

// One step makes no good model, but a whole one: it is listed, checked and found
// by doctor.
//
// Requirements: DATA-16 (shared/models/base_lm_v1)
func TestAModelIsMadeListedAndChecked(t *testing.T) {
	t.Parallel()
	env := []string{"SHARED_FS_ROOT=" + t.TempDir()}
	code, text, _ := finish(t, env, "models", "list")
	if code != exitOK {
		t.Errorf("without a model list ends with %d", code)
	}
	has(t, text, "holds no language model", "liminald models make")
	if code, _, said := finish(t, env, "models", "check"); code != exitFailed {
		t.Errorf("without a model check ends with %d", code)
	} else {
		has(t, said, "holds no language model")
	}
	code, text, said := finish(t, env, "models", "make", "--steps", "1")
	if code != exitOK {
		t.Fatalf("make ended with %d: %s", code, said)
	}
	has(t, said, "step 1 of 1", "tokens a second")
	has(t, text, "base_lm_v1", "parameters", "MODEL_BACKEND=local_lora LIMINAL_MODEL=base_lm_v1 liminald dev")
	if code, _, said := finish(t, env, "models", "make", "--steps", "1"); code != exitFailed {
		t.Errorf("a second time it ended with %d", code)
	} else {
		has(t, said, "there already")
	}
	_, text, _ = finish(t, env, "models", "list", "--json")
	var list []localModel
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) != 1 || !list[0].Used || list[0].Parameters < 1_000_000 || list[0].Problem != "" {
		t.Errorf("%s, %v", text, err)
	}
	for _, name := range []string{"base_lm_v1", filepath.Join(env[0][len("SHARED_FS_ROOT="):], "shared", "models", "base_lm_v1")} {
		code, text, said := finish(t, env, "models", "check", name)
		if code != exitOK {
			t.Errorf("check %s ended with %d: %s", name, code, said)
		}
		has(t, text, "base_lm_v1: llama, 1.0M parameters", "chatml", checkQuestion, "tokens a second read")
	}
	conf, err := config.Load(append(env, "MODEL_BACKEND=local_lora"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := checkAnswers(t.Context(), conf); f.Health != well {
		t.Errorf("%+v", f)
	}
	conf.Data = t.TempDir()
	if f := checkAnswers(t.Context(), conf); f.Health != ill || f.Hint == "" {
		t.Errorf("without a model: %+v", f)
	}
}

func TestModelsRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	env := []string{"SHARED_FS_ROOT=" + t.TempDir()}
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "list, check or make"},
		{[]string{"fetch"}, `"fetch" is not`},
		{[]string{"list", "x"}, "liminald models check x"},
		{[]string{"make", "../x"}, "no name of a folder"},
		{[]string{"make", "--steps", "0"}, "--steps takes"},
	} {
		code, _, said := finish(t, env, append([]string{"models"}, c.args...)...)
		if code != exitUsage {
			t.Errorf("%v ended with %d", c.args, code)
		}
		has(t, said, c.says)
	}
	if code, _, said := finish(t, env, "models", "make", "--texts", t.TempDir()); code != exitFailed {
		t.Errorf("a folder without texts ended with %d", code)
	} else {
		has(t, said, "holds no .md or .txt file")
	}
}

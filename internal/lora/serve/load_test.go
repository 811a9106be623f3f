package serve_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
	"liminal/internal/tensors"
	"liminal/internal/tokens"
)

// folder is a small model with a tokenizer and whatever else is given.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "little")
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	c := llm.NewConfig(1, 32, 2, 1, 48, 270, 128)
	c.Ends = []int{3}
	if err := c.WriteConfig(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := tensors.WriteNPZ(filepath.Join(dir, "shard_00.npz"), llm.New(c, 1).Tensors()); err != nil {
		t.Fatal(err)
	}
	raw, err := tokens.Learn(slices.Values([]string{"the keeper"}), 262, []string{"<|im_start|>", "<|im_end|>", "<|pad|>", "<|end|>"})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"tokenizer.json": string(raw)}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const chatml = `{{'<|im_start|>' + message['role']}}`

func TestAFolderIsReadWithItsHabits(t *testing.T) {
	named, _ := json.Marshal(map[string]any{"chat_template": []map[string]string{{"name": "tool_use", "template": "x"}, {"name": "default", "template": chatml}}})
	one, _ := json.Marshal(map[string]any{"chat_template": chatml})
	for name, c := range map[string]struct {
		files       map[string]string
		template    string
		stops       []int
		temperature float64
	}{
		"bare":           {nil, "plain", []int{3}, 0.7},
		"no template":    {map[string]string{"tokenizer_config.json": `{}`}, "plain", []int{3}, 0.7},
		"a template":     {map[string]string{"tokenizer_config.json": string(one)}, "chatml", []int{1, 3}, 0.7},
		"several":        {map[string]string{"tokenizer_config.json": string(named)}, "chatml", []int{1, 3}, 0.7},
		"a file of its":  {map[string]string{"chat_template.jinja": chatml}, "chatml", []int{1, 3}, 0.7},
		"a temperature":  {map[string]string{"generation_config.json": `{"temperature":0.3,"eos_token_id":[2,3]}`}, "plain", []int{3, 2}, 0.3},
		"never by dice":  {map[string]string{"generation_config.json": `{"do_sample":false}`}, "plain", []int{3}, 0},
		"an odd request": {map[string]string{"generation_config.json": `{"temperature":99}`}, "plain", []int{3}, 0.7},
	} {
		dir := folder(t, c.files)
		if !serve.IsModel(dir) {
			t.Errorf("%s: it does not look like a model", name)
		}
		f, err := serve.Open(dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if f.Name != "little" || f.Template.Name != c.template || !slices.Equal(f.Stops, c.stops) || f.Temperature != c.temperature {
			t.Errorf("%s: %s, %s, %v, %v", name, f.Name, f.Template.Name, f.Stops, f.Temperature)
		}
		if err := f.Model.Close(); err != nil {
			t.Error(err)
		}
	}
	f, err := serve.Open(folder(t, map[string]string{"generation_config.json": `{"top_k":20,"top_p":0.8,"repetition_penalty":1.1}`}))
	if err != nil || f.TopK != 20 || f.TopP != 0.8 || f.Penalty != 1.1 {
		t.Errorf("%+v, %v", f, err)
	}
	for name, c := range map[string]struct {
		files map[string]string
		says  string
	}{
		"an unknown template": {map[string]string{"chat_template.jinja": "{{ x }}"}, "chat template"},
		"a broken one":        {map[string]string{"tokenizer_config.json": `{"chat_template":3}`}, "chat_template"},
		"no JSON":             {map[string]string{"tokenizer_config.json": `[`}, "tokenizer_config.json"},
		"broken habits":       {map[string]string{"generation_config.json": `[`}, "generation_config.json"},
		"no tokenizer":        {map[string]string{"tokenizer.json": `[`}, "tokenizer.json"},
		"too many tokens":     {map[string]string{"tokenizer.json": `{"model":{"type":"WordLevel","unk_token":"a","vocab":{"a":0,"b":400}}}`}, "401 tokens, the model 270"},
	} {
		if _, err := serve.Open(folder(t, c.files)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if serve.IsModel(t.TempDir()) {
		t.Error("an empty folder looks like a model")
	}
}

// version writes an adapter with its params.json and returns the checksum.
func version(t *testing.T, dir string, b peft.Base) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := peft.Write(dir, trained(1), b, 0); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range []string{peft.ConfigFile, peft.WeightsFile} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(raw)
		files[name] = hex.EncodeToString(sum[:])
	}
	raw, err := json.Marshal(map[string]any{"base_sha256": b.Fingerprint, "files": files})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, serve.ParamsFile), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Requirements: LORA-15 (a version is a folder with weights), LORA-16
func TestAnAdapterThatWasChangedIsRefused(t *testing.T) {
	b := peft.Base{Config: shape, Name: "little", Fingerprint: strings.Repeat("ab", 32)}
	adapter := filepath.Join(t.TempDir(), "manner")
	version(t, filepath.Join(adapter, "v0001"), b)
	sum := version(t, filepath.Join(adapter, "v0002"), b)
	dir, name, err := serve.Version(adapter)
	if err != nil || name != "v0002" {
		t.Fatal(dir, name, err)
	}
	if at, _, err := serve.Version(dir); err != nil || at != dir {
		t.Errorf("of its own folder: %s, %v", at, err)
	}
	if _, _, err := serve.Version(t.TempDir()); err == nil {
		t.Error("an empty folder holds a version")
	}
	for _, checksum := range []string{sum, ""} {
		if a, err := serve.ReadAdapter(dir, checksum, b); err != nil || a.Rank() != 4 {
			t.Errorf("%v", err)
		}
	}
	if _, err := serve.ReadAdapter(dir, strings.Repeat("0", 64), b); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("another checksum: %v", err)
	}
	other := b
	other.Fingerprint = strings.Repeat("cd", 32)
	if _, err := serve.ReadAdapter(dir, sum, other); err == nil || !strings.Contains(err.Error(), "another base") {
		t.Errorf("another base: %v", err)
	}
	weights := filepath.Join(dir, peft.WeightsFile)
	raw, err := os.ReadFile(weights)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-1] ^= 1
	if err := os.WriteFile(weights, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := serve.ReadAdapter(dir, sum, b); err == nil || !strings.Contains(err.Error(), peft.WeightsFile) {
		t.Errorf("a bit of the weights turned: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, serve.ParamsFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := serve.ReadAdapter(dir, sum, b); err == nil {
		t.Error("without its params.json it was read")
	}
}

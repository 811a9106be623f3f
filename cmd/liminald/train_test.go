package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/train"
	"liminal/internal/tensors"
)

// trainingJob is a folder with a small job and its base.
func trainingJob(t *testing.T) (dir string, j train.Job) {
	t.Helper()
	dir = t.TempDir()
	c := llm.NewConfig(1, 32, 2, 1, 48, 40, 32)
	base := filepath.Join(dir, "base")
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteConfig(base); err != nil {
		t.Fatal(err)
	}
	if _, err := tensors.Write(filepath.Join(base, "model.safetensors"), llm.New(c, 1).Tensors(), nil); err != nil {
		t.Fatal(err)
	}
	sum, err := llm.Fingerprint(base)
	if err != nil {
		t.Fatal(err)
	}
	list := batches.Cut([]batches.Text{{Source: 1, Weight: 1, Prompt: []int{3, 4}, Target: []int{5, 6, 7}}}, 1, 16)
	manifest, err := batches.Write(filepath.Join(dir, batches.Dir), c.Vocab, batches.Sets{batches.Train: list, batches.Held: list})
	if err != nil {
		t.Fatal(err)
	}
	j = train.Job{
		ID: "j", Fence: 1, Base: train.Base{Name: "base", Dir: "base", SHA256: sum}, Files: map[string]string{"batches/manifest.json": manifest},
		Rank: 2, Alpha: 4, Targets: []string{"attn_q"}, Loss: train.DefaultLoss(), Rate: 1e-3, Steps: 5, Seed: 1,
	}
	if err := train.WriteJob(dir, j); err != nil {
		t.Fatal(err)
	}
	return dir, j
}

func TestAnAdapterIsTrainedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	dir, j := trainingJob(t)
	code, text, said := finish(t, nil, "train", dir)
	if code != exitOK {
		t.Fatalf("it ended with %d: %s", code, said)
	}
	has(t, text, "step 5 of 5: loss ", "held out ", "5 of 5 steps.", filepath.Join(dir, "out"))
	if _, err := os.Stat(filepath.Join(dir, "out", "adapter_model.safetensors")); err != nil {
		t.Error(err)
	}
	// Again it does nothing, and says what there is.
	code, text, _ = finish(t, nil, "train", "--json", dir)
	var m train.Manifest
	if err := json.Unmarshal([]byte(text), &m); code != exitOK || err != nil || m.Job != "j" || m.Steps != 5 {
		t.Errorf("it ended with %d, %v: %s", code, err, text)
	}
	other, _ := trainingJob(t)
	_, text, _ = finish(t, nil, "train", "--json", other)
	if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) != 6 || !strings.Contains(lines[0], `"step":1,"of":5,"loss":`) {
		t.Errorf("as JSON it says %s", text)
	}

	j.Rank = 0
	if err := train.WriteJob(dir, j); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{dir: "r is 0", t.TempDir(): "holds no training job", "": "name one folder"} {
		code, _, said := finish(t, nil, strings.Fields("train "+args)...)
		if code != exitUsage || !strings.Contains(said, says) {
			t.Errorf("train %s ended with %d: %s", args, code, said)
		}
	}
}

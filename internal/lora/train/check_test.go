package train_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
	"liminal/internal/lora/train"
	"liminal/internal/tensors"
)

// trained is a job that is done, and its base.
func trained(t *testing.T) (dir string, j train.Job, m *llm.Model) {
	t.Helper()
	dir = job(t, func(j *train.Job) { j.Steps = 3 })
	run(t, dir, train.Options{})
	j, err := train.ReadJob(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = llm.Open(j.Base.Dir); err != nil {
		t.Fatal(err)
	}
	return dir, j, m
}

// rewrite changes the weights of a result, and the manifest so that it fits them.
func rewrite(t *testing.T, dir string, change func(list []tensors.Tensor) []tensors.Tensor) {
	t.Helper()
	out := filepath.Join(dir, train.ResultDir)
	f, err := tensors.Open(filepath.Join(out, peft.WeightsFile))
	if err != nil {
		t.Fatal(err)
	}
	var list []tensors.Tensor
	for _, name := range f.Names() {
		info, _ := f.Info(name)
		x, err := f.Float32s(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tensors.Tensor{Name: name, Shape: info.Shape, F32: slices.Clone(x)})
	}
	_ = f.Close()
	if _, err := tensors.Write(filepath.Join(out, peft.WeightsFile), change(list), f.Metadata()); err != nil {
		t.Fatal(err)
	}
	resign(t, dir, nil)
}

// resign makes the manifest fit the files, with a change of its own.
func resign(t *testing.T, dir string, change func(m *train.Manifest)) {
	t.Helper()
	out := filepath.Join(dir, train.ResultDir)
	raw, err := os.ReadFile(filepath.Join(out, train.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	var m train.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	for name := range m.Files {
		if m.Files[name], err = serve.Sum(filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
	}
	if change != nil {
		change(&m)
	}
	raw, err = json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, train.ManifestFile), raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// What a trainer left is believed nothing, whoever it was.
func TestWhatWasTrainedIsChecked(t *testing.T) {
	t.Parallel()
	dir, j, m := trained(t)
	if r, err := train.Check(dir, j, m); err != nil || !(r.Change > 0 && r.Change < 0.5) {
		t.Fatalf("%+v, %v", r.Change, err)
	}
	weights := func(change func(list []tensors.Tensor) []tensors.Tensor) func(dir string) {
		return func(dir string) { rewrite(t, dir, change) }
	}
	manifest := func(change func(m *train.Manifest)) func(dir string) {
		return func(dir string) { resign(t, dir, change) }
	}
	write := func(dir, name, text string) {
		if err := os.WriteFile(filepath.Join(dir, train.ResultDir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		spoil func(dir string)
		says  string
	}{
		"another job":   {manifest(func(m *train.Manifest) { m.Job = "j2" }), `of the job "j2"`},
		"an old fence":  {manifest(func(m *train.Manifest) { m.Fence = 0 }), "fence 0"},
		"another base":  {manifest(func(m *train.Manifest) { m.Base = strings.Repeat("b", 64) }), "another base"},
		"no manifest":   {func(dir string) { _ = os.Remove(filepath.Join(dir, train.ResultDir, train.ManifestFile)) }, train.ManifestFile},
		"no folder":     {func(dir string) { _ = os.RemoveAll(filepath.Join(dir, train.ResultDir)) }, train.ResultDir},
		"a file beside": {func(dir string) { write(dir, "model.py", "import os") }, `"model.py"`},
		"other weights": {func(dir string) { write(dir, peft.WeightsFile, "x") }, "is not what"},
		"a link": {func(dir string) {
			path := filepath.Join(dir, train.ResultDir, peft.WeightsFile)
			if err := errors.Join(os.Rename(path, filepath.Join(dir, "elsewhere")), os.Symlink("../elsewhere", path)); err != nil {
				t.Fatal(err)
			}
		}, "no plain file"},
		"a folder of weights": {func(dir string) {
			path := filepath.Join(dir, train.ResultDir, peft.WeightsFile)
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, "no plain file"},
		"a pair too few": {weights(func(list []tensors.Tensor) []tensors.Tensor { return list[2:] }), "is of rank 0, not 4"},
		"a pair too many": {weights(func(list []tensors.Tensor) []tensors.Tensor {
			for _, x := range list[:2] {
				x.Name = strings.Replace(x.Name, "mlp.gate_proj", "mlp.down_proj", 1)
				x.Shape, x.F32 = []int{4, 48}, make([]float32, 4*48)
				if strings.Contains(x.Name, "lora_B") {
					x.Shape, x.F32 = []int{32, 4}, make([]float32, 32*4)
				}
				list = append(list, x)
			}
			return list
		}), "down_proj"},
		"a tensor of another name": {weights(func(list []tensors.Tensor) []tensors.Tensor {
			return append(list, tensors.Tensor{Name: "lm_head.weight", Shape: []int{1}, F32: []float32{1}})
		}), "lm_head.weight"},
		"another shape": {weights(func(list []tensors.Tensor) []tensors.Tensor {
			list[0].Shape = []int{list[0].Shape[1], list[0].Shape[0]}
			return list
		}), "shape"},
		"no number": {weights(func(list []tensors.Tensor) []tensors.Tensor {
			list[1].F32[7] = float32(math.Inf(1))
			return list
		}), "not finite"},
		"giants": {weights(func(list []tensors.Tensor) []tensors.Tensor {
			for i := range list[1].F32 {
				list[1].F32[i] = 1e6
			}
			return list
		}), "as large as the matrix"},
		"a header beyond the file": {func(dir string) {
			write(dir, peft.WeightsFile, "\xff\xff\xff\xff\xff\xff\xff\x7f{}")
			resign(t, dir, nil)
		}, "no safetensors file"},
		"another scale": {func(dir string) {
			path := filepath.Join(dir, train.ResultDir, peft.ConfigFile)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(dir, peft.ConfigFile, strings.Replace(string(raw), `"lora_alpha": 8`, `"lora_alpha": 800`, 1))
			resign(t, dir, nil)
		}, "alpha/r"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spoilt := copied(t, dir)
			c.spoil(spoilt)
			if _, err := train.Check(spoilt, j, m); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			if _, err := train.Publish(spoilt, filepath.Join(spoilt, "v0001"), m, nil); err == nil {
				t.Error("it was published")
			}
		})
	}
}

// Requirements: LORA-15 (a version is a folder with weights; metadata.json), LORA-16, TRAIN-05 (below the version), TRAIN-14 (no file is half written)
func TestAVersionIsPublishedWholeAndOnce(t *testing.T) {
	t.Parallel()
	dir, j, m := trained(t)
	adapter := filepath.Join(t.TempDir(), "users", "ann", "adapters", "manner")
	to := filepath.Join(adapter, "v0002")
	notes := map[string]any{"events": []int{3, 5}}
	// One who was killed here has left its half.
	if err := os.MkdirAll(filepath.Join(adapter, ".v0002.new", "batches"), 0o700); err != nil {
		t.Fatal(err)
	}
	sum, err := train.Publish(dir, to, m, notes)
	if err != nil {
		t.Fatal(err)
	}
	base := peft.Base{Config: shape, Name: "little", Fingerprint: j.Base.SHA256}
	if at, name, err := serve.Version(adapter); err != nil || at != to || name != "v0002" {
		t.Errorf("%s, %s, %v", at, name, err)
	}
	if a, err := serve.ReadAdapter(to, sum, base); err != nil || a.Rank() != 4 {
		t.Errorf("%v", err)
	}
	raw, err := os.ReadFile(filepath.Join(to, train.MetadataFile))
	var meta train.Metadata
	if err != nil || json.Unmarshal(raw, &meta) != nil || meta.Manifest.Job != "j1" || meta.Rank != 4 || meta.Change == 0 || meta.Notes == nil {
		t.Errorf("%s, %v", raw, err)
	}
	if _, sets, err := batches.Read(filepath.Join(to, batches.Dir), meta.Batches); err != nil || len(sets[batches.Train]) == 0 {
		t.Errorf("%d batches, %v", len(sets), err)
	}
	// Claimed again, it finds what it made.
	j.Fence = 7
	if err := train.WriteJob(dir, j); err != nil {
		t.Fatal(err)
	}
	run(t, dir, train.Options{})
	if again, err := train.Publish(dir, to, m, notes); err != nil || again != sum {
		t.Errorf("published again it is %s, %v", again, err)
	}
	// Another job does not take its place.
	other, _, _ := trained(t)
	changed, _ := train.ReadJob(other)
	changed.ID = "j2"
	if err := train.WriteJob(other, changed); err != nil {
		t.Fatal(err)
	}
	run(t, other, train.Options{})
	if _, err := train.Publish(other, to, m, notes); !errors.Is(err, fault.Conflict) {
		t.Errorf("over another: %v", err)
	}
	// What people said may go before the version does.
	if err := os.RemoveAll(filepath.Join(to, batches.Dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := serve.ReadAdapter(to, sum, base); err != nil {
		t.Errorf("without its batches: %v", err)
	}
	entries, err := os.ReadDir(adapter)
	if err != nil || len(entries) != 1 {
		t.Errorf("beside it lie %v, %v", entries, err)
	}
}

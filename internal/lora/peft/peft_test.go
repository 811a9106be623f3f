package peft_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/tensors"
)

var shape = llm.NewConfig(2, 64, 4, 2, 96, 120, 64)

func base() peft.Base {
	return peft.Base{Config: shape, Name: "little-base", Fingerprint: strings.Repeat("ab", 32)}
}

// trained is an adapter whose matrices are all random.
func trained(rank int, alpha float64, seed uint64, which ...llm.Linear) *llm.Adapter {
	a := llm.NewAdapter(shape, rank, alpha, seed, which...)
	r := rand.New(rand.NewPCG(seed, seed))
	for _, layer := range a.Pairs {
		for _, p := range layer {
			for i := range p.B {
				p.B[i] = r.Float32() - 0.5
			}
		}
	}
	return a
}

func logits(m *llm.Model, a ...llm.Gated) []float32 {
	return slices.Clone(m.NewRunner().Forward(llm.Step{Sequence: m.NewSequence(8, a...), Tokens: []int{3, 9, 4, 100}}))
}

func apart(a, b []float32) float64 {
	most := 0.0
	for i := range a {
		most = max(most, math.Abs(float64(a[i]-b[i])))
	}
	return most
}

// testdata/reference was written by Hugging Face's safetensors.
func TestAnAdapterOfThePythonLibraryIsRead(t *testing.T) {
	t.Parallel()
	a, err := peft.Read("testdata/reference", base())
	if err != nil {
		t.Fatal(err)
	}
	if a.Scale != 2 || a.Rank() != 4 {
		t.Errorf("scale %v, rank %d", a.Scale, a.Rank())
	}
	number := func(n int) float32 { return float32(n%17-8) / 16 }
	for i := range shape.Layers {
		for k := range llm.Linears {
			p := a.Pairs[i][k]
			if (p.Rank > 0) != (k == llm.Query || k == llm.Value) {
				t.Errorf("layer %d, %s is of rank %d", i, k.Name(), p.Rank)
			}
			out, _ := shape.Shape(k)
			for n := range p.A {
				if p.A[n] != number(n) {
					t.Fatalf("A's number %d is %v", n, p.A[n])
				}
			}
			for o := range out {
				for r := range p.Rank {
					if got := p.B[r*out+o]; got != -number(o*p.Rank+r) {
						t.Fatalf("B's number %d, %d is %v", o, r, got)
					}
				}
			}
		}
	}
}

func TestWhatIsWrittenIsReadWithTheNamesOfPEFT(t *testing.T) {
	t.Parallel()
	m := llm.New(shape, 1)
	wide := trained(3, 6, 1, llm.Query, llm.Output, llm.Down)
	for _, c := range []struct {
		a    *llm.Adapter
		rank int
		kind tensors.DType
	}{{wide, 0, tensors.F32}, {wide, 8, tensors.F32}, {wide.Rounded(), 0, tensors.BF16}, {wide.Rounded(), 8, tensors.BF16}} {
		a, rank := c.a, c.rank
		dir := t.TempDir()
		sum, err := peft.Write(dir, a, base(), rank)
		if err != nil || len(sum) != 64 {
			t.Fatal(sum, err)
		}
		f, err := tensors.Open(filepath.Join(dir, peft.WeightsFile))
		if err != nil {
			t.Fatal(err)
		}
		want := max(rank, 3)
		for name, shape := range map[string][]int{
			"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight": {want, 64},
			"base_model.model.model.layers.1.mlp.down_proj.lora_B.weight":    {64, want},
			"base_model.model.model.layers.1.mlp.down_proj.lora_A.weight":    {want, 96},
		} {
			if info, ok := f.Info(name); !ok || !slices.Equal(info.Shape, shape) || info.DType != c.kind {
				t.Errorf("%s is %v", name, info)
			}
		}
		if n := len(f.Names()); n != 12 {
			t.Errorf("there are %d tensors", n)
		}
		_ = f.Close()
		read, err := peft.Read(dir, base())
		if err != nil {
			t.Fatal(err)
		}
		// Rows of zeros lengthen the sums; they change nothing else.
		if d := apart(logits(m, llm.Gated{Adapter: read, Gate: 0.5}), logits(m, llm.Gated{Adapter: a, Gate: 0.5})); d > 1e-5 || rank == 0 && d > 0 {
			t.Errorf("read again at rank %d it answers otherwise by %g", want, d)
		}
	}
}

func TestAnAdapterOfSomeLayersNamesThem(t *testing.T) {
	t.Parallel()
	a := trained(2, 4, 1, llm.Query)
	a.Pairs[0] = [llm.Linears]llm.Pair{}
	dir := t.TempDir()
	if _, err := peft.Write(dir, a, base(), 0); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, peft.ConfigFile))
	var c struct {
		Layers  []int    `json:"layers_to_transform"`
		Targets []string `json:"target_modules"`
		Alpha   float64  `json:"lora_alpha"`
	}
	if err != nil || json.Unmarshal(raw, &c) != nil || !slices.Equal(c.Layers, []int{1}) || !slices.Equal(c.Targets, []string{"q_proj"}) || c.Alpha != 4 {
		t.Errorf("%s, %v", raw, err)
	}
	read, err := peft.Read(dir, base())
	if err != nil || read.Pairs[0][llm.Query].Rank != 0 || read.Pairs[1][llm.Query].Rank != 2 {
		t.Errorf("%v", err)
	}
}

// Requirements: LORA-13
func TestComposedAdaptersAnswerAsTheirGatedSum(t *testing.T) {
	t.Parallel()
	m := llm.New(shape, 1)
	gated := []llm.Gated{
		{Adapter: trained(8, 16, 1, llm.Query, llm.Value), Gate: 0.7},
		{Adapter: trained(4, 4, 2, llm.Query, llm.Key, llm.Value, llm.Output, llm.Gate, llm.Up, llm.Down), Gate: -0.2},
		{Adapter: trained(16, 8, 3, llm.Query, llm.Up), Gate: 0.4},
	}
	one := peft.Compose(shape, gated...)
	if one.Rank() != 28 {
		t.Errorf("its rank is %d", one.Rank())
	}
	want := logits(m, gated...)
	dir := t.TempDir()
	if _, err := peft.Write(dir, one, base(), 32); err != nil {
		t.Fatal(err)
	}
	read, err := peft.Read(dir, base())
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*llm.Adapter{"in memory": one, "from disk, at rank 32": read} {
		if d := apart(logits(m, llm.Gated{Adapter: a, Gate: 1}), want); d > 1e-4 {
			t.Errorf("%s the logits are off by %g", name, d)
		}
	}
	if d := apart(want, logits(m)); d < 0.1 {
		t.Errorf("the adapters change the logits by %g only", d)
	}
}

func TestAFolderThatCannotBeUsedIsRefusedByName(t *testing.T) {
	t.Parallel()
	config := func(from, to string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			path := filepath.Join(dir, peft.ConfigFile)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(raw), from, to, 1)
			if changed == string(raw) {
				t.Fatalf("no %q in %s", from, raw)
			}
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	const a0, b0 = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight"
	tensor := func(name string, shape []int, first float32) tensors.Tensor {
		x := make([]float32, shape[0]*shape[1])
		x[0] = first
		return tensors.Tensor{Name: name, Shape: shape, F32: x}
	}
	weights := func(metadata map[string]string, list ...tensors.Tensor) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			if _, err := tensors.Write(filepath.Join(dir, peft.WeightsFile), list, metadata); err != nil {
				t.Fatal(err)
			}
		}
	}
	a, b := tensor(a0, []int{4, 64}, 1), tensor(b0, []int{64, 4}, 1)
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		says  string
	}{
		"another kind":      {config(`"LORA"`, `"IA3"`), `"IA3"`},
		"another task":      {config(`"CAUSAL_LM"`, `"SEQ_CLS"`), `"SEQ_CLS"`},
		"another base":      {config(`little-base`, `other-base`), `other-base`},
		"no rank":           {config(`"r": 4`, `"r": 0`), "rank is 0"},
		"a giant rank":      {config(`"r": 4`, `"r": 4000`), "rank is 4000"},
		"another rank":      {config(`"r": 4`, `"r": 5`), "shape"},
		"DoRA":              {config(`"use_dora": false`, `"use_dora": true`), "DoRA"},
		"biases":            {config(`"bias": "none"`, `"bias": "all"`), "biases"},
		"a rank each":       {config(`"rank_pattern": {}`, `"rank_pattern": {"q_proj": 8}`), "differs"},
		"whole parts":       {config(`"modules_to_save": null`, `"modules_to_save": ["lm_head"]`), "whole parts"},
		"turned":            {config(`"fan_in_fan_out": false`, `"fan_in_fan_out": true`), "turned"},
		"not a target":      {config(`"q_proj"`, `"k_proj"`), "target_modules"},
		"no config":         {config(`{`, `[`), peft.ConfigFile},
		"another tensor":    {weights(nil, a, b, tensor("lm_head.weight", []int{1, 1}, 1)), "lm_head.weight"},
		"a layer too many":  {weights(nil, tensor(strings.Replace(a0, ".0.", ".2.", 1), []int{4, 64}, 1)), "layers.2"},
		"a layer of a sign": {weights(nil, tensor(strings.Replace(a0, ".0.", ".+0.", 1), []int{4, 64}, 1)), "layers.+0"},
		"half a pair":       {weights(nil, a), "one of its two"},
		"another width":     {weights(nil, tensor(a0, []int{4, 63}, 1), b), "shape"},
		"turned A":          {weights(nil, tensor(a0, []int{64, 4}, 1), b), "shape"},
		"no number":         {weights(nil, a, tensor(b0, []int{64, 4}, float32(math.NaN()))), "not finite"},
		"nothing":           {weights(nil), "no tensors"},
		"another print":     {weights(map[string]string{"base_sha256": strings.Repeat("cd", 32)}, a, b), "another base"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata/reference")); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, dir)
			if _, err := peft.Read(dir, base()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestWhatCannotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]*llm.Adapter{
		"nothing":     llm.NewAdapter(shape, 2, 4, 1),
		"other shape": llm.NewAdapter(llm.NewConfig(3, 64, 4, 2, 96, 120, 64), 2, 4, 1, llm.Query),
		"a giant":     llm.NewAdapter(shape, peft.MaxRank+1, 4, 1, llm.Key),
	} {
		dir := t.TempDir()
		if _, err := peft.Write(dir, a, base(), 0); err == nil {
			t.Errorf("%s was written", name)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
			t.Errorf("%s left %v behind", name, list)
		}
	}
}

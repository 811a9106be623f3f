// Package peft reads and writes LoRA adapters as Hugging Face's PEFT keeps them,
// which vLLM, LoRAX and Together read too: a folder with adapter_config.json
// and adapter_model.safetensors. It also makes one adapter of several with
// gates (Compose).
//
// A folder is believed nothing: only the tensors its config speaks of, of
// exactly the shapes of the model, all numbers finite, for the base that is
// running. What this engine would compute otherwise than PEFT (DoRA, biases,
// ranks that differ) is refused. The package may import llm and tensors.
package peft

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/lora/llm"
	"liminal/internal/tensors"
)

// The files of an adapter's folder.
const (
	ConfigFile  = "adapter_config.json"
	WeightsFile = "adapter_model.safetensors"
)

// MaxRank is the largest rank that is read.
const MaxRank = 512

// baseKey is where our files keep the fingerprint of their base.
const baseKey = "base_sha256"

// Base is the model adapters are for.
type Base struct {
	llm.Config
	Name        string // as an adapter_config.json may call it; its last part counts. Empty: any
	Fingerprint string // of llm.Fingerprint; empty: not known
}

// config is an adapter_config.json.
type config struct {
	Type       string          `json:"peft_type"`
	Task       string          `json:"task_type"`
	Base       string          `json:"base_model_name_or_path"`
	Rank       int             `json:"r"`
	Alpha      float64         `json:"lora_alpha"`
	Dropout    float64         `json:"lora_dropout"`
	Bias       string          `json:"bias"`
	Turned     bool            `json:"fan_in_fan_out"`
	Inference  bool            `json:"inference_mode"`
	RSLoRA     bool            `json:"use_rslora"`
	DoRA       bool            `json:"use_dora"`
	Targets    json.RawMessage `json:"target_modules"`
	Layers     json.RawMessage `json:"layers_to_transform"`
	Saved      json.RawMessage `json:"modules_to_save"`
	Ranks      map[string]any  `json:"rank_pattern"`
	Alphas     map[string]any  `json:"alpha_pattern"`
	LoRABias   bool            `json:"lora_bias"`
	Embeddings json.RawMessage `json:"trainable_token_indices"`
}

func given(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && string(raw) != "[]" && string(raw) != "{}"
}

// check refuses what would be computed otherwise here.
func (c config) check(b Base) error {
	switch {
	case c.Type != "LORA":
		return fmt.Errorf("its peft_type is %q, not LORA", c.Type)
	case c.Task != "" && c.Task != "CAUSAL_LM":
		return fmt.Errorf("its task_type is %q, not CAUSAL_LM", c.Task)
	case c.Rank < 1 || c.Rank > MaxRank:
		return fmt.Errorf("its rank is %d; 1 to %d can be used", c.Rank, MaxRank)
	case !(math.Abs(c.Alpha) <= 1e6):
		return fmt.Errorf("its lora_alpha is %v", c.Alpha)
	case c.DoRA:
		return errors.New("it is a DoRA, which cannot be used")
	case c.Bias != "" && c.Bias != "none", c.LoRABias:
		return errors.New("it has biases, which cannot be used")
	case c.Turned:
		return errors.New("its matrices are turned (fan_in_fan_out), which cannot be used")
	case len(c.Ranks) > 0, len(c.Alphas) > 0:
		return errors.New("its rank or alpha differs between products, which cannot be used")
	case given(c.Saved), given(c.Embeddings):
		return errors.New("it replaces whole parts of the base, which cannot be used")
	case b.Name != "" && c.Base != "" && !strings.EqualFold(lastPart(c.Base), lastPart(b.Name)):
		return fmt.Errorf("it is for the base %q, not for %q", c.Base, b.Name)
	}
	return nil
}

func lastPart(name string) string { return path.Base(strings.TrimRight(filepath.ToSlash(name), "/")) }

// scale is what B·A is multiplied by.
func (c config) scale() float32 {
	if c.RSLoRA {
		return float32(c.Alpha / math.Sqrt(float64(c.Rank)))
	}
	return float32(c.Alpha / float64(c.Rank))
}

// Read reads the adapter in dir. The error says which file is wrong, and how.
func Read(dir string, b Base) (*llm.Adapter, error) {
	raw, err := os.ReadFile(filepath.Join(dir, ConfigFile))
	if err != nil {
		return nil, err
	}
	var c config
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", ConfigFile, err)
	}
	if err := c.check(b); err != nil {
		return nil, fmt.Errorf("%s: %w", ConfigFile, err)
	}
	f, err := tensors.Open(filepath.Join(dir, WeightsFile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", WeightsFile, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if sum := f.Metadata()[baseKey]; sum != "" && b.Fingerprint != "" && sum != b.Fingerprint {
		return nil, fmt.Errorf("%s: it was trained on another base: that had the fingerprint %.12s, this one has %.12s", WeightsFile, sum, b.Fingerprint)
	}
	a, err := readWeights(f, c, b.Config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", WeightsFile, err)
	}
	return a, nil
}

func readWeights(f *tensors.File, c config, shape llm.Config) (*llm.Adapter, error) {
	a := &llm.Adapter{Scale: c.scale(), Pairs: make([][llm.Linears]llm.Pair, shape.Layers)}
	names := f.Names()
	if len(names) == 0 {
		return nil, errors.New("it holds no tensors")
	}
	for _, name := range names {
		p, err := placeOf(name, shape)
		if err != nil {
			return nil, err
		}
		if !c.targets(p.product) {
			return nil, fmt.Errorf("it has %s, which its config does not name among the target_modules", name)
		}
		out, in := shape.Shape(p.product)
		want := []int{c.Rank, in}
		if p.b {
			want = []int{out, c.Rank}
		}
		if info, _ := f.Info(name); !slices.Equal(info.Shape, want) {
			return nil, fmt.Errorf("%s is of the shape %v, not %v", name, info.Shape, want)
		}
		x, err := f.Float32s(name)
		if err != nil {
			return nil, err
		}
		pair := &a.Pairs[p.layer][p.product]
		pair.Rank = c.Rank
		if p.b {
			pair.B = turned(x, out, c.Rank)
		} else {
			pair.A = x
		}
	}
	for i, layer := range a.Pairs {
		for k, pair := range layer {
			if (pair.A == nil) != (pair.B == nil) {
				return nil, fmt.Errorf("layer %d, %s has one of its two matrices only", i, llm.Linear(k).Name())
			}
		}
	}
	return a, nil
}

// targets reports whether a config names a product. A text is a pattern of
// PEFT's own, which is not compared.
func (c config) targets(k llm.Linear) bool {
	var list []string
	if json.Unmarshal(c.Targets, &list) != nil {
		return true
	}
	return slices.ContainsFunc(list, func(t string) bool {
		return k.Name() == t || strings.HasSuffix(k.Name(), "."+t) || strings.HasSuffix(t, "."+k.Name())
	})
}

// place is what a tensor belongs to.
type place struct {
	layer   int
	product llm.Linear
	b       bool
}

const prefix = "base_model.model.model.layers."

func placeOf(name string, shape llm.Config) (place, error) {
	unknown := fmt.Errorf("it has the tensor %q, which is no part of an adapter of this model", name)
	rest, ok := strings.CutPrefix(name, prefix)
	number, rest, found := strings.Cut(rest, ".")
	layer, err := strconv.Atoi(number)
	if !ok || !found || err != nil || strconv.Itoa(layer) != number || layer < 0 || layer >= shape.Layers {
		return place{}, unknown
	}
	for k := range llm.Linears {
		switch rest {
		case k.Name() + ".lora_A.weight":
			return place{layer, k, false}, nil
		case k.Name() + ".lora_B.weight":
			return place{layer, k, true}, nil
		}
	}
	return place{}, unknown
}

// turned is a matrix of rows × cols with its axes exchanged.
// nil stays nil.
func turned[T float32 | uint16](x []T, rows, cols int) []T {
	if x == nil {
		return nil
	}
	out := make([]T, len(x))
	for i := range rows {
		for j := range cols {
			out[j*rows+i] = x[i*cols+j]
		}
	}
	return out
}

// Write writes an adapter into dir, which must be there, with matrices of one
// rank: rank, or the adapter's own when rank is less. Those of less are filled
// with zeros. What is in bfloat16 is written so. It returns the SHA-256 of the weights, in hexadecimal.
func Write(dir string, a *llm.Adapter, b Base, rank int) (sum string, err error) {
	if err := a.Fits(b.Config); err != nil {
		return "", err
	}
	rank = max(rank, a.Rank())
	if rank < 1 || rank > MaxRank {
		return "", fmt.Errorf("an adapter of rank %d cannot be written; 1 to %d can", rank, MaxRank)
	}
	used, layers := usedBy(a)
	if len(layers) == 0 {
		return "", errors.New("the adapter changes nothing: there is nothing to write")
	}
	var list []tensors.Tensor
	targets := []string{}
	for _, k := range used {
		targets = append(targets, path.Ext(k.Name())[1:])
	}
	for _, i := range layers {
		for _, k := range used {
			out, in := b.Shape(k)
			p := widened(a.Pairs[i][k], rank, out, in)
			name := prefix + strconv.Itoa(i) + "." + k.Name()
			list = append(list,
				tensors.Tensor{Name: name + ".lora_A.weight", Shape: []int{rank, in}, F32: p.A, BF16: p.HalfA},
				tensors.Tensor{Name: name + ".lora_B.weight", Shape: []int{out, rank}, F32: turned(p.B, rank, out), BF16: turned(p.HalfB, rank, out)})
		}
	}
	metadata := map[string]string{"format": "pt"}
	if b.Fingerprint != "" {
		metadata[baseKey] = b.Fingerprint
	}
	if sum, err = tensors.Write(filepath.Join(dir, WeightsFile), list, metadata); err != nil {
		return "", err
	}
	fields := map[string]any{
		"peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": b.Name, "r": rank,
		"lora_alpha": float64(a.Scale) * float64(rank), "lora_dropout": 0.0, "bias": "none", "fan_in_fan_out": false,
		"inference_mode": true, "target_modules": targets,
	}
	if len(layers) < b.Layers {
		fields["layers_to_transform"] = layers
	}
	raw, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return "", err
	}
	_, err = tensors.Replace(filepath.Join(dir, ConfigFile), func(w io.Writer) error {
		_, err := w.Write(append(raw, '\n'))
		return err
	})
	return sum, err
}

// usedBy are the products and the layers an adapter changes.
func usedBy(a *llm.Adapter) (used []llm.Linear, layers []int) {
	for i, layer := range a.Pairs {
		changes := false
		for k, p := range layer {
			if p.Rank == 0 {
				continue
			}
			changes = true
			if !slices.Contains(used, llm.Linear(k)) {
				used = append(used, llm.Linear(k))
			}
		}
		if changes {
			layers = append(layers, i)
		}
	}
	slices.Sort(used)
	return used, layers
}

// widened is a pair of the rank given: the rows that are added are zero.
func widened(p llm.Pair, rank, out, in int) llm.Pair {
	if p.Rank == rank {
		return p
	}
	w := llm.Pair{Rank: rank}
	if p.HalfA != nil {
		w.HalfA, w.HalfB = append(make([]uint16, 0, rank*in), p.HalfA...)[:rank*in], append(make([]uint16, 0, rank*out), p.HalfB...)[:rank*out]
		return w
	}
	w.A, w.B = append(make([]float32, 0, rank*in), p.A...)[:rank*in], append(make([]float32, 0, rank*out), p.B...)[:rank*out]
	return w
}

// Compose is one adapter that computes what several do together: their A are
// stacked, and each B is multiplied by its gate and scale. This is exact, as
// the sum of products is the product of what was stacked (LORA-13).
func Compose(shape llm.Config, adapters ...llm.Gated) *llm.Adapter {
	one := &llm.Adapter{Scale: 1, Pairs: make([][llm.Linears]llm.Pair, shape.Layers)}
	for i := range one.Pairs {
		for k := range one.Pairs[i] {
			p := &one.Pairs[i][k]
			for _, a := range adapters {
				q := a.Pairs[i][k].Wide()
				p.Rank += q.Rank
				p.A = append(p.A, q.A...)
				factor := a.Gate * a.Scale
				for _, v := range q.B {
					p.B = append(p.B, v*factor)
				}
			}
		}
	}
	return one
}

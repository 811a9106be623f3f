package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"liminal/internal/lora/kernels"
	"liminal/internal/tensors"
)

// Layer is the weights of one layer.
type Layer struct {
	Norm1, Norm2 []float32
	Linear       [Linears]kernels.Matrix
	Bias         [Linears][]float32 // nil: none
}

// Model is a model in memory. It is safe for concurrent use.
type Model struct {
	Config
	Embed  kernels.Matrix // [Vocab, Width]
	Head   kernels.Matrix // [Vocab, Width]
	Norm   []float32
	Layers []Layer
	stores []tensors.Store
}

// Open reads the model in dir. The error names the file.
func Open(dir string) (m *Model, err error) {
	c, err := ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	w, err := openWeights(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	m = &Model{Config: c, Layers: make([]Layer, c.Layers), stores: w.stores}
	if m.Embed, err = w.matrix("model.embed_tokens.weight", c.Vocab, c.Width); err != nil {
		return nil, err
	}
	m.Head = m.Embed
	if _, ok := w.place["lm_head.weight"]; !c.Tied {
		if !ok {
			return nil, errors.New("it has no lm_head.weight, though its config.json does not tie the head to the embeddings")
		}
		if m.Head, err = w.matrix("lm_head.weight", c.Vocab, c.Width); err != nil {
			return nil, err
		}
	}
	if m.Norm, err = w.vector("model.norm.weight", c.Width); err != nil {
		return nil, err
	}
	for i := range m.Layers {
		if m.Layers[i], err = w.layer(c, i); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Close gives the files back. The model must not be used after it.
func (m *Model) Close() error {
	var errs []error
	for _, s := range m.stores {
		errs = append(errs, s.Close())
	}
	m.stores = nil
	return errors.Join(errs...)
}

// weights are the tensors of a folder by name.
type weights struct {
	stores []tensors.Store
	place  map[string]int // of stores
}

var shardName = regexp.MustCompile(`^shard_\d+\.npz$`)

// Files are the files of a folder's weights, sorted: model.safetensors, the
// shards its index names, or shard_NN.npz. A name that leaves the folder is
// refused.
func Files(dir string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(dir, "model.safetensors")); err == nil {
		return []string{"model.safetensors"}, nil
	}
	const index = "model.safetensors.index.json"
	var list []string
	raw, err := os.ReadFile(filepath.Join(dir, index))
	if err == nil {
		var f struct {
			Map map[string]string `json:"weight_map"`
		}
		if err := json.Unmarshal(raw, &f); err != nil {
			return nil, fmt.Errorf("%s: %w", index, err)
		}
		for _, name := range f.Map {
			if !filepath.IsLocal(name) || filepath.Base(name) != name {
				return nil, fmt.Errorf("%s: it names the file %q", index, name)
			}
			list = append(list, name)
		}
	} else {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if shardName.MatchString(e.Name()) {
				list = append(list, e.Name())
			}
		}
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) == 0 {
		return nil, errors.New("it holds no weights: that is a model.safetensors, shards with model.safetensors.index.json, or shard_00.npz")
	}
	return list, nil
}

func openWeights(dir string) (w *weights, err error) {
	files, err := Files(dir)
	if err != nil {
		return nil, err
	}
	w = &weights{place: map[string]int{}}
	for _, name := range files {
		s, err := tensors.OpenAny(filepath.Join(dir, name))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), w.close())
		}
		w.stores = append(w.stores, s)
		for _, t := range s.Names() {
			w.place[t] = len(w.stores) - 1
		}
	}
	return w, nil
}

func (w *weights) close() error {
	var errs []error
	for _, s := range w.stores {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// find is a tensor of the shape expected.
func (w *weights) find(name string, shape ...int) (tensors.Store, tensors.DType, error) {
	i, ok := w.place[name]
	if !ok {
		return nil, "", fmt.Errorf("its weights lack %s", name)
	}
	info, _ := w.stores[i].Info(name)
	if !slices.Equal(info.Shape, shape) {
		return nil, "", fmt.Errorf("%s is of the shape %v, not %v as config.json says", name, info.Shape, shape)
	}
	return w.stores[i], info.DType, nil
}

func (w *weights) matrix(name string, rows, cols int) (kernels.Matrix, error) {
	m := kernels.Matrix{Rows: rows, Cols: cols}
	s, kind, err := w.find(name, rows, cols)
	if err != nil {
		return m, err
	}
	if kind == tensors.BF16 {
		m.BF16, err = s.BF16s(name)
		return m, err
	}
	m.F32, err = s.Float32s(name)
	return m, err
}

func (w *weights) vector(name string, n int) ([]float32, error) {
	s, _, err := w.find(name, n)
	if err != nil {
		return nil, err
	}
	return s.Float32s(name)
}

func (w *weights) layer(c Config, i int) (l Layer, err error) {
	prefix := fmt.Sprintf("model.layers.%d.", i)
	if l.Norm1, err = w.vector(prefix+"input_layernorm.weight", c.Width); err != nil {
		return l, err
	}
	if l.Norm2, err = w.vector(prefix+"post_attention_layernorm.weight", c.Width); err != nil {
		return l, err
	}
	for k := range Linears {
		out, in := c.Shape(k)
		if l.Linear[k], err = w.matrix(prefix+k.Name()+".weight", out, in); err != nil {
			return l, err
		}
		bias := prefix + k.Name() + ".bias"
		_, has := w.place[bias]
		wants := c.Bias && k <= Value
		if has && !wants {
			return l, fmt.Errorf("it has %s, which its config.json does not speak of", bias)
		}
		if wants {
			if l.Bias[k], err = w.vector(bias, out); err != nil {
				return l, err
			}
		}
	}
	return l, nil
}

// Fingerprint is the SHA-256, in hexadecimal, over the config.json and the
// weights of a folder: adapters belong to one. It reads all of them.
func Fingerprint(dir string) (string, error) {
	files, err := Files(dir)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range append([]string{"config.json"}, files...) {
		one := sha256.New()
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		_, err = io.Copy(one, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %x\n", name, one.Sum(nil))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"

	"liminal/internal/lora/kernels"
	"liminal/internal/tensors"
)

// NewConfig is the shape of a model to be made: a Llama with a tied head and
// the usual constants.
func NewConfig(layers, width, heads, kvHeads, inner, vocab, context int) Config {
	c := Config{
		Family: "llama", Layers: layers, Width: width, Heads: heads, KVHeads: kvHeads, HeadDim: width / heads, Inner: inner,
		Vocab: vocab, Context: context, Epsilon: 1e-5, Tied: true, Begin: -1,
	}
	c.Frequencies, _ = frequencies(c.HeadDim, theta, nil) // fails for no known theta
	return c
}

const theta = 10000

// New is a model with random weights, as training begins with: of the same seed
// the same.
func New(c Config, seed uint64) *Model {
	r := rand.New(rand.NewPCG(seed, 0x6d6f64656c)) //nolint:gosec // weights, not secrets
	matrix := func(rows, cols int, spread float64) kernels.Matrix {
		x := make([]float32, rows*cols)
		for i := range x {
			x[i] = float32(r.NormFloat64() * spread)
		}
		return kernels.Matrix{Rows: rows, Cols: cols, F32: x}
	}
	ones := func() []float32 {
		x := make([]float32, c.Width)
		for i := range x {
			x[i] = 1
		}
		return x
	}
	m := &Model{Config: c, Embed: matrix(c.Vocab, c.Width, 0.02), Norm: ones(), Layers: make([]Layer, c.Layers)}
	m.Head = m.Embed
	if !c.Tied {
		m.Head = matrix(c.Vocab, c.Width, 0.02)
	}
	for i := range m.Layers {
		l := &m.Layers[i]
		l.Norm1, l.Norm2 = ones(), ones()
		for k := range Linears {
			out, in := c.Shape(k)
			spread := 1 / math.Sqrt(float64(in))
			if k == Output || k == Down { // what is added up over the layers begins small
				spread /= math.Sqrt(2 * float64(c.Layers))
			}
			l.Linear[k] = matrix(out, in, spread)
			if c.Bias && k <= Value {
				l.Bias[k] = matrix(1, out, 0.02).F32
			}
		}
	}
	return m
}

// NewAdapter is an adapter as training begins with: A random, B zero, so that
// it changes nothing yet. Of the same seed it is the same.
func NewAdapter(c Config, rank int, alpha float64, seed uint64, which ...Linear) *Adapter {
	r := rand.New(rand.NewPCG(seed, 0x61646170746572)) //nolint:gosec // weights, not secrets
	a := &Adapter{Scale: float32(alpha / float64(rank)), Pairs: make([][Linears]Pair, c.Layers)}
	for i := range a.Pairs {
		for _, k := range which {
			out, in := c.Shape(k)
			p := Pair{Rank: rank, A: make([]float32, rank*in), B: make([]float32, rank*out)}
			for j := range p.A {
				p.A[j] = float32((2*r.Float64() - 1) / math.Sqrt(float64(in)))
			}
			a.Pairs[i][k] = p
		}
	}
	return a
}

// Tensors are the weights of a model by the names of its file.
func (m *Model) Tensors() []tensors.Tensor {
	matrix := func(name string, w kernels.Matrix) tensors.Tensor {
		return tensors.Tensor{Name: name, Shape: []int{w.Rows, w.Cols}, F32: w.F32, BF16: w.BF16}
	}
	vector := func(name string, x []float32) tensors.Tensor {
		return tensors.Tensor{Name: name, Shape: []int{len(x)}, F32: x}
	}
	list := []tensors.Tensor{matrix("model.embed_tokens.weight", m.Embed), vector("model.norm.weight", m.Norm)}
	if !m.Tied {
		list = append(list, matrix("lm_head.weight", m.Head))
	}
	for i, l := range m.Layers {
		prefix := fmt.Sprintf("model.layers.%d.", i)
		list = append(list, vector(prefix+"input_layernorm.weight", l.Norm1), vector(prefix+"post_attention_layernorm.weight", l.Norm2))
		for k := range Linears {
			list = append(list, matrix(prefix+k.Name()+".weight", l.Linear[k]))
			if l.Bias[k] != nil {
				list = append(list, vector(prefix+k.Name()+".bias", l.Bias[k]))
			}
		}
	}
	return list
}

// WriteConfig writes the config.json of a shape into dir. Scaled positions are
// not written: NewConfig has none.
func (c Config) WriteConfig(dir string) error {
	class := map[string]string{"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "qwen2": "Qwen2ForCausalLM"}[c.Family]
	kind := "float32"
	fields := map[string]any{
		"architectures": []string{class}, "model_type": c.Family, "num_hidden_layers": c.Layers, "hidden_size": c.Width,
		"num_attention_heads": c.Heads, "num_key_value_heads": c.KVHeads, "head_dim": c.HeadDim, "intermediate_size": c.Inner,
		"vocab_size": c.Vocab, "max_position_embeddings": c.Context, "rms_norm_eps": float64(c.Epsilon), "rope_theta": theta,
		"tie_word_embeddings": c.Tied, "hidden_act": "silu", "torch_dtype": kind,
	}
	if c.Bias && c.Family == "llama" {
		fields["attention_bias"] = true
	}
	if c.Begin >= 0 {
		fields["bos_token_id"] = c.Begin
	}
	if len(c.Ends) > 0 {
		fields["eos_token_id"] = c.Ends
	}
	raw, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return err
	}
	_, err = tensors.Replace(filepath.Join(dir, "config.json"), func(w io.Writer) error {
		_, err := w.Write(append(raw, '\n'))
		return err
	})
	return err
}

// Rounded is the model with its matrices in bfloat16: half the memory, and
// nearly the same answers.
func (m *Model) Rounded() *Model {
	round := func(w kernels.Matrix) kernels.Matrix {
		if w.BF16 == nil {
			w.BF16, w.F32 = kernels.BF16(w.F32), nil
		}
		return w
	}
	out := &Model{Config: m.Config, Embed: round(m.Embed), Norm: m.Norm, Layers: make([]Layer, len(m.Layers))}
	out.Head = out.Embed
	if !m.Tied {
		out.Head = round(m.Head)
	}
	for i, l := range m.Layers {
		for k := range l.Linear {
			l.Linear[k] = round(l.Linear[k])
		}
		out.Layers[i] = l
	}
	return out
}

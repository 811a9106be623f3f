// Package llm runs decoder-only transformers of the Llama family (Llama,
// Mistral, Qwen2) on the CPU, with LoRA adapters that differ from row to row.
//
// A model is a folder: config.json and weights, as Hugging Face saves them
// (model.safetensors, or shards with model.safetensors.index.json) or as the
// seed does (shard_00.npz and on). Weights are float32 or bfloat16, read where
// they lie and never written: nothing here, and no training of an adapter, can
// change them (LORA-12).
//
// Every number of an answer is computed in an order that depends on its own
// sequence only. A token computed alone has the same bits as in a batch, and
// with a cache the same as without.
//
// The package knows ids of tokens, not texts. It may import kernels and
// tensors.
package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// Config is the shape of a model. Read by ReadConfig it has been checked.
type Config struct {
	Family  string // llama, mistral or qwen2
	Layers  int
	Width   int // numbers a token is
	Heads   int // of queries
	KVHeads int // of keys and values; divides Heads
	HeadDim int // even
	Inner   int // width between the MLP's products
	Vocab   int
	Context int // tokens at most in a sequence
	Epsilon float32
	Tied    bool // the head is the table of embeddings
	Bias    bool // queries, keys and values have biases
	Begin   int  // token a text begins with; -1: none
	Ends    []int
	// Frequencies turn a head's pairs of numbers by position: HeadDim/2 of them.
	Frequencies []float64
}

// Bounds of what is believed of a config.json.
const (
	maxLayers = 512
	maxWidth  = 1 << 16
	maxVocab  = 4 << 20
)

// configFile is the part of a config.json that matters.
type configFile struct {
	Type       string          `json:"model_type"`
	Layers     int             `json:"num_hidden_layers"`
	Width      int             `json:"hidden_size"`
	Heads      int             `json:"num_attention_heads"`
	KVHeads    int             `json:"num_key_value_heads"`
	HeadDim    int             `json:"head_dim"`
	Inner      int             `json:"intermediate_size"`
	Vocab      int             `json:"vocab_size"`
	Context    int             `json:"max_position_embeddings"`
	Epsilon    *float64        `json:"rms_norm_eps"`
	Theta      *float64        `json:"rope_theta"`
	Scaling    json.RawMessage `json:"rope_scaling"`
	Rope       json.RawMessage `json:"rope_parameters"` // both of these, since transformers 5
	Partial    *float64        `json:"partial_rotary_factor"`
	Quantized  json.RawMessage `json:"quantization_config"`
	Tied       bool            `json:"tie_word_embeddings"`
	Activation string          `json:"hidden_act"`
	Bias       bool            `json:"attention_bias"`
	MLPBias    bool            `json:"mlp_bias"`
	Window     *int            `json:"sliding_window"`
	UseWindow  *bool           `json:"use_sliding_window"`
	Begin      json.RawMessage `json:"bos_token_id"`
	End        json.RawMessage `json:"eos_token_id"`
}

// scaling is how positions beyond those a model was first taught are told to
// it.
type scaling struct {
	Type     string  `json:"rope_type"`
	OldType  string  `json:"type"`
	Factor   float64 `json:"factor"`
	Low      float64 `json:"low_freq_factor"`
	High     float64 `json:"high_freq_factor"`
	Original float64 `json:"original_max_position_embeddings"`
}

// ReadConfig reads the config.json of a model's folder, and what
// generation_config.json says of ends.
func ReadConfig(dir string) (Config, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		return Config{}, err
	}
	c, err := parseConfig(raw)
	if err != nil {
		return c, fmt.Errorf("config.json: %w", err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "generation_config.json")); err == nil {
		var g struct {
			End json.RawMessage `json:"eos_token_id"`
		}
		if err := json.Unmarshal(raw, &g); err != nil {
			return c, fmt.Errorf("generation_config.json: %w", err)
		}
		for _, id := range idList(g.End) {
			if !slices.Contains(c.Ends, id) {
				c.Ends = append(c.Ends, id)
			}
		}
	}
	return c, nil
}

func parseConfig(raw []byte) (Config, error) {
	var f configFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return Config{}, err
	}
	c := Config{
		Family: f.Type, Layers: f.Layers, Width: f.Width, Heads: f.Heads, KVHeads: f.KVHeads, HeadDim: f.HeadDim, Inner: f.Inner,
		Vocab: f.Vocab, Context: f.Context, Epsilon: 1e-6, Tied: f.Tied, Bias: f.Bias || f.Type == "qwen2", Begin: -1, Ends: idList(f.End),
	}
	if f.Epsilon != nil {
		c.Epsilon = float32(*f.Epsilon)
	}
	if ids := idList(f.Begin); len(ids) > 0 {
		c.Begin = ids[0]
	}
	if c.KVHeads == 0 {
		c.KVHeads = c.Heads
	}
	if c.HeadDim == 0 && c.Heads > 0 {
		c.HeadDim = c.Width / c.Heads
	}
	if f.Window != nil && *f.Window > 0 && (f.UseWindow == nil && f.Type == "mistral" || f.UseWindow != nil && *f.UseWindow) {
		// Within its window a model that looks at no more looks at everything.
		c.Context = min(c.Context, *f.Window)
	}
	err := c.check(f)
	if err != nil {
		return c, err
	}
	c.Frequencies, err = f.frequencies(c.HeadDim)
	return c, err
}

// frequencies are what the file says of positions, in the old form or the new.
func (f configFile) frequencies(dim int) ([]float64, error) {
	theta, scaling := 10000.0, f.Scaling
	if f.Theta != nil {
		theta = *f.Theta
	}
	if given(f.Rope) {
		var r struct {
			Theta   *float64 `json:"rope_theta"`
			Partial *float64 `json:"partial_rotary_factor"`
		}
		if err := json.Unmarshal(f.Rope, &r); err != nil {
			return nil, fmt.Errorf("rope_parameters: %w", err)
		}
		if r.Theta != nil {
			theta = *r.Theta
		}
		if r.Partial != nil {
			f.Partial = r.Partial
		}
		scaling = f.Rope
	}
	if f.Partial != nil && *f.Partial != 1 {
		return nil, fmt.Errorf("partial_rotary_factor is %v; whole heads can be turned", *f.Partial)
	}
	return frequencies(dim, theta, scaling)
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// idList reads one id, a list of them, or null.
func idList(raw json.RawMessage) []int {
	var one int
	if json.Unmarshal(raw, &one) == nil && string(raw) != "null" {
		return []int{one}
	}
	var list []int
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

func (c Config) check(f configFile) error {
	switch {
	case !slices.Contains([]string{"llama", "mistral", "qwen2"}, c.Family):
		return fmt.Errorf("the model is a %q; llama, mistral and qwen2 can be run", c.Family)
	case f.Activation != "silu" && f.Activation != "":
		return fmt.Errorf("its activation is %q; silu can be run", f.Activation)
	case f.MLPBias:
		return errors.New("its MLP has biases, which cannot be run")
	case given(f.Quantized):
		return errors.New("its weights are quantized (quantization_config); those in float32, float16 or bfloat16 can be run")
	}
	for _, size := range []struct {
		name    string
		n, most int
	}{
		{"num_hidden_layers", c.Layers, maxLayers},
		{"hidden_size", c.Width, maxWidth},
		{"num_attention_heads", c.Heads, maxWidth},
		{"num_key_value_heads", c.KVHeads, maxWidth},
		{"head_dim", c.HeadDim, maxWidth},
		{"intermediate_size", c.Inner, 8 * maxWidth},
		{"vocab_size", c.Vocab, maxVocab},
		{"max_position_embeddings", c.Context, 1 << 24},
	} {
		if size.n < 1 || size.n > size.most {
			return fmt.Errorf("%s is %d", size.name, size.n)
		}
	}
	switch {
	case c.Heads%c.KVHeads != 0:
		return fmt.Errorf("%d heads do not share %d keys", c.Heads, c.KVHeads)
	case c.HeadDim%2 != 0:
		return fmt.Errorf("a head of %d numbers cannot be turned in pairs", c.HeadDim)
	case !(c.Epsilon > 0) || c.Epsilon > 1:
		return fmt.Errorf("rms_norm_eps is %v", c.Epsilon)
	}
	return nil
}

func frequencies(dim int, theta float64, raw json.RawMessage) ([]float64, error) {
	if !(theta >= 1) || math.IsInf(theta, 0) {
		return nil, fmt.Errorf("rope_theta is %v", theta)
	}
	out := make([]float64, dim/2)
	for i := range out {
		out[i] = math.Pow(theta, -2*float64(i)/float64(dim))
	}
	if len(raw) == 0 || string(raw) == "null" {
		return out, nil
	}
	var s scaling
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("rope_scaling: %w", err)
	}
	if s.Type == "" {
		s.Type = s.OldType
	}
	switch {
	case s.Type == "default", s.Type == "" && s.Factor == 0: // rope_parameters may hold theta alone
	case s.Type == "linear" && s.Factor >= 1:
		for i := range out {
			out[i] /= s.Factor
		}
	case s.Type == "llama3" && s.Factor >= 1 && s.Low > 0 && s.High > s.Low && s.Original > 0:
		for i, f := range out {
			// Waves that fit the first context often stay as they are, those longer
			// than it are stretched, and between the two the share passes over.
			wave := 2 * math.Pi / f
			smooth := min(max((s.Original/wave-s.Low)/(s.High-s.Low), 0), 1)
			out[i] = (1-smooth)*f/s.Factor + smooth*f
		}
	default:
		return nil, fmt.Errorf("rope_scaling %s cannot be run; linear and llama3 can", raw)
	}
	return out, nil
}

// Group is how many heads share one key.
func (c Config) Group() int { return c.Heads / c.KVHeads }

// QueryWidth and KVWidth are the numbers of a token's queries, and of its keys
// or values.
func (c Config) QueryWidth() int { return c.Heads * c.HeadDim }

// KVWidth is the numbers of a token's keys, and of its values.
func (c Config) KVWidth() int { return c.KVHeads * c.HeadDim }

// Parameters is how many numbers the model has.
func (c Config) Parameters() int {
	layer := 2*c.Width + 3*c.Width*c.Inner + 2*c.Width*c.QueryWidth() + 2*c.Width*c.KVWidth()
	if c.Bias {
		layer += c.QueryWidth() + 2*c.KVWidth()
	}
	table := c.Vocab * c.Width
	if !c.Tied {
		table *= 2
	}
	return table + c.Width + c.Layers*layer
}

// CacheBytes is the memory a sequence of n tokens takes while it is answered.
func (c Config) CacheBytes(n int) int { return 4 * 2 * c.Layers * c.KVWidth() * n }

// Linear is one of the seven products of a layer.
type Linear int

// The products, in the order they are computed.
const (
	Query Linear = iota
	Key
	Value
	Output
	Gate
	Up
	Down
	Linears // how many there are
)

// names are the products' in a file, below "model.layers.N.".
var names = [Linears]string{
	"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
}

// Name is the product's in a file, such as "self_attn.q_proj".
func (l Linear) Name() string { return names[l] }

// Shape is how many numbers a product makes of how many.
func (c Config) Shape(l Linear) (out, in int) {
	switch l {
	case Query:
		return c.QueryWidth(), c.Width
	case Key, Value:
		return c.KVWidth(), c.Width
	case Output:
		return c.Width, c.QueryWidth()
	case Gate, Up:
		return c.Inner, c.Width
	default:
		return c.Width, c.Inner
	}
}

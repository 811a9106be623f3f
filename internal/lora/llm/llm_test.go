package llm_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"liminal/internal/lora/llm"
	"liminal/internal/tensors"
)

// shapes are small models of all kinds.
func shapes() map[string]llm.Config {
	plain := llm.NewConfig(3, 64, 4, 4, 96, 120, 64)
	grouped := llm.NewConfig(2, 48, 6, 2, 80, 97, 64)
	grouped.Tied = false
	qwen := llm.NewConfig(2, 64, 4, 2, 96, 120, 64)
	qwen.Family, qwen.Bias = "qwen2", true
	return map[string]llm.Config{"llama": plain, "grouped": grouped, "qwen2": qwen}
}

// adapters are three of different ranks and products, none of them zero.
func adapters(c llm.Config) []llm.Gated {
	all := []llm.Linear{llm.Query, llm.Key, llm.Value, llm.Output, llm.Gate, llm.Up, llm.Down}
	list := []llm.Gated{
		{Adapter: llm.NewAdapter(c, 8, 16, 1, llm.Query, llm.Value), Gate: 0.7},
		{Adapter: llm.NewAdapter(c, 4, 4, 2, all...), Gate: -0.2},
		{Adapter: llm.NewAdapter(c, 3, 6, 3, llm.Down), Gate: 0.4},
	}
	r := rand.New(rand.NewPCG(5, 5))
	for _, g := range list {
		for _, layer := range g.Pairs {
			for _, p := range layer {
				for i := range p.B {
					p.B[i] = r.Float32() - 0.5
				}
			}
		}
	}
	return list
}

func ids(c llm.Config, n int, seed uint64) []int {
	r := rand.New(rand.NewPCG(seed, 9))
	out := make([]int, n)
	for i := range out {
		out[i] = r.IntN(c.Vocab)
	}
	return out
}

// slow is the model as the papers write it, in float64, a token at a time and
// without any cache: weights are W + Σ gate·scale·B·A. It returns the logits
// after the last token.
func slow(m *llm.Model, adapters []llm.Gated, tokens []int) []float64 {
	c := m.Config
	wide := func(x []float32) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = float64(v)
		}
		return out
	}
	norm := func(x []float64, w []float32) []float64 {
		var sum float64
		for _, v := range x {
			sum += v * v
		}
		f := 1 / math.Sqrt(sum/float64(len(x))+float64(c.Epsilon))
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = v * f * float64(w[i])
		}
		return out
	}
	linear := func(layer int, k llm.Linear, x []float64) []float64 {
		out, in := c.Shape(k)
		w := wide(m.Layers[layer].Linear[k].F32)
		for _, a := range adapters {
			p := a.Pairs[layer][k]
			for r := range p.Rank {
				for o := range out {
					for i := range in {
						w[o*in+i] += float64(a.Gate) * float64(a.Scale) * float64(p.B[r*out+o]) * float64(p.A[r*in+i])
					}
				}
			}
		}
		y := make([]float64, out)
		for o := range out {
			for i, v := range x {
				y[o] += w[o*in+i] * v
			}
			if b := m.Layers[layer].Bias[k]; b != nil {
				y[o] += float64(b[o])
			}
		}
		return y
	}
	turned := func(x []float64, position int) {
		half := c.HeadDim / 2
		for h := 0; h < len(x); h += c.HeadDim {
			for j := range half {
				s, cos := math.Sincos(float64(position) * math.Pow(10000, -2*float64(j)/float64(c.HeadDim)))
				a, b := x[h+j], x[h+half+j]
				x[h+j], x[h+half+j] = a*cos-b*s, a*s+b*cos
			}
		}
	}
	xs := make([][]float64, len(tokens))
	for i, id := range tokens {
		xs[i] = wide(m.Embed.F32[id*c.Width : (id+1)*c.Width])
	}
	for l := range m.Layers {
		keys, values := make([][]float64, len(xs)), make([][]float64, len(xs))
		for i, x := range xs {
			n := norm(x, m.Layers[l].Norm1)
			keys[i], values[i] = linear(l, llm.Key, n), linear(l, llm.Value, n)
			turned(keys[i], i)
		}
		for i, x := range xs {
			q := linear(l, llm.Query, norm(x, m.Layers[l].Norm1))
			turned(q, i)
			o := make([]float64, len(q))
			for h := range c.Heads {
				kv := h / c.Group() * c.HeadDim
				weights, sum := make([]float64, i+1), 0.0
				for j := range weights {
					var dot float64
					for d := range c.HeadDim {
						dot += q[h*c.HeadDim+d] * keys[j][kv+d]
					}
					weights[j] = math.Exp(dot / math.Sqrt(float64(c.HeadDim)))
					sum += weights[j]
				}
				for j, w := range weights {
					for d := range c.HeadDim {
						o[h*c.HeadDim+d] += w / sum * values[j][kv+d]
					}
				}
			}
			for j, v := range linear(l, llm.Output, o) {
				x[j] += v
			}
		}
		for _, x := range xs {
			n := norm(x, m.Layers[l].Norm2)
			g, u := linear(l, llm.Gate, n), linear(l, llm.Up, n)
			for j := range g {
				g[j] = g[j] / (1 + math.Exp(-g[j])) * u[j]
			}
			for j, v := range linear(l, llm.Down, g) {
				x[j] += v
			}
		}
	}
	last := norm(xs[len(xs)-1], m.Norm)
	out := make([]float64, c.Vocab)
	for o := range out {
		for i, v := range last {
			out[o] += float64(m.Head.F32[o*c.Width+i]) * v
		}
	}
	return out
}

func off(got []float32, want []float64) float64 {
	most := 0.0
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= most) {
			most = d
		}
	}
	return most
}

// Requirements: LORA-13, LORA-14
func TestLogitsAreThoseOfTheModelAsWritten(t *testing.T) {
	t.Parallel()
	for name, c := range shapes() {
		m := llm.New(c, 1)
		text := ids(c, 9, 2)
		for _, with := range [][]llm.Gated{nil, adapters(c)} {
			got := m.NewRunner().Forward(llm.Step{Sequence: m.NewSequence(16, with...), Tokens: text})
			if d := off(got, slow(m, with, text)); d > 2e-5 {
				t.Errorf("%s with %d adapters is off by %g", name, len(with), d)
			}
		}
	}
}

// Requirements: LORA-13
func TestAClosedGateAndAnUntrainedAdapterChangeNothing(t *testing.T) {
	t.Parallel()
	c := shapes()["llama"]
	m := llm.New(c, 1)
	run := func(a ...llm.Gated) []float32 {
		return slices.Clone(m.NewRunner().Forward(llm.Step{Sequence: m.NewSequence(16, a...), Tokens: ids(c, 5, 1)}))
	}
	base := run()
	closed := adapters(c)
	for i := range closed {
		closed[i].Gate = 0
	}
	if !slices.Equal(run(closed...), base) {
		t.Error("closed gates change the logits")
	}
	if !slices.Equal(run(llm.Gated{Adapter: llm.NewAdapter(c, 4, 8, 1, llm.Query), Gate: 1}), base) {
		t.Error("an adapter whose B is zero changes the logits")
	}
	if slices.Equal(run(adapters(c)...), base) {
		t.Error("open gates change nothing")
	}
}

// What is computed with a cache, in pieces, or beside others has the same bits
// as all at once and alone.
func TestCachedAndBatchedStepsGiveTheSameBits(t *testing.T) {
	t.Parallel()
	for name, c := range shapes() {
		m := llm.New(c, 1)
		text := ids(c, 24, 3)
		with := adapters(c)
		whole := slices.Clone(m.NewRunner().Forward(llm.Step{Sequence: m.NewSequence(32, with...), Tokens: text, All: true}))
		r := m.NewRunner()
		s, alone := m.NewSequence(24, with...), m.NewSequence(40)
		for from := 0; from < len(text); {
			n := []int{7, 1, 1, 4, 1}[from%5]
			to := min(from+n, len(text))
			got := r.Forward(
				llm.Step{Sequence: alone, Tokens: ids(c, 1, uint64(from))},
				llm.Step{Sequence: s, Tokens: text[from:to]},
				llm.Step{Sequence: m.NewSequence(8, with[:1]...), Tokens: ids(c, 3, uint64(from))},
			)
			if !slices.Equal(got[c.Vocab:2*c.Vocab], whole[(to-1)*c.Vocab:to*c.Vocab]) {
				t.Fatalf("%s: after token %d the logits differ", name, to)
			}
			from = to
		}
		s.Cut(10)
		if got := r.Forward(llm.Step{Sequence: s, Tokens: text[10:12]}); !slices.Equal(got, whole[11*c.Vocab:12*c.Vocab]) {
			t.Errorf("%s: after a cut the logits differ", name)
		}
	}
}

func TestTheNumberOfProcessorsChangesNoBit(t *testing.T) {
	c := llm.NewConfig(2, 128, 4, 2, 384, 500, 256)
	m := llm.New(c, 1)
	run := func(workers int) []float32 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		return slices.Clone(m.NewRunner().Forward(llm.Step{Sequence: m.NewSequence(200, adapters(c)...), Tokens: ids(c, 130, 4), All: true}))
	}
	want := run(1)
	for _, n := range []int{2, 5} {
		if !slices.Equal(run(n), want) {
			t.Errorf("%d processors give other bits", n)
		}
	}
}

// What bfloat16 holds takes half the memory and gives the same bits; what it does
// not hold stays as it is.
func TestAnAdapterInBFloat16GivesTheSameBits(t *testing.T) {
	t.Parallel()
	for name, c := range shapes() {
		m := llm.New(c, 1)
		run := func(a *llm.Adapter) []float32 {
			s := m.NewSequence(40, llm.Gated{Adapter: a, Gate: 0.7})
			return slices.Clone(m.NewRunner().Forward(llm.Step{Sequence: s, Tokens: ids(c, 20, 2), All: true}))
		}
		trained := adapters(c)[1].Adapter
		if kept := trained.Compact(); kept.Bytes() != trained.Bytes() {
			t.Errorf("%s: numbers were rounded that nobody asked to round", name)
		}
		rounded := trained.Rounded()
		wide := &llm.Adapter{Scale: rounded.Scale, Pairs: slices.Clone(rounded.Pairs)}
		for i := range wide.Pairs {
			for k := range wide.Pairs[i] {
				wide.Pairs[i][k] = wide.Pairs[i][k].Wide()
			}
		}
		compact := wide.Compact()
		if compact.Bytes() != trained.Bytes()/2 || compact.Fits(c) != nil {
			t.Errorf("%s: %d bytes of %d, %v", name, compact.Bytes(), trained.Bytes(), compact.Fits(c))
		}
		if !slices.Equal(run(compact), run(wide)) {
			t.Errorf("%s: in bfloat16 it gives other bits", name)
		}
		if slices.Equal(run(trained), run(wide)) {
			t.Errorf("%s: rounding changed nothing, so this test sees nothing", name)
		}
	}
}

// write saves a model as one of the ways it may lie in a folder.
func write(t *testing.T, m *llm.Model, how string) string {
	t.Helper()
	dir := t.TempDir()
	if err := m.WriteConfig(dir); err != nil {
		t.Fatal(err)
	}
	list := m.Tensors()
	half := len(list) / 2
	var err error
	switch how {
	case "safetensors":
		_, err = tensors.Write(filepath.Join(dir, "model.safetensors"), list, nil)
	case "npz":
		if _, err = tensors.WriteNPZ(filepath.Join(dir, "shard_00.npz"), list[:half]); err == nil {
			_, err = tensors.WriteNPZ(filepath.Join(dir, "shard_01.npz"), list[half:])
		}
	case "shards":
		index := map[string]string{}
		for i, part := range [][]tensors.Tensor{list[:half], list[half:]} {
			name := fmt.Sprintf("model-%05d-of-00002.safetensors", i+1)
			for _, x := range part {
				index[x.Name] = name
			}
			if _, err = tensors.Write(filepath.Join(dir, name), part, nil); err != nil {
				break
			}
		}
		raw, _ := json.Marshal(map[string]any{"weight_map": index})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), raw, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Requirements: LORA-12 (read from config.json and shards), DATA-16 (config.json and shards)
func TestAModelIsReadFromEveryKindOfFolder(t *testing.T) {
	t.Parallel()
	sums := map[string]string{}
	for name, c := range shapes() {
		m := llm.New(c, 7)
		text := ids(c, 6, 1)
		want := slices.Clone(m.NewRunner().Forward(llm.Step{Sequence: m.NewSequence(8), Tokens: text}))
		for _, how := range []string{"safetensors", "shards", "npz"} {
			dir := write(t, m, how)
			read, err := llm.Open(dir)
			if err != nil {
				t.Errorf("%s as %s: %v", name, how, err)
				continue
			}
			if got := read.NewRunner().Forward(llm.Step{Sequence: read.NewSequence(8), Tokens: text}); !slices.Equal(got, want) {
				t.Errorf("%s as %s answers otherwise", name, how)
			}
			if got := read.Parameters(); got != count(m) {
				t.Errorf("%s has %d parameters, not %d", name, count(m), got)
			}
			if err := read.Close(); err != nil {
				t.Error(err)
			}
			sum, err := llm.Fingerprint(dir)
			if err != nil || sums[sum] != "" {
				t.Errorf("%s as %s has the fingerprint of %s, %v", name, how, sums[sum], err)
			}
			sums[sum] = name + how
		}
	}
}

func count(m *llm.Model) int {
	n := 0
	for _, x := range m.Tensors() {
		n += len(x.F32) + len(x.BF16)
	}
	return n
}

func TestBFloat16WeightsAnswerNearlyAlike(t *testing.T) {
	t.Parallel()
	c := shapes()["grouped"]
	m := llm.New(c, 7)
	text := ids(c, 6, 1)
	want := slices.Clone(m.NewRunner().Forward(llm.Step{Sequence: m.NewSequence(8), Tokens: text}))
	dir := write(t, m.Rounded(), "safetensors")
	read, err := llm.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	if read.Embed.BF16 == nil {
		t.Fatal("the weights were not kept as bfloat16")
	}
	got := read.NewRunner().Forward(llm.Step{Sequence: read.NewSequence(8), Tokens: text})
	most := 0.0
	for i := range got {
		most = max(most, math.Abs(float64(got[i]-want[i])))
	}
	if most == 0 || most > 0.05 {
		t.Errorf("the logits are off by %g", most)
	}
}

func TestAFolderThatCannotBeRunIsRefusedByName(t *testing.T) {
	t.Parallel()
	m := llm.New(shapes()["llama"], 1)
	edit := func(from, to string) func(dir string) error {
		return func(dir string) error {
			path := filepath.Join(dir, "config.json")
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			changed := strings.Replace(string(raw), from, to, 1)
			if changed == string(raw) {
				return fmt.Errorf("no %q in %s", from, raw)
			}
			return os.WriteFile(path, []byte(changed), 0o600)
		}
	}
	rewrite := func(change func([]tensors.Tensor) []tensors.Tensor) func(dir string) error {
		return func(dir string) error {
			_, err := tensors.Write(filepath.Join(dir, "model.safetensors"), change(slices.Clone(m.Tensors())), nil)
			return err
		}
	}
	for name, c := range map[string]struct {
		spoil func(dir string) error
		says  string
	}{
		"another family":     {edit(`"llama"`, `"gpt_neox"`), `"gpt_neox"`},
		"another activation": {edit(`"silu"`, `"gelu"`), `"gelu"`},
		"no layers":          {edit(`"num_hidden_layers": 3`, `"num_hidden_layers": 0`), "num_hidden_layers is 0"},
		"too many layers":    {edit(`"num_hidden_layers": 3`, `"num_hidden_layers": 99999999`), "num_hidden_layers"},
		"another layer":      {edit(`"num_hidden_layers": 3`, `"num_hidden_layers": 4`), "lack model.layers.3"},
		"odd heads":          {edit(`"num_key_value_heads": 4`, `"num_key_value_heads": 3`), "do not share"},
		"another width":      {edit(`"intermediate_size": 96`, `"intermediate_size": 95`), "shape"},
		"another head":       {edit(`"tie_word_embeddings": true`, `"tie_word_embeddings": false`), "lm_head.weight"},
		"biases not there":   {edit(`"llama"`, `"qwen2"`), "q_proj.bias"},
		"a scaled position":  {edit(`"rope_theta"`, `"rope_scaling": {"rope_type":"yarn","factor":4}, "rope_theta"`), "yarn"},
		"quantized":          {edit(`"rope_theta"`, `"quantization_config": {"quant_method":"awq"}, "rope_theta"`), "quantized"},
		"part of a head":     {edit(`"rope_theta"`, `"rope_parameters": {"rope_theta":1e4,"partial_rotary_factor":0.5}, "rope_theta"`), "partial_rotary_factor"},
		"a new scaled one":   {edit(`"rope_theta"`, `"rope_parameters": {"rope_type":"yarn","factor":4,"rope_theta":1e4}, "rope_theta"`), "yarn"},
		"no factor":          {edit(`"rope_theta"`, `"rope_scaling": {"rope_type":"llama3","factor":0}, "rope_theta"`), "rope_scaling"},
		"no epsilon":         {edit(`"rms_norm_eps": `, `"rms_norm_eps": -1`), "rms_norm_eps"},
		"no JSON":            {edit(`{`, `[`), "config.json"},
		"no weights":         {func(dir string) error { return os.Remove(filepath.Join(dir, "model.safetensors")) }, "holds no weights"},
		"a file outside": {func(dir string) error {
			if err := os.Remove(filepath.Join(dir, "model.safetensors")); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), []byte(`{"weight_map":{"a":"../x.safetensors"}}`), 0o600)
		}, "../x.safetensors"},
		"a bias too many": {rewrite(func(l []tensors.Tensor) []tensors.Tensor {
			return append(l, tensors.Tensor{Name: "model.layers.0.self_attn.q_proj.bias", Shape: []int{64}, F32: make([]float32, 64)})
		}), "q_proj.bias"},
		"a number that is none": {rewrite(func(l []tensors.Tensor) []tensors.Tensor {
			l[1].F32 = slices.Clone(l[1].F32)
			l[1].F32[3] = float32(math.NaN())
			return l
		}), "not finite"},
	} {
		dir := write(t, m, "safetensors")
		if err := c.spoil(dir); err != nil {
			t.Fatal(name, err)
		}
		read, err := llm.Open(dir)
		if err == nil {
			_ = read.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The shares a sampler gives are those of the model.
//
// Requirements: LORA-19 (temperature and max tokens; top-p)
func TestTheSamplerKeepsItsBounds(t *testing.T) {
	t.Parallel()
	shares := []float64{0.5, 0.3, 0.15, 0.05}
	logits := func() []float32 {
		out := make([]float32, len(shares))
		for i, p := range shares {
			out[i] = float32(math.Log(p)) + 3
		}
		return out
	}
	times := func(s *llm.Sampler) []int {
		n := make([]int, len(shares))
		for range 4000 {
			n[s.Next(logits())]++
		}
		return n
	}
	if got := times(llm.NewSampler(0, 1, 1)); got[0] != 4000 {
		t.Errorf("without temperature %v", got)
	}
	for i, n := range times(llm.NewSampler(1, 0, 1)) {
		if d := math.Abs(float64(n)/4000 - shares[i]); d > 0.03 {
			t.Errorf("token %d was chosen %d times of 4000", i, n)
		}
	}
	if got := times(llm.NewSampler(1, 0.79, 1)); got[2]+got[3] > 0 || got[1] == 0 {
		t.Errorf("of a share of 0.79 %v", got)
	}
	few := llm.NewSampler(1, 1, 1)
	few.TopK = 2
	if got := times(few); got[2]+got[3] > 0 || got[1] == 0 {
		t.Errorf("of the two likeliest %v", got)
	}
	shy := llm.NewSampler(0, 1, 1)
	shy.Penalty = 1.5
	shy.See(0) // logits 2.3, 1.8, 1.1 and 0: the first is now 1.5
	if got := []int{shy.Next(logits()), shy.Next(logits()), shy.Next(logits())}; !slices.Equal(got, []int{1, 0, 0}) {
		t.Errorf("of what was said already it chooses %v", got)
	}
	if got := times(llm.NewSampler(0.2, 1, 1)); got[0] < 3600 {
		t.Errorf("when it is cold %v", got)
	}
	a, b := llm.NewSampler(1, 0.9, 42), llm.NewSampler(1, 0.9, 42)
	for range 50 {
		if a.Next(logits()) != b.Next(logits()) {
			t.Fatal("the same seed chooses otherwise")
		}
	}
	if got := llm.LogProb(logits(), 1); math.Abs(got-math.Log(0.3)) > 1e-6 {
		t.Errorf("the logarithm of 0.3 is %v", got)
	}
}

func TestFitsRefusesOtherShapes(t *testing.T) {
	t.Parallel()
	c := shapes()["llama"]
	for name, a := range map[string]*llm.Adapter{
		"layers": llm.NewAdapter(llm.NewConfig(2, 64, 4, 4, 96, 120, 64), 4, 8, 1, llm.Query),
		"width":  llm.NewAdapter(llm.NewConfig(3, 48, 4, 4, 96, 120, 64), 4, 8, 1, llm.Query),
		"inner":  llm.NewAdapter(llm.NewConfig(3, 64, 4, 4, 80, 120, 64), 4, 8, 1, llm.Up),
	} {
		if a.Fits(c) == nil {
			t.Errorf("an adapter of other %s fits", name)
		}
	}
	a := llm.NewAdapter(c, 4, 8, 1, llm.Query, llm.Down)
	if err := a.Fits(c); err != nil || a.Rank() != 4 || a.Bytes() != 4*4*3*(64+64+96+64) {
		t.Errorf("rank %d, %d bytes: %v", a.Rank(), a.Bytes(), err)
	}
}

// Files as the families write them: what is theirs is read, in the old form and in
// that of transformers 5.
func TestTheFilesOfTheFamiliesAreRead(t *testing.T) {
	t.Parallel()
	const llama3 = `"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"`
	const big = `"model_type": "llama", "hidden_act": "silu", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
		"intermediate_size": 8192, "vocab_size": 128256, "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "tie_word_embeddings": true, "mlp_bias": false, "attention_bias": false,
		"bos_token_id": 128000, "eos_token_id": [128001, 128008, 128009]`
	const qwen = `"model_type": "qwen2", "hidden_act": "silu", "hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2, "intermediate_size": 4864,
		"vocab_size": 151936, "max_position_embeddings": 32768, "max_window_layers": 21, "sliding_window": 4096, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "tie_word_embeddings": true`
	const mistral = `"model_type": "mistral", "hidden_act": "silu", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
		"intermediate_size": 14336, "vocab_size": 131072, "max_position_embeddings": 1024000, "rms_norm_eps": 1e-05, "rope_theta": 1000000.0, "tie_word_embeddings": false`
	// scaled is the frequency j as transformers computes it for llama3.
	scaled := func(j int) float64 {
		f := math.Pow(500000, -2*float64(j)/64)
		switch wave := 2 * math.Pi / f; {
		case wave < 8192.0/4:
			return f
		case wave > 8192.0/1:
			return f / 32
		default:
			smooth := (8192/wave - 1) / (4 - 1)
			return (1-smooth)*f/32 + smooth*f
		}
	}
	plain := func(theta float64, dim int) func(int) float64 {
		return func(j int) float64 { return math.Pow(theta, -2*float64(j)/float64(dim)) }
	}
	for name, c := range map[string]struct {
		file                          string
		dim, query, kv, context, ends int
		tied, bias                    bool
		frequency                     func(int) float64
	}{
		"SmolLM2":   {`"model_type": "llama", "hidden_act": "silu", "hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3, "intermediate_size": 1536, "vocab_size": 49152, "max_position_embeddings": 8192, "rms_norm_eps": 1e-05, "rope_theta": 100000, "rope_scaling": null, "rope_interleaved": false, "tie_word_embeddings": true, "bos_token_id": 1, "eos_token_id": 2`, 64, 576, 192, 8192, 1, true, false, plain(100000, 64)},
		"Llama 3.2": {big + `, "rope_theta": 500000.0, "rope_scaling": {` + llama3 + `}`, 64, 2048, 512, 131072, 3, true, false, scaled},
		"new form":  {big + `, "rope_parameters": {"rope_theta": 500000.0, ` + llama3 + `}`, 64, 2048, 512, 131072, 3, true, false, scaled},
		"default":   {big + `, "rope_parameters": {"rope_theta": 500000.0, "rope_type": "default"}`, 64, 2048, 512, 131072, 3, true, false, plain(500000, 64)},
		"theta":     {big + `, "rope_parameters": {"rope_theta": 500000.0}`, 64, 2048, 512, 131072, 3, true, false, plain(500000, 64)},
		// The window is written down and not used.
		"Qwen2":        {qwen + `, "use_sliding_window": false`, 64, 896, 128, 32768, 0, true, true, plain(1e6, 64)},
		"its window":   {qwen + `, "use_sliding_window": true`, 64, 896, 128, 4096, 0, true, true, plain(1e6, 64)},
		"of no window": {qwen, 64, 896, 128, 32768, 0, true, true, plain(1e6, 64)},
		// Heads of 128 numbers, which are not the width divided by their number.
		"Mistral Nemo":  {mistral + `, "sliding_window": null`, 128, 4096, 1024, 1024000, 0, false, false, plain(1e6, 128)},
		"Mistral, 2023": {mistral + `, "sliding_window": 4096`, 128, 4096, 1024, 4096, 0, false, false, plain(1e6, 128)},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte("{"+c.file+"}"), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := llm.ReadConfig(dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.HeadDim != c.dim || got.QueryWidth() != c.query || got.KVWidth() != c.kv || got.Context != c.context || got.Tied != c.tied || got.Bias != c.bias || len(got.Ends) != c.ends {
			t.Errorf("%s: %+v", name, got)
		}
		for j, f := range got.Frequencies {
			if want := c.frequency(j); math.Abs(f-want) > 1e-12*want {
				t.Errorf("%s: frequency %d is %v, not %v", name, j, f, want)
				break
			}
		}
	}
}

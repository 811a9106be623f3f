package llm_test

import (
	"fmt"
	"testing"

	"liminal/internal/cputime"
	"liminal/internal/lora/kernels"
	"liminal/internal/lora/llm"
)

// smol is the shape of SmolLM-135M, with random weights.
func smol() *llm.Model {
	return llm.New(llm.NewConfig(30, 576, 9, 3, 1536, 49152, 2048), 1)
}

// adapter is one of rank 8.
func adapter(c llm.Config, seed uint64, half bool, on []llm.Linear) *llm.Adapter {
	a := llm.NewAdapter(c, 8, 16, seed, on...)
	if half {
		return a.Rounded()
	}
	return a
}

// BenchmarkModel is tokens a second of processor time, of a model of 135M
// parameters: a prompt of 128, and then one token at a time for one text and for eight.
func BenchmarkModel(b *testing.B) {
	m := smol()
	for kind, m := range map[string]*llm.Model{"f32": m, "bf16": m.Rounded()} {
		for _, l := range []kernels.Level{kernels.AVX2, kernels.AVX512} {
			before, err := kernels.Use(l)
			if err != nil {
				continue
			}
			r := m.NewRunner()
			prompt := ids(m.Config, 128, 1)
			b.Run(fmt.Sprintf("%s/%s/prefill", kind, l), func(b *testing.B) {
				s := m.NewSequence(256)
				began := cputime.Process()
				for b.Loop() {
					s.Cut(0)
					r.Forward(llm.Step{Sequence: s, Tokens: prompt})
				}
				b.ReportMetric(128*float64(b.N)/(cputime.Process()-began).Seconds(), "tok/cpu-s")
			})
			all := []llm.Linear{llm.Query, llm.Key, llm.Value, llm.Output, llm.Gate, llm.Up, llm.Down}
			for name, c := range map[string]struct {
				rows int
				on   []llm.Linear // what a rank-8 adapter of each row changes
				half bool         // its numbers are in bfloat16, as those that are trained here
			}{
				"decode1": {1, nil, false}, "decode8": {8, nil, false}, "decode8qv": {8, []llm.Linear{llm.Query, llm.Value}, true}, "decode8all": {8, all, true},
				"decode8qv-f32": {8, []llm.Linear{llm.Query, llm.Value}, false}, "decode8all-f32": {8, all, false},
			} {
				b.Run(fmt.Sprintf("%s/%s/%s", kind, l, name), func(b *testing.B) {
					var steps []llm.Step
					n := c.rows
					for i := range n {
						var with []llm.Gated
						if c.on != nil {
							with = []llm.Gated{{Adapter: adapter(m.Config, uint64(i), c.half, c.on), Gate: 1}}
						}
						s := m.NewSequence(256, with...)
						r.Forward(llm.Step{Sequence: s, Tokens: prompt})
						steps = append(steps, llm.Step{Sequence: s, Tokens: prompt[:1]})
					}
					began := cputime.Process()
					for b.Loop() {
						for _, s := range steps {
							s.Cut(128)
						}
						r.Forward(steps...)
					}
					b.ReportMetric(float64(n*b.N)/(cputime.Process()-began).Seconds(), "tok/cpu-s")
				})
			}
			if _, err := kernels.Use(before); err != nil {
				b.Fatal(err)
			}
		}
	}
}

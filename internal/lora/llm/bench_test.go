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
			for _, n := range []int{1, 8} {
				b.Run(fmt.Sprintf("%s/%s/decode%d", kind, l, n), func(b *testing.B) {
					var steps []llm.Step
					for range n {
						s := m.NewSequence(256)
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

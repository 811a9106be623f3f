package fit_test

import (
	"testing"

	"liminal/internal/cputime"
	"liminal/internal/lora/fit"
	"liminal/internal/lora/llm"
)

// BenchmarkStep is tokens a second of processor time while a model learns: all of
// base_lm_v1, and an adapter of it.
func BenchmarkStep(b *testing.B) {
	c := fit.BaseShape()
	for name, p := range map[string]*fit.Pass{
		"whole":   fit.NewFullPass(llm.New(c, 1)),
		"adapter": fit.NewPass(llm.New(c, 1), llm.NewAdapter(c, 4, 8, 1, llm.Query, llm.Value)),
	} {
		b.Run(name, func(b *testing.B) {
			adam, texts := fit.NewAdamW(1e-3), batch(c, 16, 96, 1)
			began := cputime.Process()
			for b.Loop() {
				p.Gradients(texts)
				adam.Step(p.Params())
			}
			b.ReportMetric(float64(len(texts.Tokens)*b.N)/(cputime.Process()-began).Seconds(), "tok/cpu-s")
		})
	}
}

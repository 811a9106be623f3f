package extractive

import "testing"

// What a turn with documents pays for being told from work.
func BenchmarkClassify(b *testing.B) {
	for b.Loop() {
		classify("How long is the notice period in the lease of the flat?")
	}
}

func BenchmarkJudge(b *testing.B) {
	for b.Loop() {
		judge("how long is the notice period in the lease of the flat?")
	}
}

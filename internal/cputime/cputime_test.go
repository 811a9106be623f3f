package cputime

import "testing"

func TestWorkIsCounted(t *testing.T) {
	sum := 0
	for before, n := Process(), 0; Process() == before; n++ {
		if sum += n; n == 1<<30 {
			t.Fatalf("%d rounds of work took no time", n)
		}
	}
}

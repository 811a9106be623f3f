package id

import (
	"testing"
	"time"
)

func TestAnIDKnowsWhenItWasMade(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	at, known := Made(New())
	if !known || at.Before(before) || at.After(time.Now()) {
		t.Errorf("made at %v, known %v, not after %v", at, known, before)
	}
	for _, s := range []string{Derive("a"), "no id", ""} {
		if at, known := Made(s); known {
			t.Errorf("%q was made at %v", s, at)
		}
	}
}

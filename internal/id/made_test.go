package id

import (
	"testing"
	"time"
)

func TestAnIDKnowsWhenItWasMade(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	for _, s := range []string{New(), NewUnkept()} {
		at, known := Made(s)
		if !known || at.Before(before) || at.After(time.Now()) {
			t.Errorf("%s is made at %v, known %v, not after %v", s, at, known, before)
		}
	}
	for _, s := range []string{Derive("a"), "no id", ""} {
		if at, known := Made(s); known {
			t.Errorf("%q was made at %v", s, at)
		}
	}
}

func TestAnIDTellsOfWhatNothingIsKept(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{NewUnkept(): true, New(): false, Derive("a"): false, "": false, "00000000-0000-8": false} {
		if Unkept(s) != want {
			t.Errorf("of %q it is said that nothing is kept: %v", s, !want)
		}
	}
	if first, second := NewUnkept(), NewUnkept(); first >= second || !Valid(first) {
		t.Errorf("%s and %s are not in the order they were made in", first, second)
	}
}

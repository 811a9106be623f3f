package observed_test

import (
	"testing"

	"liminal/internal/model/observed"
)

// Requirements: OBS-09
func TestEachClassOfTokensHasItsPrice(t *testing.T) {
	t.Parallel()
	prices, err := observed.ReadPrices([]byte(`{"own": {"input": 2, "output": 8, "cache_read": 0.2, "cache_write": 2.5}, "free": {"input": 0}}`))
	if err != nil {
		t.Fatal(err)
	}
	million := int64(1_000_000)
	for _, c := range []struct {
		model string
		used  observed.Used
		want  float64
	}{
		{"claude-opus-5-5", observed.Used{Input: million}, 4},
		{"claude-opus-5-5", observed.Used{CacheRead: million}, 0.2},
		{"claude-opus-5-5", observed.Used{CacheWrite: million}, 5},
		{"claude-opus-5-5", observed.Used{CacheWrite1h: million}, 8},
		{"claude-opus-5-5", observed.Used{Output: million}, 20},
		{"own", observed.Used{CacheWrite1h: million}, 4}, // twice the input, where a list names none
		{"free", observed.Used{Input: million, CacheWrite1h: million}, 0},
		{"claude-haiku-5-5", observed.Used{Input: 50_000, CacheRead: 50_000, Output: million}, 0.5055},
		{"claude-haiku-5-5", observed.Used{Input: 50_001, CacheRead: 50_000, Output: million}, 2.5275005},
	} {
		got := prices.Of(c.model, c.used)
		if got == nil || *got < c.want-1e-9 || *got > c.want+1e-9 {
			t.Errorf("%s %+v costs %v, want %v", c.model, c.used, got, c.want)
		}
	}
	if got := prices.Of("nobody-1", observed.Used{Input: 1}); got != nil {
		t.Errorf("a model that nobody knows costs %v", *got)
	}
	for _, doc := range []string{`{"m": {"cache_write_1h": -1}}`, `{"m": {"long": {"above": 1, "input": -1}}}`} {
		if _, err := observed.ReadPrices([]byte(doc)); err == nil {
			t.Errorf("%s was taken", doc)
		}
	}
}

package model_test

import (
	"testing"

	"liminal/internal/model"
)

// Requirements: LORA-06, LORA-11 (prompt is a system overlay)
func TestAnAdapterFromBeforeModesHasTheOneItsBackendMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode, backend string
		instructed    bool
		want          string
	}{
		{"", "local", false, "local"},
		{"", "local", true, "hybrid"},
		{"", "api", false, "remote"},
		{"", "api", true, "remote"},
		{"", "remote", false, "remote"},
		{"", "prompt", true, "prompt"},
		{"", "hybrid", true, "hybrid"},
		{"", "", false, "hybrid"},
		{"prompt", "local", true, "prompt"},
		{"remote", "hybrid", true, "remote"},
	} {
		if got := model.ModeOf(c.mode, c.backend, c.instructed); got != c.want {
			t.Errorf("mode %q, backend %q, instructed %v is %s, want %s", c.mode, c.backend, c.instructed, got, c.want)
		}
	}
}

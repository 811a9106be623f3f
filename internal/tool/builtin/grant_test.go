package builtin_test

import (
	"slices"
	"testing"
)

// What is no step of the house's own and changes something is an act of whoever
// holds a key. A tool that is added stands here, or among the house's steps.
func TestEachToolThatActsNeedsTheScopeOfAKey(t *testing.T) {
	t.Parallel()
	acts := []string{"adapter.choose_v1", "adapter.compare_v1", "architect.propose_v1", "config.check_v1", "config.expire_v1", "config.rehearse_v1", "config.watch_v1", "files.write_v1", "mcp.import_v1", "speech.synthesize_v1"}
	for _, s := range specs(t) {
		if s.NeedsGrant() != slices.Contains(acts, s.Name) {
			t.Errorf("%s needs the scope tools of an access key: %v", s.Name, s.NeedsGrant())
		}
	}
}

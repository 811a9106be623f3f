package changes_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

// What the house read elsewhere because an administrator asked is nobody's writing: they
// may approve it themselves, as they may not what is theirs. That they asked stands in its
// history and counts against what they may propose.
//
// Requirements: CFG-02
func TestWhatTheHouseReadElsewhereIsApprovedByWhoAskedForIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	read := changes.Proposal{
		Changes:       []changes.ProposedChange{{Create: &artifacts.Draft{Type: "workflow", Name: "read", Visibility: artifacts.Global, Schema: json.RawMessage(sorts)}}},
		Justification: "It was read elsewhere.",
	}
	for who, v := range map[string]identity.Viewer{"a power user": h.pat, "a user": h.ann, "nobody": {}} {
		if p, err := h.ProposeFetched(t.Context(), v, read); !errors.Is(err, fault.Forbidden) || p.ID != 0 {
			t.Errorf("%s: %+v, %v", who, p, err)
		}
	}
	h.limits.spent = nil
	made, err := h.ProposeFetched(t.Context(), h.root, read)
	h.must(err)
	if made.Proposer != changes.ByModel || made.UserID != "" || made.Changes[0].Name != "read" || !made.Changes[0].Creates {
		t.Errorf("%+v", made)
	}
	if story := h.story(made.ID); story[0] != "proposed by root" || slices.Contains(h.limits.spent, quota.ModelProposals().Name) || len(h.limits.spent) == 0 {
		t.Errorf("its history is %v; spent is %v", story, h.limits.spent)
	}
	_, err = h.Decide(t.Context(), h.root, made.ID, changes.Decision{Approve: true, Confirm: "read"})
	h.must(err)
	applied, err := h.Apply(t.Context(), h.root, made.ID, changes.RolloutPlan{})
	h.must(err)
	a, err := h.library.Named(t.Context(), h.root, "workflow", "read")
	h.must(err)
	if applied.Status != changes.Applied || a.IsDraft() || a.OwnerID != "" {
		t.Errorf("it is %s, and %+v", applied.Status, a)
	}
	// Their own they do not approve.
	own := h.propose(h.root, patch(a, addsABranch))
	if _, err := h.Decide(t.Context(), h.root, own.ID, changes.Decision{Approve: true, Confirm: "read"}); !errors.Is(err, fault.Forbidden) {
		t.Errorf("their own: %v", err)
	}
	h.limits.empty = true
	if _, err := h.ProposeFetched(t.Context(), h.root, changes.Proposal{ArtifactID: a.ID, Patch: json.RawMessage(addsABranch), Justification: "It was read once more."}); !errors.Is(err, fault.RateLimited) {
		t.Errorf("more than they may propose: %v", err)
	}
}

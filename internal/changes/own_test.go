package changes_test

import (
	"encoding/json"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
)

// Requirements: CFG-02, ISO-01, ART-08
func TestAPersonsOwnArtifactGoesTheSameWay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	own := h.create(h.ann, "workflow", "mine", sorts)
	view := h.propose(h.ann, patch(own, addsABranch))
	if view.Stage != changes.Deciding || view.After[0].After == nil || view.ProposedBy != "ann" {
		t.Fatalf("at %s: %+v", view.Stage, view.After)
	}
	_, err := h.Get(t.Context(), h.pat, view.ID)
	code(t, "seen by another", err, fault.NotFound)
	mine, _, err := h.List(t.Context(), h.ann, changes.Filter{})
	h.must(err)
	others, _, err := h.List(t.Context(), h.pat, changes.Filter{})
	h.must(err)
	if len(mine) != 1 || len(others) != 0 {
		t.Errorf("listed %d and %d", len(mine), len(others))
	}
	_, err = h.Decide(t.Context(), h.root, view.ID, changes.Decision{Approve: true})
	h.must(err)
	_, err = h.Apply(t.Context(), h.root, view.ID, changes.RolloutPlan{})
	h.must(err)
	if now := h.artifact(h.ann, own.ID); now.Version != 2 || now.OwnerID != h.ann.UserID {
		t.Errorf("version %d of %s", now.Version, now.OwnerID)
	}
	_, err = h.RollBack(t.Context(), h.root, view.ID, "no")
	h.must(err)
	if now := h.artifact(h.ann, own.ID); now.Version != 3 {
		t.Errorf("version %d", now.Version)
	}
	_, err = h.library.Get(t.Context(), h.root, own.ID)
	code(t, "an administrator's by having decided", err, fault.NotFound)
}

// A patch is told of what it brings and hardly means, and is decided on all the
// same.
func TestAPatchIsWarnedOfWhatItBrings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts) // to its node "short" nothing leads
	view := h.propose(h.pat, patch(a, `[{"op": "replace", "path": "/nodes/0/branches/1/when", "value": "search.count > 3"},
		{"op": "add", "path": "/nodes/0", "value": {"id": "search", "type": "tool_call", "tool": "rag.search_v1",
			"inputs": {"question": "${input.message}", "dir": "reports"}, "when": "input.deep == true", "next": "way"}},
		{"op": "replace", "path": "/entrypoint", "value": "search"}]`))
	if view.Stage != changes.Deciding || states(view.Checks) != "schema ok;references warning;expressions warning;limits ok;rehearsal ok;" {
		t.Errorf("%s at %s: %s", view.Status, view.Stage, states(view.Checks))
	}
	if said := problemsOf(view.Checks); !strings.Contains(said, `takes no input "dir"`) || !strings.Contains(said, "has no answer when node") || strings.Contains(said, "nothing leads to") {
		t.Errorf("it is warned of: %s", said)
	}
}

// What an administrator applies is checked as its owner's, who may not use what
// administrators may.
//
// Requirements: TOOL-05, PLAT-07 (what a document asks for is bounded), CFG-08 (tool names)
func TestAPatchGivesNobodyWhatTheirArtifactsMayNotHave(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	own := h.create(h.ann, "workflow", "mine", sorts)
	for ops, says := range map[string]string{
		`[{"op": "add", "path": "/nodes/-", "value": {"id": "x", "type": "tool_call", "tool": "config.watch_v1", "inputs": {"patch_id": 1}}}]`: "is privileged",
		`[{"op": "add", "path": "/max_steps", "value": 5000}]`:                                                                                 "the most is 256",
	} {
		if view := h.propose(h.ann, patch(own, ops)); view.Status != changes.Invalid || !strings.Contains(problemsOf(view.Checks), says) {
			t.Errorf("%s: %s, %s", ops, view.Status, problemsOf(view.Checks))
		}
	}
	all := h.create(h.root, "workflow", "sorts", sorts)
	secret := h.create(h.root, "workflow", "shared", sorts)
	private, err := h.library.Create(t.Context(), h.pat, artifacts.Draft{Type: "workflow", Name: "pats", Schema: json.RawMessage(sorts)})
	h.must(err)
	for name, one := range map[string]struct {
		child  string
		status changes.Status
	}{"everybody's": {secret.Name, changes.Pending}, "the proposer's own": {private.Name, changes.Invalid}} {
		ops := `[{"op": "add", "path": "/nodes/-", "value": {"id": "x", "type": "workflow", "workflow": "` + one.child + `"}}]`
		if view := h.propose(h.pat, patch(all, ops)); view.Status != one.status {
			t.Errorf("everybody's workflow that runs %s: %s %s", name, view.Status, problemsOf(view.Checks))
		}
	}
}

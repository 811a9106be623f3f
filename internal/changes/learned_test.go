package changes_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

const persona = `{"kind":"adapter.lora","mode":"hybrid","scope":"per-user","type":"persona"}`

// learnt is a proposal of a new adapter of ann's.
func learnt() changes.Proposal {
	return changes.Proposal{
		Changes:       []changes.ProposedChange{{Create: &artifacts.Draft{Type: "adapter", Name: "persona", Visibility: artifacts.Global, Schema: json.RawMessage(persona)}}},
		Justification: "Shorter answers, from 3 notes.",
	}
}

const gate = "gate of policy.learning v1"

// Requirements: CFG-16, CFG-13
func TestWhatIsLearntIsAppliedByRuleAndTakenBackByItsPerson(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p, err := h.ProposeLearned(t.Context(), h.ann, learnt())
	h.must(err)
	if !slices.Contains(h.limits.spent, quota.LearnedProposals().Name) || len(h.limits.spent) != 1 {
		t.Errorf("spent %v", h.limits.spent)
	}
	p, err = h.ByRule(t.Context(), p.ID, gate, "9 better, 1 worse")
	h.must(err)
	a := h.artifact(h.ann, p.Changes[0].ArtifactID)
	if p.Status != changes.Applied || p.Stage != changes.Settled || a.OwnerID != h.ann.UserID || a.IsDraft() || a.Version != 2 {
		t.Fatalf("%s at %s; version %d of %q", p.Status, p.Stage, a.Version, a.OwnerID)
	}
	again, err := h.ByRule(t.Context(), p.ID, gate, "")
	h.must(err)
	if again.Status != changes.Applied || h.artifact(h.ann, a.ID).Version != 2 {
		t.Errorf("the second time it is %s", again.Status)
	}
	if story := strings.Join(h.story(p.ID), "; "); story != "proposed by Liminal; checked by Liminal; rehearsed by Liminal; approved by "+gate+"; applied by "+gate {
		t.Errorf("its way: %s", story)
	}
	if open := h.open(); len(open) != 0 {
		t.Errorf("%d questions of its workflow are open", len(open))
	}
	_, err = h.RollBack(t.Context(), h.pat, p.ID, "no")
	code(t, "taken back by another", err, fault.NotFound)
	back, err := h.RollBack(t.Context(), h.ann, p.ID, "I want them long")
	h.must(err)
	if a := h.artifact(h.ann, a.ID); back.Status != changes.RolledBack || !a.IsDraft() {
		t.Errorf("%s, draft %v", back.Status, a.IsDraft())
	}
	_, err = h.ProposeLearned(t.Context(), h.ann, learnt()) // the draft is taken up again
	h.must(err)
}

// Requirements: CFG-04, CFG-05
func TestAPersonDecidesWhatIsLearntFromThem(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p, err := h.ProposeLearned(t.Context(), h.ann, learnt())
	h.must(err)
	view, err := h.Get(t.Context(), h.ann, p.ID)
	h.must(err)
	if view.ProposedBy != "Liminal" {
		t.Errorf("proposed by %s", view.ProposedBy)
	}
	if !view.May.Approve.OK || !view.May.Reject.OK || view.Stage != changes.Deciding {
		t.Fatalf("at %s the person may %+v", view.Stage, view.May)
	}
	_, err = h.Decide(t.Context(), h.ann, p.ID, changes.Decision{Approve: true})
	h.must(err)
	applied, err := h.Apply(t.Context(), h.ann, p.ID, changes.RolloutPlan{})
	h.must(err)
	if a := h.artifact(h.ann, p.Changes[0].ArtifactID); applied.Status != changes.Applied || a.IsDraft() {
		t.Errorf("%s, draft %v", applied.Status, a.IsDraft())
	}
}

// Requirements: CFG-02, CFG-13
func TestNoRuleApprovesWhatWasNotLearntFromAPerson(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	global := h.create(h.root, "adapter", "house", persona)
	flow := h.create(h.ann, "workflow", "mine", sorts)
	for what, p := range map[string]changes.Proposal{
		"everybody's adapter": patch(global, `[{"op":"add","path":"/weight","value":0.5}]`),
		"a workflow":          patch(flow, addsABranch),
	} {
		_, err := h.ProposeLearned(t.Context(), h.ann, p)
		code(t, what, err, fault.Forbidden)
	}
	own := h.propose(h.ann, patch(flow, addsABranch)) // by the person themselves
	_, err := h.ByRule(t.Context(), own.ID, gate, "")
	code(t, "a person's own proposal", err, fault.Forbidden)
	_, err = h.Decide(t.Context(), h.ann, own.ID, changes.Decision{Approve: true})
	code(t, "decided by who proposed it", err, fault.Forbidden)
	house := h.propose(identity.Steward(), patch(global, `[{"op":"add","path":"/weight","value":0.5}]`))
	_, err = h.ByRule(t.Context(), house.ID, gate, "")
	code(t, "the architect's", err, fault.Forbidden)
	m := changes.Transition{PatchID: house.ID, Status: changes.Approved, Approval: &changes.Approval{UserID: identity.SystemAccount}}
	_, err = changes.Advance(house.Patch, m, h.clock())
	code(t, "the system's yes", err, fault.Forbidden)
}

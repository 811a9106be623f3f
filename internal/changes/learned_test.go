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

// half is a trial on half of the runs.
var half = changes.RolloutPlan{Share: 50, Hours: 24, RollBack: true}

// Requirements: CFG-16, CFG-13
func TestWhatIsLearntIsAppliedByRuleAndTakenBackByItsPerson(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p, err := h.ProposeLearned(t.Context(), h.ann, learnt())
	h.must(err)
	if !slices.Contains(h.limits.spent, quota.LearnedProposals().Name) || len(h.limits.spent) != 1 {
		t.Errorf("spent %v", h.limits.spent)
	}
	p, err = h.ByRule(t.Context(), p.ID, changes.Ruling{Rule: gate, Reason: "9 better, 1 worse"}, half)
	h.must(err)
	a := h.artifact(h.ann, p.Changes[0].ArtifactID)
	if p.Status != changes.Applied || p.Stage != changes.Settled || a.OwnerID != h.ann.UserID || a.IsDraft() || a.Version != 2 {
		t.Fatalf("%s at %s; version %d of %q", p.Status, p.Stage, a.Version, a.OwnerID)
	}
	again, err := h.ByRule(t.Context(), p.ID, changes.Ruling{Rule: gate}, half)
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
	_, err := h.ByRule(t.Context(), own.ID, changes.Ruling{Rule: gate}, half)
	code(t, "a person's own proposal", err, fault.Forbidden)
	_, err = h.Decide(t.Context(), h.ann, own.ID, changes.Decision{Approve: true})
	code(t, "decided by who proposed it", err, fault.Forbidden)
	house := h.propose(identity.Steward(), patch(global, `[{"op":"add","path":"/weight","value":0.5}]`))
	_, err = h.ByRule(t.Context(), house.ID, changes.Ruling{Rule: gate}, half)
	code(t, "the architect's", err, fault.Forbidden)
	m := changes.Transition{PatchID: house.ID, Status: changes.Approved, Approval: &changes.Approval{UserID: identity.SystemAccount}}
	_, err = changes.Advance(house.Patch, m, h.clock())
	code(t, "the system's yes", err, fault.Forbidden)
}

// one is an adapter of ann's that was learnt, in use.
func (h *house) one() artifacts.Artifact {
	h.Helper()
	p, err := h.ProposeLearned(h.Context(), h.ann, learnt())
	h.must(err)
	_, err = h.ByRule(h.Context(), p.ID, changes.Ruling{Rule: gate}, half)
	h.must(err)
	return h.artifact(h.ann, p.Changes[0].ArtifactID)
}

// next is the next change that is learnt for an adapter, as far as a rule may
// move it.
func (h *house) next(a artifacts.Artifact, ops string) changes.Patch {
	h.Helper()
	p, err := h.ProposeLearned(h.Context(), h.ann, patch(a, ops))
	h.must(err)
	p, err = h.ByRule(h.Context(), p.ID, changes.Ruling{Rule: gate}, half)
	h.must(err)
	return p
}

// What a person's adapter becomes takes half of their conversations first. What
// is learnt meanwhile waits, also for a program that was killed: a sweep goes
// on with it.
func TestWhatARuleAppliesIsTriedFirstAndTheNextWaitsForIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.one()
	if a.Rollout != nil {
		t.Errorf("with nothing to compare with it is on trial: %+v", a.Rollout)
	}
	first := h.next(a, `[{"op":"add","path":"/weight","value":0.5}]`)
	a = h.artifact(h.ann, a.ID)
	if first.Stage != changes.Watching || !first.RolloutPlan.RollBack || a.Rollout == nil || a.Rollout.Share != 50 || a.Rollout.From != 2 {
		t.Fatalf("%s at %s by %+v: %+v", first.Status, first.Stage, first.RolloutPlan, a.Rollout)
	}
	second := h.next(a, `[{"op":"add","path":"/weight","value":0.75}]`)
	if second.Status != changes.Approved {
		t.Fatalf("during a trial the next is %s", second.Status)
	}
	tend := func() changes.Patch {
		t.Helper()
		_, err := h.Tend(t.Context())
		h.must(err)
		return h.look(second.ID).Patch
	}
	if p := tend(); p.Status != changes.Approved {
		t.Errorf("the sweep made it %s", p.Status)
	}
	_, err := h.Promote(t.Context(), h.pat, first.ID)
	code(t, "ended by another", err, fault.NotFound)
	_, err = h.Promote(t.Context(), h.ann, first.ID)
	h.must(err)
	if p := tend(); p.Status != changes.Applied || p.ByRule() != gate {
		t.Errorf("after the trial it is %s by %q", p.Status, p.ByRule())
	}
	if a := h.artifact(h.ann, a.ID); a.Version != 4 || a.Rollout == nil || a.Rollout.From != 3 {
		t.Errorf("version %d on trial %+v", a.Version, a.Rollout)
	}
	third := h.next(h.artifact(h.ann, a.ID), `[{"op":"add","path":"/weight","value":1}]`)
	_, err = h.RollBack(t.Context(), h.ann, second.ID, "no")
	h.must(err)
	_, err = h.Tend(t.Context())
	h.must(err)
	if p := h.look(third.ID); p.Status != changes.Withdrawn || h.artifact(h.ann, a.ID).Version != 5 {
		t.Errorf("made for a version that was taken back, it is %s", p.Status)
	}
}

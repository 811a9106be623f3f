package changes_test

import (
	"sync"
	"testing"

	"liminal/internal/changes"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
)

// together does things at the same moment and counts those that succeed.
func together(acts ...func() error) (done int) {
	var wg sync.WaitGroup
	results := make([]error, len(acts))
	start := make(chan struct{})
	for i, act := range acts {
		wg.Go(func() {
			<-start
			results[i] = act()
		})
	}
	close(start)
	wg.Wait()
	for _, err := range results {
		if err == nil {
			done++
		}
	}
	return done
}

// Requirements: CFG-04, CFG-05, CFG-06
func TestOfActsAtTheSameMomentOneCounts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	decide := func(v identity.Viewer, id int64, c changes.Decision) func() error {
		return func() error { _, err := h.Decide(t.Context(), v, id, c); return err }
	}
	view := h.propose(h.pat, patch(a, addsABranch))
	yes, no := changes.Decision{Approve: true}, changes.Decision{Reason: "no"}
	if n := together(decide(h.root, view.ID, yes), decide(h.eve, view.ID, no), func() error {
		_, err := h.Withdraw(t.Context(), h.pat, view.ID, "")
		return err
	}); n != 1 && (n != 2 || h.look(view.ID).Status != changes.Withdrawn) { // what is approved may be withdrawn
		t.Errorf("%d of three acts count: %s", n, h.look(view.ID).Status)
	}
	first, second := h.approved(patch(a, addsABranch)), h.approved(patch(a, renames))
	apply := func(id int64) func() error {
		return func() error { _, err := h.Apply(t.Context(), h.root, id, changes.RolloutPlan{Hours: 1}); return err }
	}
	if n := together(apply(first), apply(first), apply(second), apply(second)); n != 1 || h.artifact(h.root, a.ID).Version != 2 {
		t.Errorf("%d of four apply, version %d", n, h.artifact(h.root, a.ID).Version)
	}
}

// Requirements: CFG-04, CFG-11
func TestTwoWhoApproveAtTheSameMomentAreTwo(t *testing.T) {
	t.Parallel()
	for range 5 {
		h := newHouse(t)
		a := h.create(h.root, "workflow", "sorts", guarded("second"))
		h.record(a, "hi", "pear")
		view := h.propose(h.pat, patch(a, addsABranch))
		yes := changes.Decision{Approve: true}
		if n := together(
			func() error { _, err := h.Decide(t.Context(), h.root, view.ID, yes); return err },
			func() error { _, err := h.Decide(t.Context(), h.eve, view.ID, yes); return err },
		); n != 2 || h.look(view.ID).Verdict != rehearsal.Second {
			t.Errorf("%d of two approve", n)
		}
		if got := h.look(view.ID); got.Status != changes.Approved || len(got.Approvals) != 2 {
			t.Errorf("it is %s with %d approvals", got.Status, len(got.Approvals))
		}
	}
}

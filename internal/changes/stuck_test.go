package changes_test

import (
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// lost ends a patch's run as it ends when an operator terminates its workflow,
// or when its graph fails.
func (h *house) lost(id int64) {
	h.Helper()
	h.must(h.store.EndRun(h.Context(), identity.Steward(), h.look(id).RunID, run.End{Status: run.Failed}))
}

func (h *house) tend() {
	h.Helper()
	_, err := h.Tend(h.Context())
	h.must(err)
}

// Requirements: CFG-04, CFG-05, CFG-15
func TestAPatchWhoseWorkflowIsLostIsDecidedAppliedAndTakenBackAllTheSame(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	id := h.propose(h.pat, patch(a, addsABranch)).ID
	h.lost(id)
	h.tend()
	_, err := h.Decide(t.Context(), h.root, id, changes.Decision{Approve: true})
	h.must(err)
	h.tend()
	_, err = h.Apply(t.Context(), h.root, id, changes.RolloutPlan{Hours: 1})
	h.must(err)
	if got := h.look(id); got.Stage != changes.Watching {
		t.Errorf("applied it is %s at %s", got.Status, got.Stage)
	}
	h.tend()
	_, err = h.RollBack(t.Context(), h.root, id, "too long")
	h.must(err)
	if h.artifact(h.root, a.ID).Version != 3 {
		t.Error("it was not taken back")
	}
}

// Requirements: CFG-04, CFG-05, CFG-11
func TestAPatchWhoseWorkflowIsLostStillComesToItsEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	h.slow = true // its check never happens
	unchecked := h.propose(h.pat, patch(a, addsABranch)).ID
	h.slow = false
	undecided := h.propose(h.pat, patch(a, addsABranch)).ID
	watched := h.applied(patch(a, addsABranch), changes.RolloutPlan{Hours: 24, Share: 10, RollBack: true})
	alive := h.propose(h.pat, patch(h.artifact(h.root, a.ID), `[{"op": "add", "path": "/title", "value": "T"}]`)).ID
	for _, id := range []int64{unchecked, undecided, watched} {
		h.lost(id)
	}
	h.tend()
	for id, want := range map[int64]changes.Status{unchecked: changes.Expired, undecided: changes.Pending, watched: changes.Applied} {
		if got := h.look(id).Status; got != want {
			t.Errorf("patch %d is %s, want %s", id, got, want)
		}
	}
	h.happen(a, 1, 40, 1)
	h.happen(a, 2, 40, 30)
	h.tend()
	if got := h.look(watched).Status; got != changes.RolledBack {
		t.Errorf("its rule is met and it is %s", got)
	}
	h.pass(changes.Waits + time.Hour)
	h.tend()
	if got := h.look(undecided).Status; got != changes.Expired {
		t.Errorf("after its time it is %s", got)
	}
	if got := h.look(alive); got.Status != changes.Pending {
		t.Errorf("one whose workflow looks after it is %s", got.Status)
	}
	if n, err := h.Tend(t.Context()); n != 0 || err != nil {
		t.Errorf("%d are to be looked after, %v", n, err)
	}
}

// Requirements: DATA-01, CFG-05
func TestAWorkflowWhosePatchIsGoneEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, stage := range []changes.Stage{changes.Deciding, changes.Applying} {
		if got, err := h.StepExpire(t.Context(), 77, stage); got != changes.Expired || err != nil {
			t.Errorf("a patch that is gone is %s, %v", got, err)
		}
	}
	if look, err := h.StepWatch(t.Context(), 77); !look.Over || err != nil {
		t.Errorf("%+v, %v", look, err)
	}
	if got, err := h.StepRehearse(t.Context(), 77); got.Open || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := h.StepCheck(t.Context(), 77); got.OK || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	_, err := h.Get(t.Context(), h.root, 77)
	code(t, "the patch", err, fault.NotFound)
}

// A rule that is met minutes after a version was applied is not left for an
// hour: in its first hour it is looked at every five minutes.
//
// Requirements: CFG-05
func TestABadVersionIsTakenBackWithinMinutes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	id := h.applied(patch(a, addsABranch), changes.RolloutPlan{Hours: 24, Share: 50, RollBack: true})
	applied := h.clock()
	h.timeIsUp()
	h.happen(a, 1, 40, 1)
	h.happen(a, 2, 40, 30)
	h.timeIsUp()
	if got := h.look(id).Status; got != changes.RolledBack || h.clock().Sub(applied) > 11*time.Minute {
		t.Errorf("after %s it is %s", h.clock().Sub(applied), got)
	}
}

// What ships and was changed and taken back is what ships again: the next
// program brings it up to date.
//
// Requirements: ART-07, ART-10
func TestWhatIsTakenBackToWhatShipsIsBroughtUpToDateAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a, err := h.library.Workflow(t.Context(), h.root, artifacts.DefaultWorkflow)
	h.must(err)
	id := h.applied(patch(a, `[{"op": "add", "path": "/title", "value": "T"}]`), changes.RolloutPlan{Hours: 1})
	if got := h.artifact(h.root, a.ID).CreatedBy; got != "user" {
		t.Errorf("changed by %q", got)
	}
	_, err = h.RollBack(t.Context(), h.root, id, "as it was")
	h.must(err)
	if got := h.artifact(h.root, a.ID); got.CreatedBy != "system" || got.Version != a.Version+2 {
		t.Errorf("version %d is by %q", got.Version, got.CreatedBy)
	}
}

package changes_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/run"
)

// happen adds the heads of n runs of a version, of which some failed.
func (h *house) happen(a artifacts.Artifact, version, n, failed int) {
	h.Helper()
	for i := range n {
		rec := run.Recording{
			RunID: id.New(), UserID: h.ann.UserID, Kind: run.KindChat, Graph: run.Pin{ArtifactID: a.ID, Version: version},
			Status: run.Done, At: h.clock(), CostUSD: 0.01, MS: int64(1000 + i),
		}
		if i < failed {
			rec.Status, rec.Node, rec.Code = run.Failed, "answer", "server_error"
		}
		h.records.list = append(h.records.list, rec)
	}
}

// Requirements: CFG-05, PLAT-08, CFG-11
func TestAVersionOnTrialTakesItsShareAndIsPromoted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	_, err := h.Apply(t.Context(), h.root, h.approved(patch(a, addsABranch)), changes.RolloutPlan{Share: 101})
	code(t, "more than all", err, fault.Invalid)
	id := h.applied(patch(a, addsABranch), changes.RolloutPlan{Share: 20})
	now := h.artifact(h.ann, a.ID)
	if now.Version != 2 || now.Rollout == nil || *now.Rollout != (artifacts.Rollout{Patch: id, From: 1, Share: 20, Since: now.Rollout.Since}) {
		t.Fatalf("version %d on trial: %+v", now.Version, now.Rollout)
	}
	took := 0
	for i := range 1000 {
		got, err := h.library.ResolveVersion(t.Context(), h.ann, now, fmt.Sprint("conversation", i))
		h.must(err)
		again, err := h.library.ResolveVersion(t.Context(), h.ann, now, fmt.Sprint("conversation", i))
		h.must(err)
		if got.Version != again.Version {
			t.Fatal("a conversation flips between versions")
		}
		took += got.Version - 1
	}
	if took < 150 || took > 250 {
		t.Errorf("%d of 1000 conversations take a share of 20 %%", took)
	}
	view := h.look(id)
	if view.RolloutPlan.Hours != changes.WatchHours || view.Stage != changes.Watching || !view.May.Promote.OK {
		t.Errorf("the trial is %+v at %s", view.RolloutPlan, view.Stage)
	}
	other := h.approved(patch(now, `[{"op": "add", "path": "/title", "value": "T"}]`))
	_, err = h.Apply(t.Context(), h.root, other, changes.RolloutPlan{})
	code(t, "applied over a trial", err, fault.Conflict)
	_, err = h.Promote(t.Context(), h.pat, id)
	code(t, "promoted by who proposed", err, fault.Forbidden)
	p, err := h.Promote(t.Context(), h.root, id)
	h.must(err)
	if p.Stage != changes.Settled || p.Status != changes.Applied || h.artifact(h.root, a.ID).Rollout != nil {
		t.Errorf("promoted it is %s at %s", p.Status, p.Stage)
	}
	if len(h.open()) != 2 { // those of the other patches
		t.Errorf("%d questions are open", len(h.open()))
	}
	_, err = h.Apply(t.Context(), h.root, other, changes.RolloutPlan{})
	h.must(err)
}

// Requirements: ART-07, CFG-16, PLAT-08
func TestTakingBackIsANewVersionWithAReason(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	id := h.applied(patch(a, addsABranch), changes.RolloutPlan{Share: 50, Hours: 2})
	_, err := h.RollBack(t.Context(), h.root, id, " ")
	code(t, "without a reason", err, fault.Invalid)
	p, err := h.RollBack(t.Context(), h.eve, id, "People were confused.")
	h.must(err)
	now := h.artifact(h.root, a.ID)
	if p.Status != changes.RolledBack || now.Version != 3 || string(now.Schema) != string(a.Schema) || now.Rollout != nil || len(h.open()) != 0 {
		t.Errorf("%s: version %d, %+v, %d questions", p.Status, now.Version, now.Rollout, len(h.open()))
	}
	versions, err := h.library.Versions(t.Context(), h.root, a.ID)
	h.must(err)
	i := slices.IndexFunc(versions, func(v artifacts.Version) bool { return v.Version == 3 })
	if len(versions) != 3 || versions[i].ChangeNote != "back to version 1: People were confused." {
		t.Errorf("the versions are %+v", versions)
	}
	_, err = h.RollBack(t.Context(), h.root, id, "again")
	code(t, "taken back twice", err, fault.Conflict)

	id = h.applied(patch(now, addsABranch), changes.RolloutPlan{Hours: 1})
	_, err = h.library.Patch(t.Context(), h.root, a.ID, artifacts.Change{Patch: json.RawMessage(`[{"op": "add", "path": "/title", "value": "T"}]`)})
	h.must(err)
	_, err = h.RollBack(t.Context(), h.root, id, "late")
	code(t, "what came after would be undone", err, fault.Conflict)
	if may := h.look(id).May.RollBack; may.OK || !strings.Contains(may.Why, "came after") {
		t.Errorf("may take it back: %+v", may)
	}
	if h.artifact(h.root, a.ID).Version != 5 {
		t.Error("something has changed")
	}
}

// What is taken back is decided on as what is approved is. Who proposed it may
// apply it, once somebody else has approved it.
//
// Requirements: CFG-04, CFG-16, ART-07
func TestNobodyTakesBackAPatchOfTheirOwn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	view := h.propose(h.eve, patch(a, addsABranch))
	_, err := h.Decide(t.Context(), h.root, view.ID, changes.Decision{Approve: true, Confirm: a.Name})
	h.must(err)
	_, err = h.Apply(t.Context(), h.eve, view.ID, changes.RolloutPlan{Hours: 1})
	h.must(err)
	_, err = h.RollBack(t.Context(), h.eve, view.ID, "I have thought about it.")
	code(t, "taken back by who proposed it", err, fault.Forbidden)
	own, err := h.Get(t.Context(), h.eve, view.ID)
	h.must(err)
	if may := own.May.RollBack; may.OK || !strings.Contains(may.Why, "a patch of their own") {
		t.Errorf("its proposer may take it back: %+v", may)
	}
	if may := h.look(view.ID).May.RollBack; !may.OK || h.artifact(h.root, a.ID).Version != 2 {
		t.Errorf("another administrator may not: %+v", may)
	}
	_, err = h.RollBack(t.Context(), h.root, view.ID, "So have I.")
	h.must(err)
}

// Requirements: CFG-11, CFG-16, ART-07
func TestAVersionIsTakenBackByRuleAndSaysWhy(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", strings.Replace(sorts, `"entrypoint"`,
		`"rehearsal": {"roll_back": [{"when": "runs.after >= 20 and failed_share.after > failed_share.before + 0.05", "say": "more runs fail"}]}, "entrypoint"`, 1))
	id := h.applied(patch(a, addsABranch), changes.RolloutPlan{Share: 50, Hours: 24, RollBack: true})
	h.happen(a, 1, 50, 6)
	h.happen(a, 2, 19, 19)
	h.timeIsUp() // an hour has passed: too few runs to tell
	if got := h.look(id); got.Status != changes.Applied {
		t.Fatalf("by 19 runs it is %s", got.Status)
	}
	h.happen(a, 2, 21, 0)
	h.timeIsUp()
	view := h.look(id)
	now := h.artifact(h.root, a.ID)
	if view.Status != changes.RolledBack || now.Version != 3 || string(now.Schema) != string(a.Schema) || len(h.open()) != 0 {
		t.Fatalf("%s, version %d, %d questions", view.Status, now.Version, len(h.open()))
	}
	last := view.Events[len(view.Events)-1]
	if last.What != "rolled_back" || last.Name != "Liminal" || last.UserID != "" ||
		last.Reason != `The rule "more runs fail" was met, by 40 runs and 50 before: failures 12 % → 48 % (95 %: 33–63 %).` {
		t.Errorf("it says %+v", last)
	}
	var data struct {
		Runs changes.TwoOf
		Why  []struct {
			Code, Text string
			Data       struct {
				Runs changes.TwoOf
				Rows []changes.Row
			}
		}
	}
	seen := changes.TwoOf{Before: 50, After: 40}
	if err := json.Unmarshal(last.Data, &data); err != nil || data.Runs != seen || len(data.Why) != 1 || data.Why[0].Code != "rule_met" || data.Why[0].Text != last.Reason ||
		data.Why[0].Data.Runs != seen || len(data.Why[0].Data.Rows) != 1 || data.Why[0].Data.Rows[0].Name != "failed_share" {
		t.Errorf("its figures are %s", last.Data)
	}
	w, err := h.Watch(t.Context(), h.root, id)
	h.must(err)
	if !w.Over || len(w.Rules) != 1 || !w.Rules[0].Met || w.Rows[0].Worse == nil || !*w.Rows[0].Worse || w.Versions != (changes.TwoOf{Before: 1, After: 2}) {
		t.Errorf("the watch shows %+v", w)
	}
}

// Requirements: CFG-11
func TestARuleThatIsMetIsOnlyToldWhereNobodyAskedToGoBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	h.happen(a, 1, 40, 0)
	h.pass(time.Minute)
	id := h.applied(patch(a, addsABranch), changes.RolloutPlan{Hours: 2})
	h.happen(a, 2, 40, 20)
	h.timeIsUp()
	look, err := h.StepWatch(t.Context(), id)
	h.must(err)
	if look.Over || look.Verdict != "worse" || !strings.Contains(look.Said, "failures 0 % → 50 %") {
		t.Errorf("the look says %+v", look)
	}
	w, err := h.Watch(t.Context(), h.root, id)
	h.must(err)
	if w.Runs.Before != 40 || !w.Earlier.Until.Equal(w.Since) { // as many hours before, because all runs take the new one
		t.Errorf("compared are %+v of %+v", w.Runs, w.Earlier)
	}
	for h.look(id).Stage == changes.Watching {
		h.timeIsUp()
	}
	view := h.look(id)
	if view.Status != changes.Applied || view.Stage != changes.Settled || h.artifact(h.root, a.ID).Version != 2 || len(h.open()) != 0 {
		t.Errorf("in the end %s at %s", view.Status, view.Stage)
	}
	if got := h.story(id); got[len(got)-1] != "watched by Liminal" {
		t.Errorf("its story is %v", got)
	}
	if look, err := h.StepWatch(t.Context(), id); err != nil || !look.Over {
		t.Errorf("it is watched on: %+v, %v", look, err)
	}
}

// Requirements: CFG-11
func TestARuleThatComparesIsNotMetWhereThereIsNothingToCompareWith(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", strings.Replace(sorts, `"entrypoint"`,
		`"rehearsal": {"roll_back": [
			{"when": "runs.after >= 20 and failed_share.after > failed_share.before + 0.05"},
			{"when": "failed_share.after > 0.5"}]}, "entrypoint"`, 1))
	id := h.applied(patch(a, addsABranch), changes.RolloutPlan{Share: 50, Hours: 24, RollBack: true})
	h.happen(a, 2, 40, 10)
	h.timeIsUp()
	w, err := h.Watch(t.Context(), h.root, id)
	h.must(err)
	if len(w.Rules) != 2 || w.Rules[0].Met || w.Rules[1].Met || w.Over {
		t.Errorf("by a quarter of failures the rules say %+v", w.Rules)
	}
	h.happen(a, 2, 40, 40)
	h.timeIsUp()
	if view := h.look(id); view.Status != changes.RolledBack {
		t.Errorf("by a rule that compares with nothing it is %s", view.Status)
	}
}

// Requirements: CFG-11
func TestAWorseVersionIsNotGivenToAllByTimeAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	id := h.applied(patch(a, addsABranch), changes.RolloutPlan{Share: 50, Hours: 1})
	h.happen(a, 1, 40, 0)
	h.happen(a, 2, 40, 20)
	h.pass(2 * time.Hour)
	h.timeIsUp()
	if view := h.look(id); view.Stage != changes.Watching || h.artifact(h.root, a.ID).Rollout == nil || len(h.open()) != 1 {
		t.Fatalf("at %s, on trial: %+v", view.Stage, h.artifact(h.root, a.ID).Rollout)
	}
	_, err := h.Promote(t.Context(), h.root, id)
	h.must(err)
	if view := h.look(id); view.Stage != changes.Settled || h.artifact(h.root, a.ID).Rollout != nil || len(h.open()) != 0 {
		t.Errorf("promoted it is at %s", view.Stage)
	}
}

// Requirements: CFG-05
func TestTheEndOfAWatchEndsNobodyElsesTrial(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	first := h.applied(patch(a, addsABranch), changes.RolloutPlan{Share: 50, Hours: 1})
	_, err := h.library.Patch(t.Context(), h.root, a.ID, artifacts.Change{Patch: json.RawMessage(`[{"op": "add", "path": "/title", "value": "T"}]`)})
	h.must(err)
	second := h.applied(patch(a, `[{"op": "replace", "path": "/title", "value": "U"}]`), changes.RolloutPlan{Share: 50, Hours: 24})
	h.pass(2 * time.Hour)
	_, err = h.StepWatch(t.Context(), first)
	h.must(err)
	if r := h.artifact(h.root, a.ID).Rollout; h.look(first).Stage != changes.Settled || r == nil || r.Patch != second {
		t.Errorf("on trial is %+v", r)
	}
}

// Requirements: CFG-11
func TestARuleDoesNotUndoWhatCameAfter(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	h.happen(a, 1, 40, 0)
	h.pass(time.Minute)
	id := h.applied(patch(a, addsABranch), changes.RolloutPlan{Hours: 24, RollBack: true})
	_, err := h.library.Patch(t.Context(), h.root, a.ID, artifacts.Change{Patch: json.RawMessage(`[{"op": "add", "path": "/title", "value": "T"}]`)})
	h.must(err)
	h.happen(a, 2, 40, 40)
	h.timeIsUp()
	view := h.look(id)
	if last := view.Events[len(view.Events)-1]; view.Status != changes.Applied || view.Stage != changes.Settled || !strings.Contains(last.Reason, "It was not taken back") {
		t.Errorf("%s at %s: %s", view.Status, view.Stage, last.Reason)
	}
	if h.artifact(h.root, a.ID).Version != 3 {
		t.Error("something was undone")
	}
}

// Requirements: CFG-05
func TestAPatchThatIsNotWatchedIsSettledAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	view := h.propose(h.pat, patch(a, addsABranch))
	_, err := h.Watch(t.Context(), h.root, view.ID)
	code(t, "watched before it is applied", err, fault.Conflict)
	_, err = h.Withdraw(t.Context(), h.pat, view.ID, "")
	h.must(err)
	id := h.applied(patch(a, addsABranch), changes.RolloutPlan{})
	if view := h.look(id); view.Stage != changes.Settled || len(h.open()) != 0 {
		t.Errorf("at %s, %d questions", view.Stage, len(h.open()))
	}
	if _, err := h.RollBack(t.Context(), h.root, id, "After all."); err != nil {
		t.Errorf("a settled one cannot be taken back: %v", err)
	}
	tool, err := h.library.Named(t.Context(), h.root, "tool", "llm.generic_chat_v1")
	h.must(err)
	id = h.approved(patch(tool, `[{"op": "replace", "path": "/description", "value": "Answers."}]`))
	_, err = h.Apply(t.Context(), h.root, id, changes.RolloutPlan{Share: 10})
	code(t, "a tool on trial", err, fault.Invalid)
}

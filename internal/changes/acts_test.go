package changes_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

func code(t *testing.T, what string, err error, want fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != want {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// Requirements: CFG-04, CFG-16
func TestRejectingNeedsAReasonAndEndsThePatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	view := h.propose(h.pat, patch(a, addsABranch))
	_, err := h.Decide(t.Context(), h.root, view.ID, changes.Decision{Reason: "  "})
	code(t, "without a reason", err, fault.Invalid)
	_, err = h.Decide(t.Context(), h.pat, view.ID, changes.Decision{Reason: "no"})
	code(t, "by who is no administrator", err, fault.Forbidden)
	p, err := h.Decide(t.Context(), h.root, view.ID, changes.Decision{Reason: "Hi is no message."})
	h.must(err)
	if p.Status != changes.Rejected || p.Stage != changes.Settled || p.DecidedAt.IsZero() || len(h.open()) != 0 {
		t.Errorf("%s at %s, %d questions", p.Status, p.Stage, len(h.open()))
	}
	events := h.look(view.ID).Events
	if last := events[len(events)-1]; last.What != "rejected" || last.Reason != "Hi is no message." || last.Name != "root" || last.At.IsZero() {
		t.Errorf("the event is %+v", last)
	}
	_, err = h.Decide(t.Context(), h.eve, view.ID, changes.Decision{Approve: true})
	code(t, "decided twice", err, fault.Conflict)
	_, err = h.Apply(t.Context(), h.eve, view.ID, changes.RolloutPlan{})
	code(t, "applied all the same", err, fault.Conflict)
	if r, err := h.store.Run(t.Context(), identity.Steward(), view.RunID); err != nil || r.Status != run.Done {
		t.Errorf("its run is %s, %v", r.Status, err)
	}
}

// Requirements: CFG-04, CFG-13
func TestNobodyApprovesTheirOwnPatchNorDoesTheSystem(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	view := h.propose(h.root, patch(a, addsABranch))
	_, err := h.Decide(t.Context(), h.root, view.ID, changes.Decision{Approve: true})
	code(t, "their own", err, fault.Forbidden)
	_, err = h.Decide(t.Context(), identity.Steward(), view.ID, changes.Decision{Approve: true})
	code(t, "the system", err, fault.Forbidden)
	if may := view.May; may.Approve.OK || may.Approve.Why == "" || !may.Reject.OK || may.Apply.OK || !may.Withdraw.OK || may.Rebase.OK {
		t.Errorf("who proposed may %+v", may)
	}
	by, err := h.Get(t.Context(), h.eve, view.ID)
	h.must(err)
	if !by.May.Approve.OK || by.May.Withdraw.OK || by.ProposedBy != "root" {
		t.Errorf("another may %+v", by.May)
	}
	_, err = h.Decide(t.Context(), h.eve, view.ID, changes.Decision{Approve: true})
	h.must(err)
	_, err = h.Apply(t.Context(), identity.Steward(), view.ID, changes.RolloutPlan{})
	code(t, "the system applies", err, fault.Forbidden)
	_, err = h.Apply(t.Context(), h.pat, view.ID, changes.RolloutPlan{})
	code(t, "a power user applies", err, fault.NotFound)
	if _, err := h.Apply(t.Context(), h.root, view.ID, changes.RolloutPlan{}); err != nil {
		t.Errorf("who proposed applies what another approved: %v", err)
	}
}

// guarded makes an artifact whose own rule is met by any run that moves.
func guarded(list string) string {
	return strings.Replace(sorts, `"entrypoint"`, `"rehearsal": {"`+list+`": [{"when": "moved > 0", "say": "nothing may move"}]}, "entrypoint"`, 1)
}

// Requirements: CFG-11
func TestAPatchIsJudgedByTheRuleOfTheVersionItChanges(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", guarded("block"))
	h.record(a, "hi", "pear")
	ops := strings.Replace(addsABranch, "[{", `[{"op": "remove", "path": "/rehearsal"}, {`, 1)
	view := h.propose(h.pat, patch(a, ops))
	if view.Verdict != rehearsal.Block || !strings.Contains(strings.Join(view.Reasons, " "), "nothing may move") {
		t.Fatalf("the patch weakened the rule it is judged by: %s %v", view.Verdict, view.Reasons)
	}
	_, err := h.Decide(t.Context(), h.root, view.ID, changes.Decision{Approve: true, Confirm: "sorts"})
	code(t, "a blocked one", err, fault.Conflict)
	if details, _ := fault.From(err).Details.(map[string]any); details["reasons"] == nil {
		t.Errorf("nobody is told why: %+v", fault.From(err))
	}
	if view.May.Approve.OK || !view.May.Reject.OK {
		t.Errorf("may %+v", view.May)
	}
}

// Requirements: CFG-11
func TestAWarningIsConfirmedByTheArtifactsName(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	h.record(a, "apple", "pear", "plum")
	// More runs fail: the node reads what is not there.
	ops := `[{"op": "replace", "path": "/nodes/2/inputs/message", "value": "${input.other}"}]`
	view := h.propose(h.pat, patch(a, ops))
	if view.Verdict != rehearsal.Warn {
		t.Fatalf("the verdict is %s: %v", view.Verdict, view.Reasons)
	}
	for _, confirm := range []string{"", "Sorts", "yes"} {
		_, err := h.Decide(t.Context(), h.root, view.ID, changes.Decision{Approve: true, Confirm: confirm})
		code(t, "confirmed with "+confirm, err, fault.Invalid)
	}
	p, err := h.Decide(t.Context(), h.root, view.ID, changes.Decision{Approve: true, Confirm: "sorts"})
	h.must(err)
	if p.Status != changes.Approved {
		t.Errorf("it is %s", p.Status)
	}
}

// Requirements: CFG-06
func TestAPatchWhoseBaseMovedChangesNothingAndIsRebased(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	id := h.approved(patch(a, addsABranch))
	_, err := h.Rebase(t.Context(), h.root, id)
	code(t, "rebased when nothing has moved", err, fault.Conflict)
	_, err = h.library.Patch(t.Context(), h.root, a.ID, artifacts.Change{Patch: json.RawMessage(`[{"op": "add", "path": "/title", "value": "Sorts"}]`)})
	h.must(err)
	_, err = h.Apply(t.Context(), h.root, id, changes.RolloutPlan{})
	code(t, "applied on another base", err, fault.Conflict)
	details, _ := fault.From(err).Details.(map[string]any)
	if details["current_version"] != 2 || details["base_version"] != 1 || h.artifact(h.root, a.ID).Version != 2 {
		t.Errorf("%v, version %d", details, h.artifact(h.root, a.ID).Version)
	}
	if view := h.look(id); view.May.Apply.OK || !view.May.Rebase.OK || view.After[0].Current != 2 || view.After[0].Now == nil {
		t.Errorf("may %+v of %+v", view.May, view.After[0].Current)
	}
	next, err := h.Rebase(t.Context(), h.eve, id)
	h.must(err)
	old, view := h.look(id), h.look(next.ID)
	if old.Status != changes.Superseded || old.RebasedTo != next.ID || view.RebasedFrom != id || view.Changes[0].Base != 2 {
		t.Errorf("the old is %s → %d, the new from %d on %d", old.Status, old.RebasedTo, view.RebasedFrom, view.Changes[0].Base)
	}
	if view.UserID != h.pat.UserID || view.Events[0].What != "rebased" || view.Events[0].Name != "eve" || view.Stage != changes.Deciding {
		t.Errorf("the new one is %s's, first %+v, at %s", view.ProposedBy, view.Events[0], view.Stage)
	}
	if open := h.open(); len(open) != 1 || !strings.Contains(open[0].Message, "Patch 2 ") {
		t.Errorf("open are %+v", open)
	}
	_, err = h.Decide(t.Context(), h.root, next.ID, changes.Decision{Approve: true})
	h.must(err)
	_, err = h.Apply(t.Context(), h.root, next.ID, changes.RolloutPlan{})
	h.must(err)
	if now := string(h.artifact(h.root, a.ID).Schema); !strings.Contains(now, "Sorts") || !strings.Contains(now, `"hi"`) && !strings.Contains(now, "'hi'") {
		t.Errorf("it became %s", now)
	}
}

// Requirements: CFG-06
func TestARebaseThatDoesNotApplySaysSo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	view := h.propose(h.pat, patch(a, `[{"op": "test", "path": "/entrypoint", "value": "way"}, {"op": "add", "path": "/title", "value": "T"}]`))
	_, err := h.library.Patch(t.Context(), h.root, a.ID, artifacts.Change{Patch: json.RawMessage(`[{"op": "replace", "path": "/entrypoint", "value": "answer"}]`)})
	h.must(err)
	_, err = h.Rebase(t.Context(), h.pat, view.ID)
	code(t, "a test that fails", err, fault.Conflict)
	if old := h.look(view.ID); old.Status != changes.Pending || len(h.open()) != 1 {
		t.Errorf("it is %s now, %d questions", old.Status, len(h.open()))
	}
	_, err = h.Rebase(t.Context(), h.ann, view.ID)
	code(t, "by somebody else", err, fault.NotFound)
}

// Requirements: CFG-06, CFG-08 (tool names)
func TestWhatIsGoneWhenAPatchIsAppliedIsFound(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	child := h.create(h.root, "workflow", "child", sorts)
	a := h.create(h.root, "workflow", "sorts", sorts)
	id := h.approved(patch(a, `[{"op": "add", "path": "/nodes/-", "value": {"id": "x", "type": "workflow", "workflow": "child"}}]`))
	_, err := h.library.Patch(t.Context(), h.root, child.ID, artifacts.Change{Patch: json.RawMessage(`[{"op": "add", "path": "/status", "value": "draft"}]`)})
	h.must(err)
	_, err = h.Apply(t.Context(), h.root, id, changes.RolloutPlan{})
	code(t, "applied though its child is a draft", err, fault.Conflict)
	if problems := artifacts.Problems(err); len(problems) != 1 || !strings.Contains(problems[0].Message, `there is no workflow "child"`) {
		t.Errorf("the problems are %v of %v", problems, err)
	}
	if now := h.artifact(h.root, a.ID); now.Version != 1 || h.look(id).Status != changes.Approved {
		t.Errorf("version %d, %s", now.Version, h.look(id).Status)
	}
}

// Requirements: CFG-15, CFG-16
func TestAPatchNobodyDecidesOrAppliesExpires(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	view := h.propose(h.pat, patch(a, addsABranch))
	if in := view.ExpiresAt.Sub(h.clock()); in > changes.Waits || in < changes.Waits-time.Minute {
		t.Errorf("it waits for %s", in)
	}
	h.timeIsUp()
	if got := h.look(view.ID); got.Status != changes.Expired || got.Stage != changes.Settled || len(h.open()) != 0 {
		t.Errorf("undecided it is %s", got.Status)
	}
	_, err := h.Decide(t.Context(), h.root, view.ID, changes.Decision{Approve: true})
	code(t, "decided too late", err, fault.Conflict)
	id := h.approved(patch(a, addsABranch))
	h.timeIsUp()
	if got := h.look(id); got.Status != changes.Expired || h.artifact(h.root, a.ID).Version != 1 {
		t.Errorf("unapplied it is %s", got.Status)
	}
	if got := h.story(id); !slices.Equal(got, []string{"proposed by pat", "checked by Liminal", "rehearsed by Liminal", "approved by root", "expired by Liminal"}) {
		t.Errorf("its story is %v", got)
	}
}

// Requirements: CFG-15
func TestAPatchIsWithdrawnWhereverItStands(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	view := h.propose(h.pat, patch(a, addsABranch))
	_, err := h.Withdraw(t.Context(), h.root, view.ID, "")
	code(t, "by an administrator, who rejects", err, fault.Forbidden)
	p, err := h.Withdraw(t.Context(), h.pat, view.ID, "I was wrong.")
	h.must(err)
	if p.Status != changes.Withdrawn || len(h.open()) != 0 {
		t.Errorf("%s, %d questions", p.Status, len(h.open()))
	}
	id := h.approved(patch(a, addsABranch))
	_, err = h.Withdraw(t.Context(), h.root, id, "Nobody wants it any more.")
	h.must(err)
	if len(h.open()) != 0 {
		t.Errorf("%d questions", len(h.open()))
	}

	h.slow = true // nothing moves the next one
	early := h.propose(h.pat, patch(a, addsABranch))
	if early.Stage != changes.Checking {
		t.Fatalf("it is at %s", early.Stage)
	}
	_, err = h.Withdraw(t.Context(), h.pat, early.ID, "")
	h.must(err)
	if done, err := h.StepCheck(t.Context(), early.ID); err != nil || done.OK {
		t.Errorf("a withdrawn patch goes on: %+v, %v", done, err)
	}
	if done, err := h.StepRehearse(t.Context(), early.ID); err != nil || done.Open {
		t.Errorf("and on: %+v, %v", done, err)
	}
	if status, err := h.StepExpire(t.Context(), early.ID, changes.Deciding); err != nil || status != changes.Withdrawn {
		t.Errorf("and expires: %s, %v", status, err)
	}
}

// Requirements: CFG-15
func TestAStepThatIsMadeAgainChangesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	view := h.propose(h.pat, patch(a, addsABranch))
	checked, err := h.StepCheck(t.Context(), view.ID)
	h.must(err)
	rehearsed, err := h.StepRehearse(t.Context(), view.ID)
	h.must(err)
	if !checked.OK || !rehearsed.Open || len(h.look(view.ID).Events) != len(view.Events) {
		t.Errorf("%+v, %+v, %v", checked, rehearsed, h.story(view.ID))
	}
	_, err = h.StepExpire(t.Context(), view.ID, changes.Watching)
	code(t, "an unknown stage", err, fault.Invalid)
}

// Requirements: CFG-12
func TestProposalsAreBoundedAndThoseOfModelsTighter(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	h.propose(h.pat, patch(a, addsABranch))
	h.propose(identity.Steward(), patch(a, addsABranch))
	_, err := h.Try(t.Context(), h.pat, patch(a, addsABranch))
	h.must(err)
	if !slices.Equal(h.limits.spent, []string{"configops", "configops.model", "configops.try"}) {
		t.Errorf("spent %v", h.limits.spent)
	}
	h.limits.empty = true
	for _, v := range []identity.Viewer{h.pat, h.root, identity.Steward()} {
		_, err := h.Propose(t.Context(), v, patch(a, addsABranch))
		code(t, "too many", err, fault.RateLimited)
	}
	_, err = h.Try(t.Context(), h.pat, patch(a, addsABranch))
	code(t, "too many tries", err, fault.RateLimited)
}

// Requirements: CFG-12
func TestAModelChangesAnArtifactThriceADayAtMost(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	byModel := func(title string) error {
		view := h.propose(identity.Steward(), patch(a, `[{"op": "add", "path": "/title", "value": "`+title+`"}]`))
		if view.Proposer != changes.ByModel || view.ProposedBy != "Liminal" {
			t.Fatalf("proposed by %s, %s", view.Proposer, view.ProposedBy)
		}
		_, err := h.Decide(t.Context(), h.root, view.ID, changes.Decision{Approve: true})
		h.must(err)
		_, err = h.Apply(t.Context(), h.root, view.ID, changes.RolloutPlan{})
		return err
	}
	for _, title := range []string{"A", "B", "C"} {
		h.must(byModel(title))
	}
	if now := h.artifact(h.root, a.ID); now.CreatedBy != "llm" {
		t.Errorf("the version is by %s", now.CreatedBy)
	}
	code(t, "a fourth", byModel("D"), fault.RateLimited)
	h.applied(patch(a, `[{"op": "add", "path": "/title", "value": "by a person"}]`), changes.RolloutPlan{})
	h.pass(25 * time.Hour)
	h.must(byModel("E"))
}

// Requirements: CFG-07 (schema; dry run), CFG-11
func TestATryTellsEverythingAndStoresNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.create(h.root, "workflow", "child", sorts)
	a := h.create(h.root, "workflow", "sorts", sorts)
	h.record(a, "apple", "hi")
	p := patch(a, addsABranch)
	p.Justification = ""
	tried, err := h.Try(t.Context(), h.root, p)
	h.must(err)
	if !tried.OK || tried.Changes[0].Report.Moved != 1 || tried.Changes[0].Report.Sample.Taken != 2 || tried.After[0].After == nil || tried.Verdict == "" {
		t.Errorf("tried %+v", tried)
	}
	tried, err = h.Try(t.Context(), h.pat, changes.Proposal{Changes: []changes.ProposedChange{
		{Create: &artifacts.Draft{Type: "tool", Name: "my.tool_v1", Visibility: artifacts.Global, Schema: json.RawMessage(`{"kind": "tool.spec", "name": "my.tool_v1",
			"description": "d", "workflow": "child", "input_schema": {"type": "object"}, "output_schema": {"type": "object"}}`)}},
		{ArtifactID: a.ID, Patch: json.RawMessage(`[{"op": "replace", "path": "/nodes/3", "value": {"id": "short", "type": "tool_call", "tool": "my.tool_v1", "next": "end"}}]`)},
	}})
	h.must(err)
	if !tried.OK {
		t.Errorf("a set that is whole: %s", problemsOf(tried.Checks))
	}
	tried, err = h.Try(t.Context(), h.pat, patch(a, dangles))
	h.must(err)
	if tried.OK || tried.Verdict != "" || !strings.Contains(problemsOf(tried.Checks), "nowhere") {
		t.Errorf("tried %+v", tried)
	}
	list, _, err := h.List(t.Context(), h.root, changes.Filter{})
	_, named := h.library.Named(t.Context(), h.root, "tool", "my.tool_v1")
	if err != nil || len(list) != 0 || !errors.Is(named, fault.NotFound) {
		t.Errorf("%d patches are stored, %v, %v", len(list), err, named)
	}
}

// Requirements: CFG-11
func TestWhoProposedCannotRehearseTheVerdictMilder(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", guarded("second"))
	h.record(a, "hi", "pear")
	view := h.propose(h.pat, patch(a, addsABranch))
	if view.Verdict != rehearsal.Second {
		t.Fatalf("the verdict is %s", view.Verdict)
	}
	h.records.list = h.records.list[1:] // the run that moved is forgotten
	p, err := h.Rehearse(t.Context(), h.pat, view.ID, changes.Replay{Sample: 1})
	h.must(err)
	if p.Verdict != rehearsal.Second || p.Needs != 2 || p.Changes[0].Report.Moved != 0 || p.Changes[0].Report.Sample.Wanted != artifacts.DefaultSample {
		t.Errorf("by who proposed: %s of %+v", p.Verdict, p.Changes[0].Report.Sample)
	}
	p, err = h.Rehearse(t.Context(), h.root, view.ID, changes.Replay{})
	h.must(err)
	if p.Verdict != rehearsal.Pass || p.Needs != 1 {
		t.Errorf("by an administrator: %s", p.Verdict)
	}
	_, err = h.Rehearse(t.Context(), h.ann, view.ID, changes.Replay{})
	code(t, "by somebody else", err, fault.NotFound)
}

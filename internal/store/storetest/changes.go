package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Changes proves changes.Store: what a proposal is, and who may move it where.
func Changes(t *testing.T, open Open) {
	t.Run("a proposal comes back as it was made, with its run", func(t *testing.T) { proposalRoundTrip(t, open) })
	t.Run("a proposal goes its way, and every step has an actor, a time and a reason", func(t *testing.T) { wholeWay(t, open) })
	t.Run("only an approved proposal is applied", func(t *testing.T) { appliedUnapproved(t, open) })
	t.Run("who may decide", func(t *testing.T) { whoDecides(t, open) })
	t.Run("a move from elsewhere says where the proposal stands", func(t *testing.T) { movedFromElsewhere(t, open) })
	t.Run("proposals are listed in pages and narrowed", func(t *testing.T) { listProposals(t, open) })
	t.Run("what a rehearsal showed is kept", func(t *testing.T) { keptReports(t, open) })
	t.Run("a name goes with its account, the deed stays", func(t *testing.T) { nameGoes(t, open) })
	t.Run("a set of changes is not left in part when an account goes", func(t *testing.T) { accountGoes(t, open) })
	t.Run("applied versions of models are counted", func(t *testing.T) { countApplied(t, open) })
	t.Run("a trial begins and ends", func(t *testing.T) { trials(t, open) })
}

// stage is a store with a person who proposes and an administrator who decides.
type stage struct {
	s     *store.Store
	clock *clock
	by    identity.Viewer
	admin identity.Viewer
}

func newStage(t testing.TB, open Open) stage {
	t.Helper()
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	return stage{s: s, clock: c, by: person(t, s), admin: administrator(t, s)}
}

// workflow is a new artifact of the person who proposes.
func (g stage) workflow(t testing.TB, name string) artifacts.Artifact {
	t.Helper()
	return got(g.s.CreateArtifact(t.Context(), g.by, draft(name), ""))(t)
}

func changeOf(a artifacts.Artifact) changes.Change {
	return changes.Change{ArtifactID: a.ID, Kind: a.Type, Name: a.Name, Base: a.Version, Ops: json.RawMessage(`[{"op":"add","path":"/x","value":1}]`)}
}

func proposed(v identity.Viewer, list ...changes.Change) changes.Patch {
	return changes.Patch{
		Proposer: changes.ByUser, UserID: v.UserID, Justification: "it helps", Status: changes.Pending, Stage: changes.Checking,
		Changes: list, Needs: 1, Unknowns: artifacts.Stop,
	}
}

func event(v identity.Viewer, what, reason string) changes.Event {
	return changes.Event{UserID: v.UserID, Name: "name of " + v.UserID, What: what, Reason: reason}
}

// propose makes a proposal about artifacts that waits for its decision, with
// the question its workflow asks.
func (g stage) propose(t testing.TB, list ...artifacts.Artifact) changes.Patch {
	t.Helper()
	all := make([]changes.Change, len(list))
	for i, a := range list {
		all[i] = changeOf(a)
	}
	p, _, err := g.s.CreatePatch(t.Context(), g.by, proposed(g.by, all...), nil, event(g.by, "proposed", "it helps"))
	need(t, err)
	moved := got(g.s.TransitionPatch(t.Context(), system, changes.Transition{PatchID: p.ID, Stage: changes.Deciding, Event: changes.Event{What: "checked"}}))(t)
	g.ask(t, p, "decide#1")
	return moved.Patch
}

// ask is what the proposal's workflow does when it waits for a person.
func (g stage) ask(t testing.TB, p changes.Patch, effect string) string {
	t.Helper()
	q := run.Interrupt{ID: id.Derive(p.RunID, effect), RunID: p.RunID, EffectID: effect, Type: "action_choice", Message: "Apply it?"}
	need(t, g.s.Ask(t.Context(), identity.Steward(), true, q))
	return q.ID
}

func approval(p changes.Patch, v identity.Viewer) changes.Transition {
	return changes.Transition{
		PatchID: p.ID, From: []changes.Status{changes.Pending}, Stages: []changes.Stage{changes.Deciding},
		Status: changes.Approved, Stage: changes.Applying, Event: event(v, "approved", "it is right"),
		Approval: &changes.Approval{UserID: v.UserID, Name: "name of " + v.UserID, Reason: "it is right"}, Answer: json.RawMessage(`"approve"`),
	}
}

// applying makes the second version of every artifact a proposal changes.
func applying(p changes.Patch, v identity.Viewer) changes.Transition {
	m := changes.Transition{
		PatchID: p.ID, From: []changes.Status{changes.Approved}, Status: changes.Applied, Stage: changes.Watching,
		Event: event(v, "applied", "now"), Loose: true, Answer: json.RawMessage(`"apply"`),
	}
	for i, c := range p.Changes {
		m.Versions = append(m.Versions, changes.NewVersion{Change: i, ArtifactID: c.ArtifactID, Base: c.Base, Schema: doc(2), By: "user", Note: "proposal"})
	}
	return m
}

func (g stage) approve(t testing.TB, p changes.Patch) changes.Patch {
	t.Helper()
	return got(g.s.TransitionPatch(t.Context(), g.admin, approval(p, g.admin)))(t).Patch
}

// detail is one of the details of a fault.
func detail(err error, name string) any {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return nil
	}
	details, _ := f.Details.(map[string]any)
	return details[name]
}

func plain(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func proposalRoundTrip(t *testing.T, open Open) {
	g := newStage(t, open)
	a, b := g.workflow(t, "a"), g.workflow(t, "b")
	asked := proposed(g.by, changeOf(a), changeOf(b))
	asked.Checks = []changes.Check{{Name: changes.CheckSchema, State: changes.CheckWaiting}}
	asked.Script = rehearsal.Script{"tool": json.RawMessage(`{"x":1}`)}
	asked.RolloutPlan = changes.RolloutPlan{Share: 20, Hours: 3, RollBack: true}
	asked.ExpiresAt = g.clock.now().Add(time.Hour)
	p, r, err := g.s.CreatePatch(t.Context(), g.by, asked, nil, event(g.by, "proposed", "it helps"))
	need(t, err)
	asked.ID, asked.RunID, asked.CreatedAt = p.ID, r.ID, g.clock.now()
	want(t, "returned", plain(p), plain(asked))
	want(t, "stored", plain(got(g.s.Patch(t.Context(), g.by, p.ID))(t)), plain(asked))
	want(t, "workflow", r.WorkflowID, "patch:"+strconv.FormatInt(p.ID, 10))
	want(t, "run", fmt.Sprint(r.Kind, r.UserID, r.Status, string(r.Input)), fmt.Sprintf("%s%s%s{\"patch_id\":%d}", run.KindPatch, identity.SystemAccount, run.Running, p.ID))
	want(t, "stored run", got(g.s.Run(t.Context(), identity.Steward(), r.ID))(t).WorkflowID, r.WorkflowID)
	events := got(g.s.PatchEvents(t.Context(), g.by, p.ID))(t)
	want(t, "events", fmt.Sprint(len(events), events[0].What, events[0].UserID, events[0].At.Equal(g.clock.now())), fmt.Sprint(1, "proposed", g.by.UserID, true))
	_, _, err = g.s.CreatePatch(t.Context(), g.by, proposed(g.by), nil, changes.Event{})
	wantFault(t, err, fault.Invalid)
	_, _, err = g.s.CreatePatch(t.Context(), g.by, proposed(g.admin, changeOf(a)), nil, changes.Event{})
	wantFault(t, err, fault.Forbidden)
}

func wholeWay(t *testing.T, open Open) {
	g := newStage(t, open)
	a := g.workflow(t, "a")
	p := g.propose(t, a)
	g.clock.add(time.Hour)
	p = g.approve(t, p)
	want(t, "decided", fmt.Sprint(p.Status, p.Stage, p.DecidedAt), fmt.Sprint(changes.Approved, changes.Applying, g.clock.now()))
	want(t, "approval", plain(p.Approvals), plain([]changes.Approval{{UserID: g.admin.UserID, Name: "name of " + g.admin.UserID, At: g.clock.now(), Reason: "it is right"}}))
	g.clock.add(time.Hour)
	done := got(g.s.TransitionPatch(t.Context(), g.admin, applying(p, g.admin)))(t)
	want(t, "applied", fmt.Sprint(done.Patch.Status, done.Patch.AppliedAt, done.Patch.Changes[0].Applied), fmt.Sprint(changes.Applied, g.clock.now(), 2))
	want(t, "stored", plain(got(g.s.Patch(t.Context(), g.by, p.ID))(t)), plain(done.Patch))
	now := got(g.s.Artifact(t.Context(), g.by, a.ID))(t)
	want(t, "artifact", plain(now), plain(done.Versions[0]))
	want(t, "version", now.Version, 2)
	back := changes.Transition{
		PatchID: p.ID, From: []changes.Status{changes.Applied}, Status: changes.RolledBack, Stage: changes.Settled, Event: event(g.admin, "rolled_back", "it was wrong"),
		Versions: []changes.NewVersion{{Change: -1, ArtifactID: a.ID, Base: 2, Schema: doc(1), By: "user", Note: "back"}},
	}
	last := got(g.s.TransitionPatch(t.Context(), g.admin, back))(t)
	want(t, "rolled back", fmt.Sprint(last.Patch.Status, last.Patch.Changes[0].Applied, last.Versions[0].Version, string(last.Versions[0].Schema)), fmt.Sprint(changes.RolledBack, 2, 3, string(doc(1))))
	var steps []string
	for _, e := range got(g.s.PatchEvents(t.Context(), g.admin, p.ID))(t) {
		steps = append(steps, e.What+": "+e.Reason)
		if e.At.IsZero() || e.UserID == "" && e.What != "checked" {
			t.Errorf("%s by %q at %s", e.What, e.UserID, e.At)
		}
	}
	wantLines(t, steps, []string{"proposed: it helps", "checked: ", "approved: it is right", "applied: now", "rolled_back: it was wrong"})
}

// unchanged proves that an artifact is as it was.
func (g stage) unchanged(t *testing.T, a artifacts.Artifact) {
	t.Helper()
	want(t, "artifact", plain(got(g.s.Artifact(t.Context(), g.by, a.ID))(t)), plain(a))
	want(t, "versions", len(got(g.s.Versions(t.Context(), g.by, a.ID))(t)), a.Version)
}

func appliedUnapproved(t *testing.T, open Open) {
	g := newStage(t, open)
	a := g.workflow(t, "a")
	p := g.propose(t, a)
	hasty := applying(p, g.admin)
	for _, from := range [][]changes.Status{nil, {changes.Approved}, {changes.Pending}} {
		hasty.From = from
		_, err := g.s.TransitionPatch(t.Context(), g.admin, hasty)
		wantFault(t, err, fault.Conflict)
	}
	quiet := hasty
	quiet.Status, quiet.From = "", nil
	_, err := g.s.TransitionPatch(t.Context(), g.admin, quiet)
	wantFault(t, err, fault.Conflict)
	reject := changes.Transition{PatchID: p.ID, Status: changes.Rejected, Stage: changes.Settled, Event: event(g.admin, "rejected", "no"), Answer: json.RawMessage(`"reject"`)}
	rejected := got(g.s.TransitionPatch(t.Context(), g.admin, reject))(t).Patch
	want(t, "decided", rejected.DecidedAt, g.clock.now())
	hasty.From = nil
	_, err = g.s.TransitionPatch(t.Context(), g.admin, hasty)
	wantFault(t, err, fault.Conflict)
	g.unchanged(t, a)
	want(t, "status", got(g.s.Patch(t.Context(), g.by, p.ID))(t).Status, changes.Rejected)
}

func whoDecides(t *testing.T, open Open) {
	g := newStage(t, open)
	p := g.propose(t, g.workflow(t, "a"))
	_, err := g.s.TransitionPatch(t.Context(), g.by, approval(p, g.by))
	wantFault(t, err, fault.Forbidden)
	own := g.by
	own.Role = identity.RoleAdmin
	_, err = g.s.TransitionPatch(t.Context(), own, approval(p, own))
	wantFault(t, err, fault.Forbidden)
	nobody := approval(p, g.admin)
	nobody.Approval = nil
	_, err = g.s.TransitionPatch(t.Context(), g.admin, nobody)
	wantFault(t, err, fault.Conflict)
	first := approval(p, g.admin)
	first.Status, first.Stage, first.Needs, first.Answer = "", "", 2, nil
	want(t, "after one of two", got(g.s.TransitionPatch(t.Context(), g.admin, first))(t).Patch.Status, changes.Pending)
	_, err = g.s.TransitionPatch(t.Context(), g.admin, approval(p, g.admin))
	wantFault(t, err, fault.Conflict)
	other := administrator(t, g.s)
	approved := got(g.s.TransitionPatch(t.Context(), other, approval(p, other)))(t).Patch
	want(t, "after two", fmt.Sprint(approved.Status, len(approved.Approvals)), fmt.Sprint(changes.Approved, 2))
	withdrawn := changes.Transition{PatchID: g.propose(t, g.workflow(t, "b")).ID, Status: changes.Withdrawn, Stage: changes.Settled, Event: event(g.by, "withdrawn", "no more"), Loose: true}
	want(t, "by who proposed", got(g.s.TransitionPatch(t.Context(), g.by, withdrawn))(t).Patch.Status, changes.Withdrawn)
}

func movedFromElsewhere(t *testing.T, open Open) {
	g := newStage(t, open)
	p := g.approve(t, g.propose(t, g.workflow(t, "a")))
	_, err := g.s.TransitionPatch(t.Context(), administrator(t, g.s), approval(p, g.admin))
	wantFault(t, err, fault.Conflict)
	if err == nil || !strings.Contains(err.Error(), "approved") {
		t.Errorf("%v does not name where it stands", err)
	}
	want(t, "details", fmt.Sprint(detail(err, "status"), detail(err, "stage")), fmt.Sprint(changes.Approved, changes.Applying))
	want(t, "events", len(got(g.s.PatchEvents(t.Context(), g.by, p.ID))(t)), 3)
}

func listProposals(t *testing.T, open Open) {
	g := newStage(t, open)
	a, b := g.workflow(t, "a"), g.workflow(t, "b")
	var made []string
	for i := range 5 {
		g.clock.add(time.Duration(i%2) * time.Second)
		about := []artifacts.Artifact{a}
		if i == 3 {
			about = []artifacts.Artifact{a, b}
		}
		made = append(made, strconv.FormatInt(g.propose(t, about...).ID, 10))
	}
	list := func(v identity.Viewer, f changes.Filter) (ids []string) {
		for {
			page, next, err := g.s.ListPatches(t.Context(), v, f)
			need(t, err)
			for _, p := range page {
				ids = append(ids, strconv.FormatInt(p.ID, 10))
				want(t, "first change", p.Changes[0].ArtifactID, a.ID)
			}
			if f.Cursor = next; next == "" {
				return ids
			}
		}
	}
	approved, err := strconv.ParseInt(made[2], 10, 64)
	need(t, err)
	g.approve(t, changes.Patch{ID: approved})
	slices.Reverse(made)
	wantLines(t, list(g.by, changes.Filter{Limit: 2}), made)
	wantLines(t, list(g.admin, changes.Filter{Limit: 2}), made)
	wantLines(t, list(g.admin, changes.Filter{Status: changes.Approved}), made[2:3])
	wantLines(t, list(g.admin, changes.Filter{ArtifactID: b.ID}), made[1:2])
	wantLines(t, list(g.admin, changes.Filter{UserID: g.admin.UserID}), nil)
	wantLines(t, list(g.admin, changes.Filter{UserID: g.by.UserID, ArtifactID: a.ID}), made)
	wantLines(t, list(person(t, g.s), changes.Filter{}), nil)
	_, _, err = g.s.ListPatches(t.Context(), g.by, changes.Filter{Cursor: "odd"})
	wantFault(t, err, fault.Invalid)
}

func keptReports(t *testing.T, open Open) {
	g := newStage(t, open)
	p := g.propose(t, g.workflow(t, "a"), g.workflow(t, "b"))
	r := &rehearsal.Report{Moved: 3, Base: 1, Verdict: rehearsal.Second, Reasons: []string{"many"}}
	checks := []changes.Check{{Name: changes.CheckRehearsal, State: changes.CheckOK, At: g.clock.now()}}
	expires := g.clock.now().Add(time.Hour)
	done := got(g.s.TransitionPatch(t.Context(), system, changes.Transition{
		PatchID: p.ID, Stage: changes.Deciding, Event: changes.Event{What: "rehearsed", Data: json.RawMessage(`{"moved":3}`)},
		Checks: checks, Reports: []*rehearsal.Report{nil, r}, Verdict: rehearsal.Second, Needs: 2, Expires: &expires,
	}))(t)
	stored := got(g.s.Patch(t.Context(), g.by, p.ID))(t)
	want(t, "stored", plain(stored), plain(done.Patch))
	want(t, "report", plain(stored.Changes[1].Report), plain(r))
	want(t, "rest", fmt.Sprint(stored.Changes[0].Report == nil, plain(stored.Checks), stored.Verdict, stored.Needs, stored.ExpiresAt), fmt.Sprint(true, plain(checks), rehearsal.Second, 2, expires))
	listed, _, err := g.s.ListPatches(t.Context(), g.by, changes.Filter{})
	need(t, err)
	want(t, "reports in a list", listed[0].Changes[1].Report == nil, true)
	_, err = g.s.TransitionPatch(t.Context(), system, changes.Transition{PatchID: p.ID, Reports: []*rehearsal.Report{r, r, r}})
	wantFault(t, err, fault.Invalid)
	next := int64(99)
	over := changes.Transition{PatchID: p.ID, Status: changes.Superseded, Stage: changes.Settled, RebasedTo: next, Event: changes.Event{What: "superseded"}}
	want(t, "superseded", fmt.Sprint(got(g.s.TransitionPatch(t.Context(), system, over))(t).Patch.ExpiresAt.IsZero(), got(g.s.Patch(t.Context(), g.by, p.ID))(t).RebasedTo), "true 99")
}

func nameGoes(t *testing.T, open Open) {
	g := newStage(t, open)
	p := g.approve(t, g.propose(t, g.workflow(t, "a")))
	got(g.s.DeleteUser(t.Context(), g.admin.UserID))(t)
	stored := got(g.s.Patch(t.Context(), g.by, p.ID))(t)
	want(t, "approval", stored.Approvals[0].UserID+stored.Approvals[0].Name, g.admin.UserID)
	events := got(g.s.PatchEvents(t.Context(), g.by, p.ID))(t)
	want(t, "event", events[2].UserID+events[2].Name, g.admin.UserID)
	want(t, "another's event", events[0].Name, "name of "+g.by.UserID)
}

func countApplied(t *testing.T, open Open) {
	g := newStage(t, open)
	a := g.workflow(t, "a")
	for i, by := range []string{changes.ByModel, changes.ByUser} {
		c := changeOf(a)
		c.Base = i + 1
		asked := proposed(g.by, c)
		asked.Proposer = by
		p, _, err := g.s.CreatePatch(t.Context(), g.by, asked, nil, changes.Event{What: "proposed"})
		need(t, err)
		g.ask(t, p, "decide#1")
		yes := approval(p, g.admin)
		yes.Stages = nil
		got(g.s.TransitionPatch(t.Context(), g.admin, yes))(t)
		got(g.s.TransitionPatch(t.Context(), g.admin, applying(p, g.admin)))(t)
	}
	want(t, "of models", got(g.s.AppliedSince(t.Context(), a.ID, g.clock.now()))(t), 1)
	want(t, "later", got(g.s.AppliedSince(t.Context(), a.ID, g.clock.now().Add(time.Second)))(t), 0)
	want(t, "of another", got(g.s.AppliedSince(t.Context(), g.workflow(t, "b").ID, g.clock.now()))(t), 0)
}

func trials(t *testing.T, open Open) {
	g := newStage(t, open)
	a := g.workflow(t, "a")
	p := g.approve(t, g.propose(t, a))
	trial := &artifacts.Rollout{Patch: p.ID, From: 1, Share: 20, Since: g.clock.now()}
	m := applying(p, g.admin)
	m.Rollouts = map[string]*artifacts.Rollout{a.ID: trial}
	want(t, "returned", plain(got(g.s.TransitionPatch(t.Context(), g.admin, m))(t).Versions[0].Rollout), plain(trial))
	want(t, "stored", plain(got(g.s.Artifact(t.Context(), g.by, a.ID))(t).Rollout), plain(trial))
	end := changes.Transition{PatchID: p.ID, Event: changes.Event{What: "promoted"}, Rollouts: map[string]*artifacts.Rollout{a.ID: nil}}
	_, err := g.s.TransitionPatch(t.Context(), g.by, end)
	wantFault(t, err, fault.Forbidden)
	got(g.s.TransitionPatch(t.Context(), g.admin, end))(t)
	want(t, "ended", got(g.s.Artifact(t.Context(), g.by, a.ID))(t).Rollout == nil, true)
	end.Rollouts[a.ID] = trial
	got(g.s.TransitionPatch(t.Context(), g.admin, end))(t)
	got(g.s.AppendVersion(t.Context(), g.by, a.ID, 2, doc(3), "user", ""))(t)
	want(t, "ended by a version over it", got(g.s.Artifact(t.Context(), g.by, a.ID))(t).Rollout == nil, true)
	end.Rollouts = map[string]*artifacts.Rollout{id.New(): nil}
	_, err = g.s.TransitionPatch(t.Context(), g.admin, end)
	wantFault(t, err, fault.NotFound)
}

// accountGoes closes the account of somebody whose artifact a proposal is about
// beside another's: what was to be changed together is not changed in part, and
// nobody is asked about it any more.
func accountGoes(t *testing.T, open Open) {
	g := newStage(t, open)
	theirs, mine := g.workflow(t, "a"), got(g.s.CreateArtifact(t.Context(), g.admin, draft("b"), ""))(t)
	second, first, other := g.propose(t, theirs, mine), g.propose(t, mine, theirs), g.propose(t, theirs)
	got(g.s.DeleteUser(t.Context(), g.admin.UserID))(t)
	stored := got(g.s.Patch(t.Context(), system, second.ID))(t)
	want(t, "the one in part", fmt.Sprint(stored.Status, stored.Stage, len(stored.Changes)), fmt.Sprint(changes.Withdrawn, changes.Settled, 1))
	_, err := g.s.Patch(t.Context(), system, first.ID)
	wantFault(t, err, fault.NotFound)
	want(t, "the one of others", got(g.s.Patch(t.Context(), system, other.ID))(t).Status, changes.Pending)
	asked := got(g.s.PendingInterrupts(t.Context(), administrator(t, g.s), ""))(t)
	want(t, "open questions", len(asked), 1)
	want(t, "whose", asked[0].RunID, other.RunID)
	g.clock.add(time.Minute)
	want(t, "workflows to be told", len(got(g.s.Undelivered(t.Context(), system, 0))(t)), 2)
}

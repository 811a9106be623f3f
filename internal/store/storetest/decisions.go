package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// Decisions proves that the steps of proposals are whole: of many who move one
// at once a single one wins, and what cannot be done changes nothing.
func Decisions(t *testing.T, open Open) {
	t.Run("of many decisions one wins", func(t *testing.T) { oneDecision(t, open) })
	t.Run("a proposal is applied once", func(t *testing.T) { oneApplication(t, open) })
	t.Run("of many proposals about one version one is applied", func(t *testing.T) { oneOfMany(t, open) })
	t.Run("a base that moved is a conflict and changes nothing", func(t *testing.T) { baseMoved(t, open) })
	t.Run("several artifacts change together or not at all", func(t *testing.T) { together(t, open) })
	t.Run("proposals about the same artifacts do not block each other", func(t *testing.T) { crossing(t, open) })
	t.Run("a decision answers what the workflow asks", func(t *testing.T) { decisionAnswers(t, open) })
	t.Run("what a proposal asks is decided nowhere else", func(t *testing.T) { decidedThere(t, open) })
	t.Run("a decision before the question is too early", func(t *testing.T) { tooEarly(t, open) })
	t.Run("an artifact is a draft until its proposal is applied", func(t *testing.T) { drafts(t, open) })
	t.Run("a draft that came to nothing is taken up again", func(t *testing.T) { draftAgain(t, open) })
	t.Run("paused runs are told by node", func(t *testing.T) { standing(t, open) })
}

func oneDecision(t *testing.T, open Open) {
	g := newStage(t, open)
	p := g.propose(t, g.workflow(t, "a"))
	admins := make([]identity.Viewer, 8)
	for i := range admins {
		admins[i] = administrator(t, g.s)
	}
	errs := race(len(admins), func(i int) error {
		m := approval(p, admins[i])
		if i%2 == 1 {
			m.Status, m.Stage, m.Approval, m.Answer = changes.Rejected, changes.Settled, nil, json.RawMessage(`"reject"`)
		}
		return second(g.s.TransitionPatch(t.Context(), admins[i], m))
	})
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
	won := slices.Index(errs, nil)
	stored := got(g.s.Patch(t.Context(), g.by, p.ID))(t)
	want(t, "status", stored.Status, []changes.Status{changes.Approved, changes.Rejected}[won%2])
	want(t, "approvals", len(stored.Approvals), 1-won%2)
	want(t, "events", len(got(g.s.PatchEvents(t.Context(), g.by, p.ID))(t)), 3)
	answer := got(g.s.Undelivered(t.Context(), system, 0))(t)
	want(t, "answers", len(answer), 1)
	want(t, "answer", string(answer[0].Answer), []string{`"approve"`, `"reject"`}[won%2])
}

func oneApplication(t *testing.T, open Open) {
	g := newStage(t, open)
	a := g.workflow(t, "a")
	p := g.approve(t, g.propose(t, a))
	errs := race(8, func(int) error { return second(g.s.TransitionPatch(t.Context(), g.admin, applying(p, g.admin))) })
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
	want(t, "versions", len(got(g.s.Versions(t.Context(), g.by, a.ID))(t)), 2)
	want(t, "events", len(got(g.s.PatchEvents(t.Context(), g.by, p.ID))(t)), 4)
}

func oneOfMany(t *testing.T, open Open) {
	g := newStage(t, open)
	a := g.workflow(t, "a")
	list := make([]changes.Patch, 8)
	for i := range list {
		list[i] = g.approve(t, g.propose(t, a))
	}
	errs := race(len(list)+1, func(i int) error {
		if i == len(list) {
			return second(g.s.AppendVersion(t.Context(), g.by, a.ID, 1, doc(9), "user", ""))
		}
		return second(g.s.TransitionPatch(t.Context(), g.admin, applying(list[i], g.admin)))
	})
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
	want(t, "versions", len(got(g.s.Versions(t.Context(), g.by, a.ID))(t)), 2)
}

func baseMoved(t *testing.T, open Open) {
	g := newStage(t, open)
	a := g.workflow(t, "a")
	p := g.approve(t, g.propose(t, a))
	a = got(g.s.AppendVersion(t.Context(), g.by, a.ID, 1, doc(7), "user", ""))(t)
	q := g.ask(t, p, "apply#1")
	_, err := g.s.TransitionPatch(t.Context(), g.admin, applying(p, g.admin))
	wantFault(t, err, fault.Conflict)
	want(t, "details", fmt.Sprint(detail(err, "artifact_id"), detail(err, "base_version"), detail(err, "current_version")), fmt.Sprint(a.ID, 1, 2))
	g.unchanged(t, a)
	want(t, "proposal", plain(got(g.s.Patch(t.Context(), g.by, p.ID))(t)), plain(p))
	want(t, "events", len(got(g.s.PatchEvents(t.Context(), g.by, p.ID))(t)), 3)
	want(t, "question", got(g.s.Interrupt(t.Context(), system, q))(t).Status, run.Pending)
}

func together(t *testing.T, open Open) {
	g := newStage(t, open)
	a, b := g.workflow(t, "a"), g.workflow(t, "b")
	p := g.approve(t, g.propose(t, a, b))
	b = got(g.s.AppendVersion(t.Context(), g.by, b.ID, 1, doc(7), "user", ""))(t)
	_, err := g.s.TransitionPatch(t.Context(), g.admin, applying(p, g.admin))
	wantFault(t, err, fault.Conflict)
	g.unchanged(t, a)
	g.unchanged(t, b)
	again := applying(p, g.admin)
	again.Versions[1].Base = 2
	done := got(g.s.TransitionPatch(t.Context(), g.admin, again))(t)
	want(t, "versions", fmt.Sprint(done.Versions[0].Version, done.Versions[1].Version), "2 3")
	want(t, "changes", fmt.Sprint(done.Patch.Changes[0].Applied, done.Patch.Changes[1].Applied), "2 3")
}

func crossing(t *testing.T, open Open) {
	g := newStage(t, open)
	a, b := g.workflow(t, "a"), g.workflow(t, "b")
	there, back := g.approve(t, g.propose(t, a, b)), g.approve(t, g.propose(t, b, a))
	errs := race(8, func(i int) error {
		p := []changes.Patch{there, back}[i%2]
		return second(g.s.TransitionPatch(t.Context(), g.admin, applying(p, g.admin)))
	})
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
	for _, x := range []artifacts.Artifact{a, b} {
		want(t, "versions", len(got(g.s.Versions(t.Context(), g.by, x.ID))(t)), 2)
	}
}

func decisionAnswers(t *testing.T, open Open) {
	g := newStage(t, open)
	p := g.propose(t, g.workflow(t, "a"))
	done := got(g.s.TransitionPatch(t.Context(), g.admin, approval(p, g.admin)))(t)
	q := done.Answered
	if q == nil {
		t.Fatal("nothing was answered")
	}
	want(t, "answered", fmt.Sprint(q.Status, string(q.Answer), q.RunID, q.WorkflowID), fmt.Sprint(run.Answered, `"approve"`, p.RunID, fmt.Sprint("patch:", p.ID)))
	lost := got(g.s.Undelivered(t.Context(), system, 0))(t)
	want(t, "to be signalled again", fmt.Sprint(len(lost), lost[0].ID), fmt.Sprint(1, q.ID))
	need(t, g.s.Deliver(t.Context(), identity.Steward(), p.RunID, q.ID))
	want(t, "after delivery", len(got(g.s.Undelivered(t.Context(), system, 0))(t)), 0)
}

func decidedThere(t *testing.T, open Open) {
	g := newStage(t, open)
	p := g.propose(t, g.workflow(t, "a"))
	q := got(g.s.PendingInterrupts(t.Context(), g.admin, ""))(t)
	want(t, "questions", len(q), 1)
	want(t, "the administrator's run", got(g.s.Run(t.Context(), g.admin, p.RunID))(t).Kind, run.KindPatch)
	_, err := g.s.Answer(t.Context(), g.admin, q[0].ID, run.Answered, json.RawMessage(`"approve"`))
	wantFault(t, err, fault.Conflict)
	want(t, "where", detail(err, "patch_id"), any(fmt.Sprint(p.ID)))
	for _, v := range []identity.Viewer{g.by, person(t, g.s)} {
		_, err = g.s.Answer(t.Context(), v, q[0].ID, run.Answered, nil)
		wantFault(t, err, fault.NotFound)
		_, err = g.s.Interrupt(t.Context(), v, q[0].ID)
		wantFault(t, err, fault.NotFound)
		_, err = g.s.Run(t.Context(), v, p.RunID)
		wantFault(t, err, fault.NotFound)
		want(t, "questions of others", len(got(g.s.PendingInterrupts(t.Context(), v, ""))(t)), 0)
	}
	want(t, "still", got(g.s.Interrupt(t.Context(), g.admin, q[0].ID))(t).Status, run.Pending)
	want(t, "by the clock", got(g.s.Answer(t.Context(), system, q[0].ID, run.Expired, nil))(t).Status, run.Expired)
}

func tooEarly(t *testing.T, open Open) {
	g := newStage(t, open)
	p, _, err := g.s.CreatePatch(t.Context(), g.by, proposed(g.by, changeOf(g.workflow(t, "a"))), nil, changes.Event{What: "proposed"})
	need(t, err)
	m := approval(p, g.admin)
	m.Stages = nil
	_, err = g.s.TransitionPatch(t.Context(), g.admin, m)
	wantFault(t, err, fault.Conflict)
	want(t, "status", got(g.s.Patch(t.Context(), g.by, p.ID))(t).Status, changes.Pending)
	want(t, "approvals", len(got(g.s.Patch(t.Context(), g.by, p.ID))(t).Approvals), 0)
	m.Loose = true
	want(t, "when it may be", got(g.s.TransitionPatch(t.Context(), g.admin, m))(t).Answered == nil, true)
}

// created is a proposal to create an artifact of a name.
func (g stage) created(name string) (changes.Patch, []artifacts.Artifact) {
	a := draft(name)
	a.Schema = json.RawMessage(`{"kind":"workflow.chat","status":"draft"}`)
	c := changes.Change{Kind: a.Type, Name: name, Creates: true, Ops: json.RawMessage(`[{"op":"remove","path":"/status"}]`)}
	return proposed(g.by, c), []artifacts.Artifact{a}
}

func drafts(t *testing.T, open Open) {
	g := newStage(t, open)
	asked, fresh := g.created("new")
	p, _, err := g.s.CreatePatch(t.Context(), g.by, asked, fresh, event(g.by, "proposed", "new"))
	need(t, err)
	made := p.Changes[0]
	want(t, "base", made.Base, 1)
	a := got(g.s.Artifact(t.Context(), g.by, made.ArtifactID))(t)
	want(t, "draft", fmt.Sprint(a.Meta["status"], a.OwnerID), "draft"+g.by.UserID)
	g.workflow(t, "old")
	list := func(status string) (names []string) {
		page, _, err := g.s.ListArtifacts(t.Context(), g.by, artifacts.Filter{Status: status})
		need(t, err)
		for _, a := range page {
			names = append(names, a.Name)
		}
		return names
	}
	wantLines(t, list("draft"), []string{"new"})
	wantLines(t, list("active"), []string{"old"})
	_, _, err = g.s.CreatePatch(t.Context(), g.by, asked, fresh, changes.Event{})
	wantFault(t, err, fault.Conflict)
	g.ask(t, p, "decide#1")
	yes := approval(p, g.admin)
	yes.Stages = nil
	got(g.s.TransitionPatch(t.Context(), g.admin, yes))(t)
	want(t, "after", got(g.s.TransitionPatch(t.Context(), g.admin, applying(p, g.admin)))(t).Versions[0].Meta["status"], nil)
	want(t, "stored", got(g.s.Artifact(t.Context(), g.by, a.ID))(t).Meta["status"], nil)
	want(t, "drafts left", len(list("draft")), 0)
	again, fresh := g.created("old")
	_, _, err = g.s.CreatePatch(t.Context(), g.by, again, fresh, changes.Event{})
	wantFault(t, err, fault.Conflict)
	everybodys, fresh := g.created("global")
	fresh[0].Visibility = "global"
	_, _, err = g.s.CreatePatch(t.Context(), g.by, everybodys, fresh, changes.Event{})
	wantFault(t, err, fault.Forbidden)
	ready, fresh := g.created("ready")
	fresh[0].Schema = doc(1)
	_, _, err = g.s.CreatePatch(t.Context(), g.by, ready, fresh, changes.Event{})
	wantFault(t, err, fault.Invalid)
}

func draftAgain(t *testing.T, open Open) {
	g := newStage(t, open)
	asked, fresh := g.created("new")
	p, _, err := g.s.CreatePatch(t.Context(), g.by, asked, fresh, changes.Event{What: "proposed"})
	need(t, err)
	gone := changes.Transition{PatchID: p.ID, Status: changes.Withdrawn, Stage: changes.Settled, Event: event(g.by, "withdrawn", "no")}
	got(g.s.TransitionPatch(t.Context(), g.by, gone))(t)
	again, _, err := g.s.CreatePatch(t.Context(), g.by, asked, fresh, changes.Event{What: "proposed"})
	need(t, err)
	want(t, "draft", fmt.Sprint(again.Changes[0].ArtifactID, again.Changes[0].Base), fmt.Sprint(p.Changes[0].ArtifactID, 2))
	want(t, "first proposal", got(g.s.Patch(t.Context(), g.by, p.ID))(t).Status, changes.Withdrawn)
}

func standing(t *testing.T, open Open) {
	g := newStage(t, open)
	graph, other := id.New(), id.New()
	paused := func(v identity.Viewer, graph string, version int, effects ...string) {
		a := accept(t, g.s, v, chat.NewTurn{Message: "x"})
		need(t, g.s.OpenRun(t.Context(), v, a.Run.ID, []run.Pin{{ArtifactID: graph, Name: "g", Version: version}, {ArtifactID: other, Name: "p", Version: 1}}))
		for _, e := range effects {
			need(t, g.s.Ask(t.Context(), v, true, run.Interrupt{ID: id.New(), RunID: a.Run.ID, EffectID: e, Type: "text_input", Message: "?"}))
		}
	}
	paused(g.by, graph, 2, "choose#1", "choose#2")
	paused(g.admin, graph, 2, "choose#1")
	paused(g.by, graph, 3, "child#1/inner#1")
	paused(g.by, other, 2, "choose#1")
	paused(g.by, graph, 2)
	want(t, "standing", plain(got(g.s.Standing(t.Context(), graph))(t)),
		plain([]changes.Standing{{Node: "child", Version: 3, Runs: 1}, {Node: "choose", Version: 2, Runs: 2}}))
	_, err := g.s.Standing(t.Context(), "odd")
	wantFault(t, err, fault.Invalid)
}

package changes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
)

// readsMore is a change that has every run look something up first.
const readsMore = `[{"op": "replace", "path": "/entrypoint", "value": "look"}, {"op": "add", "path": "/nodes/-",
	"value": {"id": "look", "type": "tool_call", "tool": "web.fetch_v1", "inputs": {"url": "https://example.org/${input.message}"}, "next": "way"}}]`

// A document could read what is another's, and carry it away.
//
// Requirements: CFG-11, ISO-01
func TestARehearsalCallsToolsForRunsOfWhoProposedAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var mu sync.Mutex
	var as []string
	h.live = func(_ context.Context, userID, _ string, _ map[string]any) (map[string]any, error) {
		mu.Lock()
		defer mu.Unlock()
		as = append(as, userID)
		return map[string]any{"url": "x", "text": "", "content_type": "html_untrusted"}, nil
	}
	a := h.create(h.root, "workflow", "sorts", sorts)
	h.record(a, "ann's illness", "hello", "pats", "roots") // of ann's
	h.records.list[2].UserID, h.records.list[3].UserID = h.pat.UserID, h.root.UserID
	p := patch(a, readsMore)
	p.Unknowns = artifacts.Live
	view := h.propose(h.pat, p)
	if report := view.Changes[0].Report; report.Unknown != 3 || !slices.Equal(as, []string{h.pat.UserID}) {
		t.Errorf("%d of 4 are unknown, called as %v", report.Unknown, as)
	}
	as = nil
	_, err := h.Rehearse(t.Context(), h.root, view.ID, changes.Replay{}) // pat's document, with root's rights
	h.must(err)
	if !slices.Equal(as, []string{h.pat.UserID}) {
		t.Errorf("again, called as %v", as)
	}
	as = nil
	_, err = h.Try(t.Context(), h.root, p)
	h.must(err)
	if !slices.Equal(as, []string{h.root.UserID}) {
		t.Errorf("tried, called as %v", as)
	}
	for i := range 120 {
		h.record(a, fmt.Sprint(i))
		h.records.list[4+i].UserID = h.root.UserID
	}
	as = nil
	_, err = h.Try(t.Context(), h.root, p)
	h.must(err)
	if len(as) != 100 {
		t.Errorf("called %d times", len(as))
	}
}

// The conditions of a document ask what people wrote, and a try leaves nothing
// that would show it.
//
// Requirements: CFG-11, ISO-01
func TestWhoIsNoAdministratorTriesOnRunsOfTheirOwn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	h.record(a, "hi", "pear", "hi")
	h.records.list[2].UserID = h.pat.UserID
	for v, taken := range map[identity.Viewer]int{h.pat: 1, h.root: 3} {
		tried, err := h.Try(t.Context(), v, patch(a, addsABranch))
		h.must(err)
		if got := tried.Changes[0].Report.Sample; got.Taken != taken || got.Population != taken {
			t.Errorf("a %s tries on %+v", v.Role, got)
		}
	}
	view := h.propose(h.pat, patch(a, addsABranch))
	if len(view.Changes[0].Report.Examples["moved"]) != 2 {
		t.Fatalf("an administrator is shown %v", view.Changes[0].Report.Examples)
	}
	own, err := h.Get(t.Context(), h.pat, view.ID)
	h.must(err)
	if report := own.Changes[0].Report; report.Moved != 2 || len(report.Examples) != 0 {
		t.Errorf("who proposed is shown %d, %v", report.Moved, report.Examples)
	}
}

// Requirements: CFG-11, CFG-12
func TestAPersonRehearsesOneAtATime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	h.record(a, "hello")
	h.records.list[0].UserID = h.pat.UserID
	began, over := make(chan struct{}), make(chan struct{})
	h.live = func(context.Context, string, string, map[string]any) (map[string]any, error) {
		close(began)
		<-over
		return nil, errors.New("late")
	}
	slow := patch(a, readsMore)
	slow.Unknowns = artifacts.Live
	done := make(chan error)
	go func() {
		_, err := h.Try(t.Context(), h.pat, slow)
		done <- err
	}()
	<-began
	_, err := h.Try(t.Context(), h.pat, patch(a, addsABranch))
	code(t, "a second at the same time", err, fault.RateLimited)
	_, err = h.Try(t.Context(), h.root, patch(a, addsABranch))
	h.must(err)
	close(over)
	h.must(<-done)
	_, err = h.Try(t.Context(), h.pat, patch(a, addsABranch))
	h.must(err)
}

// What is somebody's own goes with their account, and the patch with it.
//
// Requirements: CFG-16
func TestASetIsOfOneOwner(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	all := h.create(h.root, "workflow", "sorts", sorts)
	own := h.create(h.pat, "workflow", "pats", sorts)
	for name, first := range map[string]changes.ProposedChange{
		"an artifact of one's own":  {ArtifactID: own.ID, Patch: json.RawMessage(addsABranch)},
		"a new one that is private": {Create: &artifacts.Draft{Type: "workflow", Name: "mine", Schema: json.RawMessage(sorts)}},
	} {
		_, err := h.Propose(t.Context(), h.pat, changes.Proposal{Justification: "so", Changes: []changes.ProposedChange{
			first, {ArtifactID: all.ID, Patch: json.RawMessage(addsABranch)},
		}})
		code(t, name+" with one of everybody's", err, fault.Invalid)
	}
}

// An administrator sees what they decide on, and not what becomes of it later.
//
// Requirements: ISO-01, CFG-14
func TestALaterVersionOfAnArtifactOfOnesOwnIsNotShown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	own := h.create(h.ann, "workflow", "mine", sorts)
	id := h.propose(h.ann, patch(own, addsABranch)).ID
	secret := artifacts.Change{Patch: json.RawMessage(`[{"op": "add", "path": "/title", "value": "Secret"}]`)}
	_, err := h.library.Patch(t.Context(), h.ann, own.ID, secret)
	h.must(err)
	if h.look(id).After[0].Now == nil {
		t.Error("who decides does not see that it is another by now")
	}
	_, err = h.Decide(t.Context(), h.root, id, changes.Decision{Reason: "no"})
	h.must(err)
	if now := h.look(id).After[0].Now; now != nil {
		t.Errorf("an administrator sees %s", now)
	}
	view, err := h.Get(t.Context(), h.ann, id)
	h.must(err)
	if view.After[0].Now == nil {
		t.Error("its owner does not")
	}
}

// Requirements: CFG-02
func TestWhoMayNotProposeAnyMoreRebasesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	id := h.propose(h.pat, patch(a, addsABranch)).ID
	_, err := h.library.Patch(t.Context(), h.root, a.ID, artifacts.Change{Patch: json.RawMessage(`[{"op": "add", "path": "/title", "value": "T"}]`)})
	h.must(err)
	now := h.pat
	now.Role = identity.RoleUser
	_, err = h.Rebase(t.Context(), now, id)
	code(t, "by who is a plain user by now", err, fault.Forbidden)
	_, err = h.Rebase(t.Context(), h.pat, id)
	h.must(err)
}

// Requirements: CFG-16
func TestWhatPeopleWriteIsShownAsItStands(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	p := patch(a, addsABranch)
	p.Justification = "fine\x1b[2J \u202eniaga\nso"
	view := h.propose(h.pat, p)
	if view.Justification != "fine[2J niaga\nso" || view.Events[0].Reason != view.Justification {
		t.Errorf("kept %q", view.Justification)
	}
	_, err := h.Decide(t.Context(), h.root, view.ID, changes.Decision{Reason: "\x1b\u2066 "})
	code(t, "a reason nobody sees", err, fault.Invalid)
	p.Justification = "\x00\u202e"
	_, err = h.Propose(t.Context(), h.pat, p)
	code(t, "a justification nobody sees", err, fault.Invalid)
}

// Requirements: CFG-02
func TestDraftsNobodyMadeAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.slow = true
	create := func(v identity.Viewer, from, to int) error {
		p := changes.Proposal{Justification: "more"}
		for i := from; i < to; i++ {
			p.Changes = append(p.Changes, changes.ProposedChange{
				Create: &artifacts.Draft{Type: "workflow", Name: fmt.Sprintf("new%d", i), Visibility: artifacts.Global, Schema: json.RawMessage(sorts)},
			})
		}
		_, err := h.Propose(t.Context(), v, p)
		return err
	}
	n := 0
	for ; n < 112; n += 16 {
		h.must(create(h.pat, n, n+16))
	}
	code(t, "one more", create(h.pat, n, n+1), fault.Conflict)
	h.must(create(h.root, n, n+1))
}

// A document that is slow on purpose holds up what everybody shares, and is not
// tried again.
//
// Requirements: CFG-11, PLAT-07 (what a document asks for is bounded)
func TestARehearsalThatTakesTooLongEndsThePatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(h *house) { h.longest = 20 * time.Millisecond })
	a := h.create(h.root, "workflow", "sorts", sorts)
	h.record(a, "hello")
	h.records.list[0].UserID = h.pat.UserID
	h.live = func(ctx context.Context, _, _ string, _ map[string]any) (map[string]any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	p := patch(a, readsMore)
	p.Unknowns = artifacts.Live
	view := h.propose(h.pat, p)
	if last := view.Events[len(view.Events)-1]; view.Status != changes.Invalid || !strings.Contains(last.Reason, "still at work") {
		t.Errorf("%s: %+v", view.Status, last)
	}
}

// Somebody rehearses it again while somebody else approves what they saw.
//
// Requirements: CFG-06, CFG-11
func TestWhatIsBlockedByNowIsNotApproved(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	id := h.propose(h.pat, patch(a, addsABranch)).ID
	move := changes.Transition{
		PatchID: id, From: []changes.Status{changes.Pending}, Stages: []changes.Stage{changes.Deciding},
		Verdict: rehearsal.Block, Event: changes.Event{What: "rehearsed"},
	}
	_, err := h.store.TransitionPatch(t.Context(), identity.System(), move)
	h.must(err)
	move.Verdict, move.Event.What = "", "approved"
	move.Status, move.Stage, move.Answer = changes.Approved, changes.Applying, json.RawMessage(`"approve"`)
	move.Approval = &changes.Approval{UserID: h.root.UserID, Name: "root"}
	_, err = h.store.TransitionPatch(t.Context(), identity.System(), move)
	code(t, "approved all the same", err, fault.Conflict)
	if got := h.look(id); got.Status != changes.Pending || len(got.Approvals) != 0 {
		t.Errorf("it is %s with %d approvals", got.Status, len(got.Approvals))
	}
}

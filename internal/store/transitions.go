package store

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// ruled are the states that only an administrator, or the system, gives a
// proposal.
var ruled = []changes.Status{changes.Approved, changes.Rejected, changes.Applied, changes.RolledBack}

// TransitionPatch implements changes.Store: the row, the event, the versions and the
// answer to the open question are one transaction. It is written as the system,
// for a viewer who may see the proposal; whatever a graph or a caller says,
// nothing is applied that was not approved by as many people as it needs, and
// nobody approves what they proposed (CFG-05, CFG-06).
func (s *Store) TransitionPatch(ctx context.Context, v identity.Viewer, m changes.Transition) (done changes.TransitionResult, err error) {
	if err := mayTransition(v, m); err != nil {
		return done, err
	}
	if !v.IsSystem() {
		if m.Event.UserID == "" {
			m.Event.UserID = v.UserID
		}
		if err := s.read(ctx, v, func(tx Tx) error {
			_, err := patchFor(tx, v, m.PatchID)
			return err
		}); err != nil {
			return done, err
		}
	}
	err = s.write(ctx, identity.Steward(), func(tx Tx) error {
		done, err = s.transitionPatch(tx, m)
		return err
	})
	return done, err
}

func mayTransition(v identity.Viewer, m changes.Transition) error {
	if v.IsAdmin() || !slices.Contains(ruled, m.Status) && m.Approval == nil && len(m.Versions) == 0 && len(m.Rollouts) == 0 {
		return nil
	}
	return fault.New(fault.Forbidden, "Only an administrator decides on a proposal.")
}

func (s *Store) transitionPatch(tx Tx, m changes.Transition) (done changes.TransitionResult, err error) {
	if err := tx.Lock("patch:" + strconv.FormatInt(m.PatchID, 10)); err != nil {
		return done, err
	}
	p, err := patchFor(tx, identity.Steward(), m.PatchID)
	if err != nil {
		return done, err
	}
	if err := whole(tx, true, &p); err != nil {
		return done, err
	}
	if err := standsThere(p, m); err != nil {
		return done, err
	}
	now := s.now()
	if err := approve(tx, &p, m.Approval, now); err != nil {
		return done, err
	}
	if done.Versions, err = s.versions(tx, &p, m); err != nil {
		return done, err
	}
	if err := report(tx, &p, m.Reports); err != nil {
		return done, err
	}
	before, from := p.Status, p.Stage
	step(&p, m, now)
	if err := sound(p, before, m); err != nil {
		return done, err
	}
	if err := updatePatch(tx, p, decided(p, before, m.Event)); err != nil {
		return done, err
	}
	if err := insertEvent(tx, p.ID, m.Event, now); err != nil {
		return done, err
	}
	done.Patch = p
	done.Answered, err = s.answerPatch(tx, p, from, m)
	return done, err
}

// standsThere is a Conflict unless the proposal is where the transition begins.
func standsThere(p changes.Patch, m changes.Transition) error {
	if (len(m.From) == 0 || slices.Contains(m.From, p.Status)) && (len(m.Stages) == 0 || slices.Contains(m.Stages, p.Stage)) {
		return nil
	}
	return fault.New(fault.Conflict, "Proposal %d is %s (%s) by now, and nothing was changed. Read it again.", p.ID, p.Status, p.Stage).
		With(map[string]any{"patch_id": p.ID, "status": p.Status, "stage": p.Stage})
}

// approve adds one person's yes.
func approve(tx Tx, p *changes.Patch, a *changes.Approval, now time.Time) error {
	switch {
	case a == nil:
		return nil
	case a.UserID == "" || a.UserID == p.UserID:
		return fault.New(fault.Forbidden, "Nobody approves what they proposed themselves; somebody else must.")
	case slices.ContainsFunc(p.Approvals, func(other changes.Approval) bool { return other.UserID == a.UserID }):
		return fault.New(fault.Conflict, "You have approved proposal %d already; another person must approve it too.", p.ID).
			With(map[string]any{"patch_id": p.ID, "reason": "approved_already", "needs": p.Needs})
	}
	yes := *a
	yes.At = now
	_, err := tx.Exec(`INSERT INTO config_patch_approval (patch_id, user_id, name, at, reason) VALUES (@patch, @by, @name, @now, @reason)`,
		Args{"patch": p.ID, "by": yes.UserID, "name": yes.Name, "now": now, "reason": yes.Reason})
	p.Approvals = append(p.Approvals, yes)
	return err
}

// sound holds what must be true of a proposal whoever makes the transition.
func sound(p changes.Patch, before changes.Status, m changes.Transition) error {
	switch {
	case (p.Status == changes.Approved || p.Status == changes.Applied) && len(p.Approvals) < p.Needs:
		return fault.New(fault.Conflict, "Proposal %d needs %d approvals and has %d.", p.ID, p.Needs, len(p.Approvals)).
			With(map[string]any{"patch_id": p.ID, "status": before, "needs": p.Needs, "approvals": len(p.Approvals)})
	case m.Status == changes.Approved && p.Verdict == rehearsal.Block: // it was rehearsed again just now
		return fault.New(fault.Conflict, "The rehearsal blocks proposal %d, so nobody approves it.", p.ID).
			With(map[string]any{"patch_id": p.ID, "status": before, "stage": p.Stage})
	case m.Status == changes.Applied && before != changes.Approved, len(m.Versions) > 0 && before != changes.Approved && before != changes.Applied:
		return fault.New(fault.Conflict, "Proposal %d is %s; only an approved one is applied.", p.ID, before).
			With(map[string]any{"patch_id": p.ID, "status": before, "stage": p.Stage})
	}
	return nil
}

// step makes p what the transition says.
func step(p *changes.Patch, m changes.Transition, now time.Time) {
	if m.Status != "" && m.Status != p.Status {
		p.Status = m.Status
		switch p.Status {
		case changes.Approved, changes.Rejected:
			p.DecidedAt = now
		case changes.Applied:
			p.AppliedAt = now
		default: // the event says when
		}
	}
	if m.Stage != "" {
		p.Stage = m.Stage
	}
	if m.Checks != nil {
		p.Checks = m.Checks
	}
	if m.Verdict != "" {
		p.Verdict = m.Verdict
	}
	if m.Needs != 0 {
		p.Needs = m.Needs
	}
	if m.RebasedTo != 0 {
		p.RebasedTo = m.RebasedTo
	}
	set(&p.RolloutPlan, m.RolloutPlan)
	set(&p.ExpiresAt, m.Expires)
	if p.Stage == changes.Settled {
		p.ExpiresAt = time.Time{}
	}
}

// decided is what the row itself says of its decision, for whoever reads it
// without its events (DATA-09); nil for other steps.
func decided(p changes.Patch, before changes.Status, e changes.Event) map[string]any {
	if p.Status == before || p.Status != changes.Approved && p.Status != changes.Rejected {
		return nil
	}
	return map[string]any{"decided_by": e.UserID, "reason": e.Reason}
}

func updatePatch(tx Tx, p changes.Patch, decision map[string]any) error {
	checks, err := encoded(p.Checks, false)
	if err != nil {
		return err
	}
	trial, err := encoded(p.RolloutPlan, false)
	if err != nil {
		return err
	}
	meta, err := encoded(decision, decision == nil)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE config_patch SET status = @status, stage = @stage, checks = @checks, verdict = @verdict, needs = @needs,
		trial = @trial, rebased_to = @rebased, decided_at = @decided, applied_at = @applied, expires_at = @expires,
		meta = coalesce(@meta, meta) WHERE id = @id`,
		Args{
			"id": p.ID, "status": string(p.Status), "stage": string(p.Stage), "checks": checks, "verdict": string(p.Verdict),
			"needs": p.Needs, "trial": trial, "rebased": numbered(p.RebasedTo), "decided": moment(p.DecidedAt),
			"applied": moment(p.AppliedAt), "expires": moment(p.ExpiresAt), "meta": meta,
		})
	return err
}

// report keeps what a rehearsal showed, by the place of the change.
func report(tx Tx, p *changes.Patch, reports []*rehearsal.Report) error {
	for i, r := range reports {
		if i >= len(p.Changes) {
			return fault.New(fault.Invalid, "Proposal %d changes %d artifacts; there is no change %d to report on.", p.ID, len(p.Changes), i+1)
		}
		doc, err := encoded(r, r == nil)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE config_patch_change SET report = @report WHERE patch_id = @patch AND position = @position`,
			Args{"patch": p.ID, "position": i, "report": doc}); err != nil {
			return err
		}
		p.Changes[i].Report = r
	}
	return nil
}

// versions appends what the transition writes and begins or ends rollouts, all of it or
// nothing. Artifacts are locked in one order, so that two proposals about the
// same ones wait for each other instead of blocking each other.
func (s *Store) versions(tx Tx, p *changes.Patch, m changes.Transition) ([]artifacts.Artifact, error) {
	ids := slices.Collect(maps.Keys(m.Rollouts))
	for _, n := range m.Versions {
		ids = append(ids, n.ArtifactID)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if err := tx.Lock("artifact:" + id); err != nil {
			return nil, err
		}
	}
	appended := make([]artifacts.Artifact, 0, len(m.Versions))
	for _, n := range m.Versions {
		a, err := s.appendFor(tx, p, n, m.Rollouts)
		if err != nil {
			return nil, err
		}
		appended = append(appended, a)
	}
	for _, id := range slices.Sorted(maps.Keys(m.Rollouts)) {
		if err := setRollout(tx, id, m.Rollouts[id]); err != nil {
			return nil, err
		}
	}
	return appended, nil
}

func (s *Store) appendFor(tx Tx, p *changes.Patch, n changes.NewVersion, rollouts map[string]*artifacts.Rollout) (artifacts.Artifact, error) {
	list, err := all(tx, `SELECT `+artifactColumns+` FROM artifact WHERE id = @id`, Args{"id": n.ArtifactID}, scanArtifact)
	a, err := only(list, err, "artifact")
	if err != nil {
		return a, err
	}
	if a.Version != n.Base {
		return a, moved(a, n.Base)
	}
	if r, given := rollouts[a.ID]; given {
		a.Rollout = r
	}
	if err := s.advance(tx, &a, n.Schema, n.By, n.Note); err != nil || n.Change < 0 {
		return a, err
	}
	if n.Change >= len(p.Changes) {
		return a, fault.New(fault.Invalid, "Proposal %d changes %d artifacts; there is no change %d to apply.", p.ID, len(p.Changes), n.Change+1)
	}
	p.Changes[n.Change].Applied = a.Version
	_, err = tx.Exec(`UPDATE config_patch_change SET applied_version = @version WHERE patch_id = @patch AND position = @position`,
		Args{"patch": p.ID, "position": n.Change, "version": a.Version})
	return a, err
}

func setRollout(tx Tx, artifactID string, r *artifacts.Rollout) error {
	doc, err := encoded(r, r == nil)
	if err != nil {
		return err
	}
	n, err := tx.Exec(`UPDATE artifact SET rollout = @rollout WHERE id = @id`, Args{"id": artifactID, "rollout": doc})
	if err == nil && n == 0 {
		err = missing("artifact")
	}
	return err
}

// answerPatch settles what the proposal's workflow asks. The workflow is
// signalled afterwards, and again by the reconciler until it has the answer.
func (s *Store) answerPatch(tx Tx, p changes.Patch, from changes.Stage, m changes.Transition) (*run.Interrupt, error) {
	if m.Answer == nil {
		return nil, nil
	}
	open, err := openQuestions(tx, run.Run{ID: p.RunID, UserID: identity.SystemAccount})
	if err != nil {
		return nil, err
	}
	for _, q := range open {
		answered, err := s.answer(tx, identity.Steward(), q.ID, run.Answered, m.Answer)
		if fault.CodeOf(err) == fault.Conflict { // it expired just now
			continue
		}
		return &answered, err
	}
	r, found, err := firstRun(tx, `SELECT `+runColumns+` FROM run WHERE id = @id AND user_id = @user`,
		Args{"id": p.RunID, "user": identity.SystemAccount})
	if err != nil || m.Loose || !found || r.Status.Ended() { // a workflow that is gone asks for nothing
		return nil, err
	}
	return nil, errTooEarly(p, from)
}

// errTooEarly refuses a step that the proposal's workflow does not wait for yet.
func errTooEarly(p changes.Patch, from changes.Stage) error {
	sentence := "Proposal %d is on its way to this step and not there yet. Try again in a moment."
	if from == changes.Checking || from == changes.Rehearsing {
		sentence = "Proposal %d is still being checked. Wait until it asks for the decision."
	}
	return fault.New(fault.Conflict, sentence, p.ID).With(map[string]any{"patch_id": p.ID, "stage": from, "reason": changes.NotAsked})
}

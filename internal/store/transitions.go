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

// TransitionPatch implements changes.Store: the row, the event, the versions and the
// answer to the open question are one transaction. It is written as the system,
// for a viewer who may see the proposal; what may become of it is
// changes.Advance's to say.
func (s *Store) TransitionPatch(ctx context.Context, v identity.Viewer, m changes.Transition) (done changes.TransitionResult, err error) {
	if err := changes.MayTransition(v, m); err != nil {
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
	now := s.now()
	next, err := changes.Advance(p, m, now)
	if err != nil {
		return done, err
	}
	if done.Versions, err = s.versions(tx, m); err != nil {
		return done, err
	}
	if err := writeTransition(tx, p, next, m, now); err != nil {
		return done, err
	}
	done.Patch = next
	done.Answered, err = s.answerPatch(tx, p, m)
	return done, err
}

// writeTransition writes what a transition has made of a proposal, and what is
// told of it.
func writeTransition(tx Tx, before, p changes.Patch, m changes.Transition, now time.Time) error {
	for _, yes := range p.Approvals[len(before.Approvals):] {
		if _, err := tx.Exec(`INSERT INTO config_patch_approval (patch_id, user_id, name, at, reason) VALUES (@patch, @by, @name, @now, @reason)`,
			Args{"patch": p.ID, "by": yes.UserID, "name": yes.Name, "now": yes.At, "reason": yes.Reason}); err != nil {
			return err
		}
	}
	for _, n := range m.Versions {
		if n.Change < 0 {
			continue
		}
		if _, err := tx.Exec(`UPDATE config_patch_change SET applied_version = @version WHERE patch_id = @patch AND position = @position`,
			Args{"patch": p.ID, "position": n.Change, "version": p.Changes[n.Change].Applied}); err != nil {
			return err
		}
	}
	if err := writeReports(tx, p.ID, m.Reports); err != nil {
		return err
	}
	if err := updatePatch(tx, p, decided(p, before.Status, m.Event)); err != nil {
		return err
	}
	return insertEvent(tx, p.ID, m.Event, now)
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

// writeReports keeps what a rehearsal showed, by the place of the change.
func writeReports(tx Tx, patchID int64, reports []*rehearsal.Report) error {
	for i, r := range reports {
		doc, err := encoded(r, r == nil)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE config_patch_change SET report = @report WHERE patch_id = @patch AND position = @position`,
			Args{"patch": patchID, "position": i, "report": doc}); err != nil {
			return err
		}
	}
	return nil
}

// versions appends what the transition writes and begins or ends rollouts, all of it or
// nothing. Artifacts are locked in one order, so that two proposals about the
// same ones wait for each other instead of blocking each other.
func (s *Store) versions(tx Tx, m changes.Transition) ([]artifacts.Artifact, error) {
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
		a, err := s.appendFor(tx, n, m.Rollouts)
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

func (s *Store) appendFor(tx Tx, n changes.NewVersion, rollouts map[string]*artifacts.Rollout) (artifacts.Artifact, error) {
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
	return a, s.advance(tx, &a, n.Schema, n.By, n.Note)
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

// answerPatch settles what the workflow of a proposal asks where it stands. The
// workflow is signalled afterwards, and again by the reconciler until it has the
// answer.
func (s *Store) answerPatch(tx Tx, p changes.Patch, m changes.Transition) (*run.Interrupt, error) {
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
	if err != nil {
		return nil, err
	}
	return nil, m.Unasked(p, !found || r.Status.Ended())
}

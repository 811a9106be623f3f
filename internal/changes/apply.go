package changes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

// WatchHours is how long an applied version is watched where nobody says.
const WatchHours = 24

// maxByModel is how many patches that a model proposed are applied to one
// artifact in a day (CFG-12).
const maxByModel = 3

// maxLearned is the same of what is learnt from one person, for their own
// adapter: they may say much in a day, and each change is theirs to take back.
const maxLearned = 24

// Apply makes an approved patch's documents the next versions, all or none
// (CFG-05). Runs that began keep their version (PLAT-08). Errors: Forbidden,
// Conflict with {artifact_id, base_version, current_version} when a base has
// moved (CFG-06), or with the problems when the documents no longer pass their
// checks; RateLimited (CFG-12).
func (d *Desk) Apply(ctx context.Context, v identity.Viewer, id int64, t RolloutPlan) (Patch, error) {
	p, err := d.patch(ctx, v, id)
	if err == nil {
		err = mayApply(v, p)
	}
	if err == nil {
		t, err = t.of(p)
	}
	if err == nil {
		err = d.paced(ctx, p)
	}
	if err == nil {
		err = d.ready(ctx, p)
	}
	if err != nil {
		return Patch{}, err
	}
	return d.apply(ctx, p, t, d.event(ctx, v, "applied", "", map[string]any{"share": t.Share, "hours": t.Hours, "roll_back": t.RollBack}))
}

// apply makes the versions of a patch that may be applied.
func (d *Desk) apply(ctx context.Context, p Patch, t RolloutPlan, e Event) (Patch, error) {
	j, err := d.judgePatch(ctx, p)
	if err != nil {
		return Patch{}, err
	}
	if !j.ok {
		return Patch{}, outdated(j)
	}
	m := Transition{
		PatchID: p.ID, Stages: []Stage{Applying}, Status: Applied, Stage: Watching, Event: e,
		Answer: answer(answerApply), RolloutPlan: &t, Expires: &time.Time{}, Versions: p.versions(j), Rollouts: p.rollouts(t, d.o.Now()),
	}
	if t.Hours == 0 {
		m.Stage = Settled
	}
	return d.transition(ctx, m)
}

// of is a plan with its defaults, if the patch can have it.
func (t RolloutPlan) of(p Patch) (RolloutPlan, error) {
	switch {
	case t.Share < 0 || t.Share > 100:
		return t, fault.New(fault.Invalid, "The share is %d %%: it is 0 to 100, and 0 means that all new runs take the new version.", t.Share)
	case t.Hours < 0 || t.Hours > MaxHours:
		return t, fault.New(fault.Invalid, "A version is watched for 0 to %d hours, not %d.", MaxHours, t.Hours)
	case !t.Partial():
		return t, nil
	case len(p.rollouts(t, time.Time{})) == 0:
		return t, fault.New(fault.Invalid, "Nothing in this patch can be on trial: only new versions of workflows, routing policies and adapters take a share of the runs.")
	case t.Hours == 0:
		t.Hours = WatchHours // somebody looks, or it would stay a share for ever
	}
	return t, nil
}

// rollouts are what a patch begins, by artifact.
func (p Patch) rollouts(t RolloutPlan, now time.Time) map[string]*artifacts.Rollout {
	if !t.Partial() {
		return nil
	}
	rollouts := map[string]*artifacts.Rollout{}
	for _, c := range p.Changes {
		if artifacts.SupportsRollout(c.Kind) && !c.Creates {
			rollouts[c.ArtifactID] = &artifacts.Rollout{Patch: p.ID, From: c.Base, Share: t.Share, Since: now}
		}
	}
	return rollouts
}

// Partial reports whether only a share of the runs takes the new version.
func (t RolloutPlan) Partial() bool { return t.Share > 0 && t.Share < 100 }

// ended ends the rollouts of a patch that still go on: somebody may have written
// another version since, or tried one.
func (d *Desk) ended(ctx context.Context, p Patch) (map[string]*artifacts.Rollout, error) {
	rollouts := map[string]*artifacts.Rollout{}
	for id := range p.rollouts(p.RolloutPlan, time.Time{}) {
		a, err := d.o.Library.Get(ctx, p.reader(), id)
		switch {
		case errors.Is(err, fault.NotFound): // it was removed, with its rollout
		case err != nil:
			return nil, err
		case a.Rollout != nil && a.Rollout.Patch == p.ID:
			rollouts[id] = nil
		}
	}
	return rollouts, nil
}

// versions are what a patch makes.
func (p Patch) versions(j judged) []NewVersion {
	by := "user"
	if p.Proposer == ByModel {
		by = "llm"
	}
	list := make([]NewVersion, len(p.Changes))
	for i, c := range p.Changes {
		list[i] = NewVersion{Change: i, ArtifactID: c.ArtifactID, Base: c.Base, Schema: j.prospects[i].After, By: by, Note: p.note()}
	}
	return list
}

// note is what the versions of a patch say of themselves.
func (p Patch) note() string {
	line, _, _ := strings.Cut(strings.TrimSpace(p.Justification), "\n")
	return fmt.Sprintf(artifacts.NotePatch, p.ID, cut(line, 200))
}

// paced holds back what a model proposes (CFG-12).
func (d *Desk) paced(ctx context.Context, p Patch) error {
	if p.Proposer != ByModel {
		return nil
	}
	most := maxByModel
	if p.Learned() {
		most = maxLearned
	}
	for _, c := range p.Changes {
		n, err := d.o.Store.AppliedSince(ctx, c.ArtifactID, d.o.Now().Add(-24*time.Hour))
		if err != nil {
			return err
		}
		if n >= most {
			return fault.New(fault.RateLimited, "%d patches that Liminal proposed were applied to %s within a day, which is the most. Apply this one tomorrow.", n, c.Name)
		}
	}
	return nil
}

// OnTrial is the reason of a Conflict where another version is on trial.
const OnTrial = "on_trial"

// ready refuses a patch whose bases moved, or whose artifacts are being rolled
// out.
func (d *Desk) ready(ctx context.Context, p Patch) error {
	for _, c := range p.Changes {
		a, err := d.o.Library.Get(ctx, p.reader(), c.ArtifactID)
		switch {
		case err != nil:
			return err
		case a.Version != c.Base:
			return moved(a, c.Base)
		case a.Rollout != nil:
			return fault.New(fault.Conflict, "Version %d of %s is on trial, by patch %d: end that first, by promoting it or taking it back.", a.Version, a.Name, a.Rollout.Patch).
				With(map[string]any{"artifact_id": a.ID, "patch_id": a.Rollout.Patch, "reason": OnTrial})
		}
	}
	return nil
}

// outdated refuses documents that passed their checks once and do not any more.
func outdated(j judged) error {
	var problems []artifacts.Problem
	for _, c := range j.checks {
		if c.State == CheckFailed {
			problems = append(problems, c.Problems...)
		}
	}
	return fault.New(fault.Conflict, "The patch passed its checks when it was proposed and does not now: %s Nothing was changed.", j.first()).With(problems)
}

// RollBack appends the documents from before an applied patch as new versions
// (ART-07). It needs a reason. Conflict when another version came after.
func (d *Desk) RollBack(ctx context.Context, v identity.Viewer, id int64, reason string) (Patch, error) {
	p, err := d.patch(ctx, v, id)
	if err == nil {
		err = mayRollBack(v, p)
	}
	if err != nil {
		return Patch{}, err
	}
	if reason = cut(reason, MaxReason); reason == "" {
		return Patch{}, fault.New(fault.Invalid, "Taking a patch back needs a reason.").With(map[string]any{"field": "reason"})
	}
	return d.takeBack(ctx, v, p, reason, nil)
}

// takeBack is RollBack by a person or by a rule.
func (d *Desk) takeBack(ctx context.Context, v identity.Viewer, p Patch, reason string, data any) (Patch, error) {
	m := Transition{
		PatchID: p.ID, Status: RolledBack, Stage: Settled, Event: d.event(ctx, v, "rolled_back", reason, data),
		Answer: answer(answerRollBack), Loose: true,
	}
	var err error
	if m.Rollouts, err = d.ended(ctx, p); err != nil {
		return Patch{}, err
	}
	for _, c := range p.Changes {
		now, err := d.o.Library.Get(ctx, p.reader(), c.ArtifactID)
		if err != nil {
			return Patch{}, err
		}
		if now.Version != c.Applied {
			return Patch{}, fault.New(fault.Conflict, "%s is at version %d, and the patch made version %d: taking it back would undo what came after. Restore a version of your choice instead.", now.Name, now.Version, c.Applied).
				With(map[string]any{"artifact_id": c.ArtifactID, "base_version": c.Applied, "current_version": now.Version})
		}
		old, err := d.o.Library.At(ctx, p.reader(), c.ArtifactID, c.Base)
		if err != nil {
			return Patch{}, err
		}
		by := "user"
		if old.CreatedBy == "system" { // what ships is brought up to date by the next program again
			by = old.CreatedBy
		}
		m.Versions = append(m.Versions, NewVersion{
			Change: -1, ArtifactID: c.ArtifactID, Base: c.Applied, Schema: old.Schema, By: by,
			Note: fmt.Sprintf(artifacts.NoteBackFor, c.Base, cut(reason, 200)),
		})
	}
	return d.ends(ctx, v, p, m)
}

// ends is a step that ends the watch. When a person takes it while the workflow
// looks at the figures, the question it is about to put is waited for: else it
// would wait an hour for an answer that has been given. A workflow that does
// not ask holds nobody up for longer.
func (d *Desk) ends(ctx context.Context, v identity.Viewer, p Patch, m Transition) (Patch, error) {
	if p.Stage == Watching && !v.IsSystem() {
		asked := m
		asked.Loose = false
		if after, err := d.transition(ctx, asked); fault.Reason(err) != NotAsked {
			return after, err
		}
	}
	return d.transition(ctx, m)
}

// Promote ends the rollout and the watch: every new run takes the new version.
func (d *Desk) Promote(ctx context.Context, v identity.Viewer, id int64) (Patch, error) {
	p, err := d.patch(ctx, v, id)
	if err == nil {
		err = mayPromote(v, p)
	}
	if err != nil {
		return Patch{}, err
	}
	return d.settle(ctx, v, p, "promoted", "", nil)
}

// settle ends the watch and leaves the new version to all.
func (d *Desk) settle(ctx context.Context, v identity.Viewer, p Patch, what, reason string, data any) (Patch, error) {
	rollouts, err := d.ended(ctx, p)
	if err != nil {
		return Patch{}, err
	}
	return d.ends(ctx, v, p, Transition{
		PatchID: p.ID, From: []Status{Applied}, Stages: []Stage{Watching}, Stage: Settled,
		Event: d.event(ctx, v, what, reason, data), Answer: answer(answerKeep), Loose: true, Rollouts: rollouts,
	})
}

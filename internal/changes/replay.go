package changes

import (
	"context"
	"slices"

	"liminal/artifacts"
	"liminal/internal/identity"
)

// sampled is how many runs a rehearsal takes that a decision stands on: never
// fewer than the artifacts' guards say.
func sampled(j judged, wanted int) int {
	if wanted <= 0 {
		return 0
	}
	for _, p := range j.prospects {
		if g, err := artifacts.GuardOf(p.Artifact.Schema); err == nil {
			wanted = max(wanted, g.Sample)
		}
	}
	return wanted
}

// Rehearse plays a patch that waits for its decision again and stores the
// reports. No fewer runs are taken than by itself, and who proposed the patch
// cannot make its verdict milder by it.
func (d *Desk) Rehearse(ctx context.Context, v identity.Viewer, id int64, r Replay) (Patch, error) {
	p, err := d.patch(ctx, v, id)
	if err == nil {
		err = mayRehearse(v, p)
	}
	if err != nil {
		return Patch{}, err
	}
	if d.o.Limits != nil {
		if err := d.o.Limits.Spend(ctx, d.tryOf(v), v.UserID); err != nil {
			return Patch{}, err
		}
	}
	j, err := d.judgePatch(ctx, p)
	if err != nil {
		return Patch{}, err
	}
	if !j.ok {
		return Patch{}, outdated(j)
	}
	r.Sample = sampled(j, r.Sample)
	r.Unknowns = artifacts.Unknowns(cmpOr(string(r.Unknowns), string(p.Unknowns)))
	if r.Script == nil {
		r.Script = p.Script
	}
	r.live = p.UserID
	var done played
	err = d.alone(ctx, v, func(ctx context.Context) error {
		done, err = d.play(ctx, j, p.Changes, r)
		return err
	})
	if err != nil {
		return Patch{}, err
	}
	verdict := done.verdict
	if own(v, p) {
		verdict = graver(verdict, p.Verdict)
	}
	checks := slices.Clone(p.Checks)
	checks[len(checks)-1] = done.check
	return d.transition(ctx, Transition{
		PatchID: p.ID, From: []Status{Pending}, Stages: []Stage{Deciding}, Checks: checks, Reports: done.reports,
		Verdict: verdict, Needs: approvals(verdict), Event: d.event(ctx, v, "rehearsed", "", done.data(r)),
	})
}

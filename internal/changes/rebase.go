package changes

import (
	"context"
	"errors"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

// Rebase proposes the same operations for the versions that are current now;
// the old patch is superseded, and who proposed it stays who it was. Conflict
// when they no longer apply, or nothing has moved.
func (d *Desk) Rebase(ctx context.Context, v identity.Viewer, id int64) (Patch, error) {
	p, err := d.patch(ctx, v, id)
	if err == nil {
		err = mayRebase(v, p)
	}
	if err != nil {
		return Patch{}, err
	}
	next, err := d.rebased(ctx, v, p)
	if err != nil {
		return Patch{}, err
	}
	if err := d.spend(ctx, v, d.planOf(v)); err != nil {
		return Patch{}, err
	}
	data := map[string]any{"from": p.ID}
	next, err = d.open(ctx, identity.System(), next, nil, d.event(ctx, v, "rebased", "", data))
	if err != nil {
		return Patch{}, err
	}
	return next, d.supersede(ctx, v, p, next)
}

// maxRaces bounds how often a patch may move on while it is superseded: it has
// fewer stages.
const maxRaces = 4

// supersede ends a patch in favour of the next. When somebody else has ended it
// meanwhile, the next one is not wanted either.
func (d *Desk) supersede(ctx context.Context, v identity.Viewer, p, next Patch) error {
	var err error
	for range maxRaces {
		_, err = d.transition(ctx, Transition{
			PatchID: p.ID, Stages: []Stage{p.Stage}, Status: Superseded, Stage: Settled, RebasedTo: next.ID,
			Event: d.event(ctx, v, "superseded", "", map[string]any{"by": next.ID}), Answer: answer(answerSuperseded), Loose: p.atWork(),
		})
		if !errors.Is(err, fault.Conflict) {
			return err
		}
		was := p.Stage
		if p, err = d.patch(ctx, identity.System(), p.ID); err != nil {
			return err
		}
		if err = mayRebase(v, p); err != nil || p.Stage == was {
			break
		}
	}
	if err == nil {
		err = p.wrong("it moves on by itself just now; try again")
	}
	_, end := d.transition(ctx, Transition{
		PatchID: next.ID, From: []Status{Pending}, Status: Withdrawn, Stage: Settled,
		Event: d.event(ctx, v, "withdrawn", "The patch it was to replace has moved on.", nil), Answer: answer(answerWithdraw), Loose: true,
	})
	return errors.Join(err, end)
}

// rebased is a patch for the versions that are current now.
func (d *Desk) rebased(ctx context.Context, v identity.Viewer, p Patch) (Patch, error) {
	next := Patch{
		Proposer: p.Proposer, UserID: p.UserID, Justification: p.Justification, Status: Pending, Stage: Checking,
		Checks: waiting(), Script: p.Script, Unknowns: p.Unknowns, Needs: 1, RebasedFrom: p.ID, CreatedAt: d.o.Now(),
	}
	behind := false
	for _, c := range p.Changes {
		a, err := d.o.Library.Get(ctx, p.reader(), c.ArtifactID)
		if err == nil && !v.IsAdmin() { // they may have been a power user when they proposed it
			err = mayChange(v, a)
		}
		if err != nil {
			return next, err
		}
		if _, err := artifacts.Applied(a.Schema, c.Ops); err != nil {
			return next, fault.Wrap(fault.Conflict, err, "The patch does not apply to version %d of %s any more: %s Propose it anew.", a.Version, a.Name, fault.From(err).Message).
				With(map[string]any{"artifact_id": a.ID, "base_version": c.Base, "current_version": a.Version})
		}
		behind = behind || a.Version != c.Base
		next.Changes = append(next.Changes, Change{ArtifactID: c.ArtifactID, Kind: c.Kind, Name: c.Name, Base: a.Version, Ops: c.Ops, Creates: c.Creates})
	}
	if !behind {
		return next, fault.New(fault.Conflict, "Nothing has moved: the patch is for the versions that are current.")
	}
	return next, nil
}

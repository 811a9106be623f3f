package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
)

// Checked is what StepCheck found.
type Checked struct {
	OK       bool // the patch goes on
	Problems int
	About    string // what the patch changes, for people: the workflow default
}

// StepCheck makes the checks of a patch; it may be made again. One that fails
// ends the patch, which is kept with its problems.
func (d *Desk) StepCheck(ctx context.Context, id int64) (Checked, error) {
	p, err := d.patch(ctx, identity.System(), id)
	if err != nil || p.Status != Pending || p.Stage != Checking {
		return Checked{OK: p.Status == Pending, About: p.about()}, forgotten(err)
	}
	j, err := d.judgePatch(ctx, p)
	if err != nil {
		return Checked{}, err
	}
	m := Transition{PatchID: id, From: []Status{Pending}, Stages: []Stage{Checking}, Checks: j.checks}
	if j.ok {
		m.Stage, m.Event = Rehearsing, d.event(ctx, identity.System(), "checked", "", nil)
	} else {
		m.Status, m.Stage = Invalid, Settled
		m.Event = d.event(ctx, identity.System(), "invalid", j.first(), map[string]any{"problems": j.problems})
	}
	p, err = d.step(ctx, m)
	return Checked{OK: p.Status == Pending, Problems: j.problems, About: p.about()}, err
}

// about is what a patch changes, in words.
func (p Patch) about() string {
	if len(p.Changes) == 0 {
		return "nothing"
	}
	first := "the " + artifacts.Alias(p.Changes[0].Kind) + " " + p.Changes[0].Name
	switch more := len(p.Changes) - 1; more {
	case 0:
		return first
	case 1:
		return first + " and one more"
	default:
		return fmt.Sprintf("%s and %d more", first, more)
	}
}

// step is transition where somebody may have been faster: then it gives where the
// patch stands.
func (d *Desk) step(ctx context.Context, m Transition) (Patch, error) {
	p, err := d.transition(ctx, m)
	if errors.Is(err, fault.Conflict) {
		return d.patch(ctx, identity.System(), m.PatchID)
	}
	return p, err
}

// Rehearsed is what StepRehearse found.
type Rehearsed struct {
	Open    bool // the patch waits for its decision now; false: it was withdrawn or rebased meanwhile
	Verdict string
	Moved   int
	Taken   int
	Said    string // the same for people, in a sentence
}

// StepRehearse rehearses a patch; it may be made again. Then it waits for a
// decision.
func (d *Desk) StepRehearse(ctx context.Context, id int64) (Rehearsed, error) {
	p, err := d.patch(ctx, identity.System(), id)
	if err != nil || p.Status != Pending || p.Stage != Rehearsing {
		return p.rehearsed(), forgotten(err)
	}
	j, err := d.judgePatch(ctx, p)
	if err != nil {
		return Rehearsed{}, err
	}
	invalid := Transition{
		PatchID: id, From: []Status{Pending}, Stages: []Stage{Rehearsing}, Checks: j.checks, Status: Invalid, Stage: Settled,
		Event: d.event(ctx, identity.System(), "invalid", j.first(), nil),
	}
	if !j.ok { // what it refers to went while it waited its turn
		p, err = d.step(ctx, invalid)
		return p.rehearsed(), err
	}
	r := Replay{Unknowns: p.Unknowns, Script: p.Script, live: p.UserID}
	within, cancel := context.WithTimeout(ctx, d.o.Longest)
	defer cancel()
	played, err := d.play(within, j, p.Changes, r)
	// Slow on purpose, maybe: it is not tried again. Not every error of what was cut off
	// says that it was: a database says it was interrupted.
	if err != nil && errors.Is(within.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		invalid.Event.Reason = fmt.Sprintf("The rehearsal was still at work after %s: the document takes too long.", d.o.Longest)
		p, err = d.step(ctx, invalid)
		return p.rehearsed(), err
	}
	if err != nil {
		return Rehearsed{}, err
	}
	checks := slices.Clone(p.Checks)
	checks[len(checks)-1] = played.check
	until := d.o.Now().Add(Waits)
	p, err = d.step(ctx, Transition{
		PatchID: id, From: []Status{Pending}, Stages: []Stage{Rehearsing}, Stage: Deciding, Expires: &until,
		Checks: checks, Reports: played.reports, Verdict: played.verdict, Needs: approvals(played.verdict),
		Event: d.event(ctx, identity.System(), "rehearsed", "", played.data(r)),
	})
	return p.rehearsed(), err
}

// rehearsed is what the workflow is told of a patch's rehearsal.
func (p Patch) rehearsed() Rehearsed {
	r := Rehearsed{Open: p.undecided(), Verdict: string(p.Verdict)}
	for _, c := range p.Changes {
		if c.Report != nil {
			r.Moved, r.Taken = r.Moved+c.Report.Moved, r.Taken+c.Report.Sample.Taken
		}
	}
	r.Said = fmt.Sprintf("%d of %d recorded runs go another way.", r.Moved, r.Taken)
	switch {
	case r.Taken == 0:
		r.Said = "There was no recorded run to rehearse it on."
	case p.Verdict == rehearsal.Block:
		r.Said += " The rehearsal blocks it."
	case p.Needs > 1:
		r.Said += " Two people must approve."
	case p.Verdict == rehearsal.Warn:
		r.Said += " The rehearsal warns."
	}
	return r
}

// data is what the event of a rehearsal keeps.
func (p played) data(r Replay) map[string]any {
	unknown := r.Unknowns
	if unknown == "" {
		unknown = artifacts.Stop
	}
	return map[string]any{"verdict": p.verdict, "moved": p.moved, "taken": p.taken, "unknown": unknown, "scripted": len(r.Script)}
}

// StepExpire ends a patch that waited too long at a stage, Deciding or
// Applying, or that cannot be checked or rehearsed, and gives its status. At
// another stage than that nothing happens.
func (d *Desk) StepExpire(ctx context.Context, id int64, s Stage) (Status, error) {
	var reason string
	switch s {
	case Checking, Rehearsing:
		reason = "It could not be checked or rehearsed. Propose it again."
	case Deciding:
		reason = "Nobody decided in time."
	case Applying:
		reason = "Nobody applied it in time."
	default:
		return "", fault.New(fault.Invalid, "A patch does not wait at the stage %q.", s)
	}
	p, err := d.patch(ctx, identity.System(), id)
	if errors.Is(err, fault.NotFound) {
		return Expired, nil
	}
	if err != nil || p.Stage != s {
		return p.Status, err
	}
	p, err = d.step(ctx, Transition{
		PatchID: id, Stages: []Stage{s}, Status: Expired, Stage: Settled,
		Event: d.event(ctx, identity.System(), "expired", reason, nil),
	})
	return p.Status, err
}

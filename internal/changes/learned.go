package changes

import (
	"context"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

// ProposeLearned proposes, in the house's name, what was learnt from v: a
// change to adapters of v's own and to nothing else. v sees it, decides about it
// where no rule does, and takes it back. Errors as Propose's.
func (d *Desk) ProposeLearned(ctx context.Context, v identity.Viewer, p Proposal) (Patch, error) {
	p.Justification = visibleText(p.Justification)
	for i := range p.Changes {
		if draft := p.Changes[i].Create; draft != nil {
			theirs := *draft
			theirs.By, theirs.Visibility = "llm", artifacts.Private
			p.Changes[i].Create = &theirs
		}
	}
	w, err := d.wanted(ctx, v, p)
	if err == nil {
		err = w.learnable(v)
	}
	if err != nil {
		return Patch{}, err
	}
	if d.o.Limits != nil {
		if err := d.o.Limits.Spend(ctx, quota.LearnedProposals(), v.UserID); err != nil {
			return Patch{}, err
		}
	}
	patch := w.patch(v, p, d.o.Now())
	patch.Proposer = ByModel
	return d.open(ctx, v, patch, w.drafts, d.event(ctx, identity.System(), "proposed", p.Justification, nil))
}

// learnable refuses what is not learnt from v: changes to anything but adapters
// of their own.
func (w wanted) learnable(v identity.Viewer) error {
	for _, p := range w.prospects {
		if a := p.Artifact; a.Type != artifacts.KindAdapter || a.OwnerID == "" || a.OwnerID != v.UserID {
			return fault.New(fault.Forbidden, "What is learnt from a person changes adapters of their own; %s is none.", a.Name)
		}
	}
	return nil
}

// ByRule moves a patch that was learnt from a person as far on as a rule may:
// it is approved, and applied to all runs, in the name of the rule (CFG-16). A
// patch of any other kind no rule approves (CFG-13). It gives where the patch
// stands; while its workflow is on its way, that is where it stood, and the
// caller comes again.
func (d *Desk) ByRule(ctx context.Context, id int64, rule, reason string) (Patch, error) {
	p, err := d.patch(ctx, identity.System(), id)
	if err != nil {
		return Patch{}, err
	}
	if !p.Learned() {
		return Patch{}, fault.New(fault.Forbidden, "Patch %d was not learnt from a person, so no rule approves it.", id)
	}
	if p.undecided() {
		if p, err = d.approveByRule(ctx, p, rule, reason); err != nil {
			return d.standing(ctx, id, err)
		}
	}
	if p.Status != Approved || p.Stage != Applying {
		return p, nil
	}
	if err := d.paced(ctx, p); err != nil {
		return p, err
	}
	if err := d.ready(ctx, p); err != nil {
		return p, err
	}
	applied, err := d.apply(ctx, p, RolloutPlan{}, d.ruled("applied", rule, ""))
	if err != nil {
		return d.standing(ctx, id, err)
	}
	return applied, nil
}

func (d *Desk) approveByRule(ctx context.Context, p Patch, rule, reason string) (Patch, error) {
	if err := p.unblocked(); err != nil {
		return p, err
	}
	until := d.o.Now().Add(Waits)
	return d.transition(ctx, Transition{
		PatchID: p.ID, From: []Status{Pending}, Stages: []Stage{Deciding}, Status: Approved, Stage: Applying, Expires: &until,
		Approval: &Approval{UserID: identity.SystemAccount, Name: rule, At: d.o.Now(), Reason: cut(reason, MaxReason)},
		Event:    d.ruled("approved", rule, cut(reason, MaxReason)), Answer: answer(answerApprove),
	})
}

// ruled is a step of a rule's.
func (d *Desk) ruled(what, rule, reason string) Event {
	return Event{At: d.o.Now(), What: what, Reason: reason, Name: rule}
}

// standing is where a patch stands after a step that was not made: that its
// workflow does not ask yet is no failure.
func (d *Desk) standing(ctx context.Context, id int64, err error) (Patch, error) {
	if fault.Reason(err) != NotAsked {
		return Patch{}, err
	}
	return d.patch(ctx, identity.System(), id)
}

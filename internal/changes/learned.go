package changes

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

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
	return d.open(ctx, v, patch, w.drafts, d.event(ctx, identity.System(), "proposed", p.Justification, p.found()))
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

// Ruling is a rule's yes: its name, why in a sentence, and what its event keeps of
// what it found.
type Ruling struct {
	Rule   string
	Reason string
	Found  json.RawMessage
}

// ByRule moves a patch that was learnt from a person as far on as a rule may:
// it is approved, and applied as the plan says, in the name of the rule
// (CFG-16). What makes an artifact has nothing to be compared with, so it is
// applied to all runs whatever the plan says. A patch of any other kind no rule
// approves (CFG-13). It gives where the patch stands; while its workflow is on
// its way, that is where it stood, and the caller comes again. While another
// version is on trial the patch stays approved, and Tend goes on with it.
func (d *Desk) ByRule(ctx context.Context, id int64, by Ruling, plan RolloutPlan) (Patch, error) {
	p, err := d.patch(ctx, identity.System(), id)
	if err != nil {
		return Patch{}, err
	}
	if !p.Learned() {
		return Patch{}, fault.New(fault.Forbidden, "Patch %d was not learnt from a person, so no rule approves it.", id)
	}
	if p.undecided() {
		if p, err = d.approveByRule(ctx, p, by, plan); err != nil {
			return d.standing(ctx, id, err)
		}
	}
	return d.applyByRule(ctx, p)
}

// applyByRule applies what a rule approved, by the plan it was approved with. It
// waits for the end of another trial, and is withdrawn where its base is gone:
// what was read for it is read again.
func (d *Desk) applyByRule(ctx context.Context, p Patch) (Patch, error) {
	rule, ok := p.ruledBy()
	if !ok || p.Status != Approved || p.Stage != Applying {
		return p, nil
	}
	if err := d.paced(ctx, p); err != nil {
		return p, err
	}
	switch err := d.ready(ctx, p); {
	case fault.Reason(err) == OnTrial:
		return p, nil
	case errors.Is(err, fault.Conflict):
		gone, err := d.transition(ctx, Transition{
			PatchID: p.ID, Stages: []Stage{Applying}, Status: Withdrawn, Stage: Settled,
			Event: d.ruled("withdrawn", rule, fault.From(err).Message), Answer: answer(answerWithdraw),
		})
		if err != nil {
			return d.standing(ctx, p.ID, err)
		}
		return gone, nil
	case err != nil:
		return p, err
	}
	data := map[string]any{"share": p.RolloutPlan.Share, "hours": p.RolloutPlan.Hours, "roll_back": p.RolloutPlan.RollBack}
	e := d.ruled("applied", rule, "")
	e.Data, _ = json.Marshal(data) // of numbers
	applied, err := d.apply(ctx, p, p.RolloutPlan, e)
	if err != nil {
		return d.standing(ctx, p.ID, err)
	}
	return applied, nil
}

// ruledBy is the rule that approved p.
func (p Patch) ruledBy() (name string, ok bool) {
	i := slices.IndexFunc(p.Approvals, func(a Approval) bool { return a.UserID == identity.SystemAccount })
	if i < 0 {
		return "", false
	}
	return p.Approvals[i].Name, true
}

// ByRule is the name of the rule that approved a patch; empty: people did.
func (p Patch) ByRule() string {
	name, _ := p.ruledBy()
	return name
}

func (d *Desk) approveByRule(ctx context.Context, p Patch, by Ruling, plan RolloutPlan) (Patch, error) {
	if err := p.unblocked(); err != nil {
		return p, err
	}
	if len(p.rollouts(plan, time.Time{})) == 0 {
		plan = RolloutPlan{}
	}
	until, reason := d.o.Now().Add(Waits), cut(by.Reason, MaxReason)
	e := d.ruled("approved", by.Rule, reason)
	e.Data = by.Found
	return d.transition(ctx, Transition{
		PatchID: p.ID, From: []Status{Pending}, Stages: []Stage{Deciding}, Status: Approved, Stage: Applying, Expires: &until,
		Approval: &Approval{UserID: identity.SystemAccount, Name: by.Rule, At: d.o.Now(), Reason: reason},
		Event:    e, Answer: answer(answerApprove), RolloutPlan: &plan,
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

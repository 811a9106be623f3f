package changes

import (
	"cmp"
	"slices"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// follows is what may become of a patch, by what it is. What is not named here
// stays what it is.
var follows = map[Status][]Status{
	Pending:  {Approved, Rejected, Invalid, Expired, Withdrawn, Superseded},
	Approved: {Applied, Expired, Withdrawn, Superseded},
	Applied:  {RolledBack},
}

// canBecome reports whether a patch of this status may become one of that.
func (s Status) canBecome(next Status) bool { return slices.Contains(follows[s], next) }

// ruled are the states that only an administrator, or the system, gives a
// patch.
var ruled = []Status{Approved, Rejected, Applied, RolledBack}

// Begin is a patch as it is first stored for v: with what it does not say set,
// but for what the store gives it (its id, its run, the time). Errors: Invalid
// for too many changes or none, Forbidden for the patch of somebody else.
func Begin(v identity.Viewer, p Patch) (Patch, error) {
	if n := len(p.Changes); n == 0 || n > MaxChanges {
		return Patch{}, fault.New(fault.Invalid, "A proposal changes 1 to %d artifacts, not %d.", MaxChanges, n)
	}
	if !v.IsSystem() && p.UserID != v.UserID {
		return Patch{}, fault.New(fault.Forbidden, "A proposal belongs to the person who makes it.")
	}
	if p.Status == "" {
		p.Status = Pending
	}
	if p.Stage == "" {
		p.Stage = Checking
	}
	p.Needs = max(p.Needs, 1)
	p.Changes = slices.Clone(p.Changes)
	return p, nil
}

// MayTransition refuses a transition that is not v's to make, wherever the patch
// stands. Whether v may see the patch is for the store to know.
func MayTransition(v identity.Viewer, m Transition) error {
	if v.IsAdmin() || !slices.Contains(ruled, m.Status) && m.Approval == nil && len(m.Versions) == 0 && len(m.Rollouts) == 0 {
		return nil
	}
	return fault.New(fault.Forbidden, "Only an administrator decides on a proposal.")
}

// Advance is what a transition makes of a patch that is read whole. A Store
// calls it inside the transaction that has read the patch and writes what comes
// of it, so nothing a graph or a caller says gets past it: nothing is applied
// that was not approved by as many people as it needs, nobody approves what
// they proposed or approves it twice, and what its rehearsal blocks is not
// approved (CFG-05, CFG-06). It changes nothing of p.
//
// It knows no artifacts: that the base of a new version is the current one, the
// store checks when it appends it.
//
// Errors: Conflict, with where the patch stands as {patch_id, status, stage},
// when it is elsewhere than the transition begins or may not become what it
// says; Conflict or Forbidden for an approval that does not count; Invalid for
// a report or a version of a change the patch does not have.
func Advance(p Patch, m Transition, now time.Time) (Patch, error) {
	if !m.beginsAt(p) {
		return Patch{}, p.elsewhere()
	}
	next := p
	next.Approvals, next.Changes = slices.Clone(p.Approvals), slices.Clone(p.Changes)
	if err := next.learn(m); err != nil {
		return Patch{}, err
	}
	if err := next.number(m.Versions); err != nil {
		return Patch{}, err
	}
	if err := next.count(m.Approval, now); err != nil {
		return Patch{}, err
	}
	if err := next.ready(m); err != nil {
		return Patch{}, err
	}
	next.move(m, now)
	return next, nil
}

// beginsAt reports whether p stands where the transition begins.
func (m Transition) beginsAt(p Patch) bool {
	return (len(m.From) == 0 || slices.Contains(m.From, p.Status)) &&
		(len(m.Stages) == 0 || slices.Contains(m.Stages, p.Stage)) &&
		(m.Status == "" || p.Status.canBecome(m.Status))
}

// elsewhere is the Conflict of a transition that begins where p does not stand.
func (p Patch) elsewhere() error {
	return fault.New(fault.Conflict, "Proposal %d is %s (%s) by now, and nothing was changed. Read it again.", p.ID, p.Status, p.Stage).With(p.place())
}

// place is where a patch stands, as the details of a fault.
func (p Patch) place() map[string]any {
	return map[string]any{"patch_id": p.ID, "status": p.Status, "stage": p.Stage}
}

// learn takes over what the transition says of the patch, but for where it
// stands. Reports are by the place of the change.
func (p *Patch) learn(m Transition) error {
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
	if m.RolloutPlan != nil {
		p.RolloutPlan = *m.RolloutPlan
	}
	if len(m.Reports) > len(p.Changes) {
		return fault.New(fault.Invalid, "Proposal %d changes %d artifacts; there is no change %d to report on.", p.ID, len(p.Changes), len(p.Changes)+1)
	}
	for i, r := range m.Reports {
		p.Changes[i].Report = r
	}
	return nil
}

// number gives the changes the versions that are made of them: each follows its
// base.
func (p *Patch) number(versions []NewVersion) error {
	for _, n := range versions {
		if n.Change >= len(p.Changes) {
			return fault.New(fault.Invalid, "Proposal %d changes %d artifacts; there is no change %d to apply.", p.ID, len(p.Changes), n.Change+1)
		}
		if n.Change >= 0 {
			p.Changes[n.Change].Applied = n.Base + 1
		}
	}
	return nil
}

// count adds one person's yes.
func (p *Patch) count(yes *Approval, now time.Time) error {
	if yes == nil {
		return nil
	}
	if err := p.approvable(yes.UserID); err != nil {
		return err
	}
	if p.approvedBy(yes.UserID) {
		return p.approvedAlready()
	}
	counted := *yes
	counted.At = now
	p.Approvals = append(p.Approvals, counted)
	return nil
}

// ready refuses what p, with what it has learned and counted, may not become.
func (p Patch) ready(m Transition) error {
	becomes := cmp.Or(m.Status, p.Status)
	switch {
	case (becomes == Approved || becomes == Applied) && !p.approved():
		return fault.New(fault.Conflict, "Proposal %d needs %d approvals and has %d.", p.ID, p.Needs, len(p.Approvals)).
			With(map[string]any{"patch_id": p.ID, "status": p.Status, "needs": p.Needs, "approvals": len(p.Approvals)})
	case m.Status == Approved: // it may have been rehearsed again just now
		return p.unblocked()
	case len(m.Versions) > 0 && p.Status != Approved && p.Status != Applied:
		return fault.New(fault.Conflict, "Proposal %d is %s; only an approved one is applied.", p.ID, p.Status).With(p.place())
	}
	return nil
}

// move puts p where the transition says.
func (p *Patch) move(m Transition, now time.Time) {
	switch m.Status {
	case "":
	case Approved, Rejected:
		p.Status, p.DecidedAt = m.Status, now
	case Applied:
		p.Status, p.AppliedAt = m.Status, now
	default: // the event says when
		p.Status = m.Status
	}
	if m.Stage != "" {
		p.Stage = m.Stage
	}
	if m.Expires != nil {
		p.ExpiresAt = *m.Expires
	}
	if p.Stage == Settled {
		p.ExpiresAt = time.Time{}
	}
}

// Unasked refuses, where a patch stands, a transition whose answer no question
// of the patch's workflow waits for; ended says that the workflow is gone, and
// asks for nothing.
func (m Transition) Unasked(p Patch, ended bool) error {
	if m.Answer == nil || m.Loose || ended {
		return nil
	}
	sentence := "Proposal %d is on its way to this step and not there yet. Try again in a moment."
	if p.atWork() {
		sentence = "Proposal %d is still being checked. Wait until it asks for the decision."
	}
	return fault.New(fault.Conflict, sentence, p.ID).With(map[string]any{"patch_id": p.ID, "stage": p.Stage, "reason": NotAsked})
}

// atWork reports whether the patch's workflow has no question open because it
// is checking or rehearsing. What it does next, it does only if the patch is
// still open.
func (p Patch) atWork() bool { return p.Stage == Checking || p.Stage == Rehearsing }

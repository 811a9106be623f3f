package changes

import (
	"slices"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/rehearsal"
)

func (d *Desk) planOf(v identity.Viewer) quota.Rule { return d.o.Plans.Of(v).ConfigOps }

func (d *Desk) tryOf(v identity.Viewer) quota.Rule { return d.o.Plans.Of(v).ConfigTry }

// own reports whether v proposed p.
func own(v identity.Viewer, p Patch) bool {
	return p.UserID != "" && p.UserID == v.UserID || p.UserID == "" && v.IsSystem()
}

// decides refuses who does not decide: whoever is no administrator, and the
// system, which proposes and never approves (CFG-13). What was learnt from a
// person changes only adapters of their own, so they decide about it too.
func (p Patch) decides(v identity.Viewer, what string) error {
	if v.Role == identity.RoleAdmin || p.learnedFrom(v) {
		return nil
	}
	return fault.New(fault.Forbidden, "Only administrators %s patches.", what)
}

// Learned reports whether the house proposed p from what its person said of
// answers: it changes adapters of their own and nothing else.
func (p Patch) Learned() bool { return p.Proposer == ByModel && p.UserID != "" }

// By is the id of the account that proposed p; empty: the system did, also what
// it learnt from a person.
func (p Patch) By() string {
	if p.Proposer == ByModel {
		return ""
	}
	return p.UserID
}

// learnedFrom reports whether p was learnt from v.
func (p Patch) learnedFrom(v identity.Viewer) bool { return p.Learned() && p.UserID == v.UserID }

// wrong refuses what is not possible where a patch stands.
func (p Patch) wrong(what string) error {
	return fault.New(fault.Conflict, "Patch %d is %s: %s.", p.ID, p.said(), what).With(map[string]any{"status": p.Status, "stage": p.Stage})
}

// undecided reports whether p waits for its decision.
func (p Patch) undecided() bool { return p.Status == Pending && p.Stage == Deciding }

// said is where a patch stands, in words.
func (p Patch) said() string {
	switch {
	case p.undecided():
		return "waiting for a decision"
	case p.Status == Pending:
		return "still being checked"
	case p.Status == RolledBack:
		return "rolled back"
	}
	return string(p.Status)
}

func mayDecide(v identity.Viewer, p Patch, what string) error {
	if err := p.decides(v, what); err != nil {
		return err
	}
	if !p.undecided() {
		return p.wrong("only one that waits for a decision can be decided")
	}
	return nil
}

func mayReject(v identity.Viewer, p Patch) error { return mayDecide(v, p, "reject") }

func mayApprove(v identity.Viewer, p Patch) error {
	if err := mayDecide(v, p, "approve"); err != nil {
		return err
	}
	if err := p.approvable(v.UserID); err != nil {
		return err
	}
	if p.approvedBy(v.UserID) && !p.approved() {
		return p.approvedAlready()
	}
	return nil
}

// approved reports whether as many people approved as p needs.
func (p Patch) approved() bool { return len(p.Approvals) >= p.Needs }

// approvable refuses a yes that cannot count: of who proposed the patch, of
// nobody, and to what its rehearsal blocks.
func (p Patch) approvable(userID string) error {
	switch {
	case p.Learned() && (userID == p.UserID || userID == identity.SystemAccount): // by its person, or by the rule of their gate
	case userID == "" || userID == p.UserID || userID == identity.SystemAccount:
		return fault.New(fault.Forbidden, "Nobody approves a patch of their own: ask another administrator.")
	}
	return p.unblocked()
}

// unblocked refuses what the rehearsal blocks.
func (p Patch) unblocked() error {
	if p.Verdict != rehearsal.Block {
		return nil
	}
	details := p.place()
	details["reasons"] = reasons(p.Changes)
	return fault.New(fault.Conflict, "The rehearsal blocks this patch, so nobody can approve it. Propose one that does not fail so.").With(details)
}

// approvedBy reports whether somebody has said yes to p.
func (p Patch) approvedBy(userID string) bool {
	return slices.ContainsFunc(p.Approvals, func(a Approval) bool { return a.UserID == userID })
}

// approvedAlready is the Conflict of a second yes of one person.
func (p Patch) approvedAlready() error {
	return fault.New(fault.Conflict, "You approved this patch. It needs %d people, so another one has to.", p.Needs).
		With(map[string]any{"patch_id": p.ID, "reason": "approved_already", "needs": p.Needs})
}

func mayApply(v identity.Viewer, p Patch) error {
	if err := p.decides(v, "apply"); err != nil {
		return err
	}
	if !p.Status.canBecome(Applied) || p.Stage != Applying {
		return p.wrong("only an approved one can be applied")
	}
	return nil
}

func mayRollBack(v identity.Viewer, p Patch) error {
	if err := p.decides(v, "take back"); err != nil {
		return err
	}
	if !p.Status.canBecome(RolledBack) {
		return p.wrong("only an applied one can be taken back")
	}
	if v.UserID != "" && v.UserID == p.UserID && !p.Learned() {
		return fault.New(fault.Forbidden, "Nobody takes back a patch of their own: ask another administrator.")
	}
	return nil
}

func mayPromote(v identity.Viewer, p Patch) error {
	if err := p.decides(v, "promote"); err != nil {
		return err
	}
	if p.Status != Applied || p.Stage != Watching {
		return p.wrong("only an applied one that is watched can be promoted")
	}
	return nil
}

func mayWithdraw(v identity.Viewer, p Patch) error {
	switch {
	case !p.Status.canBecome(Withdrawn):
		return p.wrong("only one that is not applied yet can be withdrawn")
	case own(v, p), p.Status == Approved && v.Role == identity.RoleAdmin:
		return nil
	}
	return fault.New(fault.Forbidden, "Only who proposed a patch withdraws it; an administrator rejects it.")
}

func mayRebase(v identity.Viewer, p Patch) error {
	switch {
	case !p.Status.canBecome(Superseded):
		return p.wrong("only one that is not applied yet can be rebased")
	case own(v, p), v.Role == identity.RoleAdmin:
		return nil
	}
	return fault.New(fault.Forbidden, "Only who proposed a patch, or an administrator, rebases it.")
}

func mayRehearse(v identity.Viewer, p Patch) error {
	switch {
	case !p.undecided():
		return p.wrong("only one that waits for a decision is rehearsed again")
	case own(v, p), v.Role == identity.RoleAdmin:
		return nil
	}
	return fault.New(fault.Forbidden, "Only who proposed a patch, or an administrator, rehearses it again.")
}

func permission(err error) Permission {
	if err == nil {
		return Permission{OK: true}
	}
	return Permission{Why: fault.From(err).Message}
}

// may is what v may do with a patch; behind says that a base has moved, and
// overtaken that another version came after those it made.
func (p Patch) may(v identity.Viewer, behind, overtaken bool) May {
	rebase := mayRebase(v, p)
	if rebase == nil && !behind {
		rebase = fault.New(fault.Conflict, "Nothing has moved: the patch is for the versions that are current.")
	}
	apply := mayApply(v, p)
	if apply == nil && behind {
		apply = fault.New(fault.Conflict, "The artifact has another version than the patch was made for: rebase it.")
	}
	back := mayRollBack(v, p)
	if back == nil && overtaken {
		back = fault.New(fault.Conflict, "Another version came after: restore a version of your choice instead.")
	}
	return May{
		Approve: permission(mayApprove(v, p)), Reject: permission(mayReject(v, p)), Apply: permission(apply), RollBack: permission(back),
		Promote: permission(mayPromote(v, p)), Withdraw: permission(mayWithdraw(v, p)), Rebase: permission(rebase), Rehearse: permission(mayRehearse(v, p)),
	}
}

package changes

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
)

// The answers the workflow of a patch is given. Any other ends it too.
const (
	answerApprove    = "approve"
	answerReject     = "reject"
	answerWithdraw   = "withdraw"
	answerApply      = "apply"
	answerSuperseded = "superseded"
	answerKeep       = "keep"
	answerRollBack   = "roll_back"
)

func answer(word string) json.RawMessage { return json.RawMessage(`"` + word + `"`) }

// patch reads a patch as v may, whole.
func (d *Desk) patch(ctx context.Context, v identity.Viewer, id int64) (Patch, error) {
	return d.o.Store.Patch(ctx, v, id)
}

// transition makes a step in the store and tells the workflow. Who may was asked
// before: the store makes it for the system, because an administrator decides
// on what is not theirs to see otherwise.
func (d *Desk) transition(ctx context.Context, m Transition) (Patch, error) {
	done, err := d.awaited(ctx, m)
	if err != nil {
		return Patch{}, err
	}
	after := context.WithoutCancel(ctx)
	d.o.Library.Written(after, done.Versions...)
	d.rolled(after, done, m)
	if done.Answered != nil {
		d.o.Send(after, *done.Answered)
	}
	return done.Patch, nil
}

// rolled tells of artifacts whose rollout began or ended without a new version.
func (d *Desk) rolled(ctx context.Context, done TransitionResult, m Transition) {
	for id := range m.Rollouts {
		if slices.ContainsFunc(done.Versions, func(a artifacts.Artifact) bool { return a.ID == id }) {
			continue
		}
		a, err := d.o.Library.Get(ctx, done.Patch.reader(), id)
		if err != nil { // what is remembered of it is forgotten in its time
			d.o.Logger.WarnContext(ctx, "nobody was told of the end of a trial", "artifact", id, "error", err)
			continue
		}
		d.o.Library.Written(ctx, a)
	}
}

// awaited makes a step, and makes it again for a while when the patch's
// workflow is only about to ask: between two acts of people it takes a moment
// to put the next question, and a script that approves and applies is quicker.
func (d *Desk) awaited(ctx context.Context, m Transition) (done TransitionResult, err error) {
	for waited := time.Duration(0); ; waited += pause {
		done, err = d.o.Store.TransitionPatch(ctx, identity.System(), m)
		if fault.Reason(err) != NotAsked || waited >= d.o.Patience {
			return done, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return done, err
		}
	}
}

// pause is the time between two tries.
const pause = 25 * time.Millisecond

// event is a step of v's.
func (d *Desk) event(ctx context.Context, v identity.Viewer, what, reason string, data any) Event {
	e := Event{At: d.o.Now(), What: what, Reason: reason, Name: system}
	if !v.IsSystem() {
		e.UserID, e.Name = v.UserID, d.Name(ctx, v.UserID)
	}
	if data != nil {
		e.Data, _ = json.Marshal(data) // of values made here
	}
	return e
}

// system is what the system is called among people.
const system = "Liminal"

// Name is what an account is called: its handle, else its address, else its id;
// the system's for none.
func (d *Desk) Name(ctx context.Context, userID string) string {
	if userID == "" || userID == identity.SystemAccount {
		return system
	}
	if d.o.Who != nil {
		if u, err := d.o.Who(ctx, userID); err == nil {
			return cmpOr(u.Handle, u.Email, userID)
		}
	}
	return userID
}

func cmpOr(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// Decide approves or rejects (CFG-04). Errors: Forbidden for who is no
// administrator or proposed the patch, Conflict where it does not wait for a
// decision or its rehearsal blocks it, Invalid without the reason or the
// confirmation that is needed.
func (d *Desk) Decide(ctx context.Context, v identity.Viewer, id int64, c Decision) (Patch, error) {
	p, err := d.patch(ctx, v, id)
	if err != nil {
		return Patch{}, err
	}
	if c.Reason = strings.TrimSpace(visibleText(c.Reason)); len(c.Reason) > MaxReason {
		return Patch{}, fault.New(fault.Invalid, "The reason has %d bytes; %d are allowed.", len(c.Reason), MaxReason)
	}
	if !c.Approve {
		return d.reject(ctx, v, p, c)
	}
	if err := mayApprove(v, p); err != nil {
		return Patch{}, err
	}
	if p.Verdict == rehearsal.Warn && c.Confirm != p.Changes[0].Name {
		return Patch{}, fault.New(fault.Invalid, "The rehearsal warns. To approve all the same, confirm with the artifact's name, %s.", p.Changes[0].Name).
			With(map[string]any{"field": "confirm", "reasons": reasons(p.Changes)})
	}
	return d.approve(ctx, v, p, c)
}

func (d *Desk) reject(ctx context.Context, v identity.Viewer, p Patch, c Decision) (Patch, error) {
	if err := mayReject(v, p); err != nil {
		return Patch{}, err
	}
	if c.Reason == "" {
		return Patch{}, fault.New(fault.Invalid, "Rejecting a patch needs a reason: say what should be different, for who proposed it.").With(map[string]any{"field": "reason"})
	}
	return d.transition(ctx, Transition{
		PatchID: p.ID, Stages: []Stage{Deciding}, Status: Rejected, Stage: Settled,
		Event: d.event(ctx, v, "rejected", c.Reason, nil), Answer: answer(answerReject),
	})
}

// approve adds one person's yes. The last that is needed moves the patch on.
func (d *Desk) approve(ctx context.Context, v identity.Viewer, p Patch, c Decision) (Patch, error) {
	m := Transition{
		PatchID: p.ID, From: []Status{Pending}, Stages: []Stage{Deciding},
		Event: d.event(ctx, v, "approved", c.Reason, nil),
	}
	if !p.approvedBy(v.UserID) {
		m.Approval = &Approval{UserID: v.UserID, Name: d.Name(ctx, v.UserID), At: d.o.Now(), Reason: c.Reason}
		if len(p.Approvals)+1 < p.Needs {
			after, err := d.transition(ctx, m)
			if err != nil || len(after.Approvals) < after.Needs {
				return after, err
			}
			m.Approval = nil // somebody else's came at the same moment: it is enough
		}
	}
	until := d.o.Now().Add(Waits)
	m.Status, m.Stage, m.Expires, m.Answer = Approved, Applying, &until, answer(answerApprove)
	return d.transition(ctx, m)
}

// Withdraw ends a patch that is not applied yet: who proposed it may, and once
// it is approved an administrator too.
func (d *Desk) Withdraw(ctx context.Context, v identity.Viewer, id int64, reason string) (Patch, error) {
	p, err := d.patch(ctx, v, id)
	if err == nil {
		err = mayWithdraw(v, p)
	}
	if err != nil {
		return Patch{}, err
	}
	return d.transition(ctx, Transition{
		PatchID: p.ID, Stages: []Stage{p.Stage}, Status: Withdrawn, Stage: Settled,
		Event: d.event(ctx, v, "withdrawn", cut(reason, MaxReason), nil), Answer: answer(answerWithdraw), Loose: p.atWork(),
	})
}

// visibleText is a text without what a reader does not see and a terminal obeys: it
// could make others read something else than stands there.
func visibleText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

func cut(s string, most int) string {
	if s = strings.TrimSpace(visibleText(s)); len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s
}

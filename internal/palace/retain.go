package palace

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/view"
)

// mostDue is how many blocks are looked at, and put away, at once.
const mostDue = 500

// PastTime are blocks that are past their time, by what is to become of them.
type PastTime struct {
	Delete  []string `json:"delete"`
	Archive []string `json:"archive"`
	After   string   `json:"after"` // where to go on
	More    bool     `json:"more"`  // there may be more behind it
}

// DueBlocks tells what is past its time by the policy that a new history would follow:
// how long blocks are kept is one thing for all of a person's agents, and in force at
// once (PAL-17, PAL-18).
func (l *Library) DueBlocks(ctx context.Context, v identity.Viewer, after string) (out PastTime, err error) {
	out = PastTime{Delete: []string{}, Archive: []string{}, After: after}
	policy, err := l.policyOf(ctx, v, "")
	if err != nil {
		return out, err
	}
	least := policy.LeastAge()
	if least == 0 {
		return out, nil
	}
	now := l.now()
	list, err := l.PalaceDue(ctx, v, now.Add(-least), after, mostDue)
	if err != nil {
		return out, err
	}
	for _, d := range list {
		b := seenBy(d.Block)
		switch policy.Due(&b, now.Sub(d.SeenAt)) {
		case view.Delete:
			out.Delete = append(out.Delete, d.UUID)
		case view.Archive:
			out.Archive = append(out.Archive, d.UUID)
		}
		out.After = d.UUID
	}
	out.More = len(list) == mostDue
	return out, nil
}

// Retire puts blocks away that are past their time still, and gives how many were. The
// same again does nothing.
func (l *Library) Retire(ctx context.Context, v identity.Viewer, deletes, archives []string) (deleted, archived int, err error) {
	if len(deletes)+len(archives) > mostDue {
		return 0, 0, fault.New(fault.Invalid, "At most %d blocks are put away at once; these are %d.", mostDue, len(deletes)+len(archives))
	}
	policy, err := l.policyOf(ctx, v, "")
	if err != nil {
		return 0, 0, err
	}
	before := l.now().Add(-policy.LeastAge())
	const why = "past its time"
	if deleted, err = l.RetirePalace(ctx, v, deletes, view.Delete, before, why); err != nil {
		return deleted, 0, err
	}
	archived, err = l.RetirePalace(ctx, v, archives, view.Archive, before, why)
	return deleted, archived, err
}

func (l *Library) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}

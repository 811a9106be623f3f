package changes

import (
	"context"
	"errors"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// Tend looks after patches whose workflow is gone, because somebody ended it,
// or its graph failed: people go on with them as with any, and what time alone
// would have done is done here. It gives how many there are. What a rule
// approved and could not apply yet, because another version was on trial or too
// much was applied that day, is gone on with. It may run twice at a time.
func (d *Desk) Tend(ctx context.Context) (n int, err error) {
	waiting := d.tendApproved(ctx)
	n, err = d.tendLost(ctx)
	return n, errors.Join(waiting, err)
}

// tendApproved goes on with what a rule approved.
func (d *Desk) tendApproved(ctx context.Context) error {
	f, faults := Filter{Status: Approved, Limit: 100}, []error(nil)
	for {
		page, next, err := d.o.Store.ListPatches(ctx, identity.System(), f)
		if err != nil {
			return errors.Join(append(faults, err)...)
		}
		for _, p := range page {
			if _, ruled := p.ruledBy(); !ruled || !p.Learned() {
				continue
			}
			if _, err := d.applyByRule(ctx, p); err != nil && !errors.Is(err, fault.RateLimited) {
				faults = append(faults, forgotten(err))
			}
		}
		if f.Cursor = next; next == "" || ctx.Err() != nil {
			return errors.Join(append(faults, ctx.Err())...)
		}
	}
}

func (d *Desk) tendLost(ctx context.Context) (n int, err error) {
	f, faults := Filter{Lost: true, Limit: 100}, []error(nil)
	for {
		page, next, err := d.o.Store.ListPatches(ctx, identity.System(), f)
		if err != nil {
			return n, errors.Join(append(faults, err)...)
		}
		for _, p := range page {
			faults = append(faults, d.tend(ctx, p))
		}
		n += len(page)
		if f.Cursor = next; next == "" || ctx.Err() != nil {
			return n, errors.Join(append(faults, ctx.Err())...)
		}
	}
}

func (d *Desk) tend(ctx context.Context, p Patch) error {
	var err error
	switch p.Stage {
	case Checking, Rehearsing:
		_, err = d.StepExpire(ctx, p.ID, p.Stage)
	case Deciding, Applying:
		if !p.ExpiresAt.IsZero() && !d.o.Now().Before(p.ExpiresAt) {
			_, err = d.StepExpire(ctx, p.ID, p.Stage)
		}
	case Watching:
		_, err = d.StepWatch(ctx, p.ID)
	case Settled:
	default:
	}
	return err
}

// forgotten forgives that a patch is gone, with the account whose artifact it
// was about: its workflow has nothing to do any more.
func forgotten(err error) error {
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

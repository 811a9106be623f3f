package wire

import (
	"context"
	"fmt"
	"time"

	"liminal/activities"
	"liminal/internal/architect"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
	"liminal/internal/tool"
)

// architectPast is how far back the architect looks.
const architectPast = 7 * 24 * time.Hour

// asking is how long an act on a patch waits for the patch's workflow to ask
// for it, which a worker that is there does at once.
const asking = 5 * time.Second

// desk is where changes are proposed and decided. The engine is joined later
// than the desk is made, and before anybody stands at it.
func (p *Platform) desk(o Options, svc *services) *changes.Desk {
	return changes.New(changes.Options{
		Store: p.store, Library: p.library, Recordings: p.store, Lineages: p.palace.RecordedOf, Limits: quota.NewLimits(p.ledger), Plans: p.plans,
		Launch: func(ctx context.Context, r run.Run) { p.engine.Launch(ctx, r) },
		Send:   func(ctx context.Context, q run.Interrupt) { p.engine.Send(ctx, q) },
		Who: func(ctx context.Context, userID string) (identity.User, error) {
			u, _, err := p.store.User(ctx, userID)
			return u, err
		},
		Live: p.live(svc), Patience: asking, Logger: o.Logger,
	})
}

// live calls a tool that only reads for a rehearsal, as the person whose run is
// rehearsed and with what they may see now.
func (p *Platform) live(svc *services) rehearsal.Caller {
	return func(ctx context.Context, userID, name string, inputs map[string]any) (map[string]any, error) {
		v, err := p.store.Viewer(ctx, userID)
		if err != nil {
			return nil, err
		}
		bound, err := p.library.Tools(ctx, v, name)
		if err != nil {
			return nil, err
		}
		spec, there := bound[name]
		if !there || !spec.ReadOnly {
			return nil, fault.New(fault.Forbidden, "The tool %s may change something, so a rehearsal does not call it.", name)
		}
		return svc.box.Call(ctx, spec.Spec, &tool.Call{Viewer: v, Node: "rehearsal", Attempt: 1, Inputs: inputs})
	}
}

// architect reads what runs left and proposes changes at the desk.
func (p *Platform) architect(o Options, desk *changes.Desk) (*architect.Architect, error) {
	a, err := architect.New(architect.Options{
		Recordings: p.store, Library: p.library, Desk: desk, Ratings: p.store.RatedRuns, Logger: o.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("the architect: %w", err)
	}
	return a, nil
}

// changeSweeps forget recordings in their time, look after patches that no
// workflow looks after any more, and let the architect look.
func (p *Platform) changeSweeps(o Options, desk *changes.Desk) map[string]activities.Sweep {
	keep, most, pause := o.Config.Changes.Recordings, o.Config.Changes.RecordingsMost, o.Config.Changes.Architect
	sweeps := map[string]activities.Sweep{
		"recordings": {Every: time.Hour, Run: func(ctx context.Context) (s activities.Swept, err error) {
			s.Removed, err = p.forget(ctx, time.Now().Add(-keep), most)
			return s, err
		}},
		"patches": {Every: 10 * time.Minute, Run: func(ctx context.Context) (s activities.Swept, err error) {
			s.Changed, err = desk.Tend(ctx)
			return s, err
		}},
	}
	if pause > 0 {
		sweeps[activities.NameArchitect] = activities.Architect(pause, func(ctx context.Context) error {
			// Two looks of one time are one run.
			_, err := p.engine.Architect(ctx, time.Now().Truncate(pause).Add(-architectPast))
			return err
		})
	}
	return sweeps
}

// forget removes the recordings from before a time, and then the oldest of
// those that are more than are to be kept; 0 is no bound.
func (p *Platform) forget(ctx context.Context, before time.Time, most int) (int, error) {
	aged, err := all(ctx, func() (int, error) { return p.store.ForgetRecordings(ctx, identity.System(), before) })
	if err != nil {
		return aged, err
	}
	excess, err := p.store.ExcessRecordings(ctx, identity.System(), before, most)
	if err != nil {
		return aged, err
	}
	crowded, err := all(ctx, func() (int, error) { return p.store.ForgetExcess(ctx, identity.System(), excess) })
	return aged + crowded, err
}

// The bounds of a sweep that removes some at a time.
const (
	mostRounds = 5000
	breath     = 5 * time.Millisecond // between two rounds, for those who write too
)

// all removes some again and again until none are left: more may end in an hour
// than one round removes.
func all(ctx context.Context, some func() (int, error)) (sum int, err error) {
	for range mostRounds {
		n, err := some()
		if sum += n; err != nil || n == 0 {
			return sum, err
		}
		select {
		case <-time.After(breath):
		case <-ctx.Done():
			return sum, ctx.Err()
		}
	}
	return sum, nil
}

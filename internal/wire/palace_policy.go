package wire

import (
	"context"
	"time"

	"liminal/activities"
	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model/observed"
	"liminal/internal/palace"
	"liminal/internal/view"
)

// palaceLibrary is what is known of agents behind the capture proxy: their histories
// follow the artifacts of the kind policy.palace.
func (p *Platform) palaceLibrary() *palace.Library {
	l := palace.NewLibrary(p.store)
	l.Policies, l.Rates = policies{p.library}, p.rates
	l.Answered = func(c palace.Classified) {
		p.metrics.Classified(string(c.Outcome), time.Duration(c.Took)*time.Microsecond)
	}
	return l
}

// rates are what a model's tokens cost beside those of its input, by the list of
// prices.
func (p *Platform) rates(model string) (usd float64, r view.Price) {
	const some = 1000 // few enough for no price of long calls
	of := func(u observed.Used) float64 {
		if cost := p.prices.Of(model, u); cost != nil {
			return *cost / some
		}
		return 0
	}
	if usd = of(observed.Used{Input: some}); usd <= 0 {
		return 0, r
	}
	return usd, view.Price{
		Read: of(observed.Used{CacheRead: some}) / usd, Write5m: of(observed.Used{CacheWrite: some}) / usd, Write1h: of(observed.Used{CacheWrite1h: some}) / usd, Output: of(observed.Used{Output: some}) / usd,
	}
}

// policies gives policies.palace as artifacts.
type policies struct{ library *artifacts.Library }

// PinFor implements palace.Policies.
func (p policies) PinFor(ctx context.Context, v identity.Viewer, lineage string) (palace.Pin, error) {
	a, err := p.library.Palace(ctx, v)
	if fault.CodeOf(err) == fault.NotFound { // not even the one that ships is stored
		return palace.Pin{}, nil
	}
	if err == nil {
		a, err = p.library.ResolveVersion(ctx, v, a, lineage)
	}
	return palace.Pin{PolicyID: a.ID, Version: a.Version}, err
}

// PolicyAt implements palace.Policies. Histories that follow what is gone follow the
// policy that ships.
func (p policies) PolicyAt(ctx context.Context, v identity.Viewer, pin palace.Pin) (*view.Policy, error) {
	if pin.PolicyID == "" {
		return view.Default(), nil
	}
	a, err := p.library.At(ctx, v, pin.PolicyID, pin.Version)
	if fault.CodeOf(err) == fault.NotFound {
		return view.Default(), nil
	}
	if err != nil {
		return nil, err
	}
	return view.Parse(a.Schema)
}

// startPlanner begins to plan what could be set aside of histories as they grow.
func (p *Platform) startPlanner(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.planner.Run(ctx, p.intake.Owner)
	}()
	p.closes("plans for the capture proxy", func() error { cancel(); <-done; return nil })
}

// palaceSweeps put away what is past its time of what was kept, and have notes proposed
// of what has ended.
func (p *Platform) palaceSweeps() map[string]activities.Sweep {
	begin := func(ctx context.Context, userID string) error { return p.engine.Retain(ctx, userID, time.Now()) }
	note := func(ctx context.Context, userID string) error {
		return p.engine.Consolidate(ctx, userID, time.Now(), p.palace.Notable)
	}
	return map[string]activities.Sweep{
		activities.NameRetention:     activities.Retention(p.store.PalaceOwners, begin),
		activities.NameConsolidation: activities.Retention(p.store.PalaceOwners, note),
	}
}

package wire

import (
	"context"
	"errors"
	"net/http"
	"time"

	"liminal/api"
	"liminal/internal/capture"
	"liminal/internal/capture/proxy"
	"liminal/internal/identity"
	"liminal/internal/model/observed"
	"liminal/internal/palace"
	"liminal/internal/telemetry"
)

// palaceHead is how long a program may take to say what it asks.
const palaceHead = 10 * time.Second

// openPalace prepares to take in what the capture proxy keeps of agents; nothing is
// taken in yet.
func (p *Platform) openPalace(o Options) error {
	keys, err := capture.Keys(o.Config.Palace.Keys)
	if err != nil {
		return err
	}
	p.palace.OpenWith(keys)
	dir := o.Config.PalaceDir()
	owner := func(ctx context.Context) (identity.Viewer, error) {
		return p.store.PalaceOwner(ctx, o.Config.Palace.Owner)
	}
	p.palace.Folder = &palace.Folder{Dir: dir, Spool: proxy.SpoolDir(dir), Keys: keys, Owner: owner}
	if o.Only != "" {
		return nil
	}
	p.intake = palace.NewIntake(palace.IntakeOptions{
		Dir: dir, Spool: proxy.SpoolDir(dir), Store: p.store, Keys: keys, Disk: int64(o.Config.Palace.Disk), Log: o.Logger, Owner: owner,
		Price: func(model string, u palace.Usage) *float64 {
			return p.prices.Of(model, observed.Used{Input: u.Input, CacheRead: u.Read, CacheWrite: u.Write5m, CacheWrite1h: u.Write1h, Output: u.Output})
		},
		Charged: p.charged,
	})
	p.planner = palace.NewPlanner(palace.PlannerOptions{Dir: dir, Library: p.palace, Keys: keys, Log: o.Logger, Ask: func(ctx context.Context, v identity.Viewer, lineage string, exchanges int, model string) error {
		return p.engine.Classify(ctx, v, lineage, exchanges, model) // the engine is joined later
	}})
	p.intake.Grown, p.palace.Grown = p.planner.Grown, p.planner.Grown
	p.metrics.Palace(func() telemetry.Palace {
		var f telemetry.Palace
		f.Bytes, f.Full = p.intake.Room()
		f.Taken, f.Refused = p.intake.Counts()
		return f
	})
	return nil
}

// leave removes what is outside the store of a person whose account is deleted.
func (p *Platform) leave(home func(context.Context, string) error) func(context.Context, string) error {
	return func(ctx context.Context, userID string) error {
		return errors.Join(home(ctx, userID), p.palace.Folder.Forget(userID))
	}
}

// charged counts what exchanges cost that were taken in.
func (p *Platform) charged(list []palace.Cost) {
	for _, c := range list {
		one := telemetry.Captured{Model: c.Model, USD: c.USD, Tokens: map[string]int64{
			"input": c.Usage.Input, "cache_read": c.Usage.Read, "cache_write_5m": c.Usage.Write5m, "cache_write_1h": c.Usage.Write1h, "output": c.Usage.Output,
		}}
		if c.Miss != nil {
			one.Cause, one.Missed = string(c.Miss.Cause), c.Miss.Tokens
		}
		p.metrics.Captured(one)
	}
}

// startIntake begins to take in what the proxy of the data folder keeps, and to answer
// what is asked of it there.
func (p *Platform) startIntake(ctx context.Context) {
	if p.intake == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.intake.Run(ctx)
	}()
	p.closes("what the capture proxy kept", func() error { cancel(); <-done; return nil })
	p.startPlanner(ctx)
	listener, err := proxy.ListenPlatform(ctx, p.intake.Dir)
	if err != nil { // the same can be asked at the API
		p.intake.Log.Warn("the capture proxy cannot ask this process for blocks and timelines", "error", err)
		return
	}
	s := &http.Server{Handler: p.palaceSocket(), ReadHeaderTimeout: palaceHead}
	go func() {
		if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			p.intake.Log.Warn("the capture proxy cannot ask this process any more", "error", err)
		}
	}()
	p.closes("the socket of the capture proxy", s.Close)
}

// palaceSocket answers the owner's programs: the paths of the specification, which the
// proxy hands on, and what the API has of the capture proxy, for the command line.
func (p *Platform) palaceSocket() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", p.palace.Handler(p.intake.Owner))
	mux.HandleFunc("/v1/palace/", palace.For(p.intake.Owner, func(w http.ResponseWriter, r *http.Request, v identity.Viewer) {
		p.handler.ServeHTTP(w, r.WithContext(api.Entered(r.Context(), v)))
	}))
	return mux
}

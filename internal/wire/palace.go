package wire

import (
	"context"
	"errors"
	"net/http"
	"time"

	"liminal/api"
	"liminal/internal/capture/proxy"
	"liminal/internal/identity"
	"liminal/internal/palace"
)

// palaceHead is how long a program may take to say what it asks.
const palaceHead = 10 * time.Second

// openPalace prepares what is known of agents behind the capture proxy; nothing is
// taken in yet.
func (p *Platform) openPalace(o Options) {
	p.palace = palace.NewLibrary(p.store)
	if o.Only != "" {
		return
	}
	dir := o.Config.PalaceDir()
	p.intake = palace.NewIntake(palace.IntakeOptions{
		Dir: dir, Spool: proxy.SpoolDir(dir), Store: p.store, Log: o.Logger,
		Owner: func(ctx context.Context) (identity.Viewer, error) {
			return p.store.PalaceOwner(ctx, o.Config.Palace.Owner)
		},
	})
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

// Package wire builds a platform from a Config: it is the only package that
// knows which driver stands behind which port.
//
// It may import everything but the commands. The embedded Temporal server is
// reached from internal/wire/devserver alone, so that nothing else pays for
// compiling it.
package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"go.temporal.io/sdk/client"

	"liminal/activities"
	"liminal/artifacts"
	"liminal/internal/config"
	"liminal/internal/hub"
	"liminal/internal/model"
	"liminal/internal/sqlite"
	"liminal/internal/store"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/worker"
)

// Options of a platform. Config and Temporal are required.
type Options struct {
	Config   config.Config
	Logger   *slog.Logger
	Temporal string      // host:port of the engine's frontend
	Version  string      // of the program, as /healthz and the client show it
	Model    model.Model // nil: the one Config names
	Tools    []tool.Tool // beside the built-in ones
	Specs    []tool.Spec // of Tools
}

// Platform is everything in one process, between the engine and HTTP.
type Platform struct {
	hub      *hub.Hub
	store    *store.Store
	library  *artifacts.Library
	temporal client.Client
	engine   *worker.Engine
	worker   *worker.Worker
	handler  http.Handler

	closers []closer // in the order they were opened
}

type closer struct {
	what  string
	close func() error
}

// Open builds a platform: stores migrated, defaults seeded, engine connected.
// What it had opened is closed again when it fails.
func Open(ctx context.Context, o Options) (*Platform, error) {
	p := &Platform{}
	if err := p.build(ctx, o); err != nil {
		return nil, errors.Join(err, p.Close(context.WithoutCancel(ctx)))
	}
	return p, nil
}

func (p *Platform) build(ctx context.Context, o Options) (err error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := supported(o.Config); err != nil {
		return err
	}
	if o.Model == nil {
		if o.Model, err = theModel(o.Config.Model); err != nil {
			return err
		}
	}
	b, err := p.open(ctx, o)
	if err != nil {
		return err
	}
	if err := p.connect(ctx, o, b); err != nil {
		return err
	}
	p.handler, err = p.surface(ctx, o, b)
	return err
}

// supported refuses settings that cannot work together, before anything is opened.
func supported(c config.Config) error {
	if c.DatabaseURL != "" && c.RedisURL == "" {
		return errors.New("DATABASE_URL is set and REDIS_URL is not: processes that share a database share streams and limits as well; set both, or neither")
	}
	return nil
}

// open opens the stores and what lives on them.
func (p *Platform) open(ctx context.Context, o Options) (*body, error) {
	if err := os.MkdirAll(filepath.Dir(o.Config.StoreFile()), 0o750); err != nil {
		return nil, fmt.Errorf("the folder of the store cannot be made: %w", err)
	}
	db, err := sqlite.Open(ctx, o.Config.StoreFile(), sqlite.Options{Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	p.closes("the store", db.Close)
	p.store = store.New(db, store.Options{})
	generation, err := p.store.NextGeneration(ctx)
	if err != nil {
		return nil, fmt.Errorf("counting this start in the store: %w", err)
	}
	p.hub = hub.New(hub.Options{Base: generation * hub.Stride})
	p.closes("the stream log", func() error { p.hub.Close(); return nil })
	return p.furnish(ctx, o, db)
}

// connect joins the engine and makes the worker, which does not run yet.
func (p *Platform) connect(ctx context.Context, o Options, b *body) error {
	var err error
	if p.temporal, err = worker.Dial(ctx, worker.ClientOptions{Address: o.Temporal, Namespace: o.Config.Temporal.Namespace, Logger: o.Logger}); err != nil {
		return err
	}
	p.closes("the connection to Temporal", func() error { p.temporal.Close(); return nil })
	p.worker, err = worker.New(worker.Options{
		Client: p.temporal, Turns: p.store, Runs: p.store, Interrupts: p.store, Log: p.hub,
		Documents: p.store, Viewer: p.store.Viewer, Logger: o.Logger,
		Activities: &activities.Set{
			Turns: p.store, Messages: p.store, Conversations: p.store, Runs: p.store, Interrupts: p.store,
			Blobs: p.store, Contexts: p.store, Artifacts: p.library, Box: b.box, Log: p.hub,
			Embedder: b.embedder, Router: b.router, Logger: o.Logger,
		},
	})
	if err != nil {
		return err
	}
	p.engine = p.worker.Engine()
	return nil
}

// StartWorker begins to work on runs: new ones, and those a crash left behind.
func (p *Platform) StartWorker(context.Context) error {
	if err := p.worker.Start(); err != nil {
		return err
	}
	p.closes("the worker", func() error { p.worker.Stop(); return nil })
	return nil
}

// Handler is the API and the web client.
func (p *Platform) Handler() http.Handler { return p.handler }

// Engine starts, answers and cancels runs.
func (p *Platform) Engine() *worker.Engine { return p.engine }

// Library is all artifacts.
func (p *Platform) Library() *artifacts.Library { return p.library }

// Log is the event log of runs.
func (p *Platform) Log() stream.Log { return p.hub }

// Close stops the worker, lets go of the engine and closes the stores, the
// last opened first. Runs that are under way go on at the next start.
func (p *Platform) Close(context.Context) error {
	var errs []error
	for _, v := range slices.Backward(p.closers) {
		if err := v.close(); err != nil {
			errs = append(errs, fmt.Errorf("closing %s: %w", v.what, err))
		}
	}
	p.closers = nil
	return errors.Join(errs...)
}

func (p *Platform) closes(what string, f func() error) {
	p.closers = append(p.closers, closer{what, f})
}

// usersDir is where people's folders are, below the data folder (DATA-16).
func usersDir(c config.Config) string { return filepath.Clean(c.Data) }

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
	"sync/atomic"

	"go.temporal.io/sdk/client"

	"liminal/activities"
	"liminal/artifacts"
	"liminal/internal/authserver"
	models "liminal/internal/backends"
	"liminal/internal/cell"
	"liminal/internal/config"
	"liminal/internal/connect"
	"liminal/internal/knowledge"
	"liminal/internal/mcp"
	"liminal/internal/model"
	"liminal/internal/palace"
	"liminal/internal/store"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/webhook"
	"liminal/worker"
)

// Options of a platform. Config and Temporal are required.
type Options struct {
	Config   config.Config
	Logger   *slog.Logger
	Temporal string      // host:port of the engine's frontend
	URL      string      // where this process answers; for links when Config has no PublicURL
	Local    bool        // nobody reaches it by a name that neither this machine nor Config has
	Version  string      // of the program, as /healthz and the client show it
	Model    model.Model // nil: the one Config names
	Tools    []tool.Tool // beside the built-in ones
	Specs    []tool.Spec // of Tools
	// Readers is the program that reads documents apart from this process; none:
	// they are read in it.
	Readers cell.Program
	// MCPPrograms is the program that becomes those of MCP servers, within bounds;
	// none: none are started.
	MCPPrograms mcp.Program
	// Trainers is the subcommand of this program that trains adapters apart from
	// this process; empty: they are trained in it.
	Trainers string
	// Only is the tool queue whose calls the worker takes, and nothing else;
	// empty: all there is.
	Only string
	// Except is the tool queue whose calls the worker leaves to others; empty: none.
	Except string
}

// Platform is everything in one process, between the engine and HTTP.
type Platform struct {
	backends
	observability

	library   *artifacts.Library
	surfaces  *artifacts.Surfaces // assistants with a page of their own
	modelName string              // of the settings
	byFiles   bool                // it is MODEL_BACKEND=textfile
	registry  *models.Registry    // of model backends
	temporal  client.Client
	engine    *worker.Engine
	worker    *worker.Worker
	handler   http.Handler
	ops       http.Handler
	sources   *sources

	connections *connect.Desk
	webhooks    *webhook.Desk
	clients     *authserver.Clients // programs that sign their person in
	courier     *webhook.Courier    // nil: this process sends nothing
	palace      *palace.Library
	intake      *palace.Intake  // nil: this process takes in nothing
	planner     *palace.Planner // likewise
	speaking
	ready atomic.Bool

	setupWord string // of the first account
	composing composing

	closers []closer // in the order they were opened
}

type closer struct {
	what  string
	close func(context.Context) error
}

// Open builds a platform: stores checked, defaults seeded, engine connected.
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
	if err := layOut(o.Config); err != nil {
		return err
	}
	if o.Model == nil {
		if o.Model, err = p.modelOf(o); err != nil {
			return err
		}
	}
	if err := p.observe(ctx, &o); err != nil {
		return err
	}
	if p.backends, err = p.openBackends(ctx, o); err != nil {
		return err
	}
	if err := p.openRegistry(ctx, o); err != nil {
		return err
	}
	svc, err := p.buildServices(ctx, o)
	if err != nil {
		return err
	}
	if err := p.openPalace(o); err != nil {
		return err
	}
	p.modelName = o.Model.Name()
	if err := p.openSurfaces(ctx, o); err != nil {
		return err
	}
	if err := p.connect(ctx, o, svc); err != nil {
		return err
	}
	return p.buildAPI(ctx, o, svc)
}

// supported refuses settings that cannot work together, before anything is opened.
func supported(c config.Config) error {
	if c.DatabaseURL != "" && c.RedisURL == "" {
		return errors.New("DATABASE_URL is set and REDIS_URL is not: processes that share a database share streams and limits as well; set both, or neither")
	}
	return nil
}

// layOut makes the folders that people put things into before anybody else would
// (DATA-16).
func layOut(c config.Config) error {
	for _, dir := range []string{c.ModelsDir(), c.ToolsDir()} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return fmt.Errorf("the folder %s cannot be made: %w; check SHARED_FS_ROOT", dir, err)
		}
	}
	return nil
}

// openBackends opens them, as the settings say.
func (p *Platform) openBackends(ctx context.Context, o Options) (backends, error) {
	if o.Config.Production() {
		return p.production(ctx, o)
	}
	return p.embedded(ctx, o)
}

// connect joins the engine and makes the worker, which does not run yet.
func (p *Platform) connect(ctx context.Context, o Options, svc *services) error {
	options, err := p.clientOptions(o)
	if err != nil {
		return err
	}
	if p.temporal, err = worker.Dial(ctx, options); err != nil {
		return err
	}
	p.closes("the connection to Temporal", func() error { p.temporal.Close(); return nil })
	if err := worker.Prepare(ctx, p.temporal, options.Namespace); err != nil {
		return err
	}
	seals, err := p.seals(ctx)
	if err != nil {
		return err
	}
	p.worker, err = worker.New(worker.Options{
		Client: p.temporal, Turns: svc.turns, Runs: p.store, Interrupts: p.store, Log: p.log,
		Documents: p.store, Viewer: p.store.Viewer, Granted: p.store.Granted, Cache: p.cache, Stops: p.stops, Forget: p.store.ForgetRuns, Surfaces: p.surfaced, Spend: p.store.SpendTurn, Only: o.Only, Except: o.Except, Codec: options.Codec, Logger: o.Logger,
		Activities: &activities.Set{
			Turns: svc.turns, Messages: svc.messages, Conversations: p.store, Runs: p.store, Interrupts: p.store,
			Blobs: p.store, Contexts: p.store, Artifacts: p.library, Box: svc.box, Log: p.log,
			Embedder: svc.embedder, Router: svc.router, Meter: p.metrics, ModelBudget: p.budgets(), Backend: rolesOf(o.Config.Model), ModelInProcess: model.IsInProcess(o.Model), Backends: p.registry, MaxDecode: p.maxDecode, Logger: o.Logger, Sweeps: p.sweeps(o, svc), Who: p.store.Viewer, Keys: p.store, Acts: p.store,
			Seals: seals, Safety: svc.safety, Record: o.Config.Changes.Recordings > 0, Adapters: p.store, Lessons: svc.learning, Settings: p.store.Settings, Person: p.person(o.Config),
		},
	})
	if err != nil {
		return err
	}
	p.engine = p.worker.Engine()
	p.closes("answers on their way", func() error { p.engine.Close(); return nil })
	return nil
}

// clientOptions are how the settings say to reach Temporal.
func (p *Platform) clientOptions(o Options) (c worker.ClientOptions, err error) {
	c = temporalOf(o.Config)
	c.Address, c.Logger, c.Meter = o.Temporal, o.Logger, p.metrics
	if c.Codec, err = worker.NewCodec(o.Config.Temporal.PayloadKeys, p.store); err != nil {
		return c, fmt.Errorf("LIMINAL_PAYLOAD_KEYS: %w", err)
	}
	c.Interceptors, err = p.interceptors()
	return c, err
}

func temporalOf(c config.Config) worker.ClientOptions {
	t := c.Temporal
	return worker.ClientOptions{
		Address: t.Address, Namespace: t.Namespace, TLS: t.TLS, CertPath: t.CertPath, KeyPath: t.KeyPath,
		CAPath: t.CAPath, ServerName: t.ServerName, APIKey: t.APIKey,
	}
}

// Reach says in one sentence why the Temporal cluster of the settings cannot
// be used; nil when it can.
func Reach(ctx context.Context, c config.Config) error {
	t, err := worker.Dial(ctx, temporalOf(c))
	if err != nil {
		return err
	}
	t.Close()
	return nil
}

// StartWorker begins to work on runs: new ones, and those a crash left behind.
func (p *Platform) StartWorker(ctx context.Context) error {
	if err := p.worker.Start(); err != nil {
		return err
	}
	p.closes("the worker", func() error { p.worker.Stop(); return nil })
	p.startCourier(ctx)
	p.startIntake(ctx)
	return nil
}

// Ready opens the gate: whoever asks /readyz hears that requests are welcome.
func (p *Platform) Ready() { p.ready.Store(true) }

// Drain closes the gate; what is under way goes on.
func (p *Platform) Drain() { p.ready.Store(false) }

// Ops is /healthz, /readyz and /metrics alone, for a port of the inside.
func (p *Platform) Ops() http.Handler { return p.ops }

// Index finds passages.
func (p *Platform) Index() knowledge.Index { return p.index }

// StoreSize is how many bytes the rows and their indexes take.
func (p *Platform) StoreSize(ctx context.Context) (int64, error) { return p.size(ctx) }

// Store keeps every noun's rows.
func (p *Platform) Store() *store.Store { return p.store }

// Handler is the API and the web client.
func (p *Platform) Handler() http.Handler { return p.handler }

// Engine starts, answers and cancels runs.
func (p *Platform) Engine() *worker.Engine { return p.engine }

// Library is all artifacts.
func (p *Platform) Library() *artifacts.Library { return p.library }

// Log is the event log of runs.
func (p *Platform) Log() stream.Log { return p.log }

// Close stops the worker, lets go of the engine and closes the stores, the
// last opened first. Runs that are under way go on at the next start.
func (p *Platform) Close(ctx context.Context) error {
	var errs []error
	for _, v := range slices.Backward(p.closers) {
		if err := v.close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("closing %s: %w", v.what, err))
		}
	}
	p.closers = nil
	return errors.Join(errs...)
}

func (p *Platform) closes(what string, f func() error) {
	p.closers = append(p.closers, closer{what, func(context.Context) error { return f() }})
}

// usersDir is where people's folders are, below the data folder (DATA-16).
func usersDir(c config.Config) string { return filepath.Clean(c.Data) }

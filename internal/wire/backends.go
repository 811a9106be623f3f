package wire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"liminal/internal/cache"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/knowledge"
	"liminal/internal/quota"
	"liminal/internal/redis"
	"liminal/internal/runkey"
	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/sqlite"
	"liminal/internal/stream"
	"liminal/internal/telemetry"
	"liminal/internal/tool"
	"liminal/worker"
)

// backends are where a platform keeps things: rows, chunks and hot state. This
// is the one place that knows which driver is behind which port.
type backends struct {
	store  *store.Store
	index  knowledge.Index
	log    stream.Log
	ledger quota.Ledger
	cache  cache.Cache
	size   func(context.Context) (int64, error) // of the store, in bytes
	plans  *quota.PlanTable

	breakers tool.Breakers               // nil: in this process
	decodes  tool.Decodes                // nil: in this process
	stops    worker.Stops                // nil: there is no other process
	ping     func(context.Context) error // of the hot state; nil: it is in this process
}

// embedded keeps rows in a SQLite file and the rest in this process's memory.
func (p *Platform) embedded(ctx context.Context, o Options) (b backends, err error) {
	if err := os.MkdirAll(filepath.Dir(o.Config.StoreFile()), 0o750); err != nil {
		return b, fmt.Errorf("the folder of the store cannot be made: %w", err)
	}
	db, err := sqlite.Open(ctx, o.Config.StoreFile(), sqlite.Options{Logger: o.Logger})
	if err != nil {
		return b, err
	}
	p.closes("the store", db.Close)
	b.size = db.Size
	b.store, b.index = store.New(db, store.Options{Passages: p.passages}), sqlite.NewIndex(db, sqlite.IndexOptions{})
	if b.plans, err = openPlans(ctx, b.store, o); err != nil {
		return b, err
	}
	generation, err := b.store.NextGeneration(ctx)
	if err != nil {
		return b, fmt.Errorf("counting this start in the store: %w", err)
	}
	// The data folder is ours alone: who held a key has ended, and need not be waited for (API-06).
	if _, err := b.store.ReleaseClaims(ctx); err != nil {
		return b, fmt.Errorf("releasing the idempotency keys of the process before: %w", err)
	}
	h := inproc.New(inproc.Options{Base: generation * inproc.Stride})
	p.closes("the stream log", func() error { h.Close(); return nil })
	b.log, b.ledger, b.cache = h, h, h.Cache()
	return b, nil
}

// production keeps them in PostgreSQL and Redis, which any number of processes
// share.
func (p *Platform) production(ctx context.Context, o Options) (b backends, err error) {
	db, err := postgres.Open(ctx, o.Config.DatabaseURL, postgres.Options{Logger: o.Logger, AllowOldVector: o.Config.AllowOldVector})
	if err != nil {
		return b, err
	}
	p.closes("the connections to PostgreSQL", db.Close)
	p.metrics.Pool("postgres", pool(db.Connections))
	b.size = db.Size
	b.store, b.index = store.New(db, store.Options{Passages: p.passages}), postgres.NewIndex(db, postgres.IndexOptions{})
	if b.plans, err = openPlans(ctx, b.store, o); err != nil {
		return b, err
	}
	stop := b.plans.Follow(ctx, plansEvery)
	p.closes("the plans", func() error { stop(); return nil })
	m, err := redis.Open(ctx, o.Config.RedisURL, redis.Options{Logger: o.Logger})
	if err != nil {
		return b, err
	}
	p.closes("the connections to Redis", m.Close)
	p.metrics.Pool("redis", pool(m.Connections))
	b.log, b.ledger, b.cache = runkey.NewLog(m.Log(), b.store), m.Ledger(), m.Cache()
	b.breakers, b.decodes, b.stops, b.ping = m.Breakers(), m.Decodes(tool.MaxDecodes), m.Stops(), m.Ping
	return b, nil
}

// plansEvery is how often a process that shares its store looks whether
// somebody has changed the plans in another one.
const plansEvery = 3 * time.Second

// openPlans reads what administrators have changed of the plans.
func openPlans(ctx context.Context, s *store.Store, o Options) (*quota.PlanTable, error) {
	plans := quota.NewPlanTable(s, o.Logger)
	if err := plans.Load(ctx); err != nil {
		return nil, fmt.Errorf("reading the plans: %w", err)
	}
	return plans, nil
}

// passages is how many passages of a person's documents there may be. The plans
// are read from the store that asks.
func (p *Platform) passages(v identity.Viewer) int { return p.plans.Of(v).Chunks }

// pool tells of a pool's connections.
func pool(count func() (used, idle, most int)) func() telemetry.Pool {
	return func() telemetry.Pool {
		used, idle, most := count()
		return telemetry.Pool{Used: used, Idle: idle, Most: most}
	}
}

// Package postgres keeps everything in PostgreSQL: the adapter of the store's
// seam on a pgx pool, the chunk index on pgvector and tsvector, and the
// migrations.
//
// A transaction that reads sees one snapshot; one that writes sees what others
// have committed, statement by statement, and orders itself by Lock. Whoever a
// transaction is for is known to the database from its first statement on, and
// row-level security holds even where a statement forgot the person (ISO-02).
//
// It may import store, the nouns, migrations, and pgx and pgvector, which
// nothing above the drivers may.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"liminal/internal/store"
	"liminal/migrations"
)

// poolerPort is where a transaction pooler listens by custom (OPS-13).
const poolerPort = 6543

// Options of a database; the zero value is the defaults.
type Options struct {
	// Connections is how many the pool opens at most; 0: pool_max_conns of the
	// connection string, or 16.
	Connections int
	// Patience is how long a transaction that has not begun to commit is tried
	// again after its connection was lost. 0: 10 s.
	Patience time.Duration
	// Longest bounds a transaction with all its tries, and one statement of it
	// on the server. 0: a minute.
	Longest time.Duration
	// Silence is how long the server lets a transaction stand still between two
	// statements: a process that was cut off in one holds its locks no longer.
	// 0: 20 s.
	Silence time.Duration
	// AllowOldVector opens a database whose pgvector is older than MinVector,
	// and says so in the log.
	AllowOldVector bool
	// AllowAnyRole opens it also for a role that row-level security does not
	// hold for. For tests of what it would hold back.
	AllowAnyRole bool
	// AnyVersion opens it whatever its migrations: for a program that looks
	// into the database of an older or newer one, and writes nothing.
	AnyVersion bool
	Logger     *slog.Logger // nil: slog.Default()
}

// DB is a pool of connections to one database. It implements store.DB and is
// safe for concurrent use.
type DB struct {
	pool       *pgxpool.Pool
	patience   time.Duration
	longest    time.Duration
	limits     string // how every transaction bounds itself on the server
	logger     *slog.Logger
	statements statements
}

var _ store.DB = (*DB)(nil)

// Open connects to the database of a connection string. It refuses one whose
// migrations are not this program's, one that it would see too much of, and
// one whose pgvector cannot be trusted; the error is one sentence without the
// password.
func Open(ctx context.Context, url string, o Options) (*DB, error) {
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	if o.Longest <= 0 {
		o.Longest = time.Minute
	}
	if o.Silence <= 0 {
		o.Silence = 20 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	conf, err := poolConfig(url, o.Connections)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL: %s", cause(err))
	}
	db := &DB{pool: pool, patience: o.Patience, longest: o.Longest, logger: o.Logger}
	db.limits = fmt.Sprintf("; SET LOCAL statement_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %d",
		o.Longest.Milliseconds(), o.Silence.Milliseconds())
	if err := db.check(ctx, o); err != nil {
		pool.Close()
		return nil, fmt.Errorf("PostgreSQL on %s:%d: %w", conf.ConnConfig.Host, conf.ConnConfig.Port, err)
	}
	return db, nil
}

// poolConfig reads a connection string. What was not said in it has defaults
// that suit this program.
func poolConfig(url string, connections int) (*pgxpool.Config, error) {
	conf, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the connection string of the database cannot be read")
	}
	plain, err := pgx.ParseConfig(url) // keeps pool_max_conns, which the pool's own has taken out
	if err != nil {
		return nil, errors.New("the connection string of the database cannot be read")
	}
	switch _, said := plain.RuntimeParams["pool_max_conns"]; {
	case connections > 0:
		conf.MaxConns = int32(min(connections, 1000)) //nolint:gosec // bounded
	case !said:
		conf.MaxConns = 16
	}
	c := conf.ConnConfig
	c.DefaultQueryExecMode = execMode(c.DefaultQueryExecMode, c.Port)
	if _, said := c.RuntimeParams["application_name"]; !said {
		c.RuntimeParams["application_name"] = "liminal"
	}
	// A statement whose caller went away is cancelled on the server, and the
	// connection lives on; without an answer in a second it is closed.
	c.BuildContextWatcherHandler = func(pc *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: pc, DeadlineDelay: time.Second}
	}
	return conf, nil
}

// execMode is how statements reach the server. Statements with a name on the
// server do not outlive a transaction behind a transaction pooler, so on its
// port, and where the connection string asks for a mode without them, each
// statement is sent whole; what its parameters are is asked once a connection
// and text. The two modes in which pgx guesses the types from Go's would take
// an id for a text, so both become this one (OPS-13).
func execMode(asked pgx.QueryExecMode, port uint16) pgx.QueryExecMode {
	switch {
	case asked == pgx.QueryExecModeExec, asked == pgx.QueryExecModeSimpleProtocol:
		return pgx.QueryExecModeCacheDescribe
	case asked == pgx.QueryExecModeCacheStatement && port == poolerPort:
		return pgx.QueryExecModeCacheDescribe
	default:
		return asked
	}
}

// Close waits for what is under way, for seconds at most, and closes all
// connections.
func (db *DB) Close() error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		db.pool.Close()
	}()
	select {
	case <-done:
		return nil
	case <-time.After(closing):
		return errors.New("PostgreSQL: some transactions have not ended; their connections close with them")
	}
}

// check refuses a database that this program must not work on.
func (db *DB) check(ctx context.Context, o Options) error {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return errors.New(cause(err))
	}
	defer conn.Release()
	have, err := migrations.Of(migrations.Postgres)
	if err != nil {
		return err
	}
	if err := upToDate(ctx, conn.Conn(), have); err != nil && !o.AnyVersion {
		return err
	}
	if err := guarded(ctx, conn.Conn()); err != nil && !o.AllowAnyRole {
		return err
	}
	return db.trusted(ctx, conn.Conn(), o)
}

// guarded fails for a role that row-level security does not hold back.
func guarded(ctx context.Context, conn *pgx.Conn) error {
	var role string
	var super, bypass, owner bool
	err := conn.QueryRow(ctx, `SELECT current_user, r.rolsuper, r.rolbypassrls,
		EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = 'app_user'::regclass AND pg_has_role(current_user, c.relowner, 'MEMBER'))
		FROM pg_roles r WHERE r.rolname = current_user`).Scan(&role, &super, &bypass, &owner)
	switch {
	case err != nil:
		return errors.New(cause(err))
	case super:
		return fmt.Errorf("the role %q is a superuser, whom row-level security does not hold back; create a role of its own for the program and name it in DATABASE_URL", role)
	case bypass:
		return fmt.Errorf("the role %q has BYPASSRLS, so row-level security does not hold it back; take it away with ALTER ROLE … NOBYPASSRLS", role)
	case owner:
		return fmt.Errorf("the role %q owns the tables and could undo row-level security; migrate as the owner (LIMINAL_MIGRATE_URL) and run the program as another role", role)
	}
	return nil
}

// trusted fails when pgvector is missing or has known faults.
func (db *DB) trusted(ctx context.Context, conn *pgx.Conn, o Options) error {
	r, err := inspect(ctx, conn)
	switch {
	case err != nil:
		return errors.New(cause(err))
	case !r.Created:
		return errors.New("the extension vector is not created in this database; run liminald migrate")
	case r.VectorIsOld() && !o.AllowOldVector:
		return fmt.Errorf("pgvector is %s; before %s it overflows a buffer while it builds an index in parallel (CVE-2026-3172). Install a newer one and ALTER EXTENSION vector UPDATE", r.Vector, MinVector)
	case r.VectorIsOld():
		db.logger.WarnContext(ctx, "pgvector is older than what can be trusted; indexes are built by one worker, and a newer one should be installed",
			"version", r.Vector, "wanted", MinVector)
	}
	return nil
}

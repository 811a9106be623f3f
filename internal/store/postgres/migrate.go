package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"liminal/migrations"
)

// migrationLock is the advisory lock of whoever migrates; scripts/migrate.sh
// takes the same. It is "liminal" in ASCII.
const migrationLock = 0x6c696d696e616c

// Migrate brings the database of the owner's connection string up to date and
// returns what it applied. Each file is one transaction with its entry in the
// ledger, so a killed run is taken up where it ended; several at once wait for
// each other. appRole, when not empty, is given what the program needs; it must
// exist (OPS-01, OPS-03).
func Migrate(ctx context.Context, ownerURL, appRole string, log *slog.Logger) ([]migrations.Migration, error) {
	have, err := migrations.Of(migrations.Postgres)
	if err != nil {
		return nil, err
	}
	return migrate(ctx, ownerURL, appRole, log, have)
}

func migrate(ctx context.Context, ownerURL, appRole string, log *slog.Logger, have []migrations.Migration) (applied []migrations.Migration, err error) {
	conf, err := pgx.ParseConfig(ownerURL)
	if err != nil {
		return nil, errors.New("the connection string of the database's owner cannot be read")
	}
	if conf.Port == poolerPort {
		return nil, errors.New("migrations need a session of their own and this is the port of a transaction pooler (6543); name the database's own port in LIMINAL_MIGRATE_URL")
	}
	conf.DefaultQueryExecMode = pgx.QueryExecModeExec // tables change under prepared statements
	conn, err := pgx.ConnectConfig(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL on %s:%d does not let us in: %s", conf.Host, conf.Port, cause(err))
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), settling)
		defer cancel()
		err = errors.Join(err, conn.Close(ending)) // frees the lock
	}()
	if err := lockMigrations(ctx, conn); err != nil {
		return nil, err
	}
	if applied, err = applyAll(ctx, conn, log, have); err != nil || appRole == "" {
		return applied, err
	}
	if _, err := conn.Exec(ctx, "SELECT app_grant($1::text::name)", appRole); err != nil {
		return applied, fmt.Errorf("the role %q cannot be given its rights: %s", appRole, cause(err))
	}
	return applied, nil
}

// lockMigrations asks again and again, each time in a transaction of its own:
// one that waits inside PostgreSQL deadlocks with CREATE INDEX CONCURRENTLY,
// which waits for every transaction that is older.
func lockMigrations(ctx context.Context, conn *pgx.Conn) error {
	for waited := false; ; waited = true {
		var held bool
		err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(migrationLock)).Scan(&held)
		switch {
		case err != nil && waited && ctx.Err() != nil:
			return fmt.Errorf("another program migrates this database and has not ended: %w", ctx.Err())
		case err != nil:
			return errors.New(cause(err))
		case held:
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done(): // the next try says so
		}
	}
}

func applyAll(ctx context.Context, conn *pgx.Conn, log *slog.Logger, have []migrations.Migration) ([]migrations.Migration, error) {
	if _, err := conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS migration (
		number integer PRIMARY KEY, name text NOT NULL, sum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`); err != nil {
		return nil, fmt.Errorf("the ledger of migrations cannot be made; the role needs CREATE on the schema public: %s", cause(err))
	}
	done, err := ledger(ctx, conn)
	if err != nil {
		return nil, err
	}
	pending, err := migrations.Plan(have, done)
	if err != nil {
		return nil, err
	}
	for i, m := range pending {
		if err := apply(ctx, conn, m); err != nil {
			return pending[:i], err
		}
		log.InfoContext(ctx, "applied a migration", "number", m.Number, "name", m.Name)
	}
	return pending, nil
}

func ledger(ctx context.Context, conn *pgx.Conn) ([]migrations.Entry, error) {
	rows, err := conn.Query(ctx, "SELECT number, name, sum FROM migration ORDER BY number")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e migrations.Entry, err error) {
		return e, row.Scan(&e.Number, &e.Name, &e.Sum)
	})
}

// apply runs one file and writes it into the ledger, both or neither. The
// owner is held back by row-level security as everybody is, so a file that
// changes rows acts as the system. Indexes are built by one worker: pgvector
// before MinVector overflows a buffer with more.
func apply(ctx context.Context, conn *pgx.Conn, m migrations.Migration) error {
	err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{
		BeginQuery: "BEGIN; SET LOCAL app.system = 'on'; SET LOCAL max_parallel_maintenance_workers = 0",
	}, func(t pgx.Tx) error {
		if _, err := conn.PgConn().Exec(ctx, m.SQL).ReadAll(); err != nil { // a script: not one statement to prepare
			return err
		}
		_, err := t.Exec(ctx, "INSERT INTO migration (number, name, sum) VALUES ($1, $2, $3)", m.Number, m.Name, m.Sum)
		return err
	})
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" && m.Name == "knowledge" {
		return fmt.Errorf("migration %04d_%s: this role may not create the extension vector; let a superuser run CREATE EXTENSION vector in this database once, and migrate again (%s)", m.Number, m.Name, e.Message)
	}
	if err != nil {
		return fmt.Errorf("migration %04d_%s: %s", m.Number, m.Name, cause(err))
	}
	return nil
}

// upToDate fails unless the database has had exactly the program's migrations.
func upToDate(ctx context.Context, conn *pgx.Conn, have []migrations.Migration) error {
	done, err := ledger(ctx, conn)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "42P01":
			return errors.New("this database has no tables of Liminal yet; run liminald migrate")
		case "42501":
			return errors.New("this role may not read the ledger of migrations; name it to liminald migrate, which gives it its rights")
		}
	}
	if err != nil {
		return errors.New(cause(err))
	}
	pending, err := migrations.Plan(have, done)
	if err == nil && len(pending) > 0 {
		err = fmt.Errorf("the database is behind this program by %d migrations, from %04d_%s on; run liminald migrate", len(pending), pending[0].Number, pending[0].Name)
	}
	return err
}

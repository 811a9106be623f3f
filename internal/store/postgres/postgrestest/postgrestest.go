// Package postgrestest makes databases on the test stack's server: one a test,
// each a copy of a template that has had the migrations.
//
// The roles are those of production: an owner that migrates, and a role that
// the program runs as, which owns nothing and which row-level security holds.
// It may import postgres, storetest and pgx; only tests import it.
package postgrestest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/store/postgres"
	"liminal/internal/store/storetest"
	"liminal/migrations"
)

// Roles of the test stack's cluster.
const (
	Owner = "lane_owner"
	App   = "lane_app"
)

// Database is one of a test. It is removed when the test ends.
type Database struct {
	Name  string
	Super string // connection strings of the three roles
	Owner string
	App   string
}

// New returns a migrated, empty database. It is one that an earlier test has
// finished with when there is one: making a database takes a second, emptying
// one ten milliseconds. A test that changes tables or roles wants Fresh.
func New(t testing.TB) Database {
	t.Helper()
	server := storetest.Server(t, "LANE_POSTGRES")
	d, ok := free.take()
	if !ok {
		d = create(t, server, "TEMPLATE "+prepared(t, server))
	}
	t.Cleanup(func() {
		if err := wipe(d); err != nil {
			t.Errorf("the test's database cannot be emptied: %v", err)
			return
		}
		free.put(d)
	})
	return d
}

// Fresh returns a migrated, empty database that no other test will have.
func Fresh(t testing.TB) Database {
	t.Helper()
	server := storetest.Server(t, "LANE_POSTGRES")
	d := create(t, server, "TEMPLATE "+prepared(t, server))
	t.Cleanup(func() { drop(t, server, d) })
	return d
}

// Empty returns a database without any table. Only a superuser may create the
// extension that the migrations need, so it is there.
func Empty(t testing.TB) Database {
	t.Helper()
	server := storetest.Server(t, "LANE_POSTGRES")
	prepared(t, server) // makes the roles
	d := create(t, server, "")
	t.Cleanup(func() { drop(t, server, d) })
	Exec(t, d.Super, "CREATE EXTENSION vector", "ALTER SCHEMA public OWNER TO "+Owner)
	return d
}

func prepared(t testing.TB, server string) string {
	t.Helper()
	from, err := template(server)
	if err != nil {
		t.Fatal(err)
	}
	return from
}

func create(t testing.TB, server, from string) Database {
	t.Helper()
	d := named(server, fmt.Sprintf("test_%d_%s", os.Getpid(), id.New()))
	Exec(t, server, fmt.Sprintf("CREATE DATABASE %q OWNER %s %s", d.Name, Owner, from))
	return d
}

func drop(t testing.TB, server string, d Database) {
	t.Helper()
	Exec(t, server, fmt.Sprintf("DROP DATABASE %q WITH (FORCE)", d.Name))
}

// finished holds what tests of this process have done with and others may have.
type finished[T any] struct {
	mu   sync.Mutex
	list []T
}

var free finished[Database]

func (s *finished[T]) take() (one T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == 0 {
		return one, false
	}
	one = s.list[len(s.list)-1]
	s.list = s.list[:len(s.list)-1]
	return one, true
}

func (s *finished[T]) put(one T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, one)
}

// wipe removes all rows but the migrations' own, as a replica applies them:
// without asking what refers to them. It waits for transactions a test left
// behind.
func wipe(d Database) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return exec(ctx, d.Super, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
		wiper, "SELECT pg_temp.wipe()")
}

// wiper makes what empties the tables that are there now. Its statements are
// written out, so that a session which wipes again plans none of them again.
const wiper = `SET session_replication_role = replica; DO $do$
	BEGIN
		EXECUTE (SELECT 'CREATE FUNCTION pg_temp.wipe() RETURNS void LANGUAGE plpgsql AS $wipe$ BEGIN '
			|| string_agg(format('DELETE FROM %s;', oid::regclass), ' ') ||
			' DELETE FROM app_user WHERE id <> ''` + identity.SystemAccount + `'';
			DELETE FROM model_backend WHERE name <> ''environment'';
			UPDATE model_backend SET is_default = true, choosable = false;
			END $wipe$'
			FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT IN ('migration', 'app_user', 'model_backend'));
	END $do$`

// sweep drops the databases of test processes that are gone.
func sweep(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `SELECT datname FROM pg_database WHERE datname ~ '^test_[0-9]+_'`)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		var pid int
		if _, err := fmt.Sscanf(name, "test_%d_", &pid); err != nil || syscall.Kill(pid, 0) == nil {
			continue
		}
		if _, err := conn.Exec(ctx, fmt.Sprintf("DROP DATABASE IF EXISTS %q WITH (FORCE)", name)); err != nil {
			return err
		}
	}
	return nil
}

func named(server, name string) Database {
	return Database{Name: name, Super: of(server, name, ""), Owner: of(server, name, Owner), App: of(server, name, App)}
}

// of is the server's connection string with another database and role.
func of(server, name, role string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server // connecting to it says what is wrong
	}
	u.Path = "/" + name
	if role != "" {
		u.User = url.User(role)
	}
	return u.String()
}

// Open opens d as the program does, with the old pgvector of the
// test stack.
func Open(t testing.TB, url string, o postgres.Options) *postgres.DB {
	t.Helper()
	db := open(t, t.Context(), url, o)
	t.Cleanup(func() {
		if err := Close(db); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Close waits for longer than a program may: the server's processes end in their
// own time, and on a busy machine that is more than seconds.
func Close(db *postgres.DB) (err error) {
	for range 6 {
		if err = db.Close(); err == nil {
			return nil
		}
	}
	return err
}

func open(t testing.TB, ctx context.Context, url string, o postgres.Options) *postgres.DB {
	t.Helper()
	o.AllowOldVector = true
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Connections == 0 {
		o.Connections = 8
	}
	db, err := postgres.Open(ctx, url, o)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// Exec runs statements on a connection of their own.
func Exec(t testing.TB, url string, statements ...string) {
	t.Helper()
	if err := exec(context.WithoutCancel(t.Context()), url, statements...); err != nil {
		t.Fatal(err)
	}
}

func exec(ctx context.Context, url string, statements ...string) (err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%w in %s", err, s)
		}
	}
	return nil
}

var (
	making sync.Mutex
	made   = map[string]string{} // of a server, the template
)

// template makes the roles and the template once. Test processes that run at
// once take turns: the lock is a session's of the cluster's own database.
func template(server string) (string, error) {
	making.Lock()
	defer making.Unlock()
	if name, ok := made[server]; ok {
		return name, nil
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }() // frees the lock
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(1819045217)"); err != nil {
		return "", err
	}
	name, err := templateName()
	if err != nil {
		return "", err
	}
	if err := errors.Join(sweep(ctx, conn), makeTemplate(ctx, conn, server, name)); err != nil {
		return "", err
	}
	made[server] = name
	return name, nil
}

// templateName changes with the migrations.
func templateName() (string, error) {
	all, err := migrations.Of(migrations.Postgres)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, m := range all {
		h.Write([]byte(m.Sum))
	}
	return "template_" + hex.EncodeToString(h.Sum(nil)[:8]), nil
}

func makeTemplate(ctx context.Context, conn *pgx.Conn, server, name string) error {
	for _, role := range []string{Owner, App} {
		_, err := conn.Exec(ctx, "CREATE ROLE "+role+" LOGIN NOSUPERUSER NOBYPASSRLS")
		if e, ok := errors.AsType[*pgconn.PgError](err); err != nil && (!ok || e.Code != "42710") {
			return err
		}
	}
	var ready bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate)", name).Scan(&ready); err != nil || ready {
		return err
	}
	d := named(server, name)
	if err := exec(ctx, server, "DROP DATABASE IF EXISTS "+name, "CREATE DATABASE "+name+" OWNER "+Owner); err != nil {
		return err
	}
	if err := exec(ctx, d.Super, "CREATE EXTENSION vector", "ALTER SCHEMA public OWNER TO "+Owner); err != nil {
		return err
	}
	if _, err := postgres.Migrate(ctx, d.Owner, App, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	return exec(ctx, server, "ALTER DATABASE "+name+" WITH IS_TEMPLATE true")
}

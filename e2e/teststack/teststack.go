// Package teststack is what the program works with in production, made for one
// test: a database with its owner and the role the program runs as, a database
// of Redis, a namespace of Temporal and a shared folder, on the servers that
// scripts/lane.sh starts (the test stack).
//
// It serves the tests that run the real program from outside, and imports
// nothing of the house but ids and what finds the test stack.
package teststack

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"liminal/internal/id"
	"liminal/internal/store/storetest"
)

// patience bounds every wait for a server.
const patience = 60 * time.Second

// databases is how many scripts/lane/redis.sh gives its server.
const databases = 1024

// Password is in every connection string; the servers ask for none, and nothing
// may ever show it.
const Password = "opensesame-database"

// Stack is one test's own.
type Stack struct {
	t               testing.TB
	Data            string // the shared folder
	Owner, App      string // connection strings of the two roles
	Redis, Temporal string
	Namespace       string
}

// New makes the stack, and takes the database away with the test. Without the
// servers the test skips, or fails where the test stack is required.
func New(t testing.TB) *Stack {
	t.Helper()
	superuser := storetest.Server(t, "LANE_POSTGRES")
	g := &Stack{t: t, Data: t.TempDir(), Temporal: storetest.Server(t, "LANE_TEMPORAL")}
	name := "e2e_" + strings.ReplaceAll(id.New(), "-", "")
	g.Namespace = strings.ReplaceAll(name, "_", "-")
	g.database(superuser, name)
	g.memory(storetest.Server(t, "LANE_REDIS"))
	g.register()
	return g
}

// Env is the environment of a program that works with it. The database is empty
// until `liminald migrate` has run with the same.
func (g *Stack) Env() []string {
	return []string{
		"DATABASE_URL=" + g.App, "LIMINAL_MIGRATE_URL=" + g.Owner, "LIMINAL_ALLOW_OLD_PGVECTOR=true", "REDIS_URL=" + g.Redis,
		"TEMPORAL_ADDRESS=" + g.Temporal, "TEMPORAL_NAMESPACE=" + g.Namespace, "SHARED_FS_ROOT=" + g.Data,
	}
}

func (g *Stack) database(superuser, name string) {
	g.t.Helper()
	g.SQL(superuser, `DO $$ BEGIN
		CREATE ROLE e2e_owner LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`)
	g.SQL(superuser, `DO $$ BEGIN
		CREATE ROLE e2e_app LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`)
	g.SQL(superuser, `CREATE DATABASE `+name+` OWNER e2e_owner`)
	g.SQL(g.As(superuser, "postgres", name), `CREATE EXTENSION vector`)
	g.Owner, g.App = g.As(superuser, "e2e_owner", name), g.As(superuser, "e2e_app", name)
	g.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if conn, err := pgx.Connect(ctx, superuser); err == nil {
			_, _ = conn.Exec(ctx, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`) // the test stack is removed anyway
			_ = conn.Close(ctx)
		}
	})
}

// memory takes the next of Redis's databases: what a program remembers there,
// such as the sign-ins of an address, must not count against another test's.
func (g *Stack) memory(server string) {
	g.t.Helper()
	o, err := redis.ParseURL(server)
	if err != nil {
		g.t.Fatal(err)
	}
	shared := redis.NewClient(o)
	defer func() { _ = shared.Close() }()
	taken, err := shared.Incr(g.t.Context(), "e2e:databases").Result()
	if err != nil {
		g.t.Fatal(err)
	}
	u, err := url.Parse(server)
	if err != nil {
		g.t.Fatal(err)
	}
	own := *o
	own.DB = 1 + int(taken%(databases-1)) // 0 is shared by tests with a prefix each
	u.Path = "/" + strconv.Itoa(own.DB)
	g.Redis = u.String()
	g.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		mine := redis.NewClient(&own)
		_ = mine.FlushDB(ctx).Err() // the test stack is removed anyway
		_ = mine.Close()
	})
}

// As is a connection string for another role and database.
func (g *Stack) As(from, role, database string) string {
	g.t.Helper()
	u, err := url.Parse(from)
	if err != nil {
		g.t.Fatal(err)
	}
	u.User, u.Path = url.UserPassword(role, Password), "/"+database
	return u.String()
}

// SQL runs a statement where a connection string leads.
func (g *Stack) SQL(where, statement string) {
	g.t.Helper()
	conn, err := pgx.Connect(g.t.Context(), where)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(g.t.Context())) }()
	if _, err := conn.Exec(g.t.Context(), statement); err != nil {
		g.t.Fatalf("%v in %s", err, statement)
	}
}

// register makes the namespace and waits until the frontend knows it.
func (g *Stack) register() {
	g.t.Helper()
	n, err := client.NewNamespaceClient(client.Options{HostPort: g.Temporal, Logger: Quiet{}})
	if err != nil {
		g.t.Fatal(err)
	}
	defer n.Close()
	err = n.Register(g.t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: g.Namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		g.t.Fatal(err)
	}
	temporal := g.Client()
	deadline := time.Now().Add(patience)
	for {
		_, err := temporal.CountWorkflow(g.t.Context(), &workflowservice.CountWorkflowExecutionsRequest{})
		if err == nil {
			return
		}
		if missing := (*serviceerror.NamespaceNotFound)(nil); !errors.As(err, &missing) && time.Now().After(deadline) {
			g.t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// Client talks to Temporal as any tool would: without our codec.
func (g *Stack) Client() client.Client {
	g.t.Helper()
	temporal, err := client.DialContext(g.t.Context(), client.Options{HostPort: g.Temporal, Namespace: g.Namespace, Logger: Quiet{}})
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(temporal.Close)
	return temporal
}

// Address is one of this machine that nobody listens at, for a program that is killed
// and started again there. Its port is below those that the kernel gives to whoever
// asks for any, so that nobody else has it meanwhile.
func Address(t testing.TB) string {
	t.Helper()
	for range 100 {
		at := net.JoinHostPort("127.0.0.1", strconv.Itoa(20_000+rand.IntN(12_000)))
		if l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", at); err == nil {
			_ = l.Close() // it only had to be free
			return at
		}
	}
	t.Fatal("none of a hundred ports between 20000 and 32000 is free")
	return ""
}

// Quiet is a Temporal logger that says nothing.
type Quiet struct{}

// Debug says nothing.
func (Quiet) Debug(string, ...any) {}

// Info says nothing.
func (Quiet) Info(string, ...any) {}

// Warn says nothing.
func (Quiet) Warn(string, ...any) {}

// Error says nothing.
func (Quiet) Error(string, ...any) {}

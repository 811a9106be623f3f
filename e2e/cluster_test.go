package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"liminal/internal/id"
	"liminal/internal/storetest"
)

// cluster is servers and workers that share a database, a Redis, a namespace
// of Temporal and a folder of their own.
type cluster struct {
	t                *testing.T
	env              []string
	data             string // the shared folder
	owner, app       string // connection strings
	redis, temporal  string
	namespace        string
	servers, workers []*program
}

// lane makes a cluster that nothing runs in yet. It needs the servers that
// scripts/lane.sh starts.
func lane(t *testing.T, env ...string) *cluster {
	t.Helper()
	storetest.Long(t, "it starts the real program")
	superuser := storetest.Lane(t, "LANE_POSTGRES")
	c := &cluster{t: t, data: t.TempDir(), redis: storetest.Lane(t, "LANE_REDIS"), temporal: storetest.Lane(t, "LANE_TEMPORAL")}
	name := "e2e_" + strings.ReplaceAll(id.New(), "-", "")
	c.namespace = strings.ReplaceAll(name, "_", "-")
	c.database(superuser, name)
	c.register()
	c.env = append([]string{
		"DATABASE_URL=" + c.app, "LIMINAL_MIGRATE_URL=" + c.owner, "LIMINAL_ALLOW_OLD_PGVECTOR=true", "REDIS_URL=" + c.redis,
		"TEMPORAL_ADDRESS=" + c.temporal, "TEMPORAL_NAMESPACE=" + c.namespace, "SHARED_FS_ROOT=" + c.data,
	}, env...)
	if out, code := c.command("migrate"); code != 0 {
		t.Fatalf("liminald migrate: %d\n%s", code, out)
	}
	return c
}

// grown is a cluster with so many servers and workers.
func grown(t *testing.T, servers, workers int, env ...string) *cluster {
	t.Helper()
	c := lane(t, env...)
	for range workers {
		c.worker()
	}
	for range servers {
		c.server()
	}
	return c
}

func (c *cluster) server(flags ...string) *program {
	c.t.Helper()
	args := append([]string{"server", "--listen", "127.0.0.1:0"}, flags...)
	if len(flags) == 0 {
		args = append(args, "--no-worker")
	}
	p := launch(c.t, c.t.TempDir(), c.env, args...)
	c.servers = append(c.servers, p)
	return p
}

func (c *cluster) worker() *program {
	c.t.Helper()
	p := launch(c.t, c.t.TempDir(), c.env, "worker")
	c.workers = append(c.workers, p)
	return p
}

// command runs a subcommand in the cluster's environment to its end.
func (c *cluster) command(args ...string) (output string, code int) {
	c.t.Helper()
	path, err := binary()
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(c.t.Context(), path, args...)
	cmd.Env = append(os.Environ(), c.env...)
	out, err := cmd.CombinedOutput()
	return string(out), exitCode(err)
}

// database makes a database with its owner and the role the program runs as.
func (c *cluster) database(superuser, name string) {
	c.t.Helper()
	c.sql(superuser, `DO $$ BEGIN
		CREATE ROLE e2e_owner LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`)
	c.sql(superuser, `DO $$ BEGIN
		CREATE ROLE e2e_app LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`)
	c.sql(superuser, `CREATE DATABASE `+name+` OWNER e2e_owner`)
	c.sql(c.as(superuser, "postgres", name), `CREATE EXTENSION vector`)
	c.owner, c.app = c.as(superuser, "e2e_owner", name), c.as(superuser, "e2e_app", name)
	c.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if conn, err := pgx.Connect(ctx, superuser); err == nil {
			_, _ = conn.Exec(ctx, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`) // the lane is removed anyway
			_ = conn.Close(ctx)
		}
	})
}

// as is a connection string for another role and database.
func (c *cluster) as(from, role, database string) string {
	c.t.Helper()
	u, err := url.Parse(from)
	if err != nil {
		c.t.Fatal(err)
	}
	u.User, u.Path = url.UserPassword(role, databasePassword), "/"+database
	return u.String()
}

// databasePassword is in every connection string; the lane asks for none, and
// nothing may ever show it.
const databasePassword = "opensesame-database"

func (c *cluster) sql(where, statement string) {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), where)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(c.t.Context())) }()
	if _, err := conn.Exec(c.t.Context(), statement); err != nil {
		c.t.Fatalf("%v in %s", err, statement)
	}
}

// register makes the namespace and waits until the frontend knows it.
func (c *cluster) register() {
	c.t.Helper()
	n, err := client.NewNamespaceClient(client.Options{HostPort: c.temporal, Logger: quiet{}})
	if err != nil {
		c.t.Fatal(err)
	}
	defer n.Close()
	err = n.Register(c.t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: c.namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	temporal := c.client()
	deadline := time.Now().Add(patience)
	for {
		_, err := temporal.CountWorkflow(c.t.Context(), &workflowservice.CountWorkflowExecutionsRequest{})
		if err == nil {
			return
		}
		if missing := (*serviceerror.NamespaceNotFound)(nil); !errors.As(err, &missing) && time.Now().After(deadline) {
			c.t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// client talks to Temporal as any tool would: without our codec.
func (c *cluster) client() client.Client {
	c.t.Helper()
	temporal, err := client.DialContext(c.t.Context(), client.Options{HostPort: c.temporal, Namespace: c.namespace, Logger: quiet{}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(temporal.Close)
	return temporal
}

// flush loses all of Redis.
func (c *cluster) flush() {
	c.t.Helper()
	o, err := goredis.ParseURL(c.redis)
	if err != nil {
		c.t.Fatal(err)
	}
	r := goredis.NewClient(o)
	defer func() { _ = r.Close() }()
	if err := r.FlushAll(c.t.Context()).Err(); err != nil {
		c.t.Fatal(err)
	}
}

// at is the same person, talking to another server.
func (who *person) at(p *program) *person {
	return &person{p: p, email: who.email, token: who.token}
}

// steps of a script the model plays in the cluster's workers.
func gated(t *testing.T, before, after string) (env []string, spoke, resume string) {
	t.Helper()
	dir := t.TempDir()
	spoke, resume = filepath.Join(dir, "spoke"), filepath.Join(dir, "go")
	env = script(t, fmt.Sprintf(`{"answers":[{"task":"chat","steps":[{"text":%q},{"touch":%q},{"until":%q},{"text":%q}]}]}`,
		before, spoke, resume, after))
	return env, spoke, resume
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func there(path string) func() bool {
	return func() bool { _, err := os.Stat(path); return err == nil }
}

// quiet is a Temporal logger that says nothing.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// execScript runs a script of ours to its end.
func execScript(t *testing.T, path string, env []string, args ...string) (string, error) {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"liminal/e2e/teststack"
	"liminal/internal/store/storetest"
)

// cluster is servers and workers that share a database, a Redis, a namespace
// of Temporal and a folder of their own.
type cluster struct {
	*teststack.Stack
	t                *testing.T
	env              []string
	servers, workers []*program
}

// emptyCluster makes a cluster that nothing runs in yet. It needs the servers
// that scripts/lane.sh starts.
func emptyCluster(t *testing.T, env ...string) *cluster {
	t.Helper()
	storetest.Long(t, "it starts the real program")
	g := teststack.New(t)
	c := &cluster{Stack: g, t: t, env: append(g.Env(), env...)}
	if out, code := c.command("migrate"); code != 0 {
		t.Fatalf("liminald migrate: %d\n%s", code, out)
	}
	return c
}

// grown is a cluster with so many servers and workers.
func grown(t *testing.T, servers, workers int, env ...string) *cluster {
	t.Helper()
	c := emptyCluster(t, env...)
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

// flush loses all that Redis knew of these programs.
func (c *cluster) flush() {
	c.t.Helper()
	o, err := goredis.ParseURL(c.Redis)
	if err != nil {
		c.t.Fatal(err)
	}
	r := goredis.NewClient(o)
	defer func() { _ = r.Close() }()
	if err := r.FlushDB(c.t.Context()).Err(); err != nil {
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

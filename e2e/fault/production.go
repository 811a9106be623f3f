package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// How many of each a production deployment has.
const (
	servers = 2
	workers = 2
)

// nobody is whom PostgreSQL runs as when we are root: it refuses root.
const nobody = 65534

// production is servers and workers of their own over PostgreSQL, Redis and a
// Temporal server, behind a load balancer.
type production struct {
	setting
	stack   map[string]string // what the script says, by name
	address map[string]string // of each of the three below
	under   map[string]*Process
	servers []*Process
	workers []*Process
	proxy   *Proxy
}

func newProduction(s setting) *production {
	return &production{setting: s, stack: map[string]string{}, address: map[string]string{}, under: map[string]*Process{}}
}

// Start implements Lane.
func (p *production) Start(ctx context.Context) error {
	if err := p.prepare(ctx); err != nil {
		return err
	}
	for _, name := range []string{"postgres", "redis", "temporal"} {
		if err := p.under[name].start(ctx); err != nil {
			return err
		}
	}
	if err := p.migrate(ctx); err != nil {
		return err
	}
	for _, process := range slices.Concat(p.servers, p.workers) {
		if err := process.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes the folders and every process, and starts none.
func (p *production) prepare(ctx context.Context) error {
	if err := os.Chmod(p.dir, 0o711); err != nil { //nolint:gosec // the user PostgreSQL runs as must get through
		return err
	}
	if err := p.survey(ctx); err != nil {
		return err
	}
	for _, name := range []string{"postgres", "redis", "temporal", "ui"} {
		at, err := freePort()
		if err != nil {
			return err
		}
		p.address[name] = at
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "redis"), 0o700); err != nil {
		return err
	}
	p.underneath()
	return p.upstairs(ctx)
}

// survey asks the script for what we stand on.
func (p *production) survey(ctx context.Context) error {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("the folder of the module is not known: %w", err)
	}
	script := filepath.Join(strings.TrimSpace(string(root)), "scripts/lane/fault-ground.sh")
	cmd := exec.CommandContext(ctx, script, p.dir) //nolint:gosec // ours
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", script, err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "=")
		p.stack[name] = value
	}
	return nil
}

func (p *production) database(role, name string) string {
	return "postgres://" + role + "@" + p.address["postgres"] + "/" + name + "?sslmode=disable"
}

// underneath makes PostgreSQL, Redis and Temporal. Redis keeps nothing on
// disk: its death loses all of it.
func (p *production) underneath() {
	_, port, _ := net.SplitHostPort(p.address["postgres"])
	var user *syscall.Credential
	if os.Getuid() == 0 {
		user = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	p.under["postgres"] = &Process{
		name: "postgres", dir: p.dir, log: p.log, user: user, up: p.answers,
		env:  []string{"LD_LIBRARY_PATH=" + p.stack["POSTGRES_LIBRARIES"]},
		argv: []string{p.stack["POSTGRES"], "-D", p.stack["POSTGRES_DATA"], "-p", port},
	}
	_, port, _ = net.SplitHostPort(p.address["redis"])
	p.under["redis"] = &Process{
		name: "redis", dir: p.dir, log: p.log, up: listens(p.address["redis"]),
		env:  []string{"LD_LIBRARY_PATH=" + p.stack["REDIS_LIBRARIES"]},
		argv: []string{p.stack["REDIS"], "--bind", "127.0.0.1", "--port", port, "--dir", filepath.Join(p.dir, "redis"), "--save", "", "--appendonly", "no"},
	}
	file := filepath.Join(p.dir, "temporal.ready")
	p.under["temporal"] = &Process{
		name: "temporal", dir: p.dir, log: p.log, fresh: file, up: appears(file),
		argv: []string{
			p.stack["TEMPORAL"], "--postgres", p.database("postgres", "postgres"),
			"--listen", p.address["temporal"], "--ui", p.address["ui"], "--ready-file", file,
		},
	}
}

// upstairs makes the servers, what stands in front of them, and the workers.
func (p *production) upstairs(ctx context.Context) error {
	env := slices.Concat(p.env, []string{
		"DATABASE_URL=" + p.database("liminal_app", "liminal"), "LIMINAL_MIGRATE_URL=" + p.database("liminal_owner", "liminal"),
		"REDIS_URL=redis://" + p.address["redis"] + "/0", "TEMPORAL_ADDRESS=" + p.address["temporal"], "TEMPORAL_NAMESPACE=default",
		"SHARED_FS_ROOT=" + filepath.Join(p.dir, "shared"), "RAG_MODE=pgvector", "LIMINAL_ALLOW_OLD_PGVECTOR=true",
	})
	p.env = env
	var backends []string
	for i := range servers {
		at, err := freePort()
		if err != nil {
			return err
		}
		name := fmt.Sprintf("server-%d", i+1)
		file := filepath.Join(p.dir, name+".ready")
		p.servers = append(p.servers, &Process{
			name: name, dir: p.dir, log: p.log, env: env, fresh: file, up: announced(file),
			argv: []string{p.binary, "server", "--listen", at, "--ready-file", file},
		})
		backends = append(backends, at)
	}
	for i := range workers {
		name := fmt.Sprintf("worker-%d", i+1)
		file := filepath.Join(p.dir, name+".ready")
		p.workers = append(p.workers, &Process{
			name: name, dir: p.dir, log: p.log, env: env, fresh: file, up: announced(file),
			argv: []string{p.binary, "worker", "--ready-file", file},
		})
	}
	proxy, err := newProxy(ctx, backends...)
	p.proxy = proxy
	return err
}

func (p *production) migrate(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, p.binary, "migrate") //nolint:gosec // ours
	cmd.Env = append(os.Environ(), p.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("liminald migrate: %w\n%s", err, out)
	}
	return nil
}

// query runs a statement as the superuser.
func (p *production) query(ctx context.Context, statement string) error {
	cmd := exec.CommandContext(ctx, p.stack["PSQL"], "-qtAc", statement, p.database("postgres", "postgres")) //nolint:gosec // ours
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+p.stack["POSTGRES_LIBRARIES"])
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("psql: %w: %s", err, out)
	}
	return nil
}

func (p *production) answers(ctx context.Context) error { return p.query(ctx, "SELECT 1") }

// listens reports whether a port takes connections.
func listens(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return c.Close()
	}
}

// appears reports whether a file is there and holds something.
func appears(file string) func(context.Context) error {
	return func(context.Context) error {
		info, err := os.Stat(file)
		if err == nil && info.Size() == 0 {
			err = errors.New("the ready file is empty")
		}
		return err
	}
}

// Faults implements Lane.
func (p *production) Faults() []Fault {
	return []Fault{
		killed(faultServer, anyOf(p.servers)),
		killed(faultWorker, anyOf(p.workers)),
		killed("kill -9 PostgreSQL", one(p.under["postgres"])),
		killed("kill -9 Redis", one(p.under["redis"])),
		killed("kill -9 Temporal", one(p.under["temporal"])),
		{Name: "connections terminated", Do: func(ctx context.Context, _ *rand.Rand) error {
			return p.query(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
		}},
		restarted("restart server", anyOf(p.servers)),
		restarted("restart worker", anyOf(p.workers)),
		p.hang(),
	}
}

// URL implements Lane.
func (p *production) URL() string { return p.proxy.url() }

// Forgot implements Deployment: the log is in Redis.
func (p *production) Forgot() []time.Time { return p.under["redis"].died() }

// Crashes implements Lane.
func (p *production) Crashes() map[string]int {
	n := map[string]int{}
	for _, process := range p.all() {
		n[process.name] = process.crashed()
	}
	return n
}

// all are the processes, those that stand on others first.
func (p *production) all() []*Process {
	list := slices.Concat(p.servers, p.workers)
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(p.under))) {
		list = append(list, p.under[name])
	}
	return list
}

// Stop implements Lane.
func (p *production) Stop() error {
	var errs []error
	for _, process := range p.all() {
		errs = append(errs, process.kill())
	}
	if p.proxy != nil {
		errs = append(errs, p.proxy.close())
	}
	return errors.Join(errs...)
}

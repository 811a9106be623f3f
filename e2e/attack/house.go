package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"liminal/e2e/teststack"
)

const (
	onEmbedded   = "embedded"
	onProduction = "production"

	patience = 60 * time.Second // for a program to become ready
	look     = 20 * time.Millisecond
	mib      = int64(1) << 20
	// mostMemory is where a program is killed, so that the machine lives on.
	mostMemory = 2048 * mib
)

// house is the program under attack on one deployment, with its administrator.
type house struct {
	deployment, dir, program string
	env                      []string
	stack                    *teststack.Stack // of the production deployment
	desk                     *desk
	processes                []*process
	ready                    ready // of what serves the API
	namespace                string
	admin                    *person
	first                    []string     // what a page of another origin could do while nobody had an account
	addresses                atomic.Int32 // that were given to people
	highest                  atomic.Int64
	done                     chan struct{}
	watching                 sync.WaitGroup
}

// ready is what a program says once it answers.
type ready struct {
	HTTP       string
	Temporal   string
	TemporalUI string `json:"temporal_ui"`
	Ops        string
	Palace     string
}

// process is one program of the house.
type process struct {
	name   string
	cmd    *exec.Cmd
	gone   chan struct{}
	ready  ready
	killed atomic.Bool // by us, for its memory
}

func newHouse(ctx context.Context, deployment, program string) (h *house, err error) {
	dir, err := os.MkdirTemp("", "attack-"+deployment+"-")
	if err != nil {
		return nil, err
	}
	h = &house{deployment: deployment, dir: dir, program: program, namespace: "default", done: make(chan struct{})}
	h.env = []string{"LIMINAL_WEB_ALLOW=*", "LIMINAL_TENANTS=default,acme", "LIMINAL_OPS_LISTEN=127.0.0.1:0", "LIMINAL_LOG_LEVEL=warn", "GODEBUG=netdns=go", "PALACE_OWNER=" + palaceOwner}
	defer func() {
		if err != nil {
			h.close(true)
			err = fmt.Errorf("%w; the logs are in %s", err, dir)
		}
	}()
	switch deployment {
	case onEmbedded:
		err = h.start(ctx, "dev", "dev", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0",
			"--temporal", "127.0.0.1:0", "--temporal-ui", "127.0.0.1:0")
	case onProduction:
		err = h.cluster(ctx)
	default:
		err = fmt.Errorf("there is no lane %q", deployment)
	}
	if err != nil {
		return h, err
	}
	h.ready = h.processes[len(h.processes)-1].ready
	h.watching.Go(h.watch)
	return h, h.settle(ctx)
}

// cluster is a worker and a server on a database, a Redis and a namespace of
// their own.
func (h *house) cluster(ctx context.Context) (err error) {
	h.desk = &desk{ctx: ctx, dir: h.dir}
	defer func() {
		if p, ok := recover().(stop); ok {
			err = p.err
		}
	}()
	h.stack = teststack.New(h.desk)
	h.namespace = h.stack.Namespace
	h.env = append(h.env, h.stack.Env()...)
	// Until it is told its names, a server behind no proxy answers to any.
	h.env = append(h.env, "LIMINAL_ALLOWED_HOSTS=attack.example.test")
	migrate := exec.CommandContext(ctx, h.program, "migrate") //nolint:gosec // the program under attack
	migrate.Env = append(os.Environ(), h.env...)
	if out, err := migrate.CombinedOutput(); err != nil {
		return fmt.Errorf("liminald migrate: %w\n%s", err, out)
	}
	if err := h.start(ctx, "worker", "worker"); err != nil {
		return err
	}
	return h.start(ctx, "server", "server", "--listen", "127.0.0.1:0", "--no-worker")
}

// start runs a subcommand and waits until it is ready.
func (h *house) start(ctx context.Context, name string, args ...string) error {
	file := filepath.Join(h.dir, name+".ready")
	log, err := os.Create(filepath.Join(h.dir, name+".log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()                                    // the child has its own
	cmd := exec.Command(h.program, append(args, "--ready-file", file)...) //nolint:gosec,noctx // the program under attack; it ends by signal
	cmd.Env = append(os.Environ(), h.env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	p := &process{name: name, cmd: cmd, gone: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(p.gone) }()
	h.processes = append(h.processes, p)
	deadline := time.Now().Add(patience)
	for {
		raw, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(raw, &p.ready) == nil {
			return nil
		}
		if p.over() || time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("%s is not ready", name)
		}
		time.Sleep(look)
	}
}

func (p *process) over() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// settle makes the administrator and waits until runs are worked on.
func (h *house) settle(ctx context.Context) (err error) {
	defer func() {
		if p, ok := recover().(stop); ok {
			err = p.err
		}
	}()
	t := &trial{ctx: ctx, house: h, name: "house"}
	if h.admin, h.first = firstAccount(t); h.admin == nil {
		h.admin = t.stranger("admin")
	}
	h.admin.plan("paid", h.admin)
	h.admin.hello(patience)
	return nil
}

// watch kills what grows beyond all bounds.
func (h *house) watch() {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-h.done:
			return
		case <-tick.C:
		}
		for _, p := range h.processes {
			used := memoryOf(p.cmd.Process.Pid)
			if used > h.highest.Load() {
				h.highest.Store(used)
			}
			if used > mostMemory && !p.over() {
				p.killed.Store(true)
				_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
			}
		}
	}
}

// memoryOf is what a process and its children hold.
func memoryOf(pid int) (bytes int64) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	if fields := strings.Fields(string(raw)); len(fields) > 1 {
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		bytes = pages * int64(os.Getpagesize())
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is right
	for _, list := range lists {
		raw, _ := os.ReadFile(list) // gone: no children
		for field := range strings.FieldsSeq(string(raw)) {
			if child, err := strconv.Atoi(field); err == nil {
				bytes += memoryOf(child)
			}
		}
	}
	return bytes
}

// memory is what the biggest of the programs holds now.
func (h *house) memory() (most int64) {
	for _, p := range h.processes {
		most = max(most, memoryOf(p.cmd.Process.Pid))
	}
	return most
}

func (h *house) most() int64 { return max(h.highest.Load(), h.memory()) }

func (h *house) forgetMost() { h.highest.Store(0) }

// died says which program has ended, and why.
func (h *house) died() string {
	for _, p := range h.processes {
		switch {
		case p.killed.Load():
			return fmt.Sprintf("the %s grew beyond %d MiB and was killed", p.name, mostMemory/mib)
		case p.over():
			return fmt.Sprintf("the %s has ended; its log is in %s", p.name, h.dir)
		}
	}
	return ""
}

// close ends everything. It may be called more than once, and on nothing.
func (h *house) close(keep bool) {
	if h == nil || h.done == nil {
		return
	}
	close(h.done)
	h.watching.Wait()
	h.done = nil
	for _, p := range h.processes {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.gone
	}
	if h.desk != nil {
		h.desk.clean()
	}
	if !keep {
		_ = os.RemoveAll(h.dir) // what is left lies below the temporary folder
	}
}

// desk is the test that a production deployment is made for: here, a program.
type desk struct {
	testing.TB
	ctx     context.Context
	dir     string
	cleanup []func()
}

func (d *desk) Helper()                  {}
func (d *desk) Context() context.Context { return d.ctx }
func (d *desk) Cleanup(f func())         { d.cleanup = append(d.cleanup, f) }

func (d *desk) TempDir() string {
	at := filepath.Join(d.dir, "shared")
	_ = os.MkdirAll(at, 0o700) // its absence is told by whoever uses it
	return at
}

func (d *desk) Fatal(args ...any) { panic(stop{errors.New(fmt.Sprint(args...))}) }

func (d *desk) Fatalf(format string, args ...any) { panic(stop{fmt.Errorf(format, args...)}) }

func (d *desk) Skipf(format string, args ...any) { d.Fatalf(format, args...) }

func (d *desk) clean() {
	for len(d.cleanup) > 0 {
		last := len(d.cleanup) - 1
		d.cleanup[last]()
		d.cleanup = d.cleanup[:last]
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience bounds waiting for a process to be ready.
const patience = 60 * time.Second

// House is the program in one of its deployments, running.
type House struct {
	url, temporal, namespace string
	mostRSS                  int64 // more is no longer waited for
	servers                  []int // the servers it works with, which are not started here

	mu     sync.Mutex
	own    []*exec.Cmd
	killed string // why, once it was
	engine *Engine
}

// ready is what a program says when it is.
type ready struct{ HTTP, Temporal string }

// open starts the program on a folder of its own, and its crowd's way in.
func open(ctx context.Context, o options, dir string) (*House, error) {
	h := &House{mostRSS: o.mostRSS, namespace: "default"}
	var err error
	switch o.deployment {
	case "embedded":
		err = h.embedded(ctx, o, dir)
	case "production":
		err = h.production(ctx, o, dir)
	default:
		err = fmt.Errorf("there is no lane %q; there are embedded and production", o.deployment)
	}
	if err == nil {
		h.engine, err = dial(h.temporal, h.namespace)
	}
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *House) embedded(ctx context.Context, o options, dir string) error {
	at, err := h.start(ctx, o, dir, nil, "dev", "--data", filepath.Join(dir, "data"),
		"--listen", "127.0.0.1:0", "--temporal", "127.0.0.1:0", "--temporal-ui", "127.0.0.1:0")
	h.url, h.temporal = at.HTTP, at.Temporal
	return err
}

// production stands on the servers that scripts/lane.sh started and named in
// the environment: one server and one worker.
func (h *House) production(ctx context.Context, o options, dir string) error {
	h.temporal = os.Getenv("TEMPORAL_ADDRESS")
	if h.temporal == "" || os.Getenv("DATABASE_URL") == "" {
		return errors.New("the production lane is not up: scripts/lane.sh run --program go run ./e2e/attack/hostile …")
	}
	h.servers = named("postgres", "redis-server", "temporal")
	h.namespace = fmt.Sprintf("hostile-%d", time.Now().UnixNano())
	if err := register(ctx, h.temporal, h.namespace); err != nil {
		return err
	}
	env := []string{"SHARED_FS_ROOT=" + filepath.Join(dir, "shared"), "TEMPORAL_NAMESPACE=" + h.namespace}
	if _, err := h.start(ctx, o, dir, env, "worker"); err != nil {
		return err
	}
	at, err := h.start(ctx, o, dir, env, "server", "--listen", "127.0.0.1:0")
	h.url = at.HTTP
	return err
}

// start runs a subcommand and waits until it is ready.
func (h *House) start(ctx context.Context, o options, dir string, env []string, args ...string) (at ready, err error) {
	file := filepath.Join(dir, args[0]+".ready")
	out, err := os.Create(filepath.Join(dir, args[0]+".log"))
	if err != nil {
		return at, err
	}
	defer func() { _ = out.Close() }() // the child has its own
	argv := append([]string{o.program}, append(slices.Clone(args), "--ready-file", file)...)
	if o.cpus != "" {
		argv = append([]string{"taskset", "-c", o.cpus}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:gosec,noctx // what to run is ours, and it ends by signal
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return at, err
	}
	h.mu.Lock()
	h.own = append(h.own, cmd)
	h.mu.Unlock()
	deadline := time.Now().Add(patience)
	for {
		raw, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(raw, &at) == nil {
			return at, nil
		}
		if time.Now().After(deadline) || !pause(ctx, 20*time.Millisecond) || used(cmd.Process.Pid) == 0 && time.Until(deadline) < patience-time.Second {
			return at, fmt.Errorf("liminald %s is not ready; see %s", args[0], out.Name())
		}
	}
}

// pids are the program's processes.
func (h *House) pids() (pids []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, cmd := range h.own {
		pids = append(pids, cmd.Process.Pid)
	}
	return pids
}

// kill ends the program for good because it went too far.
func (h *House) kill(why string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.killed != "" {
		return
	}
	h.killed = fmt.Sprintf(why, args...)
	for _, cmd := range h.own {
		_ = cmd.Process.Kill() // it may have ended meanwhile
	}
}

// ended is why the program was killed, or that it ended by itself.
func (h *House) ended() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, cmd := range h.own {
		if raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid)); h.killed == "" && strings.Contains(string(raw), ") Z ") {
			return "the program ended by itself"
		}
	}
	return h.killed
}

func (h *House) close() {
	h.kill("it was closed")
	for _, cmd := range h.own {
		_ = cmd.Wait() // it was killed
	}
	if h.engine == nil {
		return
	}
	if len(h.servers) > 0 {
		h.engine.sweep(context.Background())
	}
	h.engine.close()
}

// named are the processes of these names.
func named(names ...string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/comm") // the pattern is right
	for _, file := range all {
		raw, err := os.ReadFile(file)
		if err == nil && slices.Contains(names, strings.TrimSpace(string(raw))) {
			pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

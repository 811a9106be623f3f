package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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

const (
	patience = 60 * time.Second // for a process to become ready, or to end when asked to
	look     = 20 * time.Millisecond
	relaunch = 500 * time.Millisecond // before what ended by itself is started again
	hopeless = 20                     // times that does any good
)

// Process is one program under the harness's control: in a process group of
// its own, its output kept, started again by a supervisor when it ends by
// itself.
type Process struct {
	name  string
	argv  []string
	env   []string
	dir   string // of its log
	user  *syscall.Credential
	fresh string                          // a file it writes when it is ready; removed before it starts
	up    func(ctx context.Context) error // whether it answers; nil: at once
	log   *slog.Logger

	mu      sync.Mutex
	cmd     *exec.Cmd
	gone    chan struct{} // closed when cmd has ended
	meant   bool          // its end was our doing
	crashes int
	deaths  []time.Time // of all kinds
}

// start runs the program and waits until it answers.
func (p *Process) start(ctx context.Context) error {
	if err := p.launch(); err != nil {
		return err
	}
	return p.ready(ctx)
}

func (p *Process) launch() error {
	if p.fresh != "" {
		_ = os.Remove(p.fresh) // there is none before the first start
	}
	out, err := os.OpenFile(filepath.Join(p.dir, p.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()            // the child has its own
	cmd := exec.Command(p.argv[0], p.argv[1:]...) //nolint:gosec,noctx // what to run is ours, and it ends by signal
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: p.user}
	fmt.Fprintf(out, "\n=== %s starts %v\n", time.Now().Format(time.RFC3339Nano), p.argv)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s does not start: %w", p.name, err)
	}
	gone := make(chan struct{})
	p.mu.Lock()
	p.cmd, p.gone, p.meant = cmd, gone, false
	p.mu.Unlock()
	go p.watch(cmd, gone)
	return nil
}

// watch is the supervisor: what ends by itself is started again.
func (p *Process) watch(cmd *exec.Cmd, gone chan struct{}) {
	err := cmd.Wait()
	close(gone)
	p.mu.Lock()
	p.deaths = append(p.deaths, time.Now())
	meant := p.meant
	if !meant {
		p.crashes++
	}
	p.mu.Unlock()
	if meant {
		return
	}
	p.log.Warn("a process ended by itself", "process", p.name, "error", err, "log", filepath.Join(p.dir, p.name+".log"))
	time.Sleep(relaunch)
	p.mu.Lock()
	stopped := p.meant || p.crashes > hopeless
	p.mu.Unlock()
	if !stopped {
		if err := p.launch(); err != nil {
			p.log.Error("it does not come back", "process", p.name, "error", err)
		}
	}
}

// ready waits until the program answers.
func (p *Process) ready(ctx context.Context) error {
	if p.up == nil {
		return nil
	}
	deadline := time.Now().Add(patience)
	for {
		err := p.up(ctx)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) || p.crashed() > hopeless {
			return fmt.Errorf("%s is not ready: %w; see %s", p.name, err, filepath.Join(p.dir, p.name+".log"))
		}
		if !pause(ctx, look) {
			return ctx.Err()
		}
	}
}

// end sends a signal to the group and waits until the program has ended.
func (p *Process) end(signal syscall.Signal) error {
	p.mu.Lock()
	p.meant = true
	cmd, gone := p.cmd, p.gone
	p.mu.Unlock()
	if cmd == nil {
		return nil
	}
	var kin []int
	if signal == syscall.SIGKILL {
		kin = children(cmd.Process.Pid) // those of PostgreSQL are in groups of their own
	}
	if err := syscall.Kill(-cmd.Process.Pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	for _, pid := range kin {
		_ = syscall.Kill(pid, signal) // it may have followed its parent
	}
	select {
	case <-gone:
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s outlived %s for %s", p.name, signal, patience)
	}
}

// children are the processes a process has started.
func children(pid int) (kin []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is right
	for _, list := range lists {
		raw, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for field := range strings.FieldsSeq(string(raw)) {
			if child, err := strconv.Atoi(field); err == nil {
				kin = append(kin, child)
			}
		}
	}
	return kin
}

// kill ends the program as a power cut would.
func (p *Process) kill() error { return p.end(syscall.SIGKILL) }

// drain asks the program to end.
func (p *Process) drain() error { return p.end(syscall.SIGTERM) }

func (p *Process) died() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.deaths)
}

func (p *Process) crashed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.crashes
}

// announced reports whether a program has written its ready file since it
// was started.
func announced(file string) func(context.Context) error {
	return func(context.Context) error {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if !json.Valid(raw) {
			return errors.New("the ready file is not complete")
		}
		return nil
	}
}

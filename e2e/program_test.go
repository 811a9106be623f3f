package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"liminal/internal/store/storetest"
)

// patience bounds every wait at the border of the process.
const patience = 60 * time.Second

// binary is the program under test: $LIMINALD, or built once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("LIMINALD"); path != "" {
		return filepath.Abs(path)
	}
	dir, err := os.MkdirTemp("", "liminald")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "liminald")
	build := exec.Command("go", "build", "-o", path, "liminal/cmd/liminald")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building liminald: %w\n%s", err, out)
	}
	return path, nil
})

// program is one running liminald.
type program struct {
	t      *testing.T
	dir    string
	path   string   // of the binary; empty: the one under test
	args   []string // the subcommand and its flags, but for the ready file
	env    []string
	cmd    *exec.Cmd
	exited chan error
	log    *lockedBuffer
	ready  struct {
		HTTP, Temporal, Version string
		TemporalUI              string `json:"temporal_ui"`
		Ops, Palace             string
	}
}

// start runs `liminald dev` on a fresh folder and waits until it is ready.
func start(t *testing.T, env ...string) *program {
	t.Helper()
	dir := t.TempDir()
	return launch(t, dir, env, "dev", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0",
		"--temporal", "127.0.0.1:0", "--temporal-ui", "127.0.0.1:0")
}

// launch runs a subcommand that serves, and waits until it is ready.
func launch(t *testing.T, dir string, env []string, args ...string) *program {
	t.Helper()
	return launchAs(t, "", dir, env, args...)
}

// launchAs is launch of another binary than the one under test.
func launchAs(t *testing.T, path, dir string, env []string, args ...string) *program {
	t.Helper()
	storetest.Long(t, "it starts the real program")
	p := &program{t: t, path: path, dir: dir, args: args, env: env}
	p.again()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("what %s said last:\n%s", args[0], p.log.tail(6000))
		}
	})
	return p
}

// again starts the program as it was started before.
func (p *program) again() {
	p.t.Helper()
	path, err := p.path, error(nil)
	if path == "" {
		path, err = binary()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	file := filepath.Join(p.dir, "ready.json")
	_ = os.Remove(file)
	p.cmd = exec.Command(path, append(slices.Clone(p.args), "--ready-file", file)...)
	p.cmd.Env = append(os.Environ(), p.env...)
	p.log = &lockedBuffer{}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.exited = make(chan error, 1)
	go func() { p.exited <- p.cmd.Wait() }()
	p.until("the ready file", func() bool {
		select {
		case err := <-p.exited:
			p.t.Fatalf("liminald ended before it was ready: %v\n%s", err, p.log.tail(6000))
		default:
		}
		raw, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(raw, &p.ready) == nil
	})
}

// kill ends the program as a power cut would.
func (p *program) kill() {
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Error("liminald outlived kill -9")
	}
	p.cmd = nil
}

// terminate asks the program to drain and returns its exit code.
func (p *program) terminate() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case err := <-p.exited:
		p.cmd = nil
		return exitCode(err)
	case <-time.After(patience):
		p.t.Fatal("liminald did not drain")
		return -1
	}
}

// until polls at the border of the process: there is no signal to wait on.
func (p *program) until(what string, ok func() bool) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: not after %s\n%s", what, patience, p.log.tail(6000))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// runOnce runs a command of the program to its end.
func runOnce(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return runWith(t, nil, args...)
}

// runWith is runOnce with more in the environment.
func runWith(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &errs, append(os.Environ(), env...)
	err = cmd.Run()
	return out.String(), errs.String(), exitCode(err)
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	default:
		return -1
	}
}

// lockedBuffer is what the program wrote, readable while it writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.b.String()
	return s[max(0, len(s)-n):]
}

var _ io.Writer = (*lockedBuffer)(nil)

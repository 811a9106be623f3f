package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asProgram makes the test binary be the program: what is tested is a process,
// with its signals, its exit codes and its death, without a second build.
const asProgram = "LIMINALD_TEST_PROGRAM"

const (
	startLimit = 60 * time.Second
	stopLimit  = drainLimit + 20*time.Second
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{readersCommand, mcpProgramCommand, palaceProxyCommand}, os.Args[1]) { // started by the program, in an environment of its own
		main()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == palaceAgent {
		becomeAgent()
		return
	}
	if os.Getenv(asProgram) != "" {
		if err := os.Unsetenv(asProgram); err != nil {
			panic(err)
		}
		main()
		return
	}
	os.Exit(m.Run())
}

// process is a running liminald.
type process struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err bytes.Buffer
	data     string
	file     string // the ready file
	where    ready
	ended    chan error
}

// program prepares a command line in an environment without settings.
func program(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(self, args...), ended: make(chan error, 1)}
	p.cmd.Env = append([]string{asProgram + "=1", "HOME=" + home(t), "PATH=" + os.Getenv("PATH")}, env...)
	p.cmd.Dir = t.TempDir()
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	return p
}

// home is a home of its own, in which the Go command, which eval asks where Go
// is, keeps no telemetry: it would go on writing it while t.TempDir is removed.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, ".config", "go", "telemetry")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "mode"), []byte("off"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// finish runs a command that ends by itself and returns its exit code.
func finish(t *testing.T, env []string, args ...string) (code int, out, err string) {
	t.Helper()
	p := program(t, env, args...)
	p.begin()
	code = p.end()
	return code, p.out.String(), p.err.String()
}

// dev starts `liminald dev` on free ports and waits until it is ready.
func dev(t *testing.T, data string, env ...string) *process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ready.json")
	p := program(t, env, "dev", "--data", data, "--listen", "127.0.0.1:0",
		"--temporal", "127.0.0.1:0", "--temporal-ui", "127.0.0.1:0", "--ready-file", file)
	p.data, p.file = data, file
	p.begin()
	p.awaitReady()
	return p
}

func (p *process) begin() {
	p.t.Helper()
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	p.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
}

// awaitReady polls for the ready file: that is what it is for.
func (p *process) awaitReady() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), startLimit)
	defer cancel()
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		text, err := os.ReadFile(p.file)
		if err == nil {
			if err := json.Unmarshal(text, &p.where); err != nil {
				p.t.Fatalf("the ready file holds %q: %v", text, err)
			}
			return
		}
		select {
		case err := <-p.ended:
			p.t.Fatalf("it ended before it was ready: %v\n%s%s", err, &p.out, &p.err)
		case <-ctx.Done():
			p.t.Fatalf("it was not ready within %s\n%s", startLimit, &p.err)
		case <-tick.C:
		}
	}
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// end waits for the process and returns its exit code, -1 if a signal ended it.
func (p *process) end() int {
	p.t.Helper()
	select {
	case err := <-p.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			p.t.Fatal(err)
		}
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(startLimit + stopLimit):
		p.t.Fatalf("it did not end\n%s", &p.err)
		return -1
	}
}

// stop ends a process politely and checks that it went well.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.end(); code != exitOK {
		p.t.Errorf("after SIGTERM it ended with %d\n%s", code, &p.err)
	}
}

// kill ends a process as a power cut would.
func (p *process) kill() {
	p.t.Helper()
	p.signal(syscall.SIGKILL)
	p.end()
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

func oneSentence(t *testing.T, text string) {
	t.Helper()
	if n := strings.Count(strings.TrimSpace(text), "\n"); n != 0 {
		t.Errorf("not one sentence:\n%s", text)
	}
}

package launch

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/capture/proxy"
)

// asProxy makes the test binary be a proxy: its process is killed here.
const asProxy = "LAUNCH_TEST_PROXY"

func TestMain(m *testing.M) {
	dir := os.Getenv(asProxy)
	if dir == "" {
		os.Exit(m.Run())
	}
	err := errors.New("the proxy does not want to")
	if os.Getenv("REFUSES") == "" {
		err = proxy.Serve(context.Background(), proxy.Options{Dir: dir, Address: os.Getenv("ADDRESS"), Upstream: "http://127.0.0.1:1", Memory: 1 << 20, Disk: 1 << 20, Log: slog.New(slog.DiscardHandler), Idle: startLimit})
	}
	if err != nil {
		os.Stderr.WriteString("a line before\n" + err.Error() + "\n")
		os.Exit(1)
	}
}

func options(t *testing.T, env ...string) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "palace")
	gone, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // whatever runs there, also what has just begun, before the folder goes
		_ = theirs.Close()
		none := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, gone) // each process has its end open
			_ = gone.Close()
			close(none)
		}()
		for {
			if s, err := proxy.Ask(context.Background(), dir); err == nil {
				_ = killed(s.PID)
			}
			select {
			case <-none:
				return
			case <-time.After(askEvery):
			}
		}
	})
	return Options{Dir: dir, Token: proxy.NewToken(), Agent: proxy.Agent{Name: "a"}, Command: func(address string) *exec.Cmd {
		if address == "" {
			address = "127.0.0.1:0"
		}
		cmd := exec.Command(self)
		cmd.Env = append([]string{asProxy + "=" + dir, "ADDRESS=" + address}, env...)
		cmd.ExtraFiles = []*os.File{theirs}
		return cmd
	}}
}

// palace.md, 11: proxy killed
func TestAProxyThatIsKilledComesBackWhereItWas(t *testing.T) {
	t.Parallel()
	o := options(t)
	h, err := Hold(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Token, o.Agent.Name = proxy.NewToken(), "b"
	second, err := Hold(t.Context(), o)
	if err != nil || second.Address != h.Address {
		t.Fatalf("a second command holds %v, not %v: %v", second, h, err)
	}
	before, err := proxy.Ask(t.Context(), o.Dir)
	if err != nil || len(before.Runs) != 2 {
		t.Fatal(before, err)
	}
	if err := killed(before.PID); err != nil {
		t.Fatal(err)
	}
	after := before
	for after.PID == before.PID || len(after.Runs) != 2 {
		if got, err := proxy.Ask(t.Context(), o.Dir); err == nil {
			after = got
		} else if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	if after.Address != before.Address {
		t.Errorf("it came back on %s, not %s", after.Address, before.Address)
	}
}

func TestWhyAProxyDoesNotStartIsTold(t *testing.T) {
	t.Parallel()
	if _, err := Hold(t.Context(), options(t, "REFUSES=1")); err == nil || err.Error() != "the proxy does not want to" {
		t.Errorf("told %v", err)
	}
	o := options(t)
	o.Command = func(string) *exec.Cmd { return exec.Command(filepath.Join(t.TempDir(), "none")) }
	if _, err := Hold(t.Context(), o); err == nil || !strings.Contains(err.Error(), "cannot be started") {
		t.Errorf("told %v", err)
	}
}

func TestACommandEndsAsAShellWouldSay(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -TERM $$": 143} {
		if code, err := Run(exec.Command("/bin/sh", "-c", script)); err != nil || code != want {
			t.Errorf("%s: %d %v", script, code, err)
		}
	}
	if _, err := Run(exec.Command("/no/such/command")); err == nil {
		t.Error("a command that is not there ran")
	}
}

func TestSignalsReachTheCommand(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", `trap 'exit 9' USR1; kill -USR1 $PPID; while :; do read x; done`)
	r, w, err := os.Pipe() // read waits, until the signal
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	cmd.Stdin = r
	if code, err := Run(cmd); err != nil || code != 9 {
		t.Errorf("%d %v", code, err)
	}
}

// killed ends a process as a power cut would.
func killed(pid int) error {
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	return err
}

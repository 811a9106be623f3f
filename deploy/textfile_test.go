package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The script types each question into its terminal once, and starts the terminal
// where it is not there; what was asked before it began is nobody's any more.
//
// Requirements: GRND-42
func TestTheScriptWakesAProgramForEachQuestion(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir, log, up := filepath.Join(home, "answers"), filepath.Join(home, "log"), filepath.Join(home, "up")
	need := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	need(os.MkdirAll(dir, 0o700))
	need(os.WriteFile(filepath.Join(dir, "old.prompt.md"), nil, 0o600))
	// A tmux that writes down what it is asked, and has a session once it was made.
	need(os.WriteFile(filepath.Join(home, "tmux"), []byte("#!/bin/sh\n[ \"$1\" != has-session ] || { [ -e "+up+" ]; exit $?; }\n[ \"$1\" != new-session ] || : > "+up+"\necho \"$*\" >> "+log+"\n"), 0o700)) //nolint:gosec // a program
	cmd := exec.CommandContext(t.Context(), "sh", "textfile/tmux.sh")
	cmd.Env = append(os.Environ(), "PATH="+home+":"+os.Getenv("PATH"), "PALIADIN_RESPONSE_DIR="+dir, "PALIADIN_EVERY=0.05")
	need(cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	told := func(n int) []string {
		t.Helper()
		var lines []string
		for range 400 {
			raw, _ := os.ReadFile(log) //nolint:gosec // the test's own
			if lines = strings.Split(strings.TrimSpace(string(raw)), "\n"); len(lines) >= n {
				return lines
			}
			time.Sleep(25 * time.Millisecond) // a script tells nobody when it has looked
		}
		t.Fatalf("typed %q", lines)
		return nil
	}
	for range 400 { // it has begun when it has set aside what was there
		if _, err := os.Stat(filepath.Join(dir, "old.sent")); err == nil {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	need(os.WriteFile(filepath.Join(dir, "first.prompt.md"), nil, 0o600))
	told(3)
	need(os.WriteFile(filepath.Join(dir, "second.prompt.md"), nil, 0o600))
	got := told(5)
	want := []string{
		"new-session -d -s paliad-paliadin -c " + dir + " claude",
		"send-keys -t =paliad-paliadin: -l Read " + dir + "/first.prompt.md and do what it says.", "send-keys -t =paliad-paliadin: Enter",
		"send-keys -t =paliad-paliadin: -l Read " + dir + "/second.prompt.md and do what it says.", "send-keys -t =paliad-paliadin: Enter",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("typed\n%s", strings.Join(got, "\n"))
	}
}

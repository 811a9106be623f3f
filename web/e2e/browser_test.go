package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// limits of the parts; generous, because a CI machine may be slow.
const (
	startLimit = 90 * time.Second
	specLimit  = 5 * time.Minute
	stopLimit  = 20 * time.Second
)

// TestBrowser plays every spec file against a program of its own, so that no
// file meets what another left behind, nor its share of a rate limit.
func TestBrowser(t *testing.T) {
	specs, err := filepath.Glob("*.spec.ts")
	if err != nil || len(specs) == 0 {
		t.Fatalf("no specs beside this test (%v)", err)
	}
	playwright, chromium := browserOrSkip(t)
	program := programUnderTest(t)
	for _, spec := range specs {
		t.Run(spec, func(t *testing.T) {
			base := start(t, program, environment(t, spec))
			play(t, playwright, spec, "BASE_URL="+base, "CHROMIUM="+chromium)
		})
	}
}

// browserOrSkip finds what the specs need. Where CI must leave nothing out, a
// missing part is a failure.
func browserOrSkip(t *testing.T) (playwright, chromium string) {
	t.Helper()
	playwright, err := filepath.Abs("../node_modules/.bin/playwright")
	if err == nil {
		_, err = os.Stat(playwright)
	}
	if err != nil {
		leaveOut(t, "BROWSER TESTS NOT RUN: web/node_modules is missing; run: cd web && npm ci")
	}
	chromium = os.Getenv("CHROMIUM")
	if chromium == "" {
		chromium = "chromium"
	}
	if chromium, err = exec.LookPath(chromium); err != nil {
		leaveOut(t, "BROWSER TESTS NOT RUN: there is no Chromium; run: apt-get install chromium, or name one in CHROMIUM")
	}
	return playwright, chromium
}

func leaveOut(t *testing.T, sentence string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(sentence)
	}
	t.Skip(sentence)
}

// programUnderTest is the binary LIMINALD names, or one built now.
func programUnderTest(t *testing.T) string {
	t.Helper()
	if named := os.Getenv("LIMINALD"); named != "" {
		return named
	}
	program := filepath.Join(t.TempDir(), "liminald")
	build := exec.Command("go", "build", "-o", program, "liminal/cmd/liminald")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building liminald: %v\n%s", err, out)
	}
	return program
}

// environment gives the specs about streams a model that takes its time.
func environment(t *testing.T, spec string) []string {
	t.Helper()
	if spec != "5-streams.spec.ts" {
		return nil
	}
	script := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(script, slowScript(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"MODEL_BACKEND=scripted", "LIMINAL_MODEL_SCRIPT=" + script}
}

// slowScript answers everything with thirty sentences over some seven seconds.
func slowScript(t *testing.T) []byte {
	t.Helper()
	type step map[string]any
	var steps []step
	for n := 1; n <= 30; n++ {
		steps = append(steps,
			step{"text": fmt.Sprintf("Sentence %d of a long answer that is still being written. ", n), "chunk": 6},
			step{"pause": "250ms"})
	}
	intent := step{"task": "intent", "steps": []step{{"text": `{"intent":"other","confidence":1}`}}}
	raw, err := json.Marshal(step{"name": "slow", "answers": []step{intent, {"steps": steps}}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// start runs the program on a folder and ports of its own until the test ends
// and returns its address.
func start(t *testing.T, program string, environment []string) string {
	t.Helper()
	folder := t.TempDir()
	ready := filepath.Join(folder, "ready.json")
	free := "127.0.0.1:0"
	var log bytes.Buffer
	process := exec.Command(program, "dev", "--data", filepath.Join(folder, "data"),
		"--listen", free, "--temporal", free, "--temporal-ui", free, "--ready-file", ready)
	process.Env = append(os.Environ(), environment...)
	process.Stdout, process.Stderr = &log, &log
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	t.Cleanup(func() {
		stop(t, process, ended)
		if t.Failed() {
			t.Logf("liminald said:\n%s", tail(log.Bytes()))
		}
	})
	address, err := await(ready, ended)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// await waits for the ready file and returns the address in it.
func await(ready string, ended <-chan error) (string, error) {
	deadline := time.After(startLimit)
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case err := <-ended:
			return "", fmt.Errorf("liminald ended before it was ready: %w", err)
		case <-deadline:
			return "", errors.New("liminald was not ready in time")
		case <-poll.C:
			raw, err := os.ReadFile(ready)
			if err != nil {
				continue
			}
			var said struct {
				HTTP string `json:"http"`
			}
			if json.Unmarshal(raw, &said) == nil && said.HTTP != "" {
				return said.HTTP, nil
			}
		}
	}
}

// stop asks the program to end, and ends it if it does not.
func stop(t *testing.T, process *exec.Cmd, ended <-chan error) {
	t.Helper()
	if err := process.Process.Signal(syscall.SIGTERM); err != nil {
		return // it has ended already
	}
	select {
	case <-ended:
	case <-time.After(stopLimit):
		t.Errorf("liminald did not end within %v of SIGTERM", stopLimit)
		_ = process.Process.Kill()
		<-ended
	}
}

// play runs one spec file.
func play(t *testing.T, playwright, spec string, environment ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), specLimit)
	defer cancel()
	run := exec.CommandContext(ctx, playwright, "test", "-c", "playwright.config.ts", spec)
	run.Env = append(os.Environ(), environment...)
	out, err := run.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
		return
	}
	t.Logf("%s", out)
}

// tail keeps the end of a log, where the reason usually is.
func tail(log []byte) []byte {
	const most = 8 << 10
	if len(log) > most {
		return log[len(log)-most:]
	}
	return log
}

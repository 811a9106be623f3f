package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
			settings, letters := environment(t, spec)
			p := start(t, program, settings)
			if letters == "" {
				letters = filepath.Join(p.folder, "data", "outbox")
			}
			control := t.TempDir()
			go p.killWhenAsked(t.Context(), filepath.Join(control, "kill"))
			play(t, playwright, spec, "BASE_URL="+p.said.HTTP, "CHROMIUM="+chromium, "CONTROL="+control, "LETTERS="+letters)
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

// environment gives a spec the program it is about, and says where its mails
// go; empty: into the program's own outbox.
func environment(t *testing.T, spec string) (settings []string, letters string) {
	t.Helper()
	switch spec {
	case "5-streams.spec.ts", "7-kill.spec.ts":
		return slowModel(t), ""
	case "8-security.spec.ts":
		return []string{"LIMINAL_OAUTH_FILE=" + gitHub(t)}, ""
	case "9-confirmation.spec.ts":
		address, folder := postOffice(t)
		return []string{"LIMINAL_SMTP_URL=smtp://" + address}, folder
	default:
		return nil, ""
	}
}

// slowModel is a model that takes its time.
func slowModel(t *testing.T) []string {
	t.Helper()
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

// running is a liminald and what is needed to start it again.
type running struct {
	program, folder string
	environment     []string

	mu      sync.Mutex
	process *exec.Cmd
	ended   chan error
	log     bytes.Buffer
	said    ready // where it answers; the same after a restart
	stopped bool
}

// ready is the ready file.
type ready struct {
	HTTP       string `json:"http"`
	Temporal   string `json:"temporal"`
	TemporalUI string `json:"temporal_ui"`
}

// start runs the program on a folder and ports of its own until the test ends.
func start(t *testing.T, program string, environment []string) *running {
	t.Helper()
	free := "127.0.0.1:0"
	p := &running{
		program: program, folder: t.TempDir(), environment: environment,
		said: ready{HTTP: free, Temporal: free, TemporalUI: free},
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("liminald said:\n%s", tail(p.log.Bytes()))
		}
	})
	if err := p.up(); err != nil {
		t.Fatal(err)
	}
	return p
}

// up starts the process and waits until it answers.
func (p *running) up() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil
	}
	file := filepath.Join(p.folder, "ready.json")
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	host := func(address string) string { return strings.TrimPrefix(address, "http://") }
	p.process = exec.Command(p.program, "dev", "--data", filepath.Join(p.folder, "data"), "--ready-file", file,
		"--listen", host(p.said.HTTP), "--temporal", host(p.said.Temporal), "--temporal-ui", host(p.said.TemporalUI))
	p.process.Env = append(os.Environ(), p.environment...)
	p.process.Stdout, p.process.Stderr = &p.log, &p.log
	if err := p.process.Start(); err != nil {
		return err
	}
	p.ended = make(chan error, 1)
	go func(process *exec.Cmd, ended chan<- error) { ended <- process.Wait() }(p.process, p.ended)
	said, err := await(file, p.ended)
	if err == nil {
		p.said = said
	}
	return err
}

// await waits for the ready file.
func await(file string, ended <-chan error) (said ready, err error) {
	deadline := time.After(startLimit)
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case err := <-ended:
			return said, fmt.Errorf("liminald ended before it was ready: %w", err)
		case <-deadline:
			return said, errors.New("liminald was not ready in time")
		case <-poll.C:
			raw, err := os.ReadFile(file)
			if err == nil && json.Unmarshal(raw, &said) == nil && said.HTTP != "" {
				return said, nil
			}
		}
	}
}

// killWhenAsked kills the program without a word and starts it again whenever
// the file appears; it takes the file away once the program is back.
func (p *running) killWhenAsked(ctx context.Context, file string) {
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
		if _, err := os.Stat(file); err != nil {
			continue
		}
		p.kill()
		if err := p.up(); err != nil {
			return // the spec waits for the file to go, and says so
		}
		if err := os.Remove(file); err != nil {
			return
		}
	}
}

func (p *running) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process.Process.Kill() == nil {
		<-p.ended
	}
}

// stop asks the program to end, and ends it if it does not.
func (p *running) stop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.process == nil || p.process.Process.Signal(syscall.SIGTERM) != nil {
		return nil // it never began, or has ended already
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopLimit):
		_ = p.process.Process.Kill()
		<-p.ended
		return fmt.Errorf("liminald did not end within %v of SIGTERM", stopLimit)
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

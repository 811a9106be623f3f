package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"liminal/e2e/teststack"
	"liminal/internal/capture/capturetest"
	"liminal/internal/speech/speechtest"
	"liminal/internal/store/storetest"
)

// limits of the parts; generous, because a CI machine may be slow.
const (
	startLimit = 90 * time.Second
	specLimit  = 20 * time.Minute
	stopLimit  = 60 * time.Second
)

// What a spec file may say of itself at the beginning of a line. What follows is
// the reason.
const (
	// alone: the spec measures, or is disturbed by, what else runs.
	alone = "// Alone: "
	// onTheLane: what the spec is about differs by database, by transport, or by
	// how many processes there are.
	onTheLane = "// Also on the lane: "
)

// headless are the browsers the specs play in, the first that there is: the same
// engine, but the first has no windows to draw, and takes three quarters of the
// other's processor time.
var headless = []string{"chromium-headless-shell", "chromium"}

// TestBrowser plays every spec file against a program of its own, on the
// embedded default, so that no file meets what another left behind, nor its
// share of a rate limit. As many play at once as -parallel says.
func TestBrowser(t *testing.T) {
	everySpec(t, "", func(t *testing.T, program string, settings []string) *running {
		return start(t, program, settings, embedded)
	})
}

// TestBrowserAlone plays those that need the machine for themselves, one after
// the other. `make test` runs it when nothing else runs.
func TestBrowserAlone(t *testing.T) {
	everySpec(t, alone, func(t *testing.T, program string, settings []string) *running {
		return start(t, program, settings, embedded)
	})
}

// TestBrowserOnTheLane plays those that say so against a server and a worker that
// share a PostgreSQL, a Redis and a Temporal cluster.
func TestBrowserOnTheLane(t *testing.T) {
	storetest.Server(t, "LANE_POSTGRES")
	everySpec(t, onTheLane, func(t *testing.T, program string, settings []string) *running {
		g := teststack.New(t)
		settings = append(g.Env(), settings...)
		migrate := exec.CommandContext(t.Context(), program, "migrate")
		migrate.Env = append(os.Environ(), settings...)
		if out, err := migrate.CombinedOutput(); err != nil {
			t.Fatalf("liminald migrate: %v\n%s", err, out)
		}
		return start(t, program, settings, apart(g.Data))
	})
}

// everySpec plays each spec file that has the mark in a program begun for it.
func everySpec(t *testing.T, mark string, begin func(t *testing.T, program string, settings []string) *running) {
	t.Helper()
	files := specs(t, mark)
	playwright, chromium := browserOrSkip(t)
	program := programUnderTest(t)
	one := func(t *testing.T, spec string) {
		control := t.TempDir()
		settings, letters := environment(t, spec, control)
		browser := chromium
		if windowed, err := exec.LookPath("chromium"); err == nil && spec == "22-views.spec.ts" && os.Getenv("CHROMIUM") == "" {
			browser = windowed // its pictures were taken in it
		}
		p := begin(t, program, settings)
		if letters == "" {
			letters = filepath.Join(p.house.data(p.folder), "outbox")
		}
		go p.killWhenAsked(t.Context(), filepath.Join(control, "kill"))
		go p.sweepWhenAsked(t.Context(), filepath.Join(control, "sweep"))
		play(t, playwright, spec, "BASE_URL="+p.said.HTTP, "CHROMIUM="+browser, "CONTROL="+control, "LETTERS="+letters, "PROGRAM="+program, "DATA="+p.house.data(p.folder),
			"RESULTS="+filepath.Join("../test-results", filepath.FromSlash(t.Name())))
	}
	for _, spec := range files {
		t.Run(spec, func(t *testing.T) {
			if mark != alone {
				t.Parallel()
			}
			one(t, spec)
		})
	}
}

// specs are the spec files that have the mark. One that is to be alone is not
// among those without a mark.
func specs(t *testing.T, mark string) []string {
	t.Helper()
	files, err := filepath.Glob("*.spec.ts")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if marked(source, mark) && marked(source, alone) == (mark == alone) {
			list = append(list, file)
		}
	}
	if len(list) == 0 {
		t.Fatalf("no spec file beside this test has a line that begins with %q", mark)
	}
	return list
}

// marked reports whether a line of a spec begins with a mark, as every line
// does with none.
func marked(source []byte, mark string) bool {
	return bytes.HasPrefix(source, []byte(mark)) || bytes.Contains(source, []byte("\n"+mark))
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
	names := headless
	if named := os.Getenv("CHROMIUM"); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if chromium, err = exec.LookPath(name); err == nil {
			return playwright, chromium
		}
	}
	leaveOut(t, "BROWSER TESTS NOT RUN: there is no Chromium; run: apt-get install chromium-headless-shell, or name one in CHROMIUM")
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
// go; empty: into the program's own outbox. By files in control the spec tells
// the program what to do.
func environment(t *testing.T, spec, control string) (settings []string, letters string) {
	t.Helper()
	switch spec {
	case "5-streams.spec.ts", "7-kill.spec.ts", "19-socket.spec.ts", "24-speed.spec.ts":
		return append(longModel(t, filepath.Join(control, "go")), "LIMINAL_PLAN=paid"), "" // it says more than a free answer may have
	case "8-security.spec.ts":
		return []string{"LIMINAL_OAUTH_FILE=" + gitHub(t)}, ""
	case "9-confirmation.spec.ts":
		address, folder := postOffice(t)
		return []string{"LIMINAL_SMTP_URL=smtp://" + address}, folder
	case "29-voice.spec.ts":
		s := speechtest.Serve(t)
		return []string{
			"LIMINAL_STT_URL=" + s.API(), "LIMINAL_STT_KEY=" + speechtest.Key, "LIMINAL_TTS_URL=" + s.API(), "LIMINAL_TTS_KEY=" + speechtest.Key,
		}, ""
	case "32-palace.spec.ts":
		backend := httptest.NewServer(&capturetest.Upstream{Command: "echo a-tool-ran"})
		t.Cleanup(backend.Close)
		return append(notingModel(t), "PALACE_ADDR=127.0.0.1:0", "PALACE_UPSTREAM="+backend.URL), ""
	case "25-folder.spec.ts":
		return []string{"LIMINAL_UPLOAD_DOCUMENTS=12"}, "" // so that its folder is told to wait
	default:
		return nil, ""
	}
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

// house is how the program is run: as which processes, and where its files are.
type house struct {
	processes []func(folder string, before ready) (arguments []string)
	data      func(folder string) string
}

// embedded is one process with everything in it.
var embedded = house{
	processes: []func(string, ready) []string{func(folder string, before ready) []string {
		return []string{
			"dev", "--data", filepath.Join(folder, "data"),
			"--listen", host(before.HTTP), "--temporal", host(before.Temporal), "--temporal-ui", host(before.TemporalUI),
		}
	}},
	data: func(folder string) string { return filepath.Join(folder, "data") },
}

// apart is a worker, and a server that only serves; the environment says where
// they meet, data is the folder they share.
func apart(data string) house {
	return house{
		processes: []func(string, ready) []string{
			func(string, ready) []string { return []string{"worker"} },
			func(_ string, before ready) []string {
				return []string{"server", "--no-worker", "--listen", host(before.HTTP)}
			},
		},
		data: func(string) string { return data },
	}
}

func host(address string) string { return strings.TrimPrefix(address, "http://") }

// running is a house with its processes, and what is needed to start them again.
type running struct {
	program, folder string
	environment     []string
	house           house

	mu        sync.Mutex
	processes []*process
	log       lockedLog
	said      ready // where it answers; the same after a restart
	stopped   bool
}

// process is one that runs; ended gives what it ended with, once.
type process struct {
	*exec.Cmd
	ended chan error
}

// ready is the ready file.
type ready struct {
	HTTP       string `json:"http"`
	Temporal   string `json:"temporal"`
	TemporalUI string `json:"temporal_ui"`
}

// lockedLog takes what several processes say.
type lockedLog struct {
	mu   sync.Mutex
	said bytes.Buffer
}

// Write implements io.Writer.
func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said.Write(b)
}

// end is the end of the log, where the reason usually is.
func (l *lockedLog) end() []byte {
	const most = 8 << 10
	l.mu.Lock()
	defer l.mu.Unlock()
	log := l.said.Bytes()
	return bytes.Clone(log[max(0, len(log)-most):])
}

// start runs the program in a folder and on ports of its own until the test ends.
func start(t *testing.T, program string, environment []string, h house) *running {
	t.Helper()
	p := &running{
		program: program, folder: t.TempDir(), environment: environment, house: h,
		said: ready{HTTP: teststack.Address(t), Temporal: teststack.Address(t), TemporalUI: teststack.Address(t)},
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("liminald said:\n%s", p.log.end())
		}
	})
	if err := p.up(); err != nil {
		t.Fatal(err)
	}
	return p
}

// up starts the processes one after the other and waits until each is ready.
func (p *running) up() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil
	}
	p.processes = nil
	for n, arguments := range p.house.processes {
		file := filepath.Join(p.folder, fmt.Sprintf("ready.%d.json", n))
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		one := &process{exec.Command(p.program, append(arguments(p.folder, p.said), "--ready-file", file)...), make(chan error, 1)}
		one.Env = append(os.Environ(), p.environment...)
		one.Stdout, one.Stderr = &p.log, &p.log
		if err := one.Start(); err != nil {
			return err
		}
		p.processes = append(p.processes, one)
		go func() { one.ended <- one.Wait() }()
		said, err := await(file, one.ended)
		if err != nil {
			return err
		}
		if said.HTTP != "" {
			p.said = said
		}
	}
	return nil
}

// await waits for the ready file.
func await(file string, ended chan error) (said ready, err error) {
	deadline := time.After(startLimit)
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case err := <-ended:
			ended <- err // for who stops it
			return said, fmt.Errorf("liminald ended before it was ready: %w", err)
		case <-deadline:
			return said, errors.New("liminald was not ready in time")
		case <-poll.C:
			raw, err := os.ReadFile(file)
			if err == nil && json.Unmarshal(raw, &said) == nil {
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
	for _, one := range p.processes {
		if one.Process.Kill() == nil {
			<-one.ended
		}
	}
	p.processes = nil
}

// stop asks the processes to end, the last first, and ends those that do not.
func (p *running) stop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	var faults []error
	for _, one := range slices.Backward(p.processes) {
		if one.Process.Signal(syscall.SIGTERM) != nil {
			continue // it has ended already
		}
		select {
		case <-one.ended:
		case <-time.After(stopLimit):
			_ = one.Process.Kill()
			<-one.ended
			faults = append(faults, fmt.Errorf("liminald did not end within %v of SIGTERM", stopLimit))
		}
	}
	return errors.Join(faults...)
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

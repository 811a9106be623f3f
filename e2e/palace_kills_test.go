package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/e2e/teststack"
	"liminal/internal/capture"
	"liminal/internal/capture/capturetest"
	"liminal/internal/capture/proxy"
)

// stormy is agents that talk through a proxy of its own process, which is killed, and so is
// the platform that takes in what they say.
type stormy struct {
	*program // the platform
	t        *testing.T
	up       *capturetest.Upstream
	base     string // with the token

	gate sync.RWMutex // while it is shut no request begins
	hold sync.RWMutex // while it is shut no answer goes on behind its first piece

	mu     sync.Mutex
	whole  []string // hashes of the requests whose whole answers agents had
	within int      // agents that have the beginning of an answer, and not its end
	tries  int
}

// held lets an answer wait while hold is shut.
type held struct {
	http.ResponseWriter
	hold  *sync.RWMutex
	begun bool
}

// FlushError implements what http.ResponseController asks for.
func (h *held) FlushError() error {
	if h.begun {
		h.hold.RLock()
		defer h.hold.RUnlock()
	}
	h.begun = true
	return http.NewResponseController(h.ResponseWriter).Flush()
}

// inside counts agents in the middle of an answer.
func (s *stormy) inside(more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.within += more
}

// ask is one request with its answer; an error is what a client tries again for.
func (s *stormy) ask(client *http.Client, session string, body []byte) error {
	s.gate.RLock()
	s.gate.RUnlock() //nolint:staticcheck // it only waits
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Claude-Code-Session-Id", session)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	s.inside(1)
	defer s.inside(-1)
	raw, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || !bytes.Contains(raw, []byte("message_stop"))) {
		err = fmt.Errorf("%s, %d bytes", resp.Status, len(raw))
	}
	return err
}

// talks has an agent talk until it is told to end.
func (s *stormy) talks(session string, end <-chan struct{}) error {
	client := &http.Client{Transport: &http.Transport{}}
	var said []string
	for turn := 0; ; turn++ {
		select {
		case <-end:
			return nil
		default:
		}
		said = append(said, fmt.Sprintf(`{"role":"user","content":"%s asks %d %s"}`, session, turn, strings.Repeat("and more ", 60)))
		body := []byte(`{"model":"claude-opus-5-5","stream":true,"max_tokens":100,"messages":[` + strings.Join(said, ",") + `]}`)
		for began := time.Now(); ; {
			err := s.ask(client, session, body)
			if err == nil {
				break
			}
			if time.Since(began) > patience {
				return fmt.Errorf("turn %d of %s had no answer: %w", turn, session, err)
			}
			s.mu.Lock()
			s.tries++
			s.mu.Unlock()
		}
		s.mu.Lock()
		s.whole = append(s.whole, capturetest.Sum(body))
		s.mu.Unlock()
		said = append(said, `{"role":"assistant","content":[{"type":"text","text":"this is the end of the turn"}]}`)
		if len(said) > 20 { // as /clear does
			said = nil
		}
	}
}

func (s *stormy) done() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.whole...)
}

// missing is what of the requests that the backend was asked, and of the whole answers that
// agents had, is not among what is kept: hashes of requests, and whether they are whole.
func (s *stormy) missing(kept map[string][]bool) error {
	var errs []error
	left := map[string]int{}
	for sum, list := range kept {
		left[sum] = len(list)
	}
	asked := s.up.Asked()
	for _, a := range asked {
		if left[a.Sum()]--; left[a.Sum()] < 0 {
			errs = append(errs, fmt.Errorf("a request is lost: %.80s", a.Body))
		}
	}
	for _, sum := range s.done() {
		whole := false
		for _, one := range kept[sum] {
			whole = whole || one
		}
		if !whole {
			errs = append(errs, fmt.Errorf("of %s an agent had the whole answer, and it is not kept", sum))
		}
	}
	return errors.Join(errs...)
}

// written waits until the disk has everything so far. Nothing begins and nothing ends
// meanwhile, so that what a kill takes is what is under way, and known.
func (s *stormy) written() {
	s.t.Helper()
	var err error
	before := -1
	defer func() {
		if err != nil {
			s.t.Log(err)
		}
	}()
	s.until("the spool to have what was said", func() bool {
		kept := map[string][]bool{}
		for e, err := range capture.Exchanges(proxy.SpoolDir(filepath.Join(s.dir, "data", "palace")), nil, func(capture.Request) bool { return true }) {
			if err == nil {
				kept[capturetest.Sum(e.Asked)] = append(kept[capturetest.Sum(e.Asked)], e.Ending != nil && e.Ending.Complete)
			}
		}
		n := len(s.done())
		same := n == before // an answer whose end was on its way has come
		before = n
		err = s.missing(kept)
		return err == nil && same
	})
}

// The proxy, the platform and both are killed while agents talk. Agents try again, as clients
// do, and come to their ends; and of all that the backend was ever asked nothing is lost, nor
// doubled. scripts/claude.sh --kills is the same with the real client, at random.
//
// Requirements: PAL-24 (exchanges), PAL-02 (captures the request and forwards it)
func TestNothingThatAgentsSayIsLostWhenProxyAndPlatformAreKilled(t *testing.T) {
	t.Parallel()
	s := &stormy{t: t, up: &capturetest.Upstream{Cache: &capturetest.PrefixCache{}}}
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.up.ServeHTTP(&held{w, &s.hold, false}, r) }))
	t.Cleanup(backend.Close)
	s.program = start(t, "PALACE_ADDR=off")
	owner := s.signUp("palace.owner@example.org")
	env := []string{"PALACE_UPSTREAM=" + backend.URL, "PALACE_ADDR=" + teststack.Address(t), "SHARED_FS_ROOT=" + filepath.Join(s.dir, "data"), "ANTHROPIC_BASE_URL="}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	alone := &proxyAlone{t: t, path: path, env: env, dir: filepath.Join(s.dir, "data", "palace")}
	alone.start(s)
	t.Cleanup(alone.kill)
	out, said, code := runWith(t, env, "palace", "env", "storm")
	_, base, found := strings.Cut(strings.SplitN(out, "\n", 2)[0], "ANTHROPIC_BASE_URL=")
	if code != 0 || !found {
		t.Fatalf("env: %d %s%s", code, out, said)
	}
	s.base = base

	end, ended := make(chan struct{}), make(chan error, 4)
	for n := range cap(ended) {
		go func() { ended <- s.talks(fmt.Sprintf("00000000-0000-4000-8000-%012d", n), end) }()
	}
	turns := func(n int) { // of all of them together, after what there were
		t.Helper()
		from := len(s.done())
		s.until("agents to go on", func() bool { return len(s.done()) >= from+n })
	}
	turns(8)
	for _, what := range []string{"proxy", "platform", "both", "proxy"} {
		s.hold.Lock()
		s.until("all agents to be in the middle of an answer", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.within == cap(ended)
		})
		s.gate.Lock()
		s.written()
		if what != "platform" {
			alone.kill()
		}
		if what != "proxy" {
			s.kill()
		}
		s.hold.Unlock()
		if what != "platform" {
			alone.start(s)
		}
		s.gate.Unlock()
		if what != "proxy" {
			turns(2) // agents do not notice that there is no platform
			s.hold.Lock()
			s.again()
			s.hold.Unlock()
		}
		turns(4)
	}
	close(end)
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	s.written()
	owner.signIn()
	var kept map[string][]bool
	n := 0
	s.until("the platform to have taken in what was said", func() bool {
		kept, n = map[string][]bool{}, 0
		for cursor := ""; ; {
			page := owner.must("GET", "/v1/palace/exchanges?limit=100"+cursor, nil)
			for _, one := range page["data"].([]any) {
				sum := one.(object)["request"].(object)["sha256"].(string)
				kept[sum] = append(kept[sum], one.(object)["complete"].(bool))
				n++
			}
			next, _ := page["next_cursor"].(string)
			if next == "" {
				break
			}
			cursor = "&cursor=" + next
		}
		return n >= len(s.up.Asked())
	})
	if err := s.missing(kept); err != nil {
		t.Error(err)
	}
	if n != len(s.up.Asked()) {
		t.Errorf("%d exchanges are kept of %d requests", n, len(s.up.Asked()))
	}
	if s.tries < 3*cap(ended) { // the proxy was killed three times
		t.Errorf("agents tried again %d times: too few were cut", s.tries)
	}
	t.Logf("%d requests, %d turns, %d tries after a kill", n, len(s.done()), s.tries)
}

// proxyAlone is `liminald palace` in a process of its own.
type proxyAlone struct {
	t    *testing.T
	path string
	env  []string
	dir  string // of the palace
	cmd  *exec.Cmd
}

// start starts it, and waits until it answers.
func (p *proxyAlone) start(s *stormy) {
	p.t.Helper()
	p.cmd = exec.Command(p.path, "palace")
	p.cmd.Env = append(os.Environ(), p.env...)
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	s.until("the proxy", func() bool {
		_, err := proxy.Ask(p.t.Context(), p.dir)
		return err == nil
	})
}

// kill ends it as a power cut would.
func (p *proxyAlone) kill() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // it says that it was killed
		p.cmd = nil
	}
}

package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/capture/capturetest"
)

// served runs a proxy until the test ends, or stop is called.
func served(t *testing.T, o Options) (address string, stop func() error) {
	t.Helper()
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	o.Memory, o.Disk, o.Log, o.Version = 64<<20, 1<<30, slog.New(slog.DiscardHandler), "v"
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	o.Ready = func(address string) error { ready <- address; return nil }
	go func() { ended <- Serve(ctx, o) }()
	stop = func() error { cancel(); err := <-ended; ended <- err; return err }
	t.Cleanup(func() { _ = stop() })
	select {
	case address = <-ready:
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	return address, stop
}

func backend(t *testing.T) (*capturetest.Upstream, string) {
	t.Helper()
	up := &capturetest.Upstream{}
	s := httptest.NewServer(up)
	t.Cleanup(s.Close)
	return up, s.URL
}

// A token of a command is worth something for as long as the command is connected.
//
// Requirements: PAL-01 (strangers and pages get nothing)
func TestATokenEndsWithTheCommandThatHoldsTheProxy(t *testing.T) {
	t.Parallel()
	_, upstream := backend(t)
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40)) // no socket has so long a path
	address, _ := served(t, Options{Dir: dir, Upstream: upstream})
	token := NewToken()
	ctx, end := context.WithCancel(t.Context())
	g, held, err := Hold(ctx, dir, token, Agent{Name: "claude", Project: "p"})
	if err != nil || g != (Granted{Address: address, Upstream: upstream, Version: "v"}) {
		t.Fatal(g, err)
	}
	c := plainClient(t)
	status := func() int {
		return ask(t, c, "POST", BaseURL(address, token)+"/v1/messages", []byte(streamed), nil).StatusCode
	}
	if got := status(); got != 200 {
		t.Errorf("while it is held: %d", got)
	}
	s, err := Ask(t.Context(), dir)
	if err != nil || len(s.Runs) != 1 || s.Runs[0].Name != "claude" || s.Runs[0].PID != os.Getpid() || s.Traffic.Requests != 1 || s.PID != os.Getpid() {
		t.Errorf("%+v, %v", s, err)
	}
	end()
	held.Body.Close()
	for len(s.Runs) > 0 { // until it has noticed
		if s, err = Ask(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	if got := status(); got != 401 {
		t.Errorf("afterwards: %d", got)
	}
	for _, name := range []string{"", "spool", socketName} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q is open to others: %v %v", name, info.Mode(), err)
		}
	}
}

func TestTwoProxiesDoNotShareAFolder(t *testing.T) {
	t.Parallel()
	_, upstream := backend(t)
	dir := t.TempDir()
	address, stop := served(t, Options{Dir: dir, Upstream: upstream})
	o := Options{Dir: dir, Address: address, Upstream: upstream, Log: slog.New(slog.DiscardHandler), Memory: 1 << 20, Disk: 1 << 20}
	if err := Serve(t.Context(), o); !errors.Is(err, errTaken) {
		t.Errorf("a second one: %v", err)
	}
	o.Dir = t.TempDir()
	if err := Serve(t.Context(), o); err == nil || !strings.Contains(err.Error(), "PALACE_ADDR") {
		t.Errorf("on the same address: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := Ask(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("when it has ended: %v", err)
	}
	if got, _ := served(t, Options{Dir: dir, Address: address, Upstream: upstream}); got != address {
		t.Errorf("the next one listens on %s, not %s", got, address)
	}
}

// What is under way is finished; the port is free for the next proxy at once.
func TestAProxyThatIsStoppedFinishesItsStreams(t *testing.T) {
	t.Parallel()
	began, free := make(chan bool), make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("half"))
		_ = http.NewResponseController(w).Flush()
		close(began)
		<-free
		_, _ = w.Write([]byte(" and half"))
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	address, stop := served(t, Options{Dir: dir, Upstream: s.URL})
	token, err := AddToken(dir, Agent{Name: "editor"})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() {
		got <- string(whole(t, ask(t, plainClient(t), "POST", BaseURL(address, token)+"/v1/messages", []byte(streamed), nil)))
	}()
	<-began
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	for { // until another may listen
		l, err := net.Listen("tcp", address)
		if err == nil {
			l.Close()
			break
		}
	}
	close(free)
	if text := <-got; text != "half and half" {
		t.Errorf("%q", text)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestAProxyThatNobodyHoldsEnds(t *testing.T) {
	t.Parallel()
	_, upstream := backend(t)
	dir := t.TempDir()
	ended := make(chan error, 1)
	ready := make(chan string, 1)
	o := Options{Dir: dir, Address: "127.0.0.1:0", Upstream: upstream, Idle: 40 * time.Millisecond, Log: slog.New(slog.DiscardHandler), Memory: 1 << 20, Disk: 1 << 20,
		Ready: func(a string) error { ready <- a; return nil }}
	go func() { ended <- Serve(t.Context(), o) }()
	<-ready
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

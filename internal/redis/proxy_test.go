package redis

import (
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/id"
	"liminal/internal/store/storetest"
)

// wire is the line between a Memory and Redis, which a test may cut.
type wire struct {
	listener net.Listener
	target   string

	mu      sync.Mutex
	cut     bool
	mute    bool          // requests pass, answers do not: the line breaks instead
	still   bool          // nothing passes, nothing breaks
	slow    time.Duration // what an answer takes longer
	lines   map[net.Conn]bool
	refused chan struct{} // a value each time a line breaks or is refused
	all     sync.WaitGroup
}

// through opens a Memory behind a wire of its own.
func through(t testing.TB, o Options) (*Memory, *wire) {
	t.Helper()
	u, err := url.Parse(storetest.Server(t, "LANE_REDIS"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener, target: u.Host, lines: map[net.Conn]bool{}, refused: make(chan struct{}, 1)}
	w.all.Go(w.serve)
	t.Cleanup(w.close)
	u.Host = listener.Addr().String()
	if o.Prefix == "" {
		o.Prefix = "liminal:" + id.New() + ":"
	}
	if o.Answer == 0 {
		o.Answer = busy
	}
	m, err := Open(t.Context(), u.String(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m, w
}

func (w *wire) serve() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", w.target)
		if err != nil {
			_ = near.Close()
			w.broke()
			continue
		}
		w.mu.Lock()
		refuse := w.cut
		w.lines[near], w.lines[far] = true, true
		w.mu.Unlock()
		if refuse {
			w.hang(near, far)
			w.broke()
			continue
		}
		w.all.Go(func() { w.carry(far, near, false) })
		w.all.Go(func() { w.carry(near, far, true) })
	}
}

// carry copies until the line breaks.
func (w *wire) carry(to, from net.Conn, answer bool) {
	defer w.hang(to, from)
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		w.mu.Lock()
		slow := w.slow
		mute, still := w.mute && answer && !strings.Contains(string(buffer[:n]), "NOSCRIPT"), w.still
		w.mu.Unlock()
		switch {
		case mute:
			w.broke()
			return
		case still:
			continue
		case answer && slow > 0:
			time.Sleep(slow)
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (w *wire) hang(conns ...net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(w.lines, c)
	}
}

func (w *wire) broke() {
	select {
	case w.refused <- struct{}{}:
	default:
	}
}

// set changes what happens on the wire; lines that are there break when cut.
func (w *wire) set(cut, mute, still bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut, w.mute, w.still = cut, mute, still
	if cut {
		for c := range w.lines {
			_ = c.Close()
		}
	}
}

// far puts Redis so far away.
func (w *wire) far(slow time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slow = slow
}

// waitRefused waits until the Memory has noticed.
func (w *wire) waitRefused(t testing.TB) {
	t.Helper()
	select {
	case <-w.refused:
	case <-time.After(30 * time.Second):
		t.Fatal("nobody tried")
	}
}

func (w *wire) close() {
	w.set(true, false, false)
	if err := w.listener.Close(); err != nil && !errors.Is(err, io.EOF) {
		panic(err)
	}
	w.all.Wait()
}

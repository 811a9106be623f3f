package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"liminal/internal/capture"
)

const (
	socketName = "control.sock"
	// longestSocket is what every system takes as the path of a socket, in bytes.
	longestSocket = 100
	// mostAsked bounds what a command says to the proxy, in bytes.
	mostAsked = 64 << 10
)

// control is what programs of the same person may ask of a running proxy.
type control struct {
	proxy   *Proxy
	tokens  *Tokens
	spool   *capture.Spool
	options Options
	started time.Time
	address string
	ending  <-chan struct{}

	mu     sync.Mutex
	leases map[*lease]bool
	last   time.Time // when one ended
}

// lease is a command that holds the proxy, with a token of its own.
type lease struct {
	Agent
	Hash    string    `json:"sha256"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
}

// Granted is what a proxy says to a command that holds it.
type Granted struct {
	Address  string `json:"address"`
	Upstream string `json:"upstream"`
	OpenAI   string `json:"openai_upstream"` // of what lies below OpenAIPath
	Version  string `json:"version"`
}

// Status is what a proxy says of itself.
type Status struct {
	Granted
	PID     int           `json:"pid"`
	Started time.Time     `json:"started"`
	Traffic Counts        `json:"traffic"`
	Spool   capture.Stats `json:"spool"`
	Sealed  bool          `json:"encrypted"` // what is kept, with PALACE_KEYS
	Runs    []Run         `json:"runs"`
}

// Run is a command that holds the proxy.
type Run struct {
	Agent
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
}

func (c *control) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", c.status)
	mux.HandleFunc("GET /aside", c.aside)
	mux.HandleFunc("POST /lease", c.lease)
	return mux
}

func (c *control) granted() Granted {
	return Granted{Address: c.address, Upstream: c.options.Upstream, OpenAI: c.options.OpenAI, Version: c.options.Version}
}

func (c *control) status(w http.ResponseWriter, _ *http.Request) {
	s := Status{Granted: c.granted(), PID: os.Getpid(), Started: c.started, Traffic: c.proxy.Counts(), Spool: c.spool.Stats(), Sealed: c.options.Keys != nil, Runs: []Run{}}
	c.mu.Lock()
	for l := range c.leases {
		s.Runs = append(s.Runs, Run{l.Agent, l.PID, l.Started})
	}
	c.mu.Unlock()
	slices.SortFunc(s.Runs, func(a, b Run) int { return a.Started.Compare(b.Started) })
	_ = json.NewEncoder(w).Encode(s) // whoever asked may be gone
}

// lease lets a token pass for as long as whoever brought it stays connected: the
// system ends the connection with the process, however that ends.
func (c *control) lease(w http.ResponseWriter, r *http.Request) {
	l := &lease{}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostAsked)).Decode(l); err != nil || l.Hash == "" {
		http.Error(w, "no lease is asked for", http.StatusBadRequest)
		return
	}
	l.Started = time.Now()
	takeBack := c.tokens.grant(l.Hash, l.Agent)
	c.mu.Lock()
	c.leases[l] = true
	c.mu.Unlock()
	defer func() {
		takeBack()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.leases, l)
		c.last = time.Now()
	}()
	err := json.NewEncoder(w).Encode(c.granted())
	if err = errors.Join(err, http.NewResponseController(w).Flush()); err != nil {
		return
	}
	select {
	case <-r.Context().Done():
	case <-c.ending:
	}
}

// endWhenIdle ends a proxy that nobody holds and nothing passes through.
func (c *control) endWhenIdle(after time.Duration, end func()) {
	tick := time.NewTicker(max(after/8, time.Millisecond))
	defer tick.Stop()
	quiet := time.Now()
	for {
		select {
		case <-c.ending:
			return
		case <-tick.C:
		}
		c.mu.Lock()
		busy := len(c.leases) > 0 || c.proxy.active.Load() > 0
		if c.last.After(quiet) {
			quiet = c.last
		}
		c.mu.Unlock()
		if busy {
			quiet = time.Now()
		}
		if time.Since(quiet) >= after {
			end()
			return
		}
	}
}

// listenControl opens the socket. The lock on the folder is held: a socket that
// lies there is that of a proxy which was killed.
func listenControl(ctx context.Context, dir string) (net.Listener, error) {
	if err := os.Remove(filepath.Join(dir, socketName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return listenSocket(ctx, dir, socketName)
}

// listenSocket opens a socket in a folder, which nobody has.
func listenSocket(ctx context.Context, dir, name string) (net.Listener, error) {
	path, done, err := socketPath(dir, name)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("the socket in %s cannot be made: %w", dir, err)
	}
	// The next proxy may have made its own by the time that this one ends.
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	return l, os.Chmod(filepath.Join(dir, name), 0o600)
}

// socketPath is the socket in a folder by a path that is short enough for one.
func socketPath(dir, name string) (path string, done func(), err error) {
	path = filepath.Join(dir, name)
	if len(path) <= longestSocket {
		return path, func() {}, nil
	}
	if runtime.GOOS != "linux" {
		return "", nil, fmt.Errorf("the path %s is longer than a socket may have (%d bytes); choose a shorter data folder", path, longestSocket)
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), name), func() { _ = f.Close() }, nil
}

// Client speaks to the proxy on a folder, if there is one.
func Client(dir string) *http.Client {
	return &http.Client{Transport: socketTransport(dir, socketName)}
}

// socketTransport reaches a socket in a folder, whatever host is asked for.
func socketTransport(dir, name string) *http.Transport {
	return &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			path, done, err := socketPath(dir, name)
			if err != nil {
				return nil, err
			}
			defer done()
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		},
	}
}

// controlURL names the proxy to Client; the host is nobody's.
func controlURL(path string) string { return "http://palace" + path }

// Ask is the status of the proxy on a folder. An error is ErrNone where none runs.
func Ask(ctx context.Context, dir string) (s Status, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, controlURL("/status"), nil)
	if err != nil {
		return s, err
	}
	resp, err := Client(dir).Do(req)
	if err != nil {
		return s, none(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	return s, json.NewDecoder(resp.Body).Decode(&s)
}

// ErrNone says that no proxy runs on a folder.
var ErrNone = errors.New("no proxy runs on this data folder")

// none tells a proxy that is not there, or just ends, from one that fails.
func none(err error) error {
	for _, gone := range []error{os.ErrNotExist, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, gone) {
			return fmt.Errorf("%w (%s)", ErrNone, cause(err))
		}
	}
	return err
}

// cause is the end of an error whose beginning names a path nobody chose.
func cause(err error) string {
	text := err.Error()
	if at := strings.LastIndex(text, ": "); at >= 0 {
		return text[at+2:]
	}
	return text
}

// Hold asks the proxy on a folder to let a token pass. It does so until the
// response is closed, or ends because the proxy does.
func Hold(ctx context.Context, dir, token string, a Agent) (g Granted, held *http.Response, err error) {
	body, err := json.Marshal(lease{Agent: a, Hash: hashOf(token), PID: os.Getpid()})
	if err != nil {
		return g, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, controlURL("/lease"), strings.NewReader(string(body)))
	if err != nil {
		return g, nil, err
	}
	resp, err := Client(dir).Do(req)
	if err != nil {
		return g, nil, none(err)
	}
	if err := json.NewDecoder(resp.Body).Decode(&g); err != nil {
		return g, nil, errors.Join(none(err), resp.Body.Close())
	}
	return g, resp, nil
}

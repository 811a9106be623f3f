package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// operatorFile has the token of who runs the proxy. Only they may read it, and
	// other people of the machine reach the port as well.
	operatorFile = "operator.token"
	operatorName = "operator"
	// platformSocket is where a platform on the same data folder answers what is asked
	// of exchanges that it has taken in.
	platformSocket = "platform.sock"
)

// operatorToken is the hash of the operator's token, which is made if there is none.
func operatorToken(dir string) (hash string, err error) {
	name := filepath.Join(dir, operatorFile)
	raw, err := os.ReadFile(name)
	if err == nil && strings.HasPrefix(string(raw), tokenPrefix) {
		return hashOf(strings.TrimSpace(string(raw))), nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	token := NewToken()
	if err := os.WriteFile(name, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("the operator's token cannot be written: %w", err)
	}
	return hashOf(token), nil
}

// own is what is answered at the port itself, to the operator only.
func (c *control) own() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", c.metrics)
	platform := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "platform"
			r.Out.Header.Del(tokenHeader)
		},
		Transport: socketTransport(c.options.Dir, platformSocket),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{ // whoever asked may be gone
				"code":    "unavailable",
				"message": "No platform runs on this data folder (liminald dev or server with --data " + filepath.Dir(c.options.Dir) + "); agents are not affected, and it takes in what is kept as soon as it runs.",
			}})
		},
	}
	for _, pattern := range []string{
		"GET /context/active", "POST /context/classify", "POST /context/retention", "GET /blocks/{display_id}", "GET /blocks/by-uuid/{uuid}", "GET /timeline/{agent_id}", "GET /stats",
	} {
		mux.Handle(pattern, platform)
	}
	return mux
}

// Platform speaks to the platform on a folder, if one runs there.
func Platform(dir string) *http.Client {
	return &http.Client{Transport: socketTransport(dir, platformSocket)}
}

// ListenPlatform opens the socket at which a platform answers. One that lies there is
// of a platform which has ended, or ends to be asked.
func ListenPlatform(ctx context.Context, dir string) (net.Listener, error) {
	if err := makeFolder(dir); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(dir, platformSocket)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return listenSocket(ctx, dir, platformSocket)
}

// metrics are figures in the text form of Prometheus.
func (c *control) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	t, s := c.proxy.Counts(), c.spool.Stats()
	var b strings.Builder
	one := func(name, kind, help string, value int64) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", name, help, name, kind, name, value)
	}
	one("palace_requests_total", "counter", "Requests that were passed on.", t.Requests)
	one("palace_refused_total", "counter", "Requests without a token, or from pages.", t.Refused)
	one("palace_cut_total", "counter", "Responses that did not reach the client whole, whoever cut them.", t.Cut)
	one("palace_failopen_total", "counter", "Exchanges that went on without a recorder or a view that failed.", t.FailOpen)
	one("palace_epochs_opened_total", "counter", "Epochs of views that began.", t.Views.Opened)
	one("palace_requests_changed_total", "counter", "Requests that were sent as a view has them.", t.Views.Changed)
	one("palace_views_invalid_total", "counter", "Requests that a view would have broken; they were sent as they were.", t.Views.Invalid)
	one("palace_views_unread_total", "counter", "Requests of viewed histories that could not be read for certain; they were sent as they were.", t.Views.Unread)
	one("palace_views_refused_total", "counter", "Epochs that ended because the backend refused a request.", t.Views.Refused)
	one("palace_views_suspended_total", "counter", "Epochs that ended because an agent turned in a circle.", t.Views.Suspended)
	one("palace_views_lost_total", "counter", "Histories whose epochs were lost.", t.Views.Lost)
	one("palace_recalls_total", "counter", "Results that agents asked back.", t.Views.Recalls)
	one("palace_requests_active", "gauge", "Requests under way.", t.Active)
	one("palace_exchanges_total", "counter", "Exchanges given to the spool.", s.Exchanges)
	one("palace_passed_bytes_total", "counter", "Bytes of contents that passed.", s.Bytes)
	one("palace_spool_held_bytes", "gauge", "Bytes of contents in memory.", s.Held)
	one("palace_spool_waiting", "gauge", "Records that wait for the disk.", int64(s.Waiting))
	one("palace_spool_disk_bytes", "gauge", "Bytes of the spool's segments.", s.Disk)
	one("palace_spool_removed_total", "counter", "Segments that made room for newer ones.", s.Removed)
	fmt.Fprint(&b, "# HELP palace_lost_total Contents that were not kept, by why.\n# TYPE palace_lost_total counter\n")
	for _, why := range slices.Sorted(maps.Keys(s.Lost)) {
		fmt.Fprintf(&b, "palace_lost_total{why=%q} %d\n", why, s.Lost[why])
	}
	_, _ = w.Write([]byte(b.String())) // whoever asked may be gone
}

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A page of another site, and one whose name was made to lead here, reach what
// listens on this machine through the browser that shows them.
func TestTheOpenPortsAnswerToNoOtherNameAndNoOtherPage(t *testing.T) {
	t.Parallel()
	p := start(t, "LIMINAL_ALLOWED_HOSTS=box.lan, other.lan:99")
	ada := p.signUp("ada@example.org")
	own, err := url.Parse(p.ready.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	ui, err := url.Parse(p.ready.TemporalUI)
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range p.listens(t) {
		at := "127.0.0.1:" + port
		if at == p.ready.Temporal {
			continue // HTTP/2 alone
		}
		for _, c := range []struct{ method, path, host, origin string }{
			{"GET", "/", "evil.example", ""},
			{"GET", "/", "evil.example:" + port, ""},
			{"GET", "/v1/auth/me", "evil.example:" + port, ""},
			{"GET", "/api/v1/namespaces/default/workflows", "127.0.0.1.evil.example:" + port, ""},
			{"POST", "/api/v1/namespaces/default/workflows/x", at, "https://evil.example"},
			{"POST", "/namespaces/default/workflows/x", at, "https://evil.example"},
			{"POST", "/v1/auth/signup", at, "https://evil.example"},
			{"POST", "/v1/auth/signup", at, "null"},
			{"POST", "/v1/auth/signup", at, "http://127.0.0.1:1"},
			{"DELETE", "/v1/auth/me", at, "https://evil.example"},
		} {
			status, body, cookies := p.ask(t, at, c.method, c.path, c.host, c.origin)
			if status == 0 { // no HTTP is spoken there
				continue
			}
			ours := `"status":"error"`
			if p.ready.Palace == "http://"+at {
				ours = `"permission_error"` // in the words of the backend it stands for
			}
			if status != http.StatusForbidden || !strings.Contains(body, ours) || cookies > 0 {
				t.Errorf("port %s: %s %s as %s from %q: %d with %d cookies, %.100s", port, c.method, c.path, c.host, c.origin, status, cookies, body)
			}
		}
	}
	for _, host := range []string{own.Host, "localhost:" + own.Port(), "box.lan:" + own.Port(), "other.lan", "[::1]"} {
		if status, body, _ := p.ask(t, own.Host, "GET", "/v1/about", host, ""); status == http.StatusForbidden || status == 0 {
			t.Errorf("the API as %s: %d %.100s", host, status, body)
		}
		if status, body, _ := p.ask(t, ui.Host, "GET", "/api/v1/settings", host, ""); status != http.StatusOK {
			t.Errorf("the Temporal UI as %s: %d %.100s", host, status, body)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, body, _ := p.ask(t, own.Host, "GET", path, "10.1.2.3:8080", ""); status != http.StatusOK {
			t.Errorf("a probe of %s by an address: %d %.100s", path, status, body)
		}
	}
	if reply := ada.must("POST", "/v1/chat", object{"message": "hello"}); reply["content"] == "" {
		t.Errorf("a turn says %v", reply)
	}
}

// ask sends a request to a port under a Host; status 0: no HTTP is spoken there.
func (p *program) ask(t *testing.T, at, method, path, host, origin string) (status int, body string, cookies int) {
	t.Helper()
	var sent io.Reader
	if method != http.MethodGet {
		sent = strings.NewReader(`{"a":1}`)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+at+path, sent)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("Content-Type", "text/plain")
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, "", 0
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body) // what came of it is enough
	return res.StatusCode, string(raw), len(res.Cookies())
}

// listens are the TCP ports that the program listens on.
func (p *program) listens(t *testing.T) (ports []string) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d", p.cmd.Process.Pid)
	held := map[string]bool{}
	fds, err := filepath.Glob(dir + "/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil {
			held[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	for _, name := range []string{"tcp", "tcp6"} {
		f, err := os.Open(dir + "/net/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			is := strings.Fields(lines.Text())
			if len(is) < 10 || is[3] != "0A" || !held[is[9]] { // 0A: it listens
				continue
			}
			_, hex, _ := strings.Cut(is[1], ":")
			port, err := strconv.ParseUint(hex, 16, 16)
			if err != nil {
				t.Fatal(err)
			}
			ports = append(ports, strconv.FormatUint(port, 10))
		}
		_ = f.Close() // it was only read
	}
	if len(ports) < 3 {
		t.Fatalf("it listens on %v; the API, Temporal and its UI are three", ports)
	}
	return ports
}

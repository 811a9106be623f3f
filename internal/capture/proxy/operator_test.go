package proxy

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the operator asks is answered for the operator's token only, and passes to the
// platform of the folder; where none runs, agents do not notice.
//
// Requirements: PAL-01 (strangers and pages get nothing)
func TestTheOperatorAsksThePlatformAtThePort(t *testing.T) {
	t.Parallel()
	up, upstream := backend(t)
	dir := t.TempDir()
	address, stop := served(t, Options{Dir: dir, Upstream: upstream})
	file := filepath.Join(dir, operatorFile)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("who may read the operator's token: %v %v", info.Mode(), err)
	}
	token, c := strings.TrimSpace(string(raw)), plainClient(t)
	agent, err := AddToken(dir, Agent{Name: "editor"})
	if err != nil {
		t.Fatal(err)
	}
	get := func(token, path string) *http.Response {
		return ask(t, c, "GET", BaseURL(address, token)+path, nil, nil)
	}
	if got := get(token, "/stats"); got.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without a platform: %d", got.StatusCode)
	}
	l, err := ListenPlatform(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 1)
	platform := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked <- r.RequestURI + r.Header.Get(tokenHeader) })}
	go func() { _ = platform.Serve(l) }()
	t.Cleanup(func() { _ = platform.Close() })
	if got := get(token, "/context/active?agent_id=7"); got.StatusCode != http.StatusOK || <-asked != "/context/active?agent_id=7" {
		t.Errorf("with one: %d", got.StatusCode)
	}
	if got := get(token, "/metrics"); got.StatusCode != http.StatusOK || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("metrics: %d %v", got.StatusCode, got.Header)
	}
	before := len(up.Asked())
	for _, path := range []string{"/stats", "/metrics", "/blocks/0"} { // of a backend, if it has them
		if got := get(agent, path); got.StatusCode != http.StatusNotFound {
			t.Errorf("an agent asks %s: %d", path, got.StatusCode)
		}
	}
	if got := get(token, "/v1/models"); got.StatusCode != http.StatusNotFound || len(up.Asked()) != before+4 {
		t.Errorf("what is not the operator's own is the backend's: %d, %d", got.StatusCode, len(up.Asked())-before)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	address, _ = served(t, Options{Dir: dir, Upstream: upstream})
	if got := get(token, "/metrics"); got.StatusCode != http.StatusOK {
		t.Errorf("the token of before: %d", got.StatusCode)
	}
}

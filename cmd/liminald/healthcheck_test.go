package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"liminal/internal/config"
)

// Whoever is asked, the exit code says what the answer was.
func TestHealthcheckTellsWhetherRequestsAreWelcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status       int
		body         string
		code         int
		prints, says string
	}{
		"ready":        {200, `{"ready":true,"message":"Requests are welcome."}`, exitOK, "Requests are welcome.\n", ""},
		"draining":     {503, `{"ready":false,"message":"This process is starting or draining."}`, exitFailed, "", "liminald healthcheck: This process is starting or draining.\n"},
		"another":      {200, `<html>`, exitFailed, "", "is no Liminal"},
		"another JSON": {404, `{}`, exitFailed, "", "404 Not Found is no Liminal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/readyz" {
					t.Errorf("asked %s %s", r.Method, r.URL)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			code, out, said := finish(t, []string{"LIMINAL_OPS_LISTEN=" + strings.TrimPrefix(server.URL, "http://")}, "healthcheck", "--listen", unused(t))
			if code != c.code || out != c.prints || !strings.Contains(said, c.says) {
				t.Errorf("it ended with %d, prints %q and says %q", code, out, said)
			}
		})
	}
	code, _, said := finish(t, nil, "healthcheck", "--listen", unused(t))
	if code != exitUnreachable {
		t.Errorf("nobody answers, and it ends with %d", code)
	}
	oneSentence(t, said)
	has(t, said, "nothing answers at http://127.0.0.1:", "/readyz", "LIMINAL_OPS_LISTEN")
}

// A process is asked on the address it listens on, seen from this machine.
func TestHealthcheckFindsTheListener(t *testing.T) {
	t.Parallel()
	for listens, url := range map[string]string{
		"0.0.0.0:8080":   "http://127.0.0.1:8080/readyz",
		":8080":          "http://127.0.0.1:8080/readyz",
		"[::]:8080":      "http://[::1]:8080/readyz",
		"10.1.2.3:8080":  "http://10.1.2.3:8080/readyz",
		"localhost:8080": "http://localhost:8080/readyz",
	} {
		for _, conf := range []config.Config{{Listen: listens}, {Listen: "127.0.0.1:1", OpsListen: listens}} {
			if got, err := probed(conf); err != nil || got != url {
				t.Errorf("%+v: %q, %v", conf, got, err)
			}
		}
	}
	code, _, said := finish(t, nil, "healthcheck", "--listen", "127.0.0.1:0")
	if code != exitUsage {
		t.Errorf("a port of 0 ends with %d", code)
	}
	has(t, said, "LIMINAL_LISTEN=127.0.0.1:0", "name the one")
}

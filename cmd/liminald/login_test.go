package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// Requirements: AUTH-02, AUTH-05
func TestASignInServesAllCommands(t *testing.T) {
	t.Parallel()
	var logins, logouts atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/auth/login", func(w http.ResponseWriter, r *http.Request) {
		logins.Add(1)
		var in map[string]string
		_ = json.NewDecoder(r.Body).Decode(&in)
		if in["email"] != "ada@example.org" || in["password"] != "the horse knows" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"code":"unauthorized","message":"The email or the password is wrong.","details":null}}`)
			return
		}
		fmt.Fprint(w, `{"data":{"user":{"email":"ada@example.org"},"access_token":"a","refresh_token":"r","session_expires_at":"2030-01-02T12:00:00Z"}}`)
	})
	mux.HandleFunc("POST /v1/auth/logout", func(w http.ResponseWriter, _ *http.Request) {
		logouts.Add(1)
		fmt.Fprint(w, `{"data":{}}`)
	})
	mux.HandleFunc("GET /v1/config/patches", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer a" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"code":"unauthorized","message":"Who?","details":null}}`)
			return
		}
		fmt.Fprint(w, `{"data":{"data":[],"next_cursor":null}}`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	home := home(t)
	call := func(input string, env []string, args ...string) (code int, out, said string) {
		t.Helper()
		p := program(t, append([]string{"HOME=" + home, "LIMINAL_URL=" + s.URL}, env...), args...)
		p.cmd.Stdin = strings.NewReader(input)
		p.begin()
		code = p.end()
		return code, p.out.String(), p.err.String()
	}

	if code, _, said := call("", nil, "patch", "list"); code != exitFailed || !strings.Contains(said, "liminald login --url "+s.URL) {
		t.Errorf("before, it ends with %d: %s", code, said)
	}
	if code, _, said := call("wrong\n", nil, "login", "ada@example.org"); code != exitFailed || !strings.Contains(said, "password is wrong") {
		t.Errorf("with a wrong password: %d: %s", code, said)
	}
	if code, _, said := call("", nil, "login"); code != exitUsage || !strings.Contains(said, "are needed to sign in") {
		t.Errorf("with nothing: %d: %s", code, said)
	}
	code, out, said := call("the horse knows\n", nil, "login", "ada@example.org")
	if code != exitOK || !strings.Contains(out, "signed in to "+s.URL+" as ada@example.org") || strings.Contains(out+said, "horse") {
		t.Fatalf("it ends with %d: %s%s", code, out, said)
	}
	file := filepath.Join(home, ".config", "liminal", "sessions.json")
	if i, err := os.Stat(file); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", file, i, err)
	}
	before := logins.Load()
	for range 3 {
		if code, _, said := call("", nil, "patch", "list"); code != exitOK {
			t.Errorf("it ends with %d: %s", code, said)
		}
	}
	if code, _, said := call("", []string{"LIMINAL_TOKEN=other"}, "patch", "list"); code != exitFailed || !strings.Contains(said, "LIMINAL_TOKEN") {
		t.Errorf("another token: %d: %s", code, said)
	}
	if logins.Load() != before {
		t.Error("a command signed in once more")
	}
	if code, out, _ := call("", nil, "logout"); code != exitOK || !strings.Contains(out, "signed out of "+s.URL+" as ada@example.org") || logouts.Load() != 1 {
		t.Errorf("out it ends with %d: %s", code, out)
	}
	if code, out, _ := call("", nil, "logout"); code != exitOK || !strings.Contains(out, "nobody was signed in") {
		t.Errorf("out again it ends with %d: %s", code, out)
	}
	for range 2 { // as scripts sign in
		if code, _, said := call("", []string{"LIMINAL_USER=ada@example.org", "LIMINAL_PASSWORD=the horse knows"}, "patch", "list"); code != exitOK {
			t.Errorf("by the environment it ends with %d: %s", code, said)
		}
	}
	if logins.Load() != before+1 {
		t.Errorf("the environment signed in %d times", logins.Load()-before)
	}
}

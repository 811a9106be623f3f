package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// gitHub is a server that speaks GitHub's OAuth 2 and lets a person choose who
// they are. It returns the providers file that names it.
func gitHub(t *testing.T) string {
	t.Helper()
	people := map[string]int{"ada": 1, "bob": 2} // their numbers at GitHub
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login/oauth/authorize", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		for name := range people {
			back := url.Values{"state": {r.FormValue("state")}, "code": {name}}
			_, _ = fmt.Fprintf(w, "<p><a href=\"%s?%s\">%s</a></p>", r.FormValue("redirect_uri"), back.Encode(), name)
		}
	})
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("POST /login/oauth/access_token", func(w http.ResponseWriter, r *http.Request) {
		answer(w, map[string]any{"access_token": r.FormValue("code"), "token_type": "bearer"})
	})
	who := func(r *http.Request) string { return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") }
	mux.HandleFunc("GET /api/v3/user", func(w http.ResponseWriter, r *http.Request) {
		answer(w, map[string]any{"id": people[who(r)], "login": who(r)})
	})
	mux.HandleFunc("GET /api/v3/user/emails", func(w http.ResponseWriter, r *http.Request) {
		answer(w, []any{map[string]any{"email": who(r) + "@github.example", "primary": true, "verified": true}})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	raw, err := json.Marshal([]any{map[string]any{
		"name": "github", "kind": "github", "label": "GitHub", "issuer": server.URL, "client_id": "liminal", "client_secret": "a secret",
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "providers.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // the reader may have gone
}

// postOffice is a mail server that puts every letter into a folder, an .eml
// file each.
func postOffice(t *testing.T) (address, folder string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	serving.Go(func() {
		for n := 0; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			converse(conn, filepath.Join(folder, fmt.Sprintf("%04d.eml", n)))
			_ = conn.Close()
		}
	})
	return listener.Addr().String(), folder
}

// converse takes one letter, as RFC 5321 has it.
func converse(conn net.Conn, file string) {
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
	say("220 post.test ESMTP")
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		switch verb, _, _ := strings.Cut(strings.ToUpper(lines.Text()), " "); verb {
		case "DATA":
			say("354 go on")
			var letter strings.Builder
			for lines.Scan() && lines.Text() != "." {
				letter.WriteString(strings.TrimPrefix(lines.Text(), ".") + "\r\n")
			}
			// A file is complete when it has its name.
			if os.WriteFile(file+".part", []byte(letter.String()), 0o600) != nil || os.Rename(file+".part", file) != nil {
				say("451 no room")
				continue
			}
			say("250 kept")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 fine")
		}
	}
}

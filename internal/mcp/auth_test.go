package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/connect"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/mcp"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/sqlite/sqlitetest"
	"liminal/internal/vault"
)

// guarded is a house that lets in who has the right token, and a server of OAuth 2.0
// beside it that gives them out.
type guarded struct {
	*house
	*httptest.Server

	mu        sync.Mutex
	issued    int  // tokens so far; the last is right
	refuses   bool // every token
	refreshes int
	seen      []string
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{house: newHouse(t, true)}
	g.server.AddTool(&sdk.Tool{Name: "echo", InputSchema: anyInput()}, says(func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("hi"), nil }))
	inside := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return g.server }, &sdk.StreamableHTTPOptions{Stateless: true})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if r.FormValue("grant_type") == "refresh_token" {
			g.refreshes++
		}
		g.issued++
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"token-%d","refresh_token":"refresh-%d","expires_in":3600,"token_type":"Bearer"}`, g.issued, g.issued)
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		right := !g.refuses && r.Header.Get("Authorization") == fmt.Sprintf("Bearer token-%d", g.issued) && r.Header.Get("X-App") == "liminal"
		g.seen = append(g.seen, r.Header.Get("Authorization"))
		g.mu.Unlock()
		if !right {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.URL+`/elsewhere"`)
			http.Error(w, "Who asks?", http.StatusUnauthorized)
			return
		}
		inside.ServeHTTP(w, r)
	})
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

// desk connects ada to the house, over a real store.
func (g *guarded) desk(now func() time.Time) (d *connect.Desk, ada identity.Viewer) {
	g.Helper()
	fail := func(err error) {
		g.Helper()
		if err != nil {
			g.Fatal(err)
		}
	}
	sealed, err := vault.New([]byte(strings.Repeat("k", vault.MinKey)), "test")
	fail(err)
	s := store.New(sqlitetest.Open(g.T, sqlite.Options{}), store.Options{})
	u, err := s.CreateUser(g.Context(), identity.User{ID: id.New(), Email: "ada@example.org", Role: identity.RoleUser, Active: true}, identity.Credential{Hash: "hash", Algorithm: "argon2id"})
	fail(err)
	ada = u.Viewer(id.New())
	spec := connect.Spec{Kind: "connection.spec", Title: "The house", Authorize: g.URL + "/authorize", Token: g.URL + "/token", ClientID: "app", Origins: []string{g.URL}, Headers: map[string]string{"X-App": "liminal"}}
	d = connect.New(connect.Options{
		Store: s, Cache: inproc.NewCache(0), Vault: sealed, HTTP: g.Client(), Now: now,
		Spec:   func(context.Context, identity.Viewer, string) (connect.Spec, error) { return spec, nil },
		Secret: func(context.Context, string) (string, error) { return "", fault.New(fault.NotFound, "There is none.") },
	})
	begun, err := d.Start(g.Context(), connect.Begin{Name: "house", Redirect: "https://here/callback", Mark: "m", Viewer: ada})
	fail(err)
	_, err = d.Finish(g.Context(), connect.Callback{Name: "house", State: begun.State, Code: "code", Browser: begun.Browser}, func(context.Context, string, string) error { return nil })
	fail(err)
	return d, ada
}

// A call goes along with the token of the person whose call it is. One that has run out
// is refreshed before, one that the server takes no more is once, and then the person is
// told to connect again; in no error is there a token.
//
// Requirements: SAFE-08
func TestATokenOfAConnectionIsRefreshedForACall(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	var ahead atomic.Int64
	desk, ada := g.desk(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	c := client(t, func(o *mcp.Options) { o.Connections = desk })
	s := at(t, `{"kind":"mcp.server","title":"The house","auth":{"connection":"house"},"http":{"url":"`+g.URL+`/mcp"}}`)
	s.Viewer = ada
	call := approved(t, c, s, "echo")
	works := func(when string, refreshes int) {
		t.Helper()
		out, err := c.Call(t.Context(), call)
		g.mu.Lock()
		defer g.mu.Unlock()
		if err != nil || out["text"] != "hi" || g.refreshes != refreshes {
			t.Errorf("%s: %v, %v, refreshed %d times", when, out, err, g.refreshes)
		}
	}
	works("connected", 0)
	ahead.Store(int64(time.Hour))
	works("run out", 1)
	g.mu.Lock()
	g.issued++ // somebody traded the refresh token elsewhere: the one kept is right no more
	g.mu.Unlock()
	works("taken no more", 2)
	g.mu.Lock()
	g.refuses, g.seen = true, nil
	g.mu.Unlock()
	_, err := c.Call(t.Context(), call)
	if !errors.Is(err, fault.Conflict) || fault.Reason(err) != connect.Again || strings.Contains(fmt.Sprintf("%+v", err), "token-") {
		t.Errorf("refused twice: %v", err)
	}
	g.mu.Lock()
	if len(g.seen) != 2 || g.seen[0] == g.seen[1] {
		t.Errorf("it was asked with %v", g.seen)
	}
	g.seen = nil
	g.mu.Unlock()
	for who, v := range map[string]identity.Viewer{"who has to connect again": ada, "somebody who never did": admin} {
		other := call
		other.Server.Viewer = v
		if _, err := c.Call(t.Context(), other); fault.Reason(err) != connect.Again {
			t.Errorf("%s: %v", who, err)
		}
	}
	if g.mu.Lock(); len(g.seen) != 0 {
		t.Errorf("without a token it was asked with %v", g.seen)
	}
	g.mu.Unlock()
}

// What goes along with a call goes to the server's own origin, also where that leads
// elsewhere, or names a place to ask for a token.
//
// Requirements: SAFE-08
func TestWhatGoesAlongWithACallGoesToItsOwnOriginAlone(t *testing.T) {
	t.Parallel()
	var strayed atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	defer elsewhere.Close()
	own := http.NewServeMux()
	for _, code := range []int{301, 302, 307, 308} {
		own.Handle(fmt.Sprintf("/%d", code), http.RedirectHandler(elsewhere.URL+"/mcp", code))
	}
	own.HandleFunc("/401", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+elsewhere.URL+`/.well-known/oauth-protected-resource"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	var asked atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer hunter2" {
			asked.Add(1)
		}
		own.ServeHTTP(w, r)
	}))
	defer web.Close()
	secret := func(o *mcp.Options) {
		o.Secret = func(context.Context, string) (string, error) { return "hunter2", nil }
	}
	listed := func(o *mcp.Options) {
		o.Operator = map[string]mcp.Entry{"a": {URL: web.URL + "/307", Headers: map[string]string{"Authorization": "Bearer hunter2"}}}
	}
	for _, path := range []string{"/301", "/302", "/307", "/308", "/401"} {
		for auth, c := range map[string]*mcp.Client{`{"secret":"house"}`: client(t, secret), `"none"`: client(t, listed)} {
			_, err := c.Tools(t.Context(), at(t, `{"kind":"mcp.server","title":"T","auth":`+auth+`,"http":{"url":"`+web.URL+path+`"}}`))
			if !errors.Is(err, fault.Forbidden) || strings.Contains(fmt.Sprintf("%+v", err), "hunter2") {
				t.Errorf("%s with %s: %v", path, auth, err)
			}
		}
	}
	if strayed.Load() != 0 || asked.Load() != 6 {
		t.Errorf("elsewhere than %s it was asked %d times, there %d times", web.URL, strayed.Load(), asked.Load())
	}
}

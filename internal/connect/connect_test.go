package connect_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/connect"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/sqlite/sqlitetest"
	"liminal/internal/vault"
)

// elsewhere is a server of OAuth 2.0 that is as its spec says.
type elsewhere struct {
	*httptest.Server

	mu        sync.Mutex
	challenge string
	issued    int
	refreshes int
	revoked   []string
	answer    func(w http.ResponseWriter, r *http.Request) bool // true: it has answered for the token endpoint
}

func openElsewhere(t *testing.T) *elsewhere {
	e := &elsewhere{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", e.token)
	mux.HandleFunc("POST /revoke", func(_ http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.revoked = append(e.revoked, r.FormValue("token_type_hint")+" "+r.FormValue("token"))
	})
	mux.HandleFunc("GET /me", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"sub":"7","name":"Ada L.","as":%q}`, r.Header.Get("Authorization"))
	})
	e.Server = httptest.NewServer(mux)
	t.Cleanup(e.Close)
	return e
}

func (e *elsewhere) token(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.answer != nil && e.answer(w, r) {
		return
	}
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	switch r.FormValue("grant_type") {
	case "authorization_code":
		if base64.RawURLEncoding.EncodeToString(sum[:]) != e.challenge || r.FormValue("client_secret") != "hush" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant","error_description":"hush"}`)
			return
		}
	case "refresh_token":
		e.refreshes++
		if r.FormValue("refresh_token") != fmt.Sprintf("refresh-%d", e.issued) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
			return
		}
	}
	e.issued++
	w.Header().Set("Content-Type", "application/json")
	// Each lasts an hour more: the end of one is counted from the true time, and the
	// tests' is runOut on when they want the next.
	fmt.Fprintf(w, `{"access_token":"access-%d","refresh_token":"refresh-%d","expires_in":%d,"scope":"read write","token_type":"Bearer"}`, e.issued, e.issued, 3600*e.issued)
}

// runOut is when a token has: an hour after it was issued, which was some time after
// the test began.
const runOut = time.Hour + 30*time.Minute

// house is the desk of an installation with a person.
type house struct {
	*connect.Desk
	*elsewhere
	store *store.Store
	spec  connect.Spec
	gone  bool // the connection.spec is no more
	kept  map[string]string
	now   time.Time
	asked func() // before the time is told; nil: nothing
	ada   identity.Viewer
}

func (h *house) time() time.Time {
	if asked := h.asked; asked != nil {
		h.asked = nil
		asked()
	}
	return h.now
}

func openHouse(t *testing.T) *house {
	t.Helper()
	e := openElsewhere(t)
	h := &house{elsewhere: e, store: store.New(sqlitetest.Open(t, sqlite.Options{}), store.Options{}), now: time.Now(), kept: map[string]string{"client": "hush"}, spec: connect.Spec{
		Kind: "connection.spec", Title: "Elsewhere", Authorize: e.URL + "/authorize", Token: e.URL + "/token", Revoke: e.URL + "/revoke",
		ClientID: "app", Secret: "client", Scopes: []string{"read"}, Origins: []string{e.URL}, Params: map[string]string{"prompt": "consent"},
		Account: &connect.Account{URL: e.URL + "/me", ID: "/sub", Prefix: "urn:", Name: "/name"},
	}}
	sealed, err := vault.New([]byte(strings.Repeat("k", vault.MinKey)), "test")
	if err != nil {
		t.Fatal(err)
	}
	h.ada = h.person(t)
	h.Desk = connect.New(connect.Options{
		Store: h.store, Cache: inproc.NewCache(0), Vault: sealed, HTTP: e.Client(), Now: h.time,
		Spec: func(_ context.Context, _ identity.Viewer, name string) (connect.Spec, error) {
			if h.gone || name != "elsewhere" {
				return connect.Spec{}, fault.New(fault.NotFound, "There is no such connection.")
			}
			return h.spec, nil
		},
		Secret: func(_ context.Context, name string) (string, error) {
			if h.kept[name] == "" {
				return "", fault.New(fault.NotFound, "There is no such secret.")
			}
			return h.kept[name], nil
		},
	})
	return h
}

func (h *house) person(t *testing.T) identity.Viewer {
	t.Helper()
	u, err := h.store.CreateUser(t.Context(), identity.User{ID: id.New(), Email: id.New() + "@example.org", Role: identity.RoleUser, Active: true}, identity.Credential{Hash: "hash", Algorithm: "argon2id"})
	if err != nil {
		t.Fatal(err)
	}
	return u.Viewer(id.New())
}

// begin sends a person off; the server keeps the challenge it is sent.
func (h *house) begin(t *testing.T, v identity.Viewer) connect.Begun {
	t.Helper()
	begun, err := h.Start(t.Context(), connect.Begin{Name: "elsewhere", Redirect: "https://here/callback", Return: "/settings", Mark: "m", Viewer: v})
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(begun.URL)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Get("state") != begun.State || q.Get("code_challenge_method") != "S256" || q.Get("client_id") != "app" || q.Get("prompt") != "consent" || q.Get("redirect_uri") != "https://here/callback" || strings.Contains(begun.URL, "hush") {
		t.Errorf("sent to %s", begun.URL)
	}
	h.mu.Lock()
	h.challenge = q.Get("code_challenge")
	h.mu.Unlock()
	return begun
}

func stands(context.Context, string, string) error { return nil }

func (h *house) finish(t *testing.T, begun connect.Begun) error {
	t.Helper()
	_, err := h.Finish(t.Context(), connect.Callback{Name: "elsewhere", State: begun.State, Code: "code", Browser: begun.Browser}, stands)
	return err
}

// connected is ada with an account.
func connected(t *testing.T) *house {
	t.Helper()
	h := openHouse(t)
	if err := h.finish(t, h.begin(t, h.ada)); err != nil {
		t.Fatal(err)
	}
	return h
}

// access gives the token that a request of v's goes along with, or why there is none.
func (h *house) access(t *testing.T, v identity.Viewer) (string, error) {
	t.Helper()
	a, err := h.Access(t.Context(), v, "elsewhere", h.URL+"/posts")
	return a.Token, err
}

// A person comes back with a code once, in the browser they began in, as who they
// began, and what it is traded for is theirs alone.
//
// Requirements: SAFE-08, ISO-01
func TestACodeIsTradedOnceForWhoBegan(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	begun := h.begin(t, h.ada)
	for name, c := range map[string]connect.Callback{
		"another browser":    {Name: "elsewhere", State: begun.State, Code: "code", Browser: "guessed"},
		"an unknown state":   {Name: "elsewhere", State: "guessed", Code: "code", Browser: begun.Browser},
		"another connection": {Name: "other", State: h.begin(t, h.ada).State, Code: "code"},
	} {
		if _, err := h.Finish(t.Context(), c, stands); !errors.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := h.finish(t, begun); fault.Reason(err) != "state_unknown" {
		t.Errorf("a state that was tried in another browser: %v", err)
	}
	begun = h.begin(t, h.ada)
	if _, err := h.Finish(t.Context(), connect.Callback{Name: "elsewhere", State: begun.State, Browser: begun.Browser, Refusal: "access_denied"}, stands); fault.Reason(err) != "denied" {
		t.Errorf("refused there: %v", err)
	}
	begun = h.begin(t, h.ada)
	if _, err := h.Finish(t.Context(), connect.Callback{Name: "elsewhere", State: begun.State, Code: "code", Browser: begun.Browser},
		func(context.Context, string, string) error { return fault.New(fault.Unauthorized, "signed out") }); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("signed out meanwhile: %v", err)
	}
	if _, err := h.access(t, h.ada); fault.Reason(err) != connect.Again {
		t.Errorf("none of these connects: %v", err)
	}
	begun = h.begin(t, h.ada)
	if err := h.finish(t, begun); err != nil {
		t.Fatal(err)
	}
	if err := h.finish(t, begun); fault.Reason(err) != "state_unknown" {
		t.Errorf("the same state again: %v", err)
	}
	mine, err := h.Mine(t.Context(), h.ada)
	if err != nil || len(mine) != 1 || mine[0].AccountID != "urn:7" || mine[0].AccountName != "Ada L." || strings.Join(mine[0].Scopes, " ") != "read write" || mine[0].Sealed != nil {
		t.Errorf("%+v, %v", mine, err)
	}
	if token, err := h.access(t, h.ada); token != "access-1" || err != nil {
		t.Errorf("%q, %v", token, err)
	}
	if _, err := h.access(t, h.person(t)); fault.Reason(err) != connect.Again {
		t.Errorf("somebody else: %v", err)
	}
	kept, err := h.store.Connection(t.Context(), h.ada, "elsewhere")
	if err != nil || strings.Contains(string(kept.Sealed), "access-1") || strings.Contains(string(kept.Sealed), "refresh-1") {
		t.Errorf("kept as %q, %v", kept.Sealed, err)
	}
}

// What is not there is not found; what an administrator has yet to set up says so.
//
// Requirements: API-03
func TestAConnectionThatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	start := func(name string) error {
		_, err := h.Start(t.Context(), connect.Begin{Name: name, Viewer: h.ada})
		return err
	}
	if err := start("nowhere"); !errors.Is(err, fault.NotFound) || fault.Reason(err) == fault.NotConfigured {
		t.Errorf("no such connection: %v", err)
	}
	h.kept = nil
	if err := start("elsewhere"); fault.Reason(err) != fault.NotConfigured {
		t.Errorf("without its client: %v", err)
	}
	if info, err := h.Look(t.Context(), h.ada, "elsewhere", h.spec, nil); err != nil || info.Configured || info.Title != "Elsewhere" {
		t.Errorf("%+v, %v", info, err)
	}
}

// A token goes to the origins of its spec; one that has run out is refreshed
// first, once for all who want it at the same time.
//
// Requirements: SAFE-08
func TestATokenIsRefreshedOnceAndGoesToItsOriginsOnly(t *testing.T) {
	t.Parallel()
	h := connected(t)
	for _, at := range []string{"https://example.org/posts", h.URL + ".example.org/", strings.Replace(h.URL, "http:", "https:", 1), "file:///etc/passwd"} {
		if _, err := h.Access(t.Context(), h.ada, "elsewhere", at); !errors.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v", at, err)
		}
	}
	h.now = h.now.Add(runOut)
	var wait sync.WaitGroup
	tokens := make([]string, 8)
	for i := range tokens {
		wait.Go(func() {
			a, err := h.Access(t.Context(), h.ada, "elsewhere", h.URL)
			if err != nil {
				t.Error(err)
			}
			tokens[i] = a.Token
		})
	}
	wait.Wait()
	for _, token := range tokens {
		if token != "access-2" {
			t.Errorf("they get %v", tokens)
			break
		}
	}
	if h.refreshes != 1 {
		t.Errorf("refreshed %d times", h.refreshes)
	}
	a, err := h.Access(t.Context(), h.ada, "elsewhere", h.URL)
	if err != nil || strings.Contains(fmt.Sprintf("%v %+v %#v", a, a, a), "access-2") {
		t.Errorf("it is printed: %v, %v", a, err)
	}
}

// Who saw that a token has run out, and begins only when another has refreshed it,
// takes what that one kept: the refresh token it knows is used up.
//
// Requirements: SAFE-08
func TestATokenThatWasJustRefreshedIsNotRefreshedAgain(t *testing.T) {
	t.Parallel()
	h := connected(t)
	h.now = h.now.Add(runOut)
	h.asked = func() { // the token's end is compared with
		if _, err := h.Access(t.Context(), h.ada, "elsewhere", h.URL); err != nil {
			t.Error(err)
		}
	}
	a, err := h.Access(t.Context(), h.ada, "elsewhere", h.URL)
	if err != nil || a.Token != "access-2" || h.refreshes != 1 {
		t.Errorf("it gets %q, %v, after %d refreshes", a.Token, err, h.refreshes)
	}
}

// A refusal of the server's ends a connection only where it is of the token: the
// person is told to connect again, and where the server is away, to try later.
func TestARefreshThatIsRefusedAsksThePersonToConnectAgain(t *testing.T) {
	t.Parallel()
	h := connected(t)
	old, err := h.Access(t.Context(), h.ada, "elsewhere", h.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		status int
		body   string
		reason string
	}{
		"it is away":             {http.StatusBadGateway, `secret-in-page`, fault.Upstream},
		"it knows no client":     {http.StatusUnauthorized, `{"error":"invalid_client","error_description":"secret-in-page"}`, fault.NotConfigured},
		"it takes no more today": {http.StatusTooManyRequests, `{"error":"slow_down"}`, fault.Upstream},
	} {
		h.answer = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
			return true
		}
		_, err := h.Renew(t.Context(), h.ada, "elsewhere", old)
		if fault.Reason(err) != c.reason || strings.Contains(fmt.Sprintf("%v %+v", err, errors.Unwrap(err)), "secret-in-page") {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.answer = nil
	if fresh, err := h.Renew(t.Context(), h.ada, "elsewhere", old); fresh.Token != "access-2" || err != nil {
		t.Errorf("the account was not to blame: %q, %v", fresh.Token, err)
	}
	if again, err := h.Renew(t.Context(), h.ada, "elsewhere", old); again.Token != "access-2" || err != nil || h.refreshes != 1 {
		t.Errorf("who was refused with the old token gets the new one: %q, %v, %d refreshes", again.Token, err, h.refreshes)
	}
	h.issued = 90 // the server knows the refresh token no more
	now, err := h.Access(t.Context(), h.ada, "elsewhere", h.URL)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := h.Renew(t.Context(), h.ada, "elsewhere", now); fault.Reason(err) != connect.Again || !strings.Contains(err.Error(), "Connect it again") {
			t.Errorf("refused: %v", err)
		}
	}
	if h.refreshes != 2 {
		t.Errorf("asked again after it was refused: %d", h.refreshes)
	}
	if mine, err := h.Mine(t.Context(), h.ada); err != nil || !mine[0].Refused {
		t.Errorf("%+v, %v", mine, err)
	}
}

// What ends is forgotten here first, and then there, whatever the server says.
//
// Requirements: SAFE-08
func TestWhatIsDisconnectedIsForgottenHereAndThere(t *testing.T) {
	t.Parallel()
	h := connected(t)
	if told, err := h.End(t.Context(), h.ada, "elsewhere"); !told || err != nil || len(h.revoked) != 2 {
		t.Errorf("told %v, %v, %v", told, err, h.revoked)
	}
	if _, err := h.access(t, h.ada); fault.Reason(err) != connect.Again {
		t.Errorf("afterwards: %v", err)
	}
	if _, err := h.End(t.Context(), h.ada, "elsewhere"); !errors.Is(err, fault.NotFound) {
		t.Errorf("again: %v", err)
	}
	h = connected(t)
	h.gone = true // an administrator has taken the connection back
	if _, err := h.access(t, h.ada); !errors.Is(err, fault.NotFound) {
		t.Errorf("a token of a connection that is no more: %v", err)
	}
	if told, err := h.End(t.Context(), h.ada, "elsewhere"); told || err != nil {
		t.Errorf("told %v, %v", told, err)
	}
	if mine, err := h.Mine(t.Context(), h.ada); err != nil || len(mine) != 0 {
		t.Errorf("%v, %v", mine, err)
	}
}

// A spec that would send a token over plain http, or to a place it does not name,
// is no good.
func TestASpecThatWouldGiveTokensAwayIsAtFault(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`{"authorize_url":"https://a.org/x","token_url":"https://a.org/t","origins":["https://api.a.org"],"account":{"url":"https://api.a.org/me","id":"/sub"}}`: "",
		`{"authorize_url":"http://a.org/x","token_url":"https://a.org/t","origins":[]}`:                                                                          "/authorize_url",
		`{"authorize_url":"https://a.org/x","token_url":"https://u:p@a.org/t","origins":[]}`:                                                                     "/token_url",
		`{"authorize_url":"https://a.org/x","token_url":"https://a.org/t","origins":["https://api.a.org/v2"]}`:                                                   "/origins/0",
		`{"authorize_url":"https://a.org/x","token_url":"https://a.org/t","origins":["http://api.a.org"]}`:                                                       "/origins/0",
		`{"authorize_url":"https://a.org/x","token_url":"https://a.org/t","origins":["https://api.a.org"],"account":{"url":"https://b.org/me","id":"/sub"}}`:     "/account/url",
		`{"authorize_url":"https://a.org/x","token_url":"https://a.org/t","origins":[],"params":{"state":"mine"}}`:                                               "/params/state",
		`{"authorize_url":"https://a.org/x","token_url":"https://a.org/t","origins":[],"headers":{"Authorization":"Basic x"}}`:                                   "/headers/Authorization",
	} {
		s, err := connect.Decode([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if faults := s.Faults(); len(faults) > 0 {
			got = faults[0].Path
		}
		if got != want {
			t.Errorf("%s: at fault is %q", doc, got)
		}
	}
}

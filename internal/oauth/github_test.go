package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/inproc"
)

// fakeHub speaks GitHub's protocol: form-encoded tokens, errors with status
// 200, and an API that wants a bearer and a user agent.
type fakeHub struct {
	*testing.T
	challenge, redirect string
	user                map[string]any
	emails              []map[string]any
	used                bool
}

func (f *fakeHub) serve() *Providers {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login/oauth/authorize", f.authorize)
	mux.HandleFunc("POST /login/oauth/access_token", f.token)
	mux.HandleFunc("GET /api/v3/user", f.api(func() any { return f.user }))
	mux.HandleFunc("GET /api/v3/user/emails", f.api(func() any { return f.emails }))
	s := httptest.NewServer(mux)
	f.Cleanup(s.Close)
	clients, err := parse([]byte(`[{"name":"github","kind":"github","issuer":"` + s.URL + `","client_id":"us","client_secret":"hush"}]`))
	need(f.T, err)
	return New(clients, Options{Cache: inproc.NewCache(0)})
}

func (f *fakeHub) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	f.challenge, f.redirect = q.Get("code_challenge"), q.Get("redirect_uri")
	if q.Get("client_id") != "us" || q.Get("scope") != "user:email" || q.Get("code_challenge_method") != "S256" {
		f.Errorf("authorize: %v", q)
	}
	http.Redirect(w, r, f.redirect+"?"+url.Values{"code": {"c0de"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

func (f *fakeHub) token(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	proof := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	answer := url.Values{"access_token": {"gho_token"}, "scope": {"user:email"}, "token_type": {"bearer"}}
	switch {
	case r.PostFormValue("client_id") != "us" || r.PostFormValue("client_secret") != "hush":
		answer = url.Values{"error": {"incorrect_client_credentials"}}
	case r.PostFormValue("redirect_uri") != f.redirect:
		answer = url.Values{"error": {"redirect_uri_mismatch"}}
	case r.PostFormValue("code") != "c0de" || f.used || base64.RawURLEncoding.EncodeToString(proof[:]) != f.challenge:
		answer = url.Values{"error": {"bad_verification_code"}, "error_description": {"The code passed is incorrect or expired."}}
	}
	f.used = true
	_, _ = w.Write([]byte(answer.Encode()))
}

func (f *fakeHub) api(value func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		if r.Header.Get("Authorization") != "Bearer gho_token" || r.UserAgent() == "" || !strings.Contains(r.Header.Get("Accept"), "github+json") {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"message":"Bad credentials"}`))
			return
		}
		_ = json.NewEncoder(w).Encode(value())
	}
}

func (f *fakeHub) signIn(p *Providers) (identity.External, error) {
	f.Helper()
	b, err := p.Start(f.Context(), Begin{Provider: "github", Redirect: "http://127.0.0.1/v1/auth/oauth/github/callback"})
	need(f.T, err)
	e, _, err := p.Finish(f.Context(), b.back("github", visit(f.T, b.URL)))
	return e, err
}

// Requirements: AUTH-16
func TestGitHubSaysWhoSomebodyIs(t *testing.T) {
	t.Parallel()
	f := &fakeHub{T: t, user: map[string]any{"id": 583231, "login": "ada", "name": nil, "email": "public@example.org"}, emails: []map[string]any{
		{"email": "old@example.org", "primary": false, "verified": true, "visibility": nil},
		{"email": "ada@example.org", "primary": true, "verified": true, "visibility": "private"},
	}}
	p := f.serve()
	got, err := f.signIn(p)
	need(t, err)
	want := identity.External{Provider: "github", UID: "583231", Email: "ada@example.org", EmailVerified: true, Handle: "ada"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	_, err = f.signIn(p) // the fake takes its code once
	refuses(t, err, "code_refused")
}

// Requirements: AUTH-16
func TestAnUnverifiedAddressOfGitHubIsSaidToBe(t *testing.T) {
	t.Parallel()
	f := &fakeHub{T: t, user: map[string]any{"id": 1, "login": "eve"}, emails: []map[string]any{{"email": "ada@example.org", "primary": true, "verified": false}}}
	got, err := f.signIn(f.serve())
	need(t, err)
	if got.EmailVerified || got.Email != "ada@example.org" {
		t.Errorf("got %+v", got)
	}
}

func TestAServerGitHubDoesNotKnowSaysSoWithoutSecrets(t *testing.T) {
	t.Parallel()
	f := &fakeHub{T: t}
	p := f.serve()
	k, _ := p.kinds["github"].(*gitHub)
	k.client.Secret = "wrong-hush"
	_, err := f.signIn(p)
	if got := fault.From(err); got == nil || got.Code != fault.Internal || !strings.Contains(got.Message, "client_secret") || strings.Contains(err.Error(), "hush") {
		t.Errorf("got %v", err)
	}
}

package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"liminal/internal/quota"
)

// Requirements: AUTH-01, AUTH-02, AUTH-04, API-04, API-19 (login)
func TestSignUpLogInAndMe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody := &person{world: w}
	first := nobody.get("/v1/config/ui").ok()
	if first["first_run"] != true || first["sign_up"] != true || first["upload"].(map[string]any)["max_bytes"] != float64(25<<20) {
		t.Errorf("config before the first account: %v", first)
	}
	ada := w.signUp("ada@example.org")
	if nobody.get("/v1/config/ui").ok()["first_run"] != false {
		t.Error("still the first run")
	}
	me := ada.get("/v1/auth/me").ok()["user"].(map[string]any)
	if me["email"] != "ada@example.org" || me["role"] != "admin" || me["handle"] != "ada" {
		t.Errorf("me = %v", me)
	}
	in := nobody.post("/v1/auth/login", map[string]any{"email": "ADA@example.org", "password": "correct horse"})
	data := in.ok()
	if data["session_expires_at"] == nil || w.personOf(data).get("/v1/auth/me").ok() == nil {
		t.Errorf("login = %v", data)
	}
	c := cookieOf(t, in)
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/v1/auth" || c.Value != data["refresh_token"] {
		t.Errorf("cookie = %+v", c)
	}
	nobody.post("/v1/auth/login", map[string]any{"email": "ada@example.org", "password": "wrong horse"}).fails(401, "unauthorized")
	taken := nobody.post("/v1/auth/signup", map[string]any{"email": "ada@example.org", "password": "correct horse"}).fails(409, "conflict")
	if details, _ := taken.Details.(map[string]any); details["field"] != "email" {
		t.Errorf("details = %v", taken.Details)
	}
	nobody.post("/v1/auth/signup", map[string]any{"email": "eve@example.org", "password": "short"}).fails(400, "validation_error")
	nobody.post("/v1/auth/signup", map[string]any{"email": "eve@example.org", "password": "password"}).fails(400, "validation_error")
}

func cookieOf(t *testing.T, r *response) *http.Cookie {
	t.Helper()
	for _, c := range (&http.Response{Header: r.header}).Cookies() {
		if c.Name == refreshCookie {
			return c
		}
	}
	t.Fatalf("%s set no cookie", r.what)
	return nil
}

// Requirements: AUTH-03, API-19 (refresh)
func TestRefreshByBodyAndByCookieRotates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, nobody := w.signUp("ada@example.org"), &person{world: w}
	second := nobody.post("/v1/auth/refresh", map[string]any{"refresh_token": ada.refresh})
	third := nobody.post("/v1/auth/refresh", nil, "Cookie", refreshCookie+"="+cookieOf(t, second).Value)
	w.personOf(third.ok()).get("/v1/auth/me").ok()
	if third.ok()["session_expires_at"] == nil {
		t.Errorf("a refresh does not say when the session ends: %v", third.ok())
	}
	nobody.post("/v1/auth/refresh", map[string]any{"refresh_token": ada.refresh}).fails(401, "unauthorized")
	nobody.post("/v1/auth/refresh", map[string]any{}).fails(401, "unauthorized")
}

func TestACookieCountsOnlyFromOurOwnPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, nobody := w.signUp("ada@example.org"), &person{world: w}
	cookie := refreshCookie + "=" + ada.refresh
	for name, headers := range map[string][]string{
		"another site":   {"Sec-Fetch-Site", "cross-site"},
		"a sibling site": {"Sec-Fetch-Site", "same-site"},
		"another origin": {"Origin", "https://evil.example"},
	} {
		for _, path := range []string{"/v1/auth/refresh", "/v1/auth/logout"} {
			got := nobody.post(path, nil, append(headers, "Cookie", cookie)...)
			if got.status != http.StatusForbidden {
				t.Errorf("%s, %s: %d", name, path, got.status)
			}
		}
	}
	nobody.post("/v1/auth/refresh", nil, "Cookie", cookie, "Sec-Fetch-Site", "same-origin", "Origin", w.url).ok()
}

// Requirements: AUTH-05
func TestLogOutEndsTheSessionAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody := &person{world: w}
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	out := nobody.post("/v1/auth/logout", map[string]any{}, "Cookie", refreshCookie+"="+ada.refresh)
	out.ok()
	if c := cookieOf(t, out); c.MaxAge >= 0 {
		t.Errorf("the cookie stays: %+v", c)
	}
	bob.post("/v1/auth/logout", nil).ok()
	for _, p := range []*person{ada, bob} {
		p.get("/v1/auth/me").fails(401, "unauthorized")
		nobody.post("/v1/auth/refresh", map[string]any{"refresh_token": p.refresh}).fails(401, "unauthorized")
	}
	nobody.post("/v1/auth/logout", nil).ok()
}

// Requirements: API-16
func TestGuessingPasswordsIsSlowedDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.Limits = quota.NewLimits(frozen{w.memory})
	w.signUp("ada@example.org")
	nobody := &person{world: w}
	guess := map[string]any{"email": "ada@example.org", "password": "wrong horse"}
	for range quota.SignIn().Burst {
		nobody.post("/v1/auth/login", guess).fails(401, "unauthorized")
	}
	got := nobody.post("/v1/auth/login", guess)
	got.fails(429, "rate_limited")
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	nobody.post("/v1/auth/login", map[string]any{"email": "bob@example.org", "password": "wrong horse"}).fails(401, "unauthorized")
}

func TestSecretsAreNotEchoed(t *testing.T) {
	t.Parallel()
	nobody := &person{world: newWorld(t)}
	for _, body := range []string{
		`{"email":"a@b.c","password":["my secret"]}`, `{"email":{"x":"my secret"}}`, `{"password":"my secret`,
		`"my secret"`, `{"email":"a@b.c","password":"my secret","handle":7}`,
	} {
		got := nobody.post("/v1/auth/signup", body)
		got.fails(400, "validation_error")
		if strings.Contains(string(got.body), "secret") {
			t.Errorf("%s came back: %s", body, got.body)
		}
	}
}

func TestCookiesAreSecureBehindHTTPS(t *testing.T) {
	t.Parallel()
	s := &server{Options: Options{SiteOptions: SiteOptions{PublicURL: "https://chat.example.org"}}}
	req := &request{header: http.Header{}, raw: httptest.NewRequest(http.MethodPost, "/v1/auth/login", nil)}
	s.setCookie(req, refreshCookie, "v", 60)
	if !strings.Contains(req.header.Get("Set-Cookie"), "; Secure") {
		t.Errorf("cookie = %s", req.header.Get("Set-Cookie"))
	}
}

package api

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/quota"
	"liminal/internal/store"
)

// postbox keeps the letters of a world.
type postbox struct {
	mu      sync.Mutex
	letters []identity.Letter
}

func (p *postbox) Send(_ context.Context, l identity.Letter) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.letters = append(p.letters, l)
	return nil
}

// mailedWorld is a world with mail, and what waits for the letters.
func mailedWorld(t *testing.T, tune func(*identity.Options), change ...func(*Options)) (w *world, letters func() []identity.Letter) {
	t.Helper()
	p := &postbox{}
	var accounts *identity.Accounts
	w = newWorld(t, append([]func(*Options){func(o *Options) {
		s, _ := o.Conversations.(*store.Store)
		with := identity.Options{
			Key: bytes.Repeat([]byte("k"), 32), Cost: identity.Cost{Memory: 64, Passes: 1, Threads: 1},
			Cache: inproc.NewCache(0), Administration: s, Keys: s, Grants: s, Mail: p, PublicURL: "https://chat.example.org", Logger: o.Logger,
		}
		tune(&with)
		var err error
		if accounts, err = identity.NewAccounts(s, with); err != nil {
			t.Fatal(err)
		}
		o.sign(accounts)
	}}, change...)...)
	return w, func() []identity.Letter {
		w.must(accounts.Close())
		p.mu.Lock()
		defer p.mu.Unlock()
		got := p.letters
		p.letters = nil
		return got
	}
}

func (w *world) logIn(more ...any) *response {
	w.Helper()
	body := map[string]any{"email": "ada@example.org", "password": "correct horse"}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return (&person{world: w}).post("/v1/auth/login", body)
}

var tokenIn = regexp.MustCompile(`#([A-Z0-9]+)`)

func tokenOf(t *testing.T, letters []identity.Letter) string {
	t.Helper()
	if len(letters) != 1 {
		t.Fatalf("letters = %+v", letters)
	}
	return tokenIn.FindStringSubmatch(letters[0].Text)[1]
}

// Requirements: AUTH-08, AUTH-09
func TestAForgottenPasswordIsSetAnew(t *testing.T) {
	t.Parallel()
	w, letters := mailedWorld(t, func(*identity.Options) {})
	ada, nobody := w.signUp("ada@example.org"), &person{world: w}
	known := nobody.post("/v1/auth/request_reset", map[string]any{"email": "ada@example.org"})
	token := tokenOf(t, letters())
	unknown := nobody.post("/v1/auth/request_reset", map[string]any{"email": "eve@example.org"})
	if a, b := known.ok(), unknown.ok(); len(a) != 0 || len(b) != 0 || len(letters()) != 0 {
		t.Errorf("%s and %s", known.body, unknown.body)
	}
	common := nobody.post("/v1/auth/complete_reset", map[string]any{"token": token, "new_password": "Password1"}).fails(400, "validation_error")
	if details, _ := common.Details.(map[string]any); details["reason"] != "common_password" {
		t.Errorf("a password that is guessed first: %v", common)
	}
	set := map[string]any{"token": token, "new_password": "another horse"} // the link is good still
	nobody.post("/v1/auth/complete_reset", set).ok()
	nobody.post("/v1/auth/complete_reset", set).fails(400, "validation_error")
	ada.get("/v1/auth/me").fails(401, "unauthorized")
	nobody.post("/v1/auth/refresh", map[string]any{"refresh_token": ada.refresh}).fails(401, "unauthorized")
	w.logIn().fails(401, "unauthorized")
	w.logIn("password", "another horse").ok()
}

// Requirements: AUTH-10, AUTH-11
func TestASignUpWaitsForItsMailAndIsKeptShortUntilThen(t *testing.T) {
	t.Parallel()
	w, letters := mailedWorld(t, func(o *identity.Options) { o.Confirm = true })
	w.server.Limits = quota.NewLimits(frozen{w.memory})
	w.signUp("root@example.org")
	nobody := &person{world: w}
	body := map[string]any{"email": "ada@example.org", "password": "correct horse"}
	fresh := nobody.post("/v1/auth/signup", body)
	token := tokenOf(t, letters())
	body["password"] = "another horse"
	known := nobody.post("/v1/auth/signup", body)
	for _, r := range []*response{fresh, known} {
		if data := r.ok(); len(data) != 1 || data["confirm_email"] != true || len(r.header.Values("Set-Cookie")) != 0 {
			t.Errorf("sign-up: %s %v", r.body, r.header)
		}
	}
	if got := letters(); len(got) != 1 || got[0].To != "ada@example.org" {
		t.Errorf("letters = %+v", got)
	}
	ada := w.personOf(w.logIn().ok())
	if me := ada.get("/v1/auth/me").ok()["user"].(map[string]any); me["unverified"] != true {
		t.Errorf("me = %v", me)
	}
	for range quota.PlanOf(quota.Unverified).Chat.Burst {
		ada.post("/v1/chat", map[string]any{"message": "hi"}).ok()
	}
	ada.post("/v1/chat", map[string]any{"message": "hi"}).fails(429, "rate_limited")
	nobody.post("/v1/auth/verify_email", map[string]any{"token": token}).ok()
	if me := ada.get("/v1/auth/me").ok()["user"].(map[string]any); me["unverified"] != false {
		t.Errorf("me = %v", me)
	}
	nobody.post("/v1/auth/verify_email", map[string]any{"token": token}).fails(400, "validation_error")
	nobody.post("/v1/auth/request_verification", map[string]any{"email": "ada@example.org"}).ok()
	if got := letters(); len(got) != 0 {
		t.Errorf("letters = %+v", got)
	}
}

func TestMailsAreAskedForSparingly(t *testing.T) {
	t.Parallel()
	w, _ := mailedWorld(t, func(*identity.Options) {})
	w.server.Limits = quota.NewLimits(frozen{w.memory})
	nobody := &person{world: w}
	for range letter().Burst {
		nobody.post("/v1/auth/request_reset", map[string]any{"email": "eve@example.org"}).ok()
	}
	nobody.post("/v1/auth/request_reset", map[string]any{"email": "eve@example.org"}).fails(429, "rate_limited")
}

func TestAPasswordChangeEndsTheOtherSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	other := w.personOf(w.logIn().ok())
	ada.post("/v1/auth/password", map[string]any{"old_password": "wrong horse", "new_password": "another horse"}).fails(400, "validation_error")
	ada.post("/v1/auth/password", map[string]any{"old_password": "correct horse", "new_password": "baseball"}).fails(400, "validation_error")
	other.get("/v1/auth/me").ok()
	ada.post("/v1/auth/password", map[string]any{"old_password": "correct horse", "new_password": "another horse"}).ok()
	ada.get("/v1/auth/me").ok()
	other.get("/v1/auth/me").fails(401, "unauthorized")
}

// Requirements: AUTH-07
func TestDevicesAreListedAndSignedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	phone, tablet := w.personOf(w.logIn("client", "mobile").ok()), w.personOf(w.logIn().ok())
	list := items(ada.get("/v1/auth/sessions").ok())
	current := 0
	for _, n := range list {
		if n["current"] == true {
			current++
		}
		if n["id"] == phone.session && n["client"] != "mobile" || strings.Contains(n["user_agent"].(string), "\n") {
			t.Errorf("session = %v", n)
		}
	}
	if len(list) != 3 || current != 1 {
		t.Errorf("sessions = %v", list)
	}
	ada.do("DELETE", "/v1/auth/sessions/"+phone.session, nil).ok()
	ada.do("DELETE", "/v1/auth/sessions/"+phone.session, nil).fails(404, "not_found")
	phone.get("/v1/auth/me").fails(401, "unauthorized")
	tablet.get("/v1/auth/me").ok()
	ada.do("DELETE", "/v1/auth/sessions", nil).ok()
	tablet.get("/v1/auth/me").fails(401, "unauthorized")
	ada.do("PATCH", "/v1/settings", map[string]any{"single_session": true}).ok()
	w.personOf(w.logIn().ok()).get("/v1/auth/me").ok()
	ada.get("/v1/auth/me").fails(401, "unauthorized")
}

// Requirements: AUTH-20 (tables and columns), TOOL-13 (industry and location of the person)
func TestSettingsAreChangedInPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	ada.do("PATCH", "/v1/settings", map[string]any{"timezone": "Europe/Berlin", "flags": map[string]any{"beta": true, "old": 1}}).ok()
	got := ada.do("PATCH", "/v1/settings", map[string]any{"locale": "de", "flags": map[string]any{"old": nil}}).ok()
	flags := got["flags"].(map[string]any)
	if got["locale"] != "de" || got["timezone"] != "Europe/Berlin" || flags["beta"] != true || len(flags) != 1 {
		t.Errorf("settings = %v", got)
	}
	got = ada.do("PATCH", "/v1/settings", map[string]any{"industry": " logistics ", "location": "Hamburg"}).ok()
	if got["industry"] != "logistics" || got["location"] != "Hamburg" || got["timezone"] != "Europe/Berlin" {
		t.Errorf("settings = %v", got)
	}
	if got = ada.do("PATCH", "/v1/settings", map[string]any{"industry": ""}).ok(); got["industry"] != "" || got["location"] != "Hamburg" {
		t.Errorf("settings = %v", got)
	}
	if me := ada.get("/v1/auth/me").ok()["user"].(map[string]any); me["locale"] != "de" {
		t.Errorf("me = %v", me)
	}
	for field, wrong := range map[string]any{
		"timezone": "Mars/Olympus", "locale": "tlh", "default_voice": strings.Repeat("x", 65), "location": strings.Repeat("x", 65),
		"flags": map[string]any{"x": strings.Repeat("x", 5000)},
	} {
		ada.do("PATCH", "/v1/settings", map[string]any{field: wrong}).fails(400, "validation_error")
	}
}

// Requirements: AUTH-21
func TestAnAdministratorRunsTheAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root, ada := w.signUp("root@example.org"), w.signUp("ada@example.org")
	first := root.get("/v1/users?limit=1").ok()
	if len(items(first)) != 1 || first["next_cursor"] == nil {
		t.Errorf("page = %v", first)
	}
	rest := items(root.get("/v1/users?cursor=" + first["next_cursor"].(string)).ok())
	if len(rest) != 1 || rest[0]["email"] != "ada@example.org" || rest[0]["active"] != true {
		t.Errorf("rest = %v", rest)
	}
	if found := items(root.get("/v1/users?email=ADA@example.org").ok()); len(found) != 1 || found[0]["id"] != ada.id {
		t.Errorf("found = %v", found)
	}
	change := func(of string, body map[string]any) *response { return root.do("PATCH", "/v1/users/"+of, body) }
	if got := change(ada.id, map[string]any{"role": "power", "plan": "paid"}).ok(); got["role"] != "power" || got["plan"] != "paid" {
		t.Errorf("changed = %v", got)
	}
	ada.get("/v1/users").fails(403, "forbidden")
	ada.do("PATCH", "/v1/users/"+ada.id, map[string]any{"role": "admin"}).fails(403, "forbidden")
	for _, body := range []map[string]any{{"role": "system"}, {"role": "king"}, {"plan": "unverified"}, {"plan": "golden"}} {
		change(ada.id, body).fails(400, "validation_error")
	}
	change(id.New(), map[string]any{"active": false}).fails(404, "not_found")
	change(root.id, map[string]any{"active": false}).fails(409, "conflict")
	ada.get("/v1/auth/me").ok()
	change(ada.id, map[string]any{"active": false}).ok()
	ada.get("/v1/auth/me").fails(401, "unauthorized")
	w.logIn().fails(401, "unauthorized")
	change(ada.id, map[string]any{"active": true}).ok()
	w.logIn().ok()
}

// Requirements: DATA-01
func TestAnAccountIsDeletedWithWhatIsItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root, ada := w.signUp("root@example.org"), w.signUp("ada@example.org")
	theirs := ada.belongings()
	ada.do("DELETE", "/v1/auth/me", map[string]any{"password": "wrong horse"}).fails(400, "validation_error")
	root.do("DELETE", "/v1/auth/me", map[string]any{"password": "correct horse"}).fails(409, "conflict") // the last administrator
	out := ada.do("DELETE", "/v1/auth/me", map[string]any{"password": "correct horse"})
	out.ok()
	if c := cookieOf(t, out); c.MaxAge >= 0 {
		t.Errorf("the cookie stays: %+v", c)
	}
	ada.get("/v1/auth/me").fails(401, "unauthorized")
	w.logIn().fails(401, "unauthorized")
	again := w.signUp("ada@example.org") // the address is free, and nothing of before is there
	again.get("/v1/conversations/"+theirs.conversation).fails(404, "not_found")
	again.get("/v1/artifacts/"+theirs.artifact).fails(404, "not_found")
}

// Requirements: ISO-12
func TestASessionIsOfOneTenant(t *testing.T) {
	t.Parallel()
	w, _ := mailedWorld(t, func(o *identity.Options) { o.Tenants = []string{"acme", "globex"} })
	w.signUp("root@example.org")
	nobody := &person{world: w}
	ada := w.personOf(nobody.post("/v1/auth/signup", map[string]any{"email": "ada@example.org", "password": "correct horse"}, "X-Tenant-ID", "globex").ok())
	ada.get("/v1/auth/me").ok()
	if me := ada.get("/v1/auth/me", "X-Tenant-ID", "globex").ok()["user"].(map[string]any); me["tenant_id"] != "globex" {
		t.Errorf("me = %v", me)
	}
	for _, path := range []string{"/v1/auth/me", "/v1/files/limits", "/v1/chat/stream"} {
		got := ada.get(path, "X-Tenant-ID", "acme")
		if got.status != http.StatusUnauthorized && path != "/v1/chat/stream" {
			t.Errorf("%s in another tenant: %d", path, got.status)
		}
	}
	if _, resp, err := w.dial(http.Header{"Authorization": {"Bearer " + ada.token}, "X-Tenant-Id": {"acme"}}); err == nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a socket into another tenant: %v", err)
	}
	w.logIn("tenant_id", "globex").ok()
	w.logIn("tenant_id", "acme").fails(401, "unauthorized")
	nobody.post("/v1/auth/signup", map[string]any{"email": "eve@example.org", "password": "correct horse", "tenant_id": "initech"}).fails(400, "validation_error")
}

// Requirements: UI-18
func TestARequestThatNamesASessionIsOfThatOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	ada.get("/v1/auth/me", "session_id", ada.session).ok()
	for _, foreign := range []string{bob.session, id.New(), "x"} {
		for _, path := range []string{"/v1/auth/me", "/v1/files/limits"} {
			ada.get(path, "session_id", foreign).fails(401, "unauthorized")
		}
		if _, resp, err := w.dial(http.Header{"Authorization": {"Bearer " + ada.token}, "Session_id": {foreign}}); err == nil || resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("a socket in another session: %v", err)
		}
	}
	(&person{world: w}).get("/v1/auth/me", "session_id", ada.session).fails(401, "unauthorized")
	fresh := w.personOf((&person{world: w}).post("/v1/auth/refresh", map[string]any{"refresh_token": ada.refresh}).ok())
	fresh.get("/v1/auth/me", "session_id", fresh.session).ok()
}

// Requirements: AUTH-06
func TestTheSessionCookieNamesASessionAndSignsNobodyIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.PublicURL = "https://chat.example.org" })
	ada, nobody := w.signUp("ada@example.org"), &person{world: w}
	in := w.logIn()
	data, c := in.ok(), named(t, in, sessionCookie)
	if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Value != data["session_id"] {
		t.Errorf("cookie = %+v", c)
	}
	nobody.get("/v1/auth/me", "Cookie", sessionCookie+"="+c.Value).fails(401, "unauthorized")
	refresh := data["refresh_token"].(string)
	mixed := refreshCookie + "=" + refresh + "; " + sessionCookie + "="
	nobody.post("/v1/auth/refresh", nil, "Cookie", mixed+ada.session).fails(401, "unauthorized")
	nobody.post("/v1/auth/refresh", nil, "Cookie", mixed+c.Value).ok()
}

func named(t *testing.T, r *response, name string) *http.Cookie {
	t.Helper()
	for _, c := range (&http.Response{Header: r.header}).Cookies() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("%s set no cookie %s", r.what, name)
	return nil
}

// Requirements: AUTH-06
func TestCookiesAloneChangeNothingFromAnotherSite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, nobody := w.signUp("ada@example.org"), &person{world: w}
	cookies := refreshCookie + "=" + ada.refresh + "; " + sessionCookie + "=" + ada.session
	accepting := map[string]bool{}
	for path, item := range w.server.huma.OpenAPI().Paths {
		if item.Post == nil {
			continue
		}
		for _, p := range item.Post.Parameters {
			if p.In == "cookie" && p.Name == refreshCookie {
				accepting[path] = true
			}
		}
	}
	if len(accepting) < 2 {
		t.Fatalf("routes that take the cookie: %v", accepting)
	}
	w.routes(ada.session, func(operation, method, path string) {
		if method == http.MethodGet {
			return
		}
		for _, from := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
			got := nobody.do(method, path, nil, append(from, "Cookie", cookies)...)
			if got.status != http.StatusForbidden {
				t.Errorf("%s with %v: %d", operation, from, got.status)
			}
		}
	})
	ada.get("/v1/auth/me").ok()
	nobody.post("/v1/auth/refresh", nil, "Cookie", cookies, "Sec-Fetch-Site", "same-origin").ok()
}

// Requirements: SAFE-08
func TestNoSecretReachesALogOrAnAnswerOfOthers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var logged bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(lockedWriter{&mu, &logged}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w, letters := mailedWorld(t, func(o *identity.Options) { o.Logger = logger }, func(o *Options) { o.Logger = logger })
	root, nobody := w.signUp("root@example.org"), &person{world: w}
	ada := w.signUp("ada@example.org")
	nobody.post("/v1/auth/request_reset", map[string]any{"email": "ada@example.org"}).ok()
	token := tokenOf(t, letters())
	_, c, err := w.store.UserByEmail(t.Context(), "ada@example.org")
	w.must(err)
	s, _, err := w.store.Session(t.Context(), ada.session)
	w.must(err)
	secrets := []string{ada.token, ada.refresh, strings.TrimPrefix(ada.refresh, ada.session+"."), token, c.Hash, s.RefreshHash, "correct horse", "wrong horse", "another horse"}
	answers := [][]byte{
		w.logIn("password", "wrong horse").body,
		nobody.post("/v1/auth/refresh", map[string]any{"refresh_token": ada.refresh + "x"}).body,
		nobody.post("/v1/auth/complete_reset", map[string]any{"token": token + "x", "new_password": "another horse"}).body,
		nobody.post("/v1/auth/complete_reset", map[string]any{"token": token, "new_password": "another horse"}).body,
		nobody.post("/v1/auth/complete_reset", map[string]any{"token": token, "new_password": "another horse"}).body,
		nobody.get("/v1/auth/me", "Authorization", "Bearer "+ada.token).body,
		root.get("/v1/users").body, root.get("/v1/auth/sessions").body, root.get("/v1/settings").body,
	}
	mu.Lock()
	defer mu.Unlock()
	text := logged.String() + string(bytes.Join(answers, []byte("\n")))
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in\n%s", secret, text)
		}
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// Requirements: AUTH-05, AUTH-21
func TestASocketNoticesWhoItsPersonIsNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root, ada := w.signUp("root@example.org"), w.signUp("ada@example.org")
	k := ada.talk()
	k.say(map[string]any{"type": "chat_start", "message": "hi"})
	k.until("message_done")
	root.do("PATCH", "/v1/users/"+ada.id, map[string]any{"active": false}).ok()
	k.say(map[string]any{"type": "chat_start", "message": "hi"})
	if code := k.closed(); code != closeUnauthorized {
		t.Errorf("closed with %d", code)
	}
}

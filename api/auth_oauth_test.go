package api

import (
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/oauth"
)

// elsewhere is a world beside an OpenID Connect provider named oidc:acme.
type elsewhere struct {
	*securedWorld
	provider *mockoidc.MockOIDC
}

func newElsewhere(t *testing.T) *elsewhere {
	t.Helper()
	return tunedElsewhere(t, func(*identity.Options) {})
}

// tunedElsewhere is newElsewhere with other accounts.
func tunedElsewhere(t *testing.T, tune func(*identity.Options)) *elsewhere {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m, err := mockoidc.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(ln, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Shutdown() })
	acme := oauth.Client{Name: "oidc:acme", Kind: oauth.KindOpenID, Label: "Acme", Issuer: m.Issuer(), ID: m.ClientID, Secret: oauth.Secret(m.ClientSecret), Scopes: []string{"openid", "email"}}
	w := tunedWorld(t, tune, func(o *Options) {
		o.Providers = oauth.New([]oauth.Client{acme}, oauth.Options{Cache: inproc.NewCache(0)})
	})
	return &elsewhere{securedWorld: w, provider: m}
}

// resident is somebody at the provider.
type resident struct {
	id     string
	claims map[string]any
}

func (r resident) ID() string { return r.id }

func (r resident) Userinfo([]string) ([]byte, error) {
	return json.Marshal(map[string]any{"sub": r.id})
}

func (r resident) Claims(_ []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	raw, err := json.Marshal(base)
	if err != nil {
		return nil, err
	}
	claims := jwt.MapClaims{}
	err = json.Unmarshal(raw, &claims)
	maps.Copy(claims, r.claims)
	return claims, err
}

func adaThere(verified bool) resident {
	return resident{id: "ada-1", claims: map[string]any{"email": "Ada@example.org", "email_verified": verified, "name": "Ada L."}}
}

// browser keeps cookies and follows nothing.
type browser struct {
	*elsewhere
	client *http.Client
}

func (w *elsewhere) browser() *browser {
	jar, err := cookiejar.New(nil)
	w.must(err)
	return &browser{elsewhere: w, client: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// visit opens an address and returns the answer with its body closed.
func (b *browser) visit(address string, headers ...string) *http.Response {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, address, nil)
	b.must(err)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := b.client.Do(r)
	b.must(err)
	b.must(resp.Body.Close())
	return resp
}

// depart begins a sign-in as p, who may be nobody, and returns where the
// provider sends the browser back to.
func (b *browser) depart(p *person, who resident, body any, headers ...string) (back string) {
	b.Helper()
	b.provider.QueueUser(who)
	r := p.request(http.MethodPost, "/v1/auth/oauth/oidc:acme/start", body, headers...)
	resp, err := b.client.Do(r)
	b.must(err)
	defer resp.Body.Close()
	var e Envelope[OAuthRedirect]
	b.must(json.NewDecoder(resp.Body).Decode(&e))
	if e.Data.URL == "" {
		b.Fatalf("start answered %d", resp.StatusCode)
	}
	return b.visit(e.Data.URL).Header.Get("Location")
}

// signIn goes there and back as who, and returns where the browser ends.
func (b *browser) signIn(who resident) *http.Response {
	b.Helper()
	return b.visit(b.depart(&person{world: b.world}, who, nil))
}

// me is whom the browser's cookie is of; nil when there is none.
func (b *browser) me() map[string]any {
	b.Helper()
	r := (&person{world: b.world}).request(http.MethodPost, "/v1/auth/refresh", nil, "Sec-Fetch-Site", "same-origin")
	resp, err := b.client.Do(r)
	b.must(err)
	defer resp.Body.Close()
	var e struct{ Data map[string]any }
	b.must(json.NewDecoder(resp.Body).Decode(&e))
	if e.Data == nil {
		return nil
	}
	return b.personOf(e.Data).get("/v1/auth/me").ok()["user"].(map[string]any)
}

func (w *elsewhere) wantRefusal(resp *http.Response, status int) {
	w.Helper()
	if resp.StatusCode != status || resp.Header.Get("Location") != "" {
		w.Errorf("answered %d to %q, want %d", resp.StatusCode, resp.Header.Get("Location"), status)
	}
	for _, c := range resp.Cookies() {
		if c.Name == refreshCookie && c.Value != "" {
			w.Error("signed in all the same")
		}
	}
}

// prove marks the address of an account as confirmed.
func (w *elsewhere) prove(email string) {
	w.Helper()
	u, _, err := w.store.UserByEmail(w.Context(), email)
	w.must(err)
	for _, unverified := range []bool{true, false} {
		_, err = w.store.ChangeUser(w.Context(), u.ID, identity.UserChange{Unverified: &unverified})
		w.must(err)
	}
}

// Requirements: AUTH-16
func TestSigningInElsewhereMakesAnAccountAndFindsItAgain(t *testing.T) {
	t.Parallel()
	w := newElsewhere(t)
	nobody := &person{world: w.world}
	list := nobody.get("/v1/auth/oauth").ok()["providers"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["name"] != "oidc:acme" || list[0].(map[string]any)["label"] != "Acme" {
		t.Errorf("providers = %v", list)
	}
	b := w.browser()
	resp := b.signIn(adaThere(true))
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/#signed_in=oidc%3Aacme" {
		t.Fatalf("callback: %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	first := b.me()
	if first["email"] != "ada@example.org" || first["handle"] != "Ada L." {
		t.Errorf("me = %v", first)
	}
	w.logIn().fails(401, "unauthorized") // it has no password
	moved := adaThere(true)
	moved.claims = maps.Clone(moved.claims)
	moved.claims["email"] = "ada@elsewhere.example" // it is the uid that counts
	other := w.browser()
	other.signIn(moved)
	if second := other.me(); second["id"] != first["id"] || second["email"] != "ada@example.org" {
		t.Errorf("second sign-in = %v", second)
	}
}

// Requirements: AUTH-16
func TestAnAddressIsLinkedOnlyWhenBothSidesHaveProvedIt(t *testing.T) {
	t.Parallel()
	w := newElsewhere(t)
	ada := w.signUp("ada@example.org")
	w.wantRefusal(w.browser().signIn(adaThere(true)), http.StatusConflict) // ours is not proven
	w.prove("ada@example.org")
	w.wantRefusal(w.browser().signIn(adaThere(false)), http.StatusConflict) // theirs is not
	b := w.browser()
	b.signIn(adaThere(true))
	if me := b.me(); me["id"] != ada.id {
		t.Errorf("me = %v", me)
	}
}

// Requirements: AUTH-16
func TestAnUnprovenAddressTellsNotWhetherItHasAnAccount(t *testing.T) {
	t.Parallel()
	w := tunedElsewhere(t, func(o *identity.Options) { o.Confirm, o.Mail = true, &postbox{} })
	w.signUp("admin@example.org")
	stranger := resident{id: "eve-1", claims: map[string]any{"email": "nobody@example.org", "email_verified": false}}
	w.wantRefusal(w.browser().signIn(stranger), http.StatusConflict)
	known := resident{id: "eve-2", claims: map[string]any{"email": "admin@example.org", "email_verified": false}}
	w.wantRefusal(w.browser().signIn(known), http.StatusConflict)
	b := w.browser()
	b.signIn(adaThere(true))
	if me := b.me(); me["email"] != "ada@example.org" {
		t.Errorf("me = %v", me)
	}
}

// Requirements: AUTH-16
func TestAClosedServerMakesNoAccountsForThoseElsewhere(t *testing.T) {
	t.Parallel()
	w := tunedElsewhere(t, func(o *identity.Options) { o.SignUpClosed = true })
	first := w.browser()
	first.signIn(adaThere(true))
	if me := first.me(); me["role"] != "admin" {
		t.Errorf("me = %v", me)
	}
	second := resident{id: "bob-1", claims: map[string]any{"email": "bob@example.org", "email_verified": true}}
	w.wantRefusal(w.browser().signIn(second), http.StatusForbidden)
}

// Requirements: AUTH-16
func TestASessionLinksAProviderToItsAccount(t *testing.T) {
	t.Parallel()
	w := newElsewhere(t)
	ada, bob, b := w.signUp("ada@example.org"), w.signUp("bob@example.org"), w.browser()
	resp := b.visit(b.depart(ada, adaThere(false), map[string]any{"return": "/settings?tab=account"}))
	if got := resp.Header.Get("Location"); got != "/settings?tab=account#linked=oidc%3Aacme" {
		t.Errorf("back to %q", got)
	}
	b.signIn(adaThere(false))
	if me := b.me(); me["id"] != ada.id {
		t.Errorf("me = %v", me)
	}
	w.wantRefusal(b.visit(b.depart(bob, adaThere(false), nil)), http.StatusConflict) // it is ada's
	back := b.depart(bob, resident{id: "bob-1", claims: map[string]any{}}, nil)
	bob.post("/v1/auth/logout", nil).ok()
	w.wantRefusal(b.visit(back), http.StatusUnauthorized) // the session ended on the way
	bob.post("/v1/auth/oauth/oidc:acme/start", nil).fails(401, "unauthorized")
}

// Requirements: AUTH-16
func TestACallbackCountsOnceAndInItsBrowserOnly(t *testing.T) {
	t.Parallel()
	w := newElsewhere(t)
	victim, attacker := w.browser(), w.browser()
	nobody := &person{world: w.world}
	back := attacker.depart(nobody, adaThere(true), nil)
	w.wantRefusal(victim.visit(back), http.StatusUnauthorized)
	back = attacker.depart(nobody, adaThere(true), nil)
	if resp := attacker.visit(back); resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("callback: %d", resp.StatusCode)
	}
	w.wantRefusal(attacker.visit(back), http.StatusUnauthorized)
	w.wantRefusal(attacker.visit(w.url+"/v1/auth/oauth/oidc:acme/callback?state=made-up&code=x"), http.StatusUnauthorized)
	w.wantRefusal(attacker.visit(w.url+"/v1/auth/oauth/nowhere/callback?state=x&code=x"), http.StatusNotFound)
	nobody.get("/v1/auth/oauth/oidc:acme/callback?error=access_denied").fails(401, "unauthorized")
}

// Requirements: AUTH-16
func TestARefusedSignInIsAPageForPeople(t *testing.T) {
	t.Parallel()
	w := newElsewhere(t)
	b := w.browser()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/v1/auth/oauth/oidc:acme/callback?state=%3Cscript%3E", nil)
	w.must(err)
	r.Header.Set("Accept", "text/html,application/xhtml+xml")
	resp, err := b.client.Do(r)
	w.must(err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	w.must(err)
	got := string(page)
	if resp.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") || !strings.Contains(got, "Begin again.") || strings.Contains(got, "<script>") {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
}

// Requirements: AUTH-16
func TestALinkIsSeenAndUndoneButNotTheLastWayIn(t *testing.T) {
	t.Parallel()
	w := newElsewhere(t)
	ada, b := w.signUp("ada@example.org"), w.browser()
	b.visit(b.depart(ada, adaThere(true), nil))
	list := ada.get("/v1/auth/links").ok()["links"].([]any)
	if link, _ := list[0].(map[string]any); len(list) != 1 || link["provider"] != "oidc:acme" || link["email"] != "Ada@example.org" || link["linked_at"] == nil {
		t.Errorf("links = %v", list)
	}
	ada.do("DELETE", "/v1/auth/links/oidc:acme", nil).ok()
	ada.do("DELETE", "/v1/auth/links/oidc:acme", nil).fails(404, "not_found")
	w.wantRefusal(b.signIn(adaThere(true)), http.StatusConflict) // a stranger again

	b.signIn(resident{id: "bob-1", claims: map[string]any{"email": "bob@example.org", "email_verified": true}})
	r := (&person{world: w.world}).request(http.MethodPost, "/v1/auth/refresh", nil, "Sec-Fetch-Site", "same-origin")
	resp, err := b.client.Do(r)
	w.must(err)
	defer resp.Body.Close()
	var e struct{ Data map[string]any }
	w.must(json.NewDecoder(resp.Body).Decode(&e))
	bob := w.personOf(e.Data)
	if got := bob.do("DELETE", "/v1/auth/links/oidc:acme", nil); got.reason() != "last_way_in" {
		t.Errorf("bob has neither password nor provider: %s", got.body)
	}
	if len(ada.get("/v1/auth/links").ok()["links"].([]any)) != 0 {
		t.Error("ada sees bob's")
	}
}

// Requirements: AUTH-13, AUTH-16
func TestASignInElsewhereAsksForTheSecondFactorToo(t *testing.T) {
	t.Parallel()
	w := newElsewhere(t)
	ada, b := w.signUp("ada@example.org"), w.browser()
	b.visit(b.depart(ada, adaThere(true), nil))
	_, secret, _ := w.enrol(ada)
	resp := b.signIn(adaThere(true))
	path, fragment, _ := strings.Cut(resp.Header.Get("Location"), "#")
	q, err := url.ParseQuery(fragment)
	w.must(err)
	if resp.StatusCode != http.StatusSeeOther || path != "/" || q.Get("mfa_ticket") == "" || b.me() != nil {
		t.Fatalf("callback: %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	data := (&person{world: w.world}).post("/v1/auth/mfa/verify", map[string]any{"ticket": q.Get("mfa_ticket"), "code": w.code(secret)}).ok()
	if w.personOf(data).id != ada.id {
		t.Errorf("verify = %v", data)
	}
}

// Requirements: AUTH-13, AUTH-16
func TestAnAddressIsLinkedOnlyAfterTheSecondFactor(t *testing.T) {
	t.Parallel()
	w := newElsewhere(t)
	ada := w.signUp("ada@example.org")
	w.prove("ada@example.org")
	_, secret, _ := w.enrol(ada)
	resp := w.browser().signIn(adaThere(true))
	_, ticket, _ := strings.Cut(resp.Header.Get("Location"), "#mfa_ticket=")
	if _, err := w.store.LinkedUser(t.Context(), "oidc:acme", "ada-1"); err == nil {
		t.Error("linked before the second factor was shown")
	}
	(&person{world: w.world}).post("/v1/auth/mfa/verify", map[string]any{"ticket": ticket, "code": w.code(secret)}).ok()
	if owner, err := w.store.LinkedUser(t.Context(), "oidc:acme", "ada-1"); err != nil || owner != ada.id {
		t.Errorf("linked to %q, %v", owner, err)
	}
}

// Requirements: AUTH-16, AUTH-21
func TestAnAccountThatIsSwitchedOffStaysOutElsewhereToo(t *testing.T) {
	t.Parallel()
	w := newElsewhere(t)
	w.signUp("admin@example.org")
	w.browser().signIn(adaThere(true))
	u, _, err := w.store.UserByEmail(t.Context(), "ada@example.org")
	w.must(err)
	off := false
	_, err = w.store.ChangeUser(t.Context(), u.ID, identity.UserChange{Active: &off})
	w.must(err)
	w.wantRefusal(w.browser().signIn(adaThere(true)), http.StatusUnauthorized)
}

// Requirements: AUTH-16
func TestTheWayBackStaysHere(t *testing.T) {
	t.Parallel()
	for path, stays := range map[string]bool{
		"/": true, "/c/0190?x=1": true, "/settings": true,
		"": false, "//evil.example": false, `/\evil.example`: false, "https://evil.example": false, "javascript:alert(1)": false,
		"/\t/evil.example": false, "evil.example": false, "/a#b": false, "/v1/auth/oauth/x/callback": false, "/%zz": false, "/a\r\nSet-Cookie: x": false,
	} {
		if clientPath(path) != stays {
			t.Errorf("%q stays: %v", path, !stays)
		}
	}
	w := newElsewhere(t)
	(&person{world: w.world}).post("/v1/auth/oauth/oidc:acme/start", map[string]any{"return": "//evil.example"}).fails(400, "validation_error")
}

package oauth

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/inproc"
)

const callback = "http://127.0.0.1/v1/auth/oauth/acme/callback"

// place is an OpenID Connect provider on loopback, with discovery, keys, the
// code flow and PKCE, and us as its client.
type place struct {
	*testing.T
	*mockoidc.MockOIDC
	providers *Providers
	client    Client
}

func newPlace(t *testing.T, middleware ...func(http.Handler) http.Handler) *place {
	t.Helper()
	m, err := mockoidc.NewServer(nil)
	need(t, err)
	for _, one := range middleware {
		need(t, m.AddMiddleware(one))
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	need(t, err)
	need(t, m.Start(ln, nil))
	t.Cleanup(func() { _ = m.Shutdown() })
	c := Client{
		Name: "acme", Kind: KindOpenID, Label: "Acme", Issuer: m.Issuer(), ID: m.ClientID, Secret: Secret(m.ClientSecret),
		Scopes: []string{"openid", "profile", "email"},
	}
	return &place{T: t, MockOIDC: m, client: c, providers: New([]Client{c}, Options{Cache: inproc.NewCache(0)})}
}

func need(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// somebody is a user of the provider; claims are laid over their ID token.
type somebody struct {
	id     string
	claims map[string]any
	info   map[string]any
}

func ada() somebody {
	return somebody{id: "ada-1", claims: map[string]any{"email": "ada@example.org", "email_verified": true, "name": "Ada", "locale": "de-DE"}}
}

func (s somebody) with(claim string, value any) somebody {
	s.claims = maps.Clone(s.claims)
	s.claims[claim] = value
	return s
}

func (s somebody) ID() string { return s.id }

func (s somebody) Userinfo([]string) ([]byte, error) { return json.Marshal(s.info) }

func (s somebody) Claims(_ []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	raw, err := json.Marshal(base)
	if err != nil {
		return nil, err
	}
	all := jwt.MapClaims{}
	err = json.Unmarshal(raw, &all)
	maps.Copy(all, s.claims)
	return all, err
}

func (p *place) begin() Begun {
	p.Helper()
	b, err := p.providers.Start(p.Context(), Begin{Provider: "acme", Redirect: callback, Return: "/chat"})
	need(p.T, err)
	return b
}

// visit is what a browser does at the provider: it comes back with an answer.
func visit(t *testing.T, address string) url.Values {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	need(t, err)
	resp, err := http.DefaultTransport.RoundTrip(r)
	need(t, err)
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		t.Fatalf("the provider answered %d: %v", resp.StatusCode, err)
	}
	return back.Query()
}

func (b Begun) back(provider string, q url.Values) Callback {
	return Callback{Provider: provider, State: q.Get("state"), Code: q.Get("code"), Refusal: q.Get("error"), Issuer: q.Get("iss"), Browser: b.Browser}
}

// signIn goes there and back as who.
func (p *place) signIn(who somebody) (identity.External, error) {
	p.Helper()
	p.QueueUser(who)
	b := p.begin()
	e, begun, err := p.providers.Finish(p.Context(), b.back("acme", visit(p.T, b.URL)))
	if err == nil && begun.Return != "/chat" {
		p.Errorf("back to %q", begun.Return)
	}
	return e, err
}

func (p *place) refuses(err error, reason string) {
	p.Helper()
	refuses(p.T, err, reason)
}

func refuses(t *testing.T, err error, reason string) {
	t.Helper()
	f := fault.From(err)
	if f == nil {
		t.Fatalf("let in, want %s", reason)
	}
	details, _ := f.Details.(map[string]any)
	if details["reason"] != reason || !strings.HasSuffix(f.Message, ".") {
		t.Errorf("got %v (%v), want reason %s", err, f.Details, reason)
	}
}

// Requirements: AUTH-16
func TestAProviderSaysWhoSomebodyIs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	got, err := p.signIn(ada())
	need(t, err)
	want := identity.External{Provider: "acme", UID: "ada-1", Email: "ada@example.org", EmailVerified: true, Handle: "Ada", Locale: "de-DE"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	got, err = p.signIn(ada().with("email_verified", false))
	need(t, err)
	if got.EmailVerified {
		t.Error("an address nobody has verified is verified")
	}
	got, err = p.signIn(ada().with("email_verified", "true"))
	need(t, err)
	if !got.EmailVerified {
		t.Error(`"true" is not true`)
	}
}

// Requirements: AUTH-16
func TestTheRequestIsBoundToItsAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	b := p.begin()
	u, err := url.Parse(b.URL)
	need(t, err)
	q := u.Query()
	if q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || len(q.Get("nonce")) < 20 ||
		q.Get("state") != b.State || q.Get("redirect_uri") != callback || q.Get("response_type") != "code" {
		t.Errorf("request = %v", q)
	}
	for _, secret := range []string{string(p.client.Secret), b.Browser} {
		if strings.Contains(b.URL, secret) {
			t.Error("the address holds a secret")
		}
	}
	if second := p.begin(); second.State == b.State || second.Browser == b.Browser {
		t.Error("two sign-ins share their state")
	}
}

// Requirements: AUTH-16
func TestAStateIsGoodOnceAndInItsBrowser(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.QueueUser(ada())
	b := p.begin()
	good := b.back("acme", visit(t, b.URL))

	unknown := good
	unknown.State = "made-up"
	_, _, err := p.providers.Finish(t.Context(), unknown)
	p.refuses(err, "state_unknown")

	_, _, err = p.providers.Finish(t.Context(), good)
	need(t, err)
	_, _, err = p.providers.Finish(t.Context(), good)
	p.refuses(err, "state_unknown")

	for _, cookie := range []string{"", "another"} {
		b = p.begin()
		other := b.back("acme", visit(t, b.URL))
		other.Browser = cookie
		_, _, err = p.providers.Finish(t.Context(), other)
		p.refuses(err, "other_browser")
	}
}

// Requirements: AUTH-16
func TestAStateOfOneProviderIsNoneOfAnother(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	second := p.client
	second.Name = "second"
	p.providers = New([]Client{p.client, second}, Options{Cache: inproc.NewCache(0)})
	b := p.begin()
	_, _, err := p.providers.Finish(t.Context(), b.back("second", visit(t, b.URL)))
	p.refuses(err, "state_unknown")
	_, err = p.providers.Start(t.Context(), Begin{Provider: "third"})
	if !errors.Is(err, fault.NotFound) {
		t.Errorf("an unknown provider: %v", err)
	}
	if list := p.providers.List(); len(list) != 2 || list[0] != (Listed{Name: "acme", Label: "Acme"}) {
		t.Errorf("list = %v", list)
	}
}

// Requirements: AUTH-16
func TestATokenThatDoesNotProveItselfIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, who := range map[string]somebody{
		"another nonce":    ada().with("nonce", "of-another-sign-in"),
		"no nonce":         ada().with("nonce", ""),
		"another issuer":   ada().with("iss", "https://evil.example"),
		"another audience": ada().with("aud", "another-client"),
		"run out":          ada().with("exp", time.Now().Add(-time.Hour).Unix()),
		"no subject":       ada().with("sub", ""),
		"another token":    ada().with("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			_, err := p.signIn(who)
			p.refuses(err, "token_invalid")
		})
	}
}

// forger signs the ID tokens of a provider with a key of its own, under the
// name of the provider's.
type forger struct{ on atomic.Bool }

func (f *forger) middleware(key *mockoidc.Keypair) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !f.on.Load() || r.URL.Path != mockoidc.TokenEndpoint {
				next.ServeHTTP(w, r)
				return
			}
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			var answer map[string]any
			_ = json.Unmarshal(rec.Body.Bytes(), &answer)
			if raw, ok := answer["id_token"].(string); ok {
				answer["id_token"] = resigned(raw, key)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(rec.Code)
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
}

func resigned(raw string, key *mockoidc.Keypair) string {
	claims := jwt.MapClaims{}
	old, _, err := jwt.NewParser().ParseUnverified(raw, claims)
	if err != nil {
		return err.Error()
	}
	forged := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	forged.Header["kid"] = old.Header["kid"]
	signed, err := forged.SignedString(key.PrivateKey)
	if err != nil {
		return err.Error()
	}
	return signed
}

// Requirements: AUTH-16
func TestAForgedSignatureIsNotBelieved(t *testing.T) {
	t.Parallel()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	need(t, err)
	key, err := mockoidc.NewKeypair(private)
	need(t, err)
	f := &forger{}
	p := newPlace(t, f.middleware(key))
	_, err = p.signIn(ada())
	need(t, err)
	f.on.Store(true)
	_, err = p.signIn(ada())
	p.refuses(err, "token_invalid")
}

// Requirements: AUTH-16
func TestACodeThatIsNotTakenIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.QueueUser(ada())
	b := p.begin()
	back := b.back("acme", visit(t, b.URL))
	p.QueueError(&mockoidc.ServerError{Code: http.StatusBadRequest, Error: mockoidc.InvalidGrant, Description: "the code has expired"})
	p.QueueError(&mockoidc.ServerError{Code: http.StatusBadRequest, Error: mockoidc.InvalidGrant, Description: "the code has expired"})
	_, _, err := p.providers.Finish(t.Context(), back)
	p.refuses(err, "code_refused")

	p = newPlace(t)
	first, second := p.begin(), p.begin()
	stolen := visit(t, first.URL).Get("code")
	injected := second.back("acme", visit(t, second.URL))
	injected.Code = stolen // of another sign-in: PKCE knows
	_, _, err = p.providers.Finish(t.Context(), injected)
	p.refuses(err, "code_refused")
}

// Requirements: AUTH-16
func TestAnAnswerWithoutACodeIsARefusal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for reason, change := range map[string]func(*Callback){
		"denied":           func(c *Callback) { c.Refusal = "access_denied" },
		"provider_refused": func(c *Callback) { c.Refusal = "<script>alert(1)</script>" },
		"no_code":          func(c *Callback) { c.Code = "" },
		"other_issuer":     func(c *Callback) { c.Issuer = "https://evil.example" },
	} {
		b := p.begin()
		c := b.back("acme", visit(t, b.URL))
		change(&c)
		_, begun, err := p.providers.Finish(t.Context(), c)
		p.refuses(err, reason)
		if begun.Return != "/chat" || strings.Contains(err.Error(), "script") {
			t.Errorf("%s: %+v, %v", reason, begun, err)
		}
	}
}

// Requirements: AUTH-16
func TestTheEmailMayComeFromTheUserInfo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	quiet := somebody{id: "ada-1", claims: map[string]any{}, info: map[string]any{"sub": "ada-1", "email": "ada@example.org", "email_verified": true}}
	got, err := p.signIn(quiet)
	need(t, err)
	if got.Email != "ada@example.org" || !got.EmailVerified {
		t.Errorf("got %+v", got)
	}
	quiet.info["sub"] = "eve-1"
	_, err = p.signIn(quiet)
	p.refuses(err, "token_invalid")
}

// Requirements: AUTH-16
func TestAProviderThatIsAwayIsFoundLater(t *testing.T) {
	t.Parallel()
	// An address nobody else has, so that nobody takes the port meanwhile.
	ln, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:15432", 1+mathrand.IntN(254), mathrand.IntN(256), 1+mathrand.IntN(254)))
	need(t, err)
	m, err := mockoidc.NewServer(nil)
	need(t, err)
	var past atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(past.Load())) }
	away := Client{Name: "acme", Kind: KindOpenID, Issuer: "http://" + ln.Addr().String() + mockoidc.IssuerBase, ID: m.ClientID, Secret: Secret(m.ClientSecret)}
	need(t, ln.Close())
	providers := New([]Client{away}, Options{Cache: inproc.NewCache(0), Now: now})
	_, err = providers.Start(t.Context(), Begin{Provider: "acme"})
	refuses(t, err, fault.Upstream)
	again, err := net.Listen("tcp", ln.Addr().String())
	need(t, err)
	need(t, m.Start(again, nil))
	t.Cleanup(func() { _ = m.Shutdown() })
	past.Store(int64(pause))
	_, err = providers.Start(t.Context(), Begin{Provider: "acme"})
	need(t, err)
}

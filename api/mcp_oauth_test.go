package api

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/quota"
)

// documents are what lies at addresses of programs.
type documents map[string]string

func (d documents) Document(_ context.Context, address string, most int64) ([]byte, error) {
	text, ok := d[address]
	if !ok || int64(len(text)) > most {
		return nil, fault.New(fault.NotFound, "There is no such page.")
	}
	return []byte(text), nil
}

// visits follows a browser's address to where it is sent.
func (p *person) visits(address string, headers ...string) (status int, to *url.URL) {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), http.MethodGet, address, nil)
	p.must(err)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	p.must(err)
	defer resp.Body.Close()
	if resp.Header.Get("Location") == "" {
		return resp.StatusCode, nil
	}
	to, err = r.URL.Parse(resp.Header.Get("Location"))
	p.must(err)
	return resp.StatusCode, to
}

// decides is what a person's page does with what a program asks for.
func (p *person) decides(asks url.Values, body map[string]any) *response {
	p.Helper()
	sent := map[string]any{"allow": true}
	for name := range asks {
		sent[name] = asks.Get(name)
	}
	maps.Copy(sent, body)
	return p.post("/v1/oauth/consent", sent)
}

// letsIn is the browser of somebody who lets every program in.
func (p *person) letsIn(seen *url.Values) auth.AuthorizationCodeFetcher {
	return func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		status, page := p.visits(args.URL)
		if status != http.StatusSeeOther || page == nil || page.Path != consentPage {
			return nil, fmt.Errorf("sent with %d to %v", status, page)
		}
		*seen = page.Query()
		back, err := url.Parse(p.decides(*seen, nil).ok()["redirect"].(string))
		q := back.Query()
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, err
	}
}

// A client of others signs its person in: it finds out where, registers or names its
// document, proves itself by PKCE and checks who answered; then it is what its key is for.
func TestAClientOfOthersSignsItsPersonIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	const document = "https://client.example/mcp/client.json"
	w.documents[document] = `{"client_id":"` + document + `","client_name":"Docu\u202ement","redirect_uris":["http://localhost/back"],"token_endpoint_auth_method":"none"}`
	for name, config := range map[string]auth.AuthorizationCodeHandlerConfig{
		"Registered (127.0.0.1:7007)": {RedirectURL: "http://127.0.0.1:7007/back", DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "Registered", RedirectURIs: []string{"http://127.0.0.1:7007/back"}},
		}},
		"Document (localhost:7008)": {RedirectURL: "http://localhost:7008/back", ClientIDMetadataDocumentConfig: &auth.ClientIDMetadataDocumentConfig{URL: document}},
	} {
		var asks url.Values
		config.AuthorizationCodeFetcher = ada.letsIn(&asks)
		handler, err := auth.NewAuthorizationCodeHandler(&config)
		w.must(err)
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: w.url + mcpPath, OAuthHandler: handler, MaxRetries: -1, DisableStandaloneSSE: true,
		}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := (&caller{t, session}).tools(); !slices.Equal(got, []string{"answer", "propose_change", "read_document", "run", "runs", "search_documents"}) {
			t.Errorf("%s: tools %v", name, got)
		}
		_ = session.Close()

		// The page shows what it is: a claim, and a fact.
		shown := ada.get("/v1/oauth/consent?" + asks.Encode()).ok()
		vouched := map[string]string{"Registered (127.0.0.1:7007)": "", "Document (localhost:7008)": "client.example"}[name]
		if told := fmt.Sprintf("%s (%s)", shown["client_name"], shown["redirect_host"]); told != name || shown["client_host"] != vouched || shown["redirect_kind"] != "computer" {
			t.Errorf("%s: shown %v", name, shown)
		}
		// What it has is a key among the person's others, good at /mcp only, and ended there.
		key := items(ada.get("/v1/keys").ok())[0]
		if key["name"] != name || key["audience"] != identity.AudienceMCP || key["ended"] != false || key["used_at"] == nil {
			t.Errorf("%s: key %v", name, key)
		}
		source, err := handler.TokenSource(t.Context())
		w.must(err)
		token, err := source.Token()
		w.must(err)
		holder := &person{world: w, token: token.AccessToken}
		holder.get("/v1/conversations").fails(401, "unauthorized")
		holder.get("/v1/conversations", "X-Api-Key", token.AccessToken, "Authorization", "").fails(401, "unauthorized")
		ada.do("DELETE", "/v1/keys/"+key["id"].(string), nil).ok()
		if _, err := holder.dials(t, statelessSince, nil); err == nil {
			t.Errorf("%s: a client connects with a key that was ended", name)
		}
		if got := w.form("/oauth/token", url.Values{"grant_type": {grantRefresh}, "client_id": {asks.Get("client_id")}, "refresh_token": {token.RefreshToken}}); got.oauth(400) != "invalid_grant" {
			t.Errorf("%s: a refresh token of a key that was ended: %s", name, got.body)
		}
	}
}

// form sends one as programs do.
func (w *world) form(path string, fields url.Values) *response {
	w.Helper()
	return (&person{world: w}).post(path, fields.Encode(), "Content-Type", formType)
}

// oauth is the error of an answer that must be one of OAuth.
func (r *response) oauth(status int) string {
	r.t.Helper()
	var f OAuthFailure
	if err := json.Unmarshal(r.body, &f); err != nil || r.status != status || f.Error == "" || f.Description == "" {
		r.t.Fatalf("%s: %d %s, want %d", r.what, r.status, r.body, status)
	}
	return f.Error
}

// program is one that somebody lets in.
type program struct {
	*world
	owner    *person
	client   string
	verifier string
}

const programBack = "https://program.example/back?of=liminal"

func (w *world) program(owner *person, redirects ...string) program {
	w.Helper()
	got := (&person{world: w}).post("/oauth/register", map[string]any{"client_name": "Program", "redirect_uris": append(redirects, programBack), "token_endpoint_auth_method": "client_secret_basic", "scope": "x"})
	var made RegisteredClient
	if err := json.Unmarshal(got.body, &made); err != nil || got.status != http.StatusCreated || made.Method != "none" || strings.Contains(string(got.body), "secret") {
		w.Fatalf("register: %d %s", got.status, got.body)
	}
	return program{world: w, owner: owner, client: made.ID, verifier: oauth2.GenerateVerifier()}
}

// asks is what it asks for.
func (p program) asks(change ...string) url.Values {
	q := url.Values{
		"client_id": {p.client}, "redirect_uri": {programBack}, "response_type": {"code"}, "code_challenge": {oauth2.S256ChallengeFromVerifier(p.verifier)},
		"code_challenge_method": {"S256"}, "resource": {p.url + mcpPath}, "scope": {"chat read offline_access"}, "state": {"s &=?"},
	}
	for i := 0; i+1 < len(change); i += 2 {
		q.Set(change[i], change[i+1])
	}
	return q
}

// code is one that its owner gives it.
func (p program) code() string {
	p.Helper()
	back, err := url.Parse(p.owner.decides(p.asks(), nil).ok()["redirect"].(string))
	p.must(err)
	return back.Query().Get("code")
}

func (p program) trades(fields ...string) *response {
	p.Helper()
	q := url.Values{"client_id": {p.client}}
	for i := 0; i+1 < len(fields); i += 2 {
		q.Set(fields[i], fields[i+1])
	}
	return p.form("/oauth/token", q)
}

func (p program) redeems(code string, change ...string) *response {
	p.Helper()
	return p.trades(append([]string{"grant_type", grantCode, "code", code, "redirect_uri", programBack, "code_verifier", p.verifier, "resource", p.url + mcpPath}, change...)...)
}

func (p program) renews(refresh string, change ...string) *response {
	p.Helper()
	return p.trades(append([]string{"grant_type", grantRefresh, "refresh_token", refresh}, change...)...)
}

func (r *response) tokens() (t TokenAnswer) {
	r.t.Helper()
	if err := json.Unmarshal(r.body, &t); err != nil || r.status != http.StatusOK || t.Type != "Bearer" || r.header.Get("Cache-Control") != "no-store" {
		r.t.Fatalf("%s: %d %s", r.what, r.status, r.body)
	}
	return t
}

// opens is whether a token opens /mcp.
func (w *world) opens(access string) int {
	w.Helper()
	hello := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}}}
	return (&person{world: w, token: access}).post(mcpPath, hello, "Accept", "application/json, text/event-stream").status
}

// Who cannot be sent back is told so here, and nobody is sent anywhere before they have
// decided, whatever else is wrong.
func TestWhatAProgramAsksForIsCheckedBeforeAnybodySeesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	p := w.program(ada, "http://127.0.0.1/back")
	const document = "https://client.example/c.json"
	w.documents["https://client.example/other.json"] = `{"client_id":"https://client.example/c.json","redirect_uris":["` + programBack + `"]}`
	w.documents["https://client.example/secret.json"] = `{"client_id":"https://client.example/secret.json","redirect_uris":["` + programBack + `"],"token_endpoint_auth_method":"private_key_jwt"}`
	for what, c := range map[string]struct {
		change []string
		code   string // empty: it holds
	}{
		"as it should be":                 {nil, ""},
		"another port of one's own":       {[]string{"redirect_uri", "http://127.0.0.1:4711/back"}, ""},
		"no scope":                        {[]string{"scope", ""}, ""},
		"a client that is none":           {[]string{"client_id", "x"}, "invalid_client"},
		"one that nobody registered":      {[]string{"client_id", "0196f2c6-0000-7000-8000-000000000000"}, "invalid_client"},
		"a document that is not there":    {[]string{"client_id", document}, "invalid_client"},
		"a document of another":           {[]string{"client_id", "https://client.example/other.json"}, "invalid_client"},
		"a document of a secret client":   {[]string{"client_id", "https://client.example/secret.json"}, "invalid_client"},
		"a document without a path":       {[]string{"client_id", "https://client.example/"}, "invalid_client"},
		"another redirect":                {[]string{"redirect_uri", "https://evil.example/back"}, "invalid_request"},
		"one that begins alike":           {[]string{"redirect_uri", programBack + ".evil"}, "invalid_request"},
		"another path of one's own":       {[]string{"redirect_uri", "http://127.0.0.1:4711/other"}, "invalid_request"},
		"another name of one's own":       {[]string{"redirect_uri", "http://localhost:4711/back"}, "invalid_request"},
		"no redirect of two":              {[]string{"redirect_uri", ""}, "invalid_request"},
		"a token at once":                 {[]string{"response_type", "token"}, "unsupported_response_type"},
		"without PKCE":                    {[]string{"code_challenge", "", "code_challenge_method", ""}, "invalid_request"},
		"PKCE that proves nothing":        {[]string{"code_challenge_method", "plain"}, "invalid_request"},
		"another's resource":              {[]string{"resource", "https://other.example/mcp"}, "invalid_target"},
		"no resource":                     {[]string{"resource", ""}, "invalid_target"},
		"scopes that there are elsewhere": {[]string{"scope", "admin write"}, "invalid_scope"},
	} {
		asks := p.asks(c.change...)
		status, to := ada.visits(w.url+"/oauth/authorize?"+asks.Encode(), "Accept", "text/html")
		if c.code == "" {
			if status != http.StatusSeeOther || to.Path != consentPage || to.Query().Get("state") != "s &=?" {
				t.Errorf("%s: %d, to %v", what, status, to)
			}
			continue
		}
		if status != http.StatusBadRequest || to != nil {
			t.Errorf("%s: %d, to %v", what, status, to)
		}
		if got := (&person{world: w}).get("/oauth/authorize?" + asks.Encode()).oauth(400); got != c.code {
			t.Errorf("%s: %s, want %s", what, got, c.code)
		}
		for _, allow := range []bool{true, false} {
			if got := ada.decides(asks, map[string]any{"allow": allow}); got.reason() != c.code {
				t.Errorf("%s: decided %t: %s", what, allow, got.body)
			}
		}
	}
	if got := (&person{world: w}).get("/oauth/authorize?" + p.asks().Encode() + "&client_id=x").oauth(400); got != "invalid_request" {
		t.Errorf("two clients: %s", got)
	}
	if n := len(items(ada.get("/v1/keys").ok())); n != 0 {
		t.Errorf("%d keys", n)
	}
}

func TestAPersonRefusesAndNarrowsWhatAProgramAsksFor(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	ada, secret, _ := w.enrol(w.signUp("ada@example.org"))
	p := w.program(ada)
	back, err := url.Parse(ada.decides(p.asks(), map[string]any{"allow": false}).ok()["redirect"].(string))
	w.must(err)
	if q := back.Query(); back.Host != "program.example" || q.Get("error") != "access_denied" || q.Get("state") != "s &=?" || q.Get("iss") != w.url || q.Get("of") != "liminal" || q.Get("code") != "" {
		t.Errorf("refused: %s", back)
	}
	if got := ada.decides(p.asks(), nil); got.reason() != "code_needed" {
		t.Errorf("without the second factor: %s", got.body)
	}
	allowed := ada.decides(p.asks(), map[string]any{"scopes": []string{"read", "admin"}, "code": w.code(secret)}).ok()
	back, err = url.Parse(allowed["redirect"].(string))
	w.must(err)
	if q := back.Query(); q.Get("iss") != w.url || q.Get("error") != "" || q.Get("state") != "s &=?" {
		t.Errorf("allowed: %s", back)
	}
	if got := p.redeems(back.Query().Get("code")).tokens(); got.Scope != "mcp read" || got.Seconds != 3600 {
		t.Errorf("tokens: %+v", got)
	}
	// A key decides nothing for its person.
	if got := w.signUp("bob@example.org").by("all", "mcp", "read").decides(p.asks(), nil); !got.closedToKey() {
		t.Errorf("by a key: %s", got.body)
	}
}

// Codes and refresh tokens count once, for the program that they were given to.
func TestACodeAndARefreshTokenCountOnce(t *testing.T) {
	t.Parallel()
	w := newSecuredWorld(t)
	p := w.program(w.signUp("ada@example.org"))
	other := w.program(p.owner)

	code := p.code()
	for what, change := range map[string][]string{
		"another verifier": {"code_verifier", oauth2.GenerateVerifier()},
		"the challenge":    {"code_verifier", oauth2.S256ChallengeFromVerifier(p.verifier)},
		"another redirect": {"redirect_uri", "https://evil.example/back"},
		"another client":   {"client_id", other.client},
	} {
		if got := p.redeems(code, change...).oauth(400); got != "invalid_grant" {
			t.Errorf("%s: %s", what, got)
		}
	}
	for want, change := range map[string][]string{
		"invalid_target": {"resource", "https://other.example/mcp"}, "invalid_request": {"client_id", ""}, "unsupported_grant_type": {"grant_type", "password"},
	} {
		if got := p.redeems(code, change...).oauth(400); got != want {
			t.Errorf("%v: %s", change, got)
		}
	}
	first := p.redeems(code).tokens()
	if got := w.opens(first.Access); got != 200 {
		t.Errorf("a token: %d", got)
	}
	if got := other.renews(first.Refresh).oauth(400); got != "invalid_grant" {
		t.Errorf("another client's: %s", got)
	}
	second := p.renews(first.Refresh, "resource", w.url+mcpPath).tokens()
	if old, now := w.opens(first.Access), w.opens(second.Access); old != 401 || now != 200 {
		t.Errorf("after it was renewed: %d, %d", old, now)
	}
	// The first comes back: somebody has taken it, and nobody knows who was first.
	if got := p.renews(first.Refresh).oauth(400); got != "invalid_grant" {
		t.Errorf("used twice: %s", got)
	}
	if got := w.opens(second.Access); got != 401 {
		t.Errorf("a token of a refresh token that was used twice: %d", got)
	}
	if got := p.renews(second.Refresh).oauth(400); got != "invalid_grant" {
		t.Errorf("the one after it: %s", got)
	}

	code = p.code()
	third := p.redeems(code).tokens()
	if got := p.redeems(code, "client_id", other.client).oauth(400); got != "invalid_grant" || w.opens(third.Access) != 401 {
		t.Errorf("a code that was used twice: %s", got)
	}

	late := p.code()
	w.clock.pass(2 * time.Minute)
	if got := p.redeems(late).oauth(400); got != "invalid_grant" {
		t.Errorf("a code of a while ago: %s", got)
	}
	fourth := p.redeems(p.code()).tokens()
	w.clock.pass(time.Hour + time.Minute)
	if got := w.opens(fourth.Access); got != 401 {
		t.Errorf("a token of an hour ago: %d", got)
	}
	fifth := p.renews(fourth.Refresh).tokens()
	w.clock.pass(91 * 24 * time.Hour)
	if got := p.renews(fifth.Refresh).oauth(400); got != "invalid_grant" {
		t.Errorf("after what was consented to has run out: %s", got)
	}
}

func TestAProgramSignsOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.program(w.signUp("ada@example.org"))
	for what, of := range map[string]func(TokenAnswer) string{
		"an access token": func(t TokenAnswer) string { return t.Access }, "a refresh token": func(t TokenAnswer) string { return t.Refresh },
	} {
		tokens := p.redeems(p.code()).tokens()
		if got := w.form("/oauth/revoke", url.Values{"token": {of(tokens)}}); got.status != 200 || w.opens(tokens.Access) != 401 || p.renews(tokens.Refresh).oauth(400) != "invalid_grant" {
			t.Errorf("%s: %d", what, got.status)
		}
	}
	own := p.owner.by("mine", "mcp")
	for _, token := range []string{"x", own.token, "limr_x"} {
		if got := w.form("/oauth/revoke", url.Values{"token": {token}}); got.status != 200 {
			t.Errorf("%s: %d", token, got.status)
		}
	}
	if got := w.opens(own.token); got != 200 {
		t.Errorf("a person's own key was ended by a program: %d", got)
	}
	if got := w.form("/oauth/revoke", url.Values{}).oauth(400); got != "invalid_request" {
		t.Errorf("nothing: %s", got)
	}
}

// Requirements: SAFE-10
func TestRegisteringProgramsIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		m, _ := o.Log.(*inproc.Memory)
		o.Limits = quota.NewLimits(frozen{m})
	})
	nobody := &person{world: w}
	for redirect, want := range map[string]string{
		"https://x.example/#a": "invalid_redirect_uri", "http://x.example/": "invalid_redirect_uri", "javascript:alert(1)": "invalid_redirect_uri", "data:text/html,x": "invalid_redirect_uri",
		"https://me@x.example/": "invalid_redirect_uri", "app:/back": "invalid_redirect_uri", "//x.example": "invalid_redirect_uri", "https://x.example/ü": "invalid_redirect_uri",
		"http://127.0.0.1.evil.example/": "invalid_redirect_uri", "com.example.app:back": "invalid_redirect_uri", "javascript://x.example/%0aalert(1)": "invalid_redirect_uri", "https://x.example/" + strings.Repeat("x", 1000): "invalid_redirect_uri",
	} {
		if got := nobody.post("/oauth/register", map[string]any{"redirect_uris": []string{redirect}}).oauth(400); got != want {
			t.Errorf("%s: %s", redirect, got)
		}
	}
	if got := nobody.post("/oauth/register", strings.Repeat("[", 200)).oauth(400); got != "invalid_client_metadata" {
		t.Errorf("deep: %s", got)
	}
	if got := nobody.post("/oauth/register", `"`+strings.Repeat("x", maxForm)+`"`).oauth(400); got != "invalid_request" {
		t.Errorf("large: %s", got)
	}
	last := 0
	for range 40 {
		last = nobody.post("/oauth/register", map[string]any{"redirect_uris": []string{"com.example.app:/back", "cursor://anysphere.cursor-mcp/oauth/callback", "http://[::1]:3/back"}}).status
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the last of many: %d", last)
	}
}

func TestWhoIsTurnedAwayIsToldWhereToSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.PublicURL = "https://chat.example.org/" })
	nobody := &person{world: w}
	const metadata = `Bearer resource_metadata="https://chat.example.org/.well-known/oauth-protected-resource/mcp"`
	if got := nobody.post(mcpPath, nil).header.Get("WWW-Authenticate"); got != metadata {
		t.Errorf("nobody: %s", got)
	}
	if got := (&person{world: w, token: "lim_x"}).post(mcpPath, nil).header.Get("WWW-Authenticate"); got != metadata+`, error="invalid_token"` {
		t.Errorf("with a wrong token: %s", got)
	}
	if got := nobody.get("/v1/runs").header.Get("WWW-Authenticate"); got != `Bearer realm="liminal"` {
		t.Errorf("elsewhere: %s", got)
	}
	for _, path := range []string{protectedPath, protectedPath + mcpPath} {
		var said ProtectedResource
		if err := json.Unmarshal(nobody.get(path).body, &said); err != nil || said.Resource != "https://chat.example.org/mcp" || !slices.Equal(said.Servers, []string{"https://chat.example.org"}) {
			t.Errorf("%s: %+v, %v", path, said, err)
		}
	}
	if got := nobody.get(wellKnownPath + "openid-configuration").oauth(404); got != "invalid_request" {
		t.Errorf("what is not there: %s", got)
	}
	closed := newWorld(t, func(o *Options) { o.Clients = nil })
	nobody = &person{world: closed}
	if got := nobody.post(mcpPath, nil).header.Get("WWW-Authenticate"); got != `Bearer realm="liminal"` {
		t.Errorf("where nobody signs in: %s", got)
	}
	nobody.get(authServerPath).oauth(404)
}

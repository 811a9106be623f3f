package api

import (
	"net/http"
	"strings"
	"testing"

	"liminal/internal/origin"
)

// A page of anywhere may send a body without a Content-Type, or as text, and
// the browser asks nobody first: what is read as JSON must say that it is.
func TestABodyThatDoesNotSayItIsJSONIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	nobody := &person{world: w}
	const eve = `{"email":"eve@example.org","password":"correct horse"}`
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "text/plain; a=application/json", "application/jsonp", "multipart/form-data; boundary=x", "application/json, text/plain", ";"} {
		r := nobody.request("POST", "/v1/auth/signup", eve)
		r.Header.Del("Content-Type")
		if kind != "" {
			r.Header.Set("Content-Type", kind)
		}
		if got := nobody.send(r).fails(400, "validation_error"); !strings.Contains(got.Message, "application/json") {
			t.Errorf("%q is refused with %q", kind, got.Message)
		}
		r = ada.request("POST", "/api/chat", `{"message":"hello"}`)
		r.Header.Del("Content-Type")
		ada.send(r).fails(400, "validation_error")
	}
	for _, kind := range []string{"application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"} {
		nobody.do("POST", "/v1/auth/login", `{"email":"ada@example.org","password":"correct horse"}`, "Content-Type", kind).ok()
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", w.url+"/v1/auth/logout", http.NoBody) // what has no body needs no type
	w.must(err)
	nobody.send(r).ok()
}

// A page of another program's is shown in a browser in which somebody may be signed in
// here. It calls with the key that it was given, and is nobody without it.
func TestAPageThatIsNamedCallsWithItsKeyOnly(t *testing.T) {
	t.Parallel()
	const inbox, evil = "https://inbox.example.org", "https://evil.example"
	w := newWorld(t, func(o *Options) { o.Pages = origin.New(origin.Options{Hosts: []string{"*"}, Pages: []string{inbox}}) })
	ada := w.signUp("ada@example.org")
	nobody := &person{world: w}
	ask := []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type,x-api-key"}
	got := nobody.do("OPTIONS", "/langgraph/threads/search", nil, append(ask, "Origin", inbox)...)
	h := got.header
	if got.status != 204 || h.Get("Access-Control-Allow-Origin") != inbox || h.Get("Access-Control-Allow-Methods") != "POST" || h.Get("Access-Control-Allow-Headers") != "content-type,x-api-key" || h.Get("Vary") != "Origin" {
		t.Errorf("the browser asks first: %d %v", got.status, h)
	}
	for _, path := range []string{"/langgraph/threads/search", "/v1/chat"} {
		if got := nobody.do("OPTIONS", path, nil, append(ask, "Origin", evil)...); got.status == 204 || got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("a page that is not named is told %d %v", got.status, got.header)
		}
	}
	answer := ada.do("POST", "/v1/chat", map[string]any{"message": "hello"}, "Origin", inbox, "Sec-Fetch-Site", "cross-site")
	answer.ok()
	if h := answer.header; h.Get("Access-Control-Allow-Origin") != inbox || h.Get("Access-Control-Allow-Credentials") != "" || !strings.Contains(h.Get("Access-Control-Expose-Headers"), "X-Run-Id") {
		t.Errorf("its answer has %v", h)
	}
	// What is refused is told to it, too.
	refused := nobody.do("POST", "/v1/chat", map[string]any{"message": "hello"}, "Origin", inbox)
	refused.fails(401, "unauthorized")
	if refused.header.Get("Access-Control-Allow-Origin") != inbox {
		t.Errorf("a refusal has %v", refused.header)
	}
	ada.do("POST", "/v1/chat", map[string]any{"message": "hello"}, "Origin", evil).fails(403, "forbidden")
	// The cookie of who is signed in in that browser opens nothing to it.
	cookie := refreshCookie + "=" + ada.refresh
	nobody.do("POST", "/v1/auth/refresh", map[string]any{}, "Origin", inbox, "Cookie", cookie).fails(401, "unauthorized")
	nobody.do("POST", "/v1/auth/refresh", map[string]any{}, "Origin", w.url, "Sec-Fetch-Site", "same-origin", "Cookie", cookie).ok()
}

const setupWord = "abcd-efgh-ijkl-mnop"

// unclaimed is a world nobody has signed up in, whose first account is asked for
// the word.
func unclaimed(t *testing.T, change ...func(*Options)) *person {
	t.Helper()
	return &person{world: newWorld(t, append(change, func(o *Options) { o.SetupWord = setupWord })...)}
}

// Whoever is first administers the server: a page of another site, somebody who
// comes through a proxy, or by a name that was made to mean this machine, is
// not whoever runs it.
func TestTheFirstAccountAsksForTheSetupWordUnlessItIsMadeOnThisMachine(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]string{
		"another host":            {"Host", "chat.example.org"},
		"a name bound again":      {"Host", "evil.example:8080"},
		"a name that looks alike": {"Host", "localhost.example.org"},
		"behind a proxy":          {"X-Forwarded-For", "127.0.0.1"},
		"behind a named proxy":    {"Forwarded", "for=127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nobody := unclaimed(t)
			try := func(word string) *response {
				r := nobody.request("POST", "/v1/auth/signup", map[string]any{"email": "ada@example.org", "password": "correct horse", "setup_word": word}, headers...)
				if headers[0] == "Host" {
					r.Host = headers[1]
				}
				return nobody.send(r)
			}
			for _, word := range []string{"", "abcd-efgh-ijkl-mnoq", "-"} {
				got := try(word).fails(403, "forbidden")
				if details, _ := got.Details.(map[string]any); details["reason"] != "setup_word" || details["field"] != "setup_word" {
					t.Fatalf("refused with %v", got)
				}
			}
			if nobody.get("/v1/config/ui").ok()["first_run"] != true {
				t.Fatal("somebody got in")
			}
			if role := try("ABCD efgh ijklmnop").ok()["user"].(map[string]any)["role"]; role != "admin" {
				t.Errorf("the first account is a %v", role)
			}
			nobody.do("POST", "/v1/auth/signup", map[string]any{"email": "eve@example.org", "password": "correct horse"}, "X-Forwarded-For", "192.0.2.1").ok()
		})
	}
}

// A page of another origin makes no account at all, with the word or without.
func TestNoPageOfAnotherOriginMakesTheFirstAccount(t *testing.T) {
	t.Parallel()
	nobody := unclaimed(t)
	for _, header := range [][2]string{
		{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
	} {
		for _, word := range []string{"", setupWord} {
			body := map[string]any{"email": "ada@example.org", "password": "correct horse", "setup_word": word}
			nobody.do("POST", "/v1/auth/signup", body, header[0], header[1]).fails(403, "forbidden")
		}
	}
	if nobody.get("/v1/config/ui").ok()["first_run"] != true {
		t.Error("a page of another origin made an account")
	}
}

func TestTheFirstAccountOfThisMachineNeedsNoWord(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]string{
		"a program":          nil,
		"our own page":       {"Sec-Fetch-Site", "same-origin", "Origin", ""},
		"a page of the past": {"Origin", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nobody := unclaimed(t)
			for i := 0; i+1 < len(headers); i += 2 {
				if headers[i] == "Origin" {
					headers[i+1] = nobody.url
				}
			}
			if nobody.get("/v1/config/ui", headers...).ok()["setup_word_needed"] != false {
				t.Error("the page asks for a word")
			}
			nobody.do("POST", "/v1/auth/signup", map[string]any{"email": "ada@example.org", "password": "correct horse"}, headers...).ok()
		})
	}
}

func TestAServerThatIsReachedFromElsewhereAsksEverybodyForTheWord(t *testing.T) {
	t.Parallel()
	nobody := unclaimed(t, func(o *Options) { o.PublicURL = "https://chat.example.org" })
	if nobody.get("/v1/config/ui").ok()["setup_word_needed"] != true {
		t.Error("the page does not ask for the word")
	}
	nobody.post("/v1/auth/signup", map[string]any{"email": "ada@example.org", "password": "correct horse"}).fails(403, "forbidden")
	nobody.post("/v1/auth/signup", map[string]any{"email": "ada@example.org", "password": "correct horse", "setup_word": setupWord}).ok()
	if nobody.get("/v1/config/ui").ok()["setup_word_needed"] != false {
		t.Error("the page asks for the word of an account that is there")
	}
}

func TestTheFirstAccountOfElsewhereAsksForTheSetupWordToo(t *testing.T) {
	t.Parallel()
	w := newElsewhere(t)
	w.server.SetupWord = setupWord
	b, nobody := w.browser(), &person{world: w.world}
	proxy := []string{"X-Forwarded-For", "192.0.2.1"}
	for _, body := range []any{nil, map[string]any{}, map[string]any{"setup_word": "abcd"}} {
		nobody.do("POST", "/v1/auth/oauth/oidc:acme/start", body, proxy...).fails(403, "forbidden")
	}
	early := b.depart(nobody, adaThere(true), map[string]any{"setup_word": setupWord}, proxy...)
	if to := b.visit(early).Header.Get("Location"); to != "/#signed_in=oidc%3Aacme" {
		t.Fatalf("with the word the browser ends at %q", to)
	}
}

// A sign-in that a stranger began while there were accounts may end when there
// are none any more.
func TestAStrangersAccountOfElsewhereIsNeverTheFirst(t *testing.T) {
	t.Parallel()
	w := newElsewhere(t)
	w.server.SetupWord = setupWord
	b, nobody := w.browser(), &person{world: w.world}
	eve := w.signUp("eve@example.org")
	back := b.depart(nobody, adaThere(true), nil, "X-Forwarded-For", "192.0.2.1")
	eve.do("DELETE", "/v1/auth/me", map[string]any{"password": "correct horse"}).ok()
	if resp := b.visit(back); resp.StatusCode != 403 {
		t.Errorf("answered %d, to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	if nobody.get("/v1/config/ui").ok()["first_run"] != true {
		t.Error("there is an account")
	}
}

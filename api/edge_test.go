package api

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/fault"
	"liminal/internal/id"
)

// Requirements: API-01, API-02, API-18
func TestEveryAnswerIsInTheEnvelopeWithARequestID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, mine := w.signUp("ada@example.org"), id.New()
	for _, c := range []struct {
		method, path, header string
		status               int
	}{
		{"GET", "/v1/auth/me", mine, 200},
		{"GET", "/v1/runs/" + id.New(), mine, 404},
		{"GET", "/v1/nothing", mine, 404},
		{"GET", "/v1/auth/me", "not a uuid", 200},
		{"PUT", "/v1/chat", mine, 405},
		{"GET", "/healthz", mine, 200},
		{"GET", "/v1/runs/7", mine, 400},
	} {
		got := ada.do(c.method, c.path, nil, "X-Request-Id", c.header)
		echoed := got.header.Get("X-Request-Id")
		if got.status != c.status || !strings.Contains(string(got.body), `"request_id":"`+echoed+`"`) || !id.Valid(echoed) || id.Valid(c.header) && echoed != c.header {
			t.Errorf("%s %s: %d, id %s: %s", c.method, c.path, got.status, echoed, got.body)
		}
	}
}

// Requirements: API-03
func TestTheTableOfFaultsIsClosed(t *testing.T) {
	t.Parallel()
	want := map[fault.Code]int{
		fault.Unauthorized: 401, fault.Forbidden: 403, fault.NotFound: 404, fault.RateLimited: 429,
		fault.Invalid: 400, fault.Conflict: 409, fault.Internal: 500,
	}
	for _, code := range fault.Codes() {
		if got := status(code); got != want[code] {
			t.Errorf("%s is %d, want %d", code, got, want[code])
		}
	}
}

func TestWhatIsOurFaultStaysInside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		o.Checks = map[string]func(context.Context) error{"store": func(context.Context) error { return errors.New("secret path /var/x") }}
	})
	got := (&person{world: w}).get("/healthz")
	got.fails(500, "server_error")
	if strings.Contains(string(got.body), "secret") {
		t.Errorf("leaked: %s", got.body)
	}
	w.server.mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("secret") })
	got = (&person{world: w}).get("/panic")
	if got.fails(500, "server_error"); strings.Contains(string(got.body), "secret") {
		t.Errorf("leaked: %s", got.body)
	}
}

func TestUnknownPathsAndMethodsAnswerInJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	for _, path := range []string{"/v1/nothing", "/v1/", "/v1/chat/", "/v1/runs/x/y", "/v2/chat", "/"} {
		ada.get(path).fails(404, "not_found")
	}
	got := ada.do("DELETE", "/v1/chat", nil)
	got.fails(405, "validation_error")
	if got.header.Get("Allow") != "POST" {
		t.Errorf("Allow = %q", got.header.Get("Allow"))
	}
	ada.post("/v1/chat", "a=b", "Content-Type", "application/x-www-form-urlencoded").fails(400, "validation_error")
	ada.post("/v1/chat", `{"message":"`+strings.Repeat("x", maxJSON)+`"}`).fails(400, "validation_error")
}

func TestEverythingElseIsTheClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		o.Client = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", "default-src 'self'")
			_, _ = w.Write([]byte("page " + r.URL.Path))
		})
	})
	nobody := &person{world: w}
	got := nobody.get("/contexts/7")
	if string(got.body) != "page /contexts/7" || got.header.Get("Content-Security-Policy") != "default-src 'self'" || got.header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("%s %v", got.body, got.header)
	}
	nobody.get("/v1/nothing").fails(404, "not_found")
}

// Requirements: API-09, INT-30, ISO-10 (a request)
func TestWhoAsksComesFromTheSessionOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	got := ada.post("/v1/chat", map[string]any{"message": "hi", "user_id": bob.id, "viewer": map[string]any{"user_id": bob.id}}, "X-User-Id", bob.id).ok()
	if who := w.engine.users[0]; who != ada.id {
		t.Errorf("the turn is %s's", who)
	}
	bob.get("/v1/runs/"+got["run_id"].(string)).fails(404, "not_found")
	if list := items(ada.get("/v1/conversations", "X-User-Id", bob.id).ok()); len(list) != 1 {
		t.Errorf("ada sees %v", list)
	}
	(&person{world: w}).get("/v1/conversations", "X-User-Id", bob.id).fails(401, "unauthorized")
}

// publicRoutes need no session; everything else in the document does.
var publicRoutes = map[string]bool{
	"POST /v1/auth/signup": true, "POST /v1/auth/login": true, "POST /v1/auth/refresh": true, "POST /v1/auth/logout": true,
	"POST /v1/auth/request_reset": true, "POST /v1/auth/complete_reset": true, // the mail is the permission
	"POST /v1/auth/request_verification": true, "POST /v1/auth/verify_email": true,
	"POST /v1/auth/mfa/verify": true, // the ticket of a sign-in that is half done
	"GET /v1/auth/oauth":       true, "POST /v1/auth/oauth/{provider}/start": true, "GET /v1/auth/oauth/{provider}/callback": true, "GET /v1/connections/{name}/callback": true,
	"GET /oauth/authorize": true, "POST /oauth/register": true, "POST /oauth/token": true, "POST /oauth/revoke": true, // a person decides at GET /v1/oauth/consent
	"GET /.well-known/oauth-protected-resource/mcp": true, "GET /.well-known/oauth-protected-resource": true, "GET /.well-known/oauth-authorization-server": true,
	"GET /v1/config/ui": true, "GET /v1/openapi.json": true, "GET /healthz": true,
	"GET /langgraph/ok": true, "GET /langgraph/info": true,
	"GET /v1/chat/stream":    true, // signs in by its first frame, or is closed with 4401
	"GET /v1/files/download": true, // the signature is the permission
}

// routes calls f for every operation of the document, ids filled in.
func (w *world) routes(fill string, f func(operation, method, path string)) {
	for path, item := range w.server.huma.OpenAPI().Paths {
		for method, op := range map[string]*huma.Operation{
			"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete,
		} {
			if op != nil {
				f(method+" "+path, method, placeholder.ReplaceAllString(path, fill))
			}
		}
	}
}

// placeholder is where an id stands in a path.
var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// Requirements: API-08, API-20 (401 for the API), OPS-06 (authenticates)
func TestEveryRouteButThePublicOnesNeedsASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody := &person{world: w}
	seen := map[string]bool{}
	w.routes(id.New(), func(operation, method, path string) {
		seen[operation] = true
		got := nobody.do(method, path, nil)
		if (got.status == http.StatusUnauthorized) == publicRoutes[operation] && operation != "POST /v1/auth/refresh" {
			t.Errorf("%s without a session: %d", operation, got.status)
		}
		forged := nobody.do(method, path, nil, "Authorization", "Bearer "+id.New(), "Cookie", "session_id="+id.New())
		if !publicRoutes[operation] {
			forged.fails(401, "unauthorized")
		}
	})
	for operation := range publicRoutes {
		if !seen[operation] {
			t.Errorf("%s is no route", operation)
		}
	}
}

func TestAProxyIsBelievedOnlyBesideUsAndWhenExpected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		remote    string
		forwarded []string
		proxied   bool
		want      string
	}{
		{"203.0.113.9:1234", []string{"198.51.100.7"}, true, "203.0.113.9"},
		{"127.0.0.1:1234", []string{"6.6.6.6, 198.51.100.7"}, true, "198.51.100.7"},
		{"10.0.0.2:1234", []string{"198.51.100.7"}, false, "10.0.0.2"},
		{"[::1]:1234", []string{"nonsense"}, true, "::1"},
		{"127.0.0.1:1234", nil, true, "127.0.0.1"},
		{"127.0.0.1:1234", []string{"6.6.6.6", "198.51.100.7"}, true, "198.51.100.7"}, // the proxy adds a field of its own
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := addressOf(r, c.proxied); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

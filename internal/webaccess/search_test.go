package webaccess_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/webaccess"
)

const secret = "tvly-0123456789-secret"

// engine is a provider as the tests treat it: how it is opened, how a true
// request to it looks, and its true answer to one.
type engine struct {
	open   func(webaccess.ProviderOptions) (webaccess.Provider, error)
	asks   func(t *testing.T, r *http.Request) (query string)
	answer string
	keyed  bool
}

func engines() map[string]engine {
	return map[string]engine{
		"tavily": {
			open: func(o webaccess.ProviderOptions) (webaccess.Provider, error) { return webaccess.NewTavily(o) },
			asks: func(t *testing.T, r *http.Request) string {
				var body struct {
					Query string `json:"query"`
					Max   int    `json:"max_results"`
				}
				raw, _ := io.ReadAll(r.Body)
				if err := json.Unmarshal(raw, &body); err != nil || r.Method != http.MethodPost || r.URL.Path != "/search" || body.Max != 3 {
					t.Errorf("%s %s %s", r.Method, r.URL, raw)
				}
				if r.Header.Get("Authorization") != "Bearer "+secret || r.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%v", r.Header)
				}
				return body.Query
			},
			answer: `{"query":"q","follow_up_questions":null,"answer":null,"images":[],"response_time":1.1,"results":[
				{"title":"One","url":"https://one.example/a","content":"Text \u200bone.","score":0.9,"raw_content":null},
				{"title":"","url":"https://two.example/","content":"two","score":0.5},
				{"title":"Script","url":"javascript:alert(1)","content":"x","score":0.4},
				{"title":"Again","url":"https://one.example/a","content":"x","score":0.3},
				{"title":"Three","url":"http://three.example/","content":"three","score":0.2},
				{"title":"Four","url":"https://four.example/","content":"four","score":0.1}]}`,
			keyed: true,
		},
		"brave": {
			open: func(o webaccess.ProviderOptions) (webaccess.Provider, error) { return webaccess.NewBrave(o) },
			asks: func(t *testing.T, r *http.Request) string {
				if r.Method != http.MethodGet || r.URL.Path != "/res/v1/web/search" || r.URL.Query().Get("count") != "3" || r.Header.Get("X-Subscription-Token") != secret {
					t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
				}
				return r.URL.Query().Get("q")
			},
			answer: `{"type":"search","query":{"original":"q"},"web":{"type":"search","results":[
				{"title":"<strong>One</strong>","url":"https://one.example/a","description":"Text &amp; <strong>one</strong>.","extra_snippets":["More."]},
				{"title":"","url":"https://two.example/","description":"two"},
				{"title":"Script","url":"javascript:alert(1)","description":"x"},
				{"title":"Again","url":"https://one.example/a","description":"x"},
				{"title":"Three","url":"http://three.example/","description":"three"},
				{"title":"Four","url":"https://four.example/","description":"four"}]}}`,
			keyed: true,
		},
		"searxng": {
			open: func(o webaccess.ProviderOptions) (webaccess.Provider, error) { return webaccess.NewSearXNG(o) },
			asks: func(t *testing.T, r *http.Request) string {
				if r.Method != http.MethodGet || r.URL.Path != "/search" || r.URL.Query().Get("format") != "json" {
					t.Errorf("%s %s", r.Method, r.URL)
				}
				return r.URL.Query().Get("q")
			},
			answer: `{"query":"q","number_of_results":0,"unresponsive_engines":[["google","timeout"]],"results":[
				{"title":"One","url":"https://one.example/a","content":"Text one.","engine":"bing","score":4.0},
				{"title":"","url":"https://two.example/","content":"two","publishedDate":null},
				{"title":"Script","url":"javascript:alert(1)","content":"x"},
				{"title":"Again","url":"https://one.example/a","content":"x"},
				{"title":"Three","url":"http://three.example/","content":"three"},
				{"title":"Four","url":"https://four.example/","content":"four"}]}`,
		},
	}
}

func served(t *testing.T, e engine, handler http.HandlerFunc) webaccess.Provider {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	p, err := e.open(webaccess.ProviderOptions{BaseURL: s.URL + "/", Key: secret})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Requirements: TOOL-13 (a provider behind an interface)
func TestEveryProviderSpeaksItsOwnProtocol(t *testing.T) {
	t.Parallel()
	for name, e := range engines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := ""
			p := served(t, e, func(w http.ResponseWriter, r *http.Request) {
				asked = e.asks(t, r)
				page("application/json", e.answer)(w, r)
			})
			found, err := p.Search(t.Context(), webaccess.Query{Text: "  notice\nperiod ", Limit: 3})
			if err != nil || len(found) != 3 || asked != "notice period" || p.Name() != name {
				t.Fatalf("%+v, %v, asked for %q", found, err, asked)
			}
			if one := found[0]; one.Title != "One" || one.URL != "https://one.example/a" || !strings.HasPrefix(one.Text, "Text ") || strings.ContainsAny(one.Text, "<>\u200b") {
				t.Errorf("%+v", one)
			}
			if found[1].Title != "two.example" || found[2].URL != "http://three.example/" {
				t.Errorf("%+v", found)
			}
			long := strings.Repeat("wörter ", 200)
			if _, err := p.Search(t.Context(), webaccess.Query{Text: long, Limit: 3}); err != nil || len(asked) > webaccess.MaxQuery || !utf8.ValidString(asked) || asked == "" {
				t.Errorf("a long query is asked as %d bytes: %v", len(asked), err)
			}
		})
	}
}

// Requirements: TOOL-13 (a provider behind an interface), SAFE-08
func TestWhatGoesWrongAtAProviderIsToldWithoutTheKey(t *testing.T) {
	t.Parallel()
	type want struct {
		code   fault.Code
		reason string
	}
	for name, e := range engines() {
		for status, w := range map[int]want{
			401: {fault.Internal, fault.NotConfigured}, 403: {fault.Internal, fault.NotConfigured}, 422: {fault.Invalid, ""}, 400: {fault.Invalid, ""},
			429: {fault.RateLimited, fault.Upstream}, 432: {fault.RateLimited, fault.Upstream}, 503: {fault.RateLimited, fault.Upstream},
			500: {fault.Internal, fault.Upstream}, 302: {fault.Internal, fault.Upstream}, 200: {fault.Internal, fault.Upstream},
		} {
			p := served(t, e, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.Header().Set("Location", "https://elsewhere.example/")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"detail":"your key `+secret+` …`)
			})
			_, err := p.Search(t.Context(), webaccess.Query{Text: "q"})
			if fault.CodeOf(err) != w.code || fault.Reason(err) != w.reason || strings.Contains(err.Error(), secret) {
				t.Errorf("%s, %d: %v", name, status, err)
			}
			if details, _ := fault.From(err).Details.(map[string]any); w.code == fault.RateLimited && details["retry_after_ms"] != int64(7000) {
				t.Errorf("%s, %d: %v", name, status, details)
			}
		}
	}
}

// A redirect would take the key to another host.
//
// Requirements: SAFE-08
func TestAProvidersRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked %s", r.URL) }))
	t.Cleanup(elsewhere.Close)
	for name, e := range engines() {
		for _, status := range []int{302, 307, 308} {
			p := served(t, e, http.RedirectHandler(elsewhere.URL+"/search", status).ServeHTTP)
			if _, err := p.Search(t.Context(), webaccess.Query{Text: "q"}); fault.Reason(err) != fault.Upstream {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestAProviderThatIsAwayOrLeftAlone(t *testing.T) {
	t.Parallel()
	for name, e := range engines() {
		gone := httptest.NewServer(http.NotFoundHandler())
		p, err := e.open(webaccess.ProviderOptions{BaseURL: gone.URL, Key: secret})
		gone.Close()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Search(t.Context(), webaccess.Query{Text: "q"}); fault.Reason(err) != fault.Upstream || strings.Contains(err.Error(), "q=") {
			t.Errorf("%s is away: %v", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		p = served(t, e, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done()
		})
		if _, err := p.Search(ctx, webaccess.Query{Text: "q"}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, the caller gave up: %v", name, err)
		}
	}
}

func TestAProviderThatIsNotConfiguredIsNotMade(t *testing.T) {
	t.Parallel()
	for name, e := range engines() {
		if _, err := e.open(webaccess.ProviderOptions{}); err == nil {
			t.Errorf("%s of nothing", name)
		}
		if _, err := e.open(webaccess.ProviderOptions{Key: secret, BaseURL: "ftp://x"}); err == nil {
			t.Errorf("%s at no URL", name)
		}
	}
}

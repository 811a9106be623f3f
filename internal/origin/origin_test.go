package origin_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/origin"
)

func request(method, host string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/v1/anything", nil)
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func TestAServerAnswersToItsOwnNamesOnly(t *testing.T) {
	t.Parallel()
	local := origin.Options{Listen: "127.0.0.1:8080", Local: true}
	public := origin.Options{Listen: "10.0.0.5:8080", URLs: []string{"https://chat.example.org"}, Hosts: []string{"api.example.org:8443"}}
	for name, c := range map[string]struct {
		o       origin.Options
		yes, no []string
	}{
		"a machine of one's own": {local,
			[]string{"127.0.0.1:8080", "localhost:8080", "LOCALHOST", "localhost.", "app.localhost:1", "[::1]:8080", "127.1.2.3", ""},
			[]string{"evil.example", "evil.example:8080", "10.0.0.5:8080", "localhost.evil.example", "127.0.0.1.evil.example", "evillocalhost", "0.0.0.0:8080", "[::ffff:10.0.0.5]"}},
		"a machine open to its network": {origin.Options{Listen: "0.0.0.0:8080", Local: true},
			[]string{"192.168.1.7:8080", "[fe80::1]:8080", "localhost:8080"}, []string{"evil.example:8080", "box.lan"}},
		"one with a name of its own":    {origin.Options{Listen: "box.lan:8080", Local: true}, []string{"box.lan:8080"}, []string{"evil.example"}},
		"behind a proxy that is named":  {public, []string{"chat.example.org", "api.example.org", "10.0.0.5:8080", "127.0.0.1:8080"}, []string{"evil.example", "10.0.0.6"}},
		"behind one that nobody named":  {origin.Options{Listen: "127.0.0.1:8080"}, []string{"chat.example.org", "liminal:8080", "evil.example"}, nil},
		"where any name was asked for":  {origin.Options{Listen: "127.0.0.1:8080", Local: true, Hosts: []string{"*"}}, []string{"evil.example"}, nil},
		"where a URL is none":           {origin.Options{Listen: "127.0.0.1:8080", Local: true, URLs: []string{"", ":"}}, nil, []string{"evil.example"}},
		"an address written otherwise":  {origin.Options{Listen: "[::ffff:10.0.0.5]:1", Local: true}, []string{"10.0.0.5:1"}, nil},
		"a public URL does not open it": {origin.Options{Listen: ":8080", URLs: []string{"https://chat.example.org"}}, []string{"10.9.8.7:8080"}, []string{"evil.example"}},
	} {
		p := origin.New(c.o)
		for _, host := range c.yes {
			if err := p.Check(request(http.MethodGet, host)); err != nil {
				t.Errorf("%s: %q is refused: %v", name, host, err)
			}
		}
		for _, host := range c.no {
			if err := p.Check(request(http.MethodGet, host)); fault.CodeOf(err) != fault.Forbidden {
				t.Errorf("%s: %q gives %v, want forbidden", name, host, err)
			}
			for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
				r := request(http.MethodGet, host)
				if r.URL.Path = path; p.Check(r) != nil {
					t.Errorf("%s: a probe of %s by %q is refused", name, path, host)
				}
				if r.Method = http.MethodPost; p.Check(r) == nil {
					t.Errorf("%s: a POST to %s by %q is let through", name, path, host)
				}
			}
		}
	}
}

func TestAPageOfAnotherOriginChangesNothing(t *testing.T) {
	t.Parallel()
	p := origin.New(origin.Options{Listen: "127.0.0.1:8080", URLs: []string{"https://chat.example.org"}, Hosts: []string{"other.example.org"}, Pages: []string{"https://inbox.example.org"}, Local: true})
	const here = "127.0.0.1:8080"
	socket := []string{"Upgrade", "websocket", "Connection", "Upgrade"}
	for name, c := range map[string]struct {
		method  string
		headers []string
		allowed bool
	}{
		"a program":                         {http.MethodPost, nil, true},
		"its own page":                      {http.MethodPost, []string{"Origin", "http://" + here, "Sec-Fetch-Site", "same-origin"}, true},
		"its own page, of an old browser":   {http.MethodPost, []string{"Origin", "http://" + here}, true},
		"the public page":                   {http.MethodPost, []string{"Origin", "https://chat.example.org", "Sec-Fetch-Site", "cross-site"}, true},
		"the page of another of its names":  {http.MethodPost, []string{"Origin", "https://other.example.org", "Sec-Fetch-Site", "cross-site"}, true},
		"a page that may call with a key":   {http.MethodPost, []string{"Origin", "https://inbox.example.org", "Sec-Fetch-Site", "cross-site"}, true},
		"that page without its TLS":         {http.MethodPost, []string{"Origin", "http://inbox.example.org"}, false},
		"that page's socket":                {http.MethodGet, append([]string{"Origin", "https://inbox.example.org"}, socket...), false},
		"another page":                      {http.MethodPost, []string{"Origin", "https://evil.example"}, false},
		"another page, which the browser":   {http.MethodDelete, []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, false},
		"another port of this machine":      {http.MethodPost, []string{"Origin", "http://127.0.0.1:9999", "Sec-Fetch-Site", "same-site"}, false},
		"the public page without its TLS":   {http.MethodPost, []string{"Origin", "http://chat.example.org"}, false},
		"a page without an origin":          {http.MethodPatch, []string{"Origin", "null"}, false},
		"a form of another site":            {http.MethodPost, []string{"Sec-Fetch-Site", "cross-site"}, false},
		"another page that only looks":      {http.MethodGet, []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, true},
		"a program's socket":                {http.MethodGet, socket, true},
		"its own page's socket":             {http.MethodGet, append([]string{"Origin", "http://" + here}, socket...), true},
		"another page's socket":             {http.MethodGet, append([]string{"Origin", "https://evil.example"}, socket...), false},
		"another page's socket, cross-site": {http.MethodGet, append([]string{"Origin", "http://127.0.0.1:9999", "Sec-Fetch-Site", "same-site"}, socket...), false},
		"a page's without an origin":        {http.MethodGet, append([]string{"Origin", "null"}, socket...), false},
	} {
		if err := p.Check(request(c.method, here, c.headers...)); (err == nil) != c.allowed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARefusalIsAnAnswerOfOurs(t *testing.T) {
	t.Parallel()
	called := false
	p := origin.New(origin.Options{Listen: "127.0.0.1:8080", Local: true})
	h := p.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(http.MethodGet, "evil.example"))
	var body struct {
		Status string
		Error  struct{ Code, Message string }
	}
	err := json.Unmarshal(w.Body.Bytes(), &body)
	if err != nil || called || w.Code != http.StatusForbidden || body.Status != "error" || body.Error.Code != string(fault.Forbidden) || body.Error.Message == "" {
		t.Errorf("%d %s, %v, called %v", w.Code, w.Body, err, called)
	}
	h.ServeHTTP(httptest.NewRecorder(), request(http.MethodGet, "127.0.0.1:8080"))
	if !called {
		t.Error("its own page is not answered")
	}
}

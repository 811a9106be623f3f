// Package origin decides by which names an HTTP server may be addressed and
// which web pages may change something there. A browser carries requests for
// every page that is open in it, also to servers that only this machine can
// reach: by a name that was made to lead here (DNS rebinding), or across
// origins. Both show in headers that no page can forge.
//
// It may import fault and the standard library.
package origin

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"liminal/internal/fault"
)

// Options say how a server is reached.
type Options struct {
	// Listen is the host:port it listens on.
	Listen string
	// URLs are those people and links use, such as the public one; empty ones
	// are left out.
	URLs []string
	// Hosts are further names, host or host:port; "*" is any name.
	Hosts []string
	// Pages are origins of other programs' pages that may call with an access key:
	// "https://inbox.example.org".
	Pages []string
	// Local says that nobody reaches the server by a name that is not named
	// here: on a machine of one's own. Without it, and without URLs and Hosts,
	// any name is right: a proxy in front may use what it likes.
	Local bool
}

// Policy is what is allowed.
type Policy struct {
	any     bool            // host
	all     bool            // address of this machine
	names   map[string]bool // in lower case, without a port
	at      netip.Addr      // listened on; the zero one: a name
	methods *http.CrossOriginProtection
	pages   map[string]bool
}

// New makes a policy.
func New(o Options) *Policy {
	p := &Policy{names: map[string]bool{"localhost": true}, methods: http.NewCrossOriginProtection(), pages: map[string]bool{}}
	for _, page := range o.Pages {
		p.pages[strings.ToLower(page)] = true
	}
	if host, _, err := net.SplitHostPort(o.Listen); err == nil {
		p.at, _ = netip.ParseAddr(host)
		p.all = host == "" || p.at.IsUnspecified()
		if !p.at.IsValid() && host != "" {
			p.names[strings.ToLower(host)] = true
		}
	}
	named := false
	for _, text := range o.URLs {
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			named = true
			p.name(u.Host, u.Scheme)
		}
	}
	for _, host := range o.Hosts {
		if host == "*" {
			p.any = true
			continue
		}
		named = true
		p.name(host, "http")
		p.name(host, "https")
	}
	p.any = p.any || !o.Local && !named
	return p
}

// name allows a host, and the pages of its origin.
func (p *Policy) name(host, scheme string) {
	p.names[bare(host)] = true
	// One that is no origin is no page's either.
	_ = p.methods.AddTrustedOrigin(scheme + "://" + strings.ToLower(host))
}

// bare is a host as a request names it, without its port.
func bare(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}

// Check says why a request may not be answered; nil: it may. Programs, which
// send no Origin, are not hindered by anything but the name they use.
//
// Probes and figures are answered under any name: who asks for them asks by an
// address of the pod, they hold nothing of people, and asking changes nothing.
func (p *Policy) Check(r *http.Request) error {
	if probe(r) {
		return nil
	}
	if !p.hosts(r.Host) {
		return fault.New(fault.Forbidden, "This server does not go by the name %q. Use its address, or add the name to LIMINAL_ALLOWED_HOSTS.", cut(r.Host))
	}
	asked := r
	if upgrade(r) {
		// What is said over a socket can change something, whatever its method.
		changed := *r
		changed.Method = http.MethodPost
		asked = &changed
	}
	if asked == r && p.Page(r) != "" {
		return nil
	}
	if err := p.methods.Check(asked); err != nil {
		return fault.New(fault.Forbidden, "A page of another origin (%q) may not do this. Use the page of this server, set LIMINAL_PUBLIC_URL to where people find it, or, where it is another program's that calls with an access key, name it in LIMINAL_ALLOWED_ORIGINS.", cut(r.Header.Get("Origin")))
	}
	return nil
}

// Page is the origin of the page that a request comes from, if it is one of Pages;
// else empty. Whoever serves it must read no cookie of it: the page may act with a key
// that it was given, and not as who is signed in in the same browser.
func (p *Policy) Page(r *http.Request) string {
	from := r.Header.Get("Origin")
	if from == "" || !p.pages[strings.ToLower(from)] {
		return ""
	}
	return from
}

func probe(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/metrics"
}

// upgrade reports whether a request becomes a socket.
func upgrade(r *http.Request) bool {
	for _, v := range r.Header.Values("Upgrade") {
		if strings.Contains(strings.ToLower(v), "websocket") {
			return true
		}
	}
	return false
}

// hosts reports whether a Host is this server. A literal address of this
// machine needs no list: no name was made to lead here. No browser leaves the
// header out.
func (p *Policy) hosts(host string) bool {
	name := bare(host)
	if p.any || name == "" || p.names[name] || strings.HasSuffix(name, ".localhost") {
		return true
	}
	at, err := netip.ParseAddr(name)
	return err == nil && (p.all || at.Unmap().IsLoopback() || at.Unmap() == p.at.Unmap())
}

// longest is how much of a header a message repeats.
const longest = 100

func cut(s string) string {
	if len(s) > longest {
		return s[:longest] + "…"
	}
	return s
}

// Guard stands in front of a handler that does not know our answers.
func (p *Policy) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := p.Check(r); err != nil {
			refuse(w, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse writes an error as the API does.
func refuse(w http.ResponseWriter, err error) {
	f := fault.From(err)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusForbidden)
	_ = json.NewEncoder(w).Encode(map[string]any{ // the reader may have gone
		"status": "error", "error": map[string]any{"code": f.Code, "message": f.Message},
	})
}

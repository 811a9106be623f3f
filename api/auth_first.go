package api

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"liminal/internal/identity"
)

// stranger reports whether a request shows nothing of whoever runs this server:
// it neither comes from this machine nor brings the setup word. A stranger's
// account is not the first, which administers the server.
func (s *server) stranger(req *request, word string) bool {
	return s.SetupWord != "" && !s.here(req.raw) && !identity.SameWord(s.SetupWord, word)
}

// proxied are the headers by which a proxy tells that it is one.
var proxied = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}

// here reports whether a request was made on this machine: by a program, or by
// our own page. A proxy beside us comes from this machine too, so nothing may
// speak of one: no name but the machine's own, no header of a proxy, and not
// the HTTP/1.0 that some speak to what they stand before.
func (s *server) here(r *http.Request) bool {
	if r == nil || !loopback(r.RemoteAddr) || !loopback(r.Host) || !r.ProtoAtLeast(1, 1) || !s.near() {
		return false
	}
	for _, name := range proxied {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	return sameOrigin(r) && (r.Header.Get("Origin") == "" || r.Header.Get("Origin") == "http://"+r.Host || r.Header.Get("Origin") == "https://"+r.Host)
}

// near reports whether nobody said that people reach us from elsewhere.
func (s *server) near() bool {
	if s.PublicURL == "" {
		return true
	}
	u, err := url.Parse(s.PublicURL)
	return err == nil && loopback(u.Host)
}

// loopback reports whether an address, with or without a port, is this
// machine's own.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

package capture

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
)

// withheld stands where a key stood.
const withheld = "[withheld]"

// shortestSecret is the least a secret has, in bytes. What is shorter opens
// nothing, and masking it would tear contents apart.
const shortestSecret = 8

// Secrets are texts that must not be written.
type Secrets [][]byte

// With adds a secret, if it is one.
func (s Secrets) With(text string) Secrets {
	text = strings.TrimSpace(text)
	if len(text) < shortestSecret || slices.ContainsFunc(s, func(b []byte) bool { return string(b) == text }) {
		return s
	}
	return append(s, []byte(text))
}

// longest is the length of the longest of them.
func (s Secrets) longest() (n int) {
	for _, secret := range s {
		n = max(n, len(secret))
	}
	return n
}

// mask returns b without the secrets, of the same length. b itself is not changed
// unless own says that it may be.
func (s Secrets) mask(b []byte, own bool) (masked []byte, found bool) {
	for _, secret := range s {
		for from := 0; ; {
			at := bytes.Index(b[from:], secret)
			if at < 0 {
				break
			}
			if !own {
				b, own = bytes.Clone(b), true
			}
			from, found = from+at, true
			for i := range secret {
				b[from+i] = '*'
			}
		}
	}
	return b, found
}

// text is a text without the secrets.
func (s Secrets) text(of string) string {
	b, found := s.mask([]byte(of), true)
	if !found {
		return of
	}
	return string(b)
}

// opens reports whether a header or a parameter of that name opens something.
func opens(name string) bool {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, "anthropic-ratelimit-") { // …-tokens-remaining
		return false
	}
	return slices.ContainsFunc([]string{"authorization", "api-key", "apikey", "api_key", "cookie", "secret", "password", "credential", "signature", "x-goog-iap"}, func(part string) bool {
		return strings.Contains(name, part)
	}) || name == "key" || name == "token" || strings.HasSuffix(name, "-token") || strings.HasSuffix(name, "_token") || strings.HasSuffix(name, "-key")
}

// SecretsOf are what a request's headers and query open things with.
func SecretsOf(header http.Header, query string) (s Secrets) {
	for name, values := range header {
		if !opens(name) {
			continue
		}
		for _, v := range values {
			s = s.With(v)
			if _, credentials, ok := strings.Cut(v, " "); ok { // Bearer …
				s = s.With(credentials)
			}
			if strings.Contains(strings.ToLower(name), "cookie") {
				for pair := range strings.SplitSeq(v, ";") {
					_, value, _ := strings.Cut(pair, "=")
					s = s.With(value)
				}
			}
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); opens(name) {
			s = s.With(value)
		}
	}
	return s
}

// header is a copy that may be written.
func (s Secrets) header(h http.Header) http.Header {
	out := make(http.Header, len(h))
	for name, values := range h {
		for _, v := range values {
			if opens(name) {
				v = withheld
			}
			out[name] = append(out[name], s.text(v))
		}
	}
	return out
}

// query is a query that may be written.
func (s Secrets) query(raw string) string {
	if raw == "" {
		return ""
	}
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		if name, _, ok := strings.Cut(pair, "="); ok && opens(name) {
			pairs[i] = name + "=" + withheld
		}
	}
	return s.text(strings.Join(pairs, "&"))
}

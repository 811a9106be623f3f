package storetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"sync"
	"testing"
)

// Secrets are texts that may stand nowhere but where they were handed out. A
// test keeps each as it learns it, and searches everything it can get hold of
// from then on: answers, logs, events, histories (SAFE-08).
type Secrets struct {
	mu    sync.Mutex
	known map[string]string // the forms a secret takes, and what it is
}

// Keep remembers a secret in every form it might leak in: as it is, escaped,
// encoded, and as the hash that is stored of it.
func (s *Secrets) Keep(what, secret string) {
	if len(secret) < 6 {
		panic("storetest: " + what + " is so short that it would be found everywhere")
	}
	sum := sha256.Sum256([]byte(secret))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]string{}
	}
	for form, text := range map[string]string{
		"": secret, ", escaped": url.QueryEscape(secret), ", escaped in a path": url.PathEscape(secret),
		", in base64": base64.StdEncoding.EncodeToString([]byte(secret)), ", in base64 of URLs": base64.RawURLEncoding.EncodeToString([]byte(secret)),
		", in hex": hex.EncodeToString([]byte(secret)), ", its hash": hex.EncodeToString(sum[:]), ", its hash in base64": base64.RawURLEncoding.EncodeToString(sum[:]),
	} {
		if _, known := s.known[text]; !known {
			s.known[text] = what + form
		}
	}
}

// Search fails the test for every secret that stands in text.
func (s *Secrets) Search(t testing.TB, where string, text []byte) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for secret, what := range s.known {
		if at := bytes.Index(text, []byte(secret)); at >= 0 {
			t.Errorf("%s shows %s: …%s…", where, what, text[max(0, at-80):min(len(text), at+len(secret)+20)])
		}
	}
}

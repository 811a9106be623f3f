// Package remote is a running server, as the command line reaches it: over its
// HTTP API and nothing else, so that what a script may do is what a person may.
//
// It may import fault and filelock.
package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"liminal/internal/fault"
)

const (
	// patience bounds one request; a rehearsal of thousands of runs is the
	// longest of them.
	patience = 2 * time.Minute
	// maxBody bounds an answer, in bytes.
	maxBody = 64 << 20
)

// Server is one server, signed in to. It is safe for concurrent use.
type Server struct {
	base    string
	http    *http.Client
	account Account
	open    bool // it asks nobody who they are

	mu    sync.Mutex
	token string
}

// Account is how to sign in: by a token; else by a session that is kept; else
// by an address and its password.
type Account struct {
	Token, User, Password string
	Kept                  Sessions    // where sessions are kept
	Unkept                func(error) // told why one could not be; nil: nobody is
}

// Unreachable says that there is no server where one was expected.
type Unreachable struct {
	URL string
	Err error
}

func (u *Unreachable) Error() string {
	return fmt.Sprintf("no server answers at %s: %s", u.URL, u.Err)
}

// Unwrap gives the network's own error.
func (u *Unreachable) Unwrap() error { return u.Err }

// SignIn reaches a server. A session that is kept is gone on with, by whichever
// process. Without one an address and a password are traded for one, which is
// kept; an account with a second factor signs in by LogIn first.
func SignIn(ctx context.Context, base string, a Account) (*Server, error) {
	s := newServer(base)
	s.account, s.token = a, a.Token
	if s.token != "" {
		return s, nil
	}
	_, kept, there, err := a.Kept.keyOf(s.base, a.User)
	switch {
	case err != nil:
		return nil, err
	case there:
		s.token = kept.Access
		return s, nil
	case a.User == "" || a.Password == "":
		return nil, fault.New(fault.Unauthorized, "Say who you are at %s: liminald login --url %s, once; or set LIMINAL_TOKEN, or LIMINAL_USER and LIMINAL_PASSWORD.", s.base, s.base)
	}
	s.token, err = s.enter(ctx)
	if FactorNeeded(err) {
		err = fault.New(fault.Unauthorized, "The account of %s asks for a code of its authenticator too. Sign in by hand, once: liminald login --url %s", a.User, s.base)
	}
	return s, err
}

// Beside is a server that is reached by a client of its own, and asks nobody who they
// are: it listens where only programs of its person can.
func Beside(base string, client *http.Client) *Server {
	return &Server{base: home(base), http: client, open: true}
}

func newServer(base string) *Server {
	return &Server{base: home(base), http: &http.Client{Timeout: patience}}
}

// Get reads a resource into data.
func (s *Server) Get(ctx context.Context, path string, query url.Values, data any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return s.Do(ctx, http.MethodGet, path, nil, data)
}

// verbatim is an answer without an envelope.
type verbatim []byte

// Bytes reads a resource whose answer has no envelope.
func (s *Server) Bytes(ctx context.Context, path string) ([]byte, error) {
	var raw verbatim
	err := s.Do(ctx, http.MethodGet, path, nil, &raw)
	return raw, err
}

// Post does something and reads what came of it into data, which may be nil.
func (s *Server) Post(ctx context.Context, path string, body, data any) error {
	return s.Do(ctx, http.MethodPost, path, body, data)
}

// envelope is what every answer is wrapped in (API-02).
type envelope struct {
	Data  json.RawMessage `json:"data"`
	Error *struct {
		Code    fault.Code      `json:"code"`
		Message string          `json:"message"`
		Details json.RawMessage `json:"details"`
	} `json:"error"`
}

// Do sends one request. What the server refuses is a *fault.Error with the
// server's code and sentence, its details as raw JSON; a server that is not
// there is Unreachable.
//
// A session that ran out is renewed, once; a token that was given cannot be.
func (s *Server) Do(ctx context.Context, method, path string, body, data any) error {
	s.mu.Lock()
	token := s.token
	s.mu.Unlock()
	err := s.send(ctx, token, method, path, body, data)
	switch {
	case s.open || !errors.Is(err, fault.Unauthorized):
		return err
	case s.account.Token != "":
		return fault.New(fault.Unauthorized, "%s The token is that of LIMINAL_TOKEN: set a new one, or unset it and sign in with liminald login.", fault.From(err).Message)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == token {
		if s.token, err = s.renew(ctx, token); err != nil {
			return err
		}
	}
	return s.send(ctx, s.token, method, path, body, data)
}

// send sends one request with a token; empty: none.
func (s *Server) send(ctx context.Context, token, method, path string, body, data any) error {
	req, err := s.request(ctx, token, method, path, body)
	if err != nil {
		return err
	}
	res, err := s.http.Do(req)
	if err != nil {
		return &Unreachable{URL: s.base, Err: bare(err)}
	}
	defer func() { _ = res.Body.Close() }() // it has been read
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return &Unreachable{URL: s.base, Err: bare(err)}
	}
	if into, ok := data.(*verbatim); ok && res.StatusCode < http.StatusBadRequest {
		if len(raw) == maxBody {
			return fmt.Errorf("%s answers more than %d MB", s.base+path, maxBody>>20)
		}
		*into = raw
		return nil
	}
	var e envelope
	if json.Unmarshal(raw, &e) != nil {
		return fmt.Errorf("%s answers %s, and not as Liminal does", s.base+path, res.Status)
	}
	if e.Error != nil {
		return fault.New(cmp.Or(e.Error.Code, fault.Internal), "%s", e.Error.Message).With(e.Error.Details)
	}
	if data == nil {
		return nil
	}
	return json.Unmarshal(e.Data, data)
}

func (s *Server) request(ctx context.Context, token, method, path string, body any) (*http.Request, error) {
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, reader)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "liminald") // a person's list of sessions shows it
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPost {
		var key [16]byte
		_, _ = rand.Read(key[:]) // never fails
		req.Header.Set("Idempotency-Key", hex.EncodeToString(key[:]))
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, nil
}

// bare is a network error without the URL, which the sentence has already.
func bare(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// All reads every page of a list.
func All[T any](ctx context.Context, s *Server, path string, query url.Values) ([]T, error) {
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", "100")
	var all []T
	for {
		var page struct {
			Data []T     `json:"data"`
			Next *string `json:"next_cursor"`
		}
		if err := s.Get(ctx, path, query, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.Next == nil || *page.Next == "" {
			return all, nil
		}
		query.Set("cursor", *page.Next)
	}
}

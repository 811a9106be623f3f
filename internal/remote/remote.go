// Package remote is a running server, as the command line reaches it: over its
// HTTP API and nothing else, so that what a script may do is what a person may.
//
// It may import fault.
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
	"strings"
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
	base  string
	token string
	http  *http.Client
}

// Account is how to sign in: by a token, or by an address and its password.
type Account struct{ Token, User, Password string }

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

// SignIn reaches a server. An address and a password are traded for a token;
// an account with a second factor needs a token made elsewhere.
func SignIn(ctx context.Context, base string, a Account) (*Server, error) {
	s := &Server{base: strings.TrimSuffix(base, "/"), token: a.Token, http: &http.Client{Timeout: patience}}
	if s.token != "" {
		return s, nil
	}
	if a.User == "" || a.Password == "" {
		return nil, fault.New(fault.Unauthorized, "Say who you are: set LIMINAL_TOKEN, or LIMINAL_USER and LIMINAL_PASSWORD.")
	}
	var in struct {
		Token string `json:"access_token"`
	}
	err := s.Do(ctx, http.MethodPost, "/v1/auth/login", map[string]string{"email": a.User, "password": a.Password}, &in)
	s.token = in.Token
	return s, err
}

// Get reads a resource into data.
func (s *Server) Get(ctx context.Context, path string, query url.Values, data any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return s.Do(ctx, http.MethodGet, path, nil, data)
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
func (s *Server) Do(ctx context.Context, method, path string, body, data any) error {
	req, err := s.request(ctx, method, path, body)
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

func (s *Server) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
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
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPost {
		var key [16]byte
		_, _ = rand.Read(key[:]) // never fails
		req.Header.Set("Idempotency-Key", hex.EncodeToString(key[:]))
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
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

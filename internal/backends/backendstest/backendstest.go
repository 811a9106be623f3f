// Package backendstest is what tests of model backends stand on: a store in
// memory, and a server that speaks the protocol of OpenAI and says which it is.
//
// It may import backends, model's providers and testing; only tests import it.
package backendstest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"liminal/internal/backends"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/model/anthropic"
	"liminal/internal/model/openai"
	"liminal/internal/vault"
)

// Admin is an administrator.
var Admin = identity.Viewer{UserID: "00000000-0000-4000-8000-0000000000aa", Role: identity.RoleAdmin}

// Store is a backends.Store in memory, which several registries may share.
type Store struct {
	mu      sync.Mutex
	rows    []backends.Backend
	entries []backends.Entry
	version int64
	Reads   int // of rows and versions
}

// NewStore has the environment's row, as a migrated database does.
func NewStore() *Store {
	return &Store{rows: []backends.Backend{{Name: backends.Environment, Default: true}}}
}

// BackendVersion implements backends.Store.
func (s *Store) BackendVersion(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Reads++
	return s.version, nil
}

// Backends implements backends.Store.
func (s *Store) Backends(context.Context) ([]backends.Backend, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Reads++
	return slices.Clone(s.rows), s.version, nil
}

func (s *Store) at(name string) int {
	return slices.IndexFunc(s.rows, func(b backends.Backend) bool { return b.Name == name })
}

func (s *Store) write(e backends.Entry) {
	s.version++
	s.entries = append([]backends.Entry{e}, s.entries...)
}

var errNone = fault.New(fault.NotFound, "There is no such model backend.")

// AddBackend implements backends.Store.
func (s *Store) AddBackend(_ context.Context, b backends.Backend, e backends.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at(b.Name) >= 0 {
		return fault.New(fault.Conflict, "taken")
	}
	s.rows = append(s.rows, b)
	s.write(e)
	return nil
}

// ChangeBackend implements backends.Store.
func (s *Store) ChangeBackend(_ context.Context, name string, e backends.Entry, change func(*backends.Backend) ([]string, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.at(name)
	if at < 0 {
		return errNone
	}
	b := s.rows[at]
	fields, err := change(&b)
	if err != nil || len(fields) == 0 {
		return err
	}
	s.rows[at], e.Fields = b, fields
	s.write(e)
	return nil
}

// RemoveBackend implements backends.Store.
func (s *Store) RemoveBackend(_ context.Context, name string, e backends.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.at(name)
	switch {
	case at < 0:
		return errNone
	case s.rows[at].Default:
		return fault.New(fault.Conflict, "default")
	}
	s.rows = slices.Delete(s.rows, at, at+1)
	s.write(e)
	return nil
}

// DefaultBackend implements backends.Store.
func (s *Store) DefaultBackend(_ context.Context, name string, e backends.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at(name) < 0 {
		return errNone
	}
	for i := range s.rows {
		s.rows[i].Default = s.rows[i].Name == name
	}
	s.write(e)
	return nil
}

// BackendEntries implements backends.Store.
func (s *Store) BackendEntries(context.Context, int) ([]backends.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.entries), nil
}

// Open is a registry over a store and an environment's model, with the true
// providers behind its protocols. change may alter its options first.
func Open(t testing.TB, s backends.Store, environment model.Model, change ...func(*backends.Options)) *backends.Registry {
	t.Helper()
	sealed, err := vault.New(bytes.Repeat([]byte{3}, vault.MinKey), "test")
	if err != nil {
		t.Fatal(err)
	}
	o := backends.Options{
		Store: s, Vault: sealed, Environment: backends.Served{Model: environment, InProcess: model.IsInProcess(environment)},
		Protocols: []backends.Protocol{{Name: "openai", URL: "http://127.0.0.1:1/v1", Key: true}, {Name: "vllm"}, {Name: "anthropic", URL: "http://127.0.0.1:1", Key: true}},
		Dial: func(b backends.Backend, key string) (model.Model, error) {
			style, _ := model.BackendOf(b.Protocol)
			if b.Protocol == "anthropic" {
				return anthropic.New(anthropic.Options{BaseURL: b.URL, APIKey: key, Model: b.Model, Backend: style})
			}
			return openai.New(openai.Options{BaseURL: b.URL, APIKey: key, Model: b.Model, Backend: style})
		},
	}
	for _, c := range change {
		c(&o)
	}
	r, err := backends.Open(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Server speaks the protocol of OpenAI's chat completions. It answers with its
// name and the model it was asked for.
type Server struct {
	*httptest.Server
	Name string

	mu    sync.Mutex
	asked []string // models
	told  []string // the questions, as they came
	keys  []string // as they came, in Authorization
	Hold  func()   // before an answer; nil: at once
}

// Serve starts a server of a name.
func Serve(t testing.TB, name string) *Server {
	t.Helper()
	s := &Server{Name: name}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		s.note("", r)
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"tiny"},{"id":"huge"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *Server) note(model string, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if model != "" {
		s.asked = append(s.asked, model)
	}
	s.keys = append(s.keys, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	var in struct{ Model string }
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.told = append(s.told, string(raw))
	s.mu.Unlock()
	if in.Model == "" {
		in.Model = "unnamed"
	}
	s.note(in.Model, r)
	if s.Hold != nil {
		s.Hold()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []string{
		fmt.Sprintf(`{"index":0,"delta":{"role":"assistant","content":%q}}`, s.Name+" as "+in.Model),
		`{"index":0,"delta":{},"finish_reason":"stop"}`,
	} {
		_, _ = fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":%q,\"choices\":[%s]}\n\n", in.Model, choice)
	}
	_, _ = io.WriteString(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}\n\ndata: [DONE]\n\n")
}

// Told are the questions as they came, in order.
func (s *Server) Told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

// Asked are the models that were asked for, in order.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Keys are the keys that came, in order.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys)
}

// Base is its URL, as a backend names it.
func (s *Server) Base() string { return s.URL + "/v1" }

// P is a pointer to a value, for an edit.
func P[T any](v T) *T { return &v }
